"""Training PyTorch members: one by itself, or several side by side in one call of the module."""

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn, optim
from torch.func import functional_call, vmap

from confide.learners.likelihood import Likelihood
from confide.learners.torch_modules import fixed_parts, generator_state, set_parts, trained_parts

MakeOptimiser: TypeAlias = Callable[..., optim.Optimizer]
MakeScheduler: TypeAlias = Callable[[optim.Optimizer, int], optim.lr_scheduler.LRScheduler]
Batch: TypeAlias = tuple[Tensor, ...]
"""Each member's inputs (member, row, feature), its targets and its weights (member, row)."""
Way: TypeAlias = Callable[[nn.Module], Callable[[Tensor], Tensor]]
"""How a module whose parts have a leading axis is asked for several members at once."""

# They treat every number of a parameter by itself, so members may lie side by side in it.
ELEMENTWISE = (
    *(optim.SGD, optim.Adam, optim.AdamW, optim.NAdam, optim.RAdam, optim.RMSprop, optim.Adagrad),
    *(optim.Adadelta, optim.Adamax, optim.ASGD, optim.Rprop),
)
# PyTorch with sums over rows alone: batches side by side then have a loss each. Losses inside
# `vmap` would be the same, and a step about a fifth slower.
OVER_ROWS = ModuleType("over_rows")
vars(OVER_ROWS).update(vars(torch), sum=functools.partial(torch.sum, dim=-1))


class Member(NamedTuple):
    """All that training one member needs to go on, as a value: nothing in it is ever changed."""

    vector: Float[Tensor, " parameter"]
    fixed: dict[str, Tensor]
    """Buffers, such as running statistics, and frozen parameters."""
    optimiser: dict[str, Any]
    """What `state_dict` of the optimiser returned."""
    scheduler: dict[str, Any] | None = None
    """The same of the scheduler, where there is one and it has begun."""


@dataclass(frozen=True)
class Recipe:
    """How optimisers and schedulers are made.

    Attributes:
        learning_rate: of Adam.
        optimiser: from parameters to an optimiser, or None for Adam.
        scheduler: from an optimiser and the number of steps to a scheduler, or None.
    """

    learning_rate: float = 1e-3
    optimiser: MakeOptimiser | None = None
    scheduler: MakeScheduler | None = None

    def optimiser_of(
        self, module: nn.Module, vectors: Float[Tensor, "*member parameter"]
    ) -> optim.Optimizer:
        """A new optimiser.

        Our own Adam sees the weights as one tensor, which takes a quarter of the time; one of the
        user's sees the module's parameters, because it may treat layers differently.
        """
        if self.optimiser is not None:
            return self.optimiser(list(trained_parts(module).values()))
        # The published settings. The fused kernel rounds a tensor's last numbers differently: a
        # member's numbers would depend on its place.
        settings: dict[str, Any] = {"betas": (0.9, 0.999), "eps": 1e-7, "fused": False}
        return optim.Adam([vectors], self.learning_rate, foreach=False, **settings)

    def is_elementwise(self, module: nn.Module) -> bool:
        """Whether the optimiser can take several members as one."""
        if self.optimiser is None:
            return True
        parameters = list(trained_parts(module).values())
        optimiser = self.optimiser(parameters)
        # State of a parameter without axes could not be told from counts of steps.
        has_axes = all(p.ndim for p in parameters)
        # Fused kernels take parameters for contiguous, and those of members side by side are not.
        is_fused = any(group.get("fused") for group in optimiser.param_groups)
        return has_axes and not is_fused and type(optimiser) in ELEMENTWISE

    def fresh(self, module: nn.Module, vector: Float[Tensor, " parameter"]) -> dict[str, Any]:
        """The state of an optimiser that has not taken a step."""
        return copy.deepcopy(self.optimiser_of(module, vector).state_dict())


class Workbench:
    """A module with the weights of one member, or of several side by side, that takes steps.

    Its tensors are its own: steps are taken in place, and members go in and come out as copies.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        recipe: Recipe,
        module: nn.Module,
        members: Sequence[Member],
        *,
        way: Way | None,
        total_steps: int,
    ) -> None:
        self.module, self.n_members = module.train(), len(members)
        self.together = way is not None
        state = joined(members) if self.together else copy.deepcopy(members[0])
        self._vectors = state.vector
        # Made while parameters have the shapes that the user knows, before members lead them.
        self.optimiser = recipe.optimiser_of(module, self._vectors)
        set_parts(module, self._vectors, state.fixed)
        self._parameters = list(trained_parts(module).values())
        self.optimiser.load_state_dict(state.optimiser)
        make = recipe.scheduler
        self.scheduler = None if make is None else make(self.optimiser, total_steps)
        if self.scheduler is not None and state.scheduler is not None:
            self.scheduler.load_state_dict(state.scheduler)
            self.optimiser.load_state_dict(state.optimiser)  # making a scheduler sets the rate
        self._ask = (lambda X: module(X[0])[None]) if way is None else way(module)
        self._loss = likelihood.loss  # bound once, because Equinox takes a while

    @property
    def vectors(self) -> Float[Tensor, "*member parameter"]:
        """The weights as they are now."""
        return self._flat([parameter.detach() for parameter in self._parameters])

    def losses(self, batch: Batch) -> Float[Tensor, " member"]:
        """Each member's loss for its batch; sets the gradients too."""
        X, y, weight = batch
        losses = self._loss(raw_outputs(self._ask(X)), y, weight, OVER_ROWS)
        # The sum's gradient holds each member's own: no other loss depends on its weights.
        gradients = torch.autograd.grad(
            losses.sum(), self._parameters, allow_unused=True, materialize_grads=True
        )
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        self.gradient = self._vectors.grad = self._flat(gradients)
        return losses.detach()

    def step(self, batch: Batch) -> Float[Tensor, " member"]:
        """One step of the optimiser and the scheduler; returns the losses before it.

        The optimiser is handed a function, because some ask for the loss more than once.
        """
        asked = []

        def loss() -> Tensor:
            asked.append(self.losses(batch))
            return asked[-1].sum()

        step: Any = self.optimiser.step  # typed for losses that are floats
        step(loss)
        if self.scheduler is not None:
            self.scheduler.step()
        return asked[-1]

    def members(self) -> list[Member]:
        """The members as they are now."""
        scheduler = None if self.scheduler is None else self.scheduler.state_dict()
        fixed = {name: part.detach() for name, part in fixed_parts(self.module).items()}
        state = Member(self.vectors, fixed, self.optimiser.state_dict(), scheduler)
        if not self.together:
            return [copy.deepcopy(state)]
        return [one_of(state, i) for i in range(self.n_members)]

    def _flat(self, parts: Sequence[Tensor]) -> Float[Tensor, "*member parameter"]:
        return torch.cat([part.reshape(*self._vectors.shape[:-1], -1) for part in parts], dim=-1)


def works(
    way: Way,
    likelihood: Likelihood,
    module: Callable[[], nn.Module],
    members: Sequence[Member],
    batch: Batch,
) -> bool:
    """Whether members have the same gradients side by side as alone.

    Modules that are random or change their buffers do not.

    Args:
        way: how members are asked side by side.
        likelihood: whose loss is meant.
        module: makes a new module.
        members: those to try.
        batch: inputs, targets and weights of each member.
    """

    def workbench(members: Sequence[Member], way: Way | None) -> Workbench:
        fresh = Recipe().fresh(module(), members[0].vector)
        plain = [member._replace(optimiser=fresh) for member in members]
        return Workbench(likelihood, Recipe(), module(), plain, way=way, total_steps=1)

    together = workbench(members, way)
    together.losses(batch)
    for i, member in enumerate(members):
        alone, before = workbench([member], None), generator_state(member.vector.device)
        alone.losses(tuple(part[i : i + 1] for part in batch))
        (after,) = alone.members()
        same = [
            torch.equal(before, generator_state(member.vector.device)),
            torch.allclose(together.gradient[i], alone.gradient, rtol=1e-3, atol=1e-5),
            *(torch.equal(part, after.fixed[name]) for name, part in member.fixed.items()),
        ]
        if not all(same):
            return False
    return True


def joined(members: Sequence[Member]) -> Member:
    """Members side by side as one, with a leading axis in each of its tensors."""
    first = members[0]
    return Member(
        vector=torch.stack([m.vector for m in members]),
        fixed={name: torch.stack([m.fixed[name] for m in members]) for name in first.fixed},
        optimiser=_mapped(_stacked, *(m.optimiser for m in members)),
        scheduler=copy.deepcopy(first.scheduler),
    )


def one_of(members: Member, i: int) -> Member:
    """One of the members that lie side by side."""
    return Member(
        vector=members.vector[i].clone(),
        fixed={name: part[i].clone() for name, part in members.fixed.items()},
        # A copy of a view would hold on to all that it is a view of.
        optimiser=_mapped(
            lambda value: value[i].clone() if _has_axes(value) else copy.deepcopy(value),
            members.optimiser,
        ),
        scheduler=copy.deepcopy(members.scheduler),
    )


def _mapped(function: Callable[..., Any], *states: Any) -> Any:
    """The function of the values at each place of nested dictionaries."""
    if not isinstance(states[0], dict):
        return function(*states)
    return {name: _mapped(function, *(state[name] for state in states)) for name in states[0]}


def _stacked(*values: Any) -> Any:
    """A leading axis for numbers of parameters; counts of steps are the same for all members."""
    return torch.stack(values) if _has_axes(values[0]) else copy.deepcopy(values[0])


def _has_axes(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0


def raw_outputs(
    of_members: Float[Tensor, "member row *output"],
) -> Float[Tensor, "output member row"]:
    """The outputs of modules for batches, as likelihoods read them."""
    return of_members.reshape(*of_members.shape[:2], -1).movedim(-1, 0)


def vmapped(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """The outputs of members whose weights lead the module's parts, each for its own batch."""
    parts: dict[str, Tensor] = {}
    # Each layer once, and each of its parts: PyTorch then need not look for parts that have
    # several names, which takes a while, and puts everything back in its place.
    for prefix, layer in module.named_modules():
        for of in (layer.named_parameters, layer.named_buffers):
            parts |= of(prefix=prefix, recurse=False, remove_duplicate=False)

    def of_member(parts: dict[str, Tensor], X: Tensor) -> Tensor:
        return functional_call(module, parts, (X,), tie_weights=False)

    of_members = vmap(of_member, randomness="error")
    return lambda X: of_members(parts, X)


def with_leading_axis(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """The same by the module itself, which sees [member, row, feature]: half of `vmap`'s time.

    Only linear layers may hold parameters or buffers, and `forward` must not mind the leading
    axis: `dim=-1` does not, `dim=1` does. That can only be tried.

    Raises:
        ValueError: other layers hold something too.
    """
    for layer in module.modules():
        if type(layer) is nn.Linear:
            vars(layer)["forward"] = functools.partial(_products, layer)
        elif [*layer.parameters(recurse=False), *layer.buffers(recurse=False)]:
            raise ValueError(f"{type(layer).__name__} is not known to allow a leading axis")
    return module


WAYS: tuple[Way, ...] = (with_leading_axis, vmapped)
"""The fastest first."""


def _products(
    layer: nn.Linear, X: Float[Tensor, "member row input"]
) -> Float[Tensor, "member row unit"]:
    if layer.bias is None:
        return torch.bmm(X, layer.weight.mT)
    return torch.baddbmm(layer.bias[:, None], X, layer.weight.mT)
