"""Networks in PyTorch: members of the user's own module, trained side by side where it allows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float32, Int, UInt32
from torch import Tensor, nn

from confide.learners.blocks import slices
from confide.learners.data import TrainingData
from confide.learners.errors import TrainingDivergedError
from confide.learners.likelihood import Likelihood
from confide.learners.protocol import Learner, Plan
from confide.learners.torch_modules import (
    CPU,
    LAYERS,
    ORDER,
    ROWS_TO_TRY,
    OwnModule,
    fixed_parts,
    seeded,
    set_parts,
    threads,
    trained_parts,
    vector_of,
)
from confide.learners.torch_training import (
    WAYS,
    Member,
    Recipe,
    Way,
    Workbench,
    raw_outputs,
    works,
)
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import MemberKeys, generator_from

# The most members in one call of the module.
MOST_MEMBERS_PER_BLOCK = 16
# Rows in one call of the module, fixed so that a row's numbers do not depend on its neighbours.
ROWS_PER_BLOCK = 1024
# Products in a step of all members, some 10 ms on one core: below, threads mostly wait for another.
WORTH_THREADS = 10**8

State: TypeAlias = tuple[Member, ...]


@dataclass(frozen=True)
class TorchEnsemble(Learner[State]):
    """Members of a PyTorch module of the user's own.

    Attributes:
        own: how the module is made.
        likelihood: what members are trained with, and what their outputs mean.
        recipe: the optimiser, and how its learning rate changes.
        batch_size: rows in a step.
        device: where members are trained.
        n_threads: PyTorch's threads in training. With None, small networks have one, with which
            they are fastest, and large ones as many as PyTorch has.
    """

    own: OwnModule
    likelihood: Likelihood
    recipe: Recipe
    batch_size: int = 32
    device: torch.device = CPU
    n_threads: int | None = None

    @property
    def needs_total(self) -> bool:
        """A scheduler is made for a number of steps."""
        return self.recipe.scheduler is not None

    @cached_property
    def way(self) -> Way | None:
        """How members are trained side by side, tried with a few of them on a tiny batch, or None.

        None, one by one, is for modules that are random or change their buffers in training or do
        what `vmap` cannot do, and for optimisers that look at more than one number at a time.
        """
        if not self.recipe.is_elementwise(self.own.template()):
            return None
        n_rows = min(ROWS_TO_TRY, self.batch_size)
        # Not as many members as rows: an axis taken for another then shows.
        keys = np.array([[0, i] for i in range(3 if n_rows == 2 else 2)], np.uint32)
        shape = (len(keys), n_rows, self.own.n_features)
        X = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        batch = tuple(map(self._tensor, (X, X[..., 0], np.ones(shape[:2], np.float32))))
        members = [self._new_member(key) for key in keys]

        def does(way: Way) -> bool:
            try:
                with seeded(keys[0], LAYERS, device=self.device):
                    return works(way, self.likelihood, self._module, members, batch)
            except Exception:  # noqa: BLE001 - whatever cannot be done so, a loop can do
                return False

        with warnings.catch_warnings():
            # PyTorch says so where it would loop over the members itself.
            warnings.filterwarnings("error", message=".*performance drop")
            return next(filter(does, WAYS), None)

    @property
    def members_per_piece(self) -> int:
        """Those that are trained side by side."""
        return MOST_MEMBERS_PER_BLOCK if self.way is not None else 1

    def init(self, keys: MemberKeys, data: TrainingData) -> State:
        """Untrained members, each from its own key."""
        del data
        return tuple(self._new_member(key) for key in keys)

    def train(
        self,
        keys: MemberKeys,
        state: State,
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        plan: Plan,
        *,
        progress: Progress | None = None,
    ) -> State:
        """All members trained on; raises `TrainingDivergedError` when a loss is not finite."""
        trained: list[Member] = []
        size = self.members_per_piece
        with threads(self._n_threads(min(size, len(state)), state[0].vector.numel())):
            for block in slices(len(state), size):
                members = list(range(block.start, block.stop))
                trained += self._train_block(keys, state, data, targets, plan, members, progress)
        return tuple(trained)

    def predict(
        self, state: State, X: Float[np.ndarray, "row feature"]
    ) -> Float32[np.ndarray, "member row output"]:
        """Each member's outputs for each row, in row blocks of one shape."""
        # Outputs lie apart in memory: each is then as fast to work with as if it were alone.
        outputs = np.empty((self.likelihood.n_outputs, len(state), len(X)), np.float32)
        module, block = self._module().eval(), np.zeros((ROWS_PER_BLOCK, X.shape[1]), np.float32)
        for i, member in enumerate(state):
            set_parts(module, member.vector, member.fixed)
            for rows in slices(len(X), ROWS_PER_BLOCK):
                n_here = rows.stop - rows.start
                block[:n_here] = X[rows]
                with torch.no_grad():
                    raw = raw_outputs(module(self._tensor(block))[None])
                    computed = self.likelihood.outputs(raw, xp=torch)
                for out, (of_member,) in zip(outputs, computed, strict=True):
                    out[i, rows] = of_member[:n_here].cpu().numpy()
        return np.moveaxis(outputs, 0, -1)

    def take(self, state: State, members: Int[np.ndarray, " taken"]) -> State:
        """Some of the members; what is taken twice is shared, because nothing changes it."""
        return tuple(state[i] for i in members)

    def join(self, states: Sequence[State]) -> State:
        """The members of several states, one after the other."""
        return tuple(member for state in states for member in state)

    def to_arrays(self, state: State) -> Arrays:
        """The weights and buffers, as the module names them: all that predicting needs."""
        module, of_members = self._module(), []
        for member in state:
            set_parts(module, member.vector, member.fixed)
            of_members.append(_named(module))
        return {name: np.stack([parts[name] for parts in of_members]) for name in of_members[0]}

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> State:
        """Members with saved weights, and an optimiser that has not taken a step."""
        del n_features  # the module is made for them
        expected = _named(self.own.template())
        if unknown := sorted(set(arrays) - set(expected)):
            raise ValueError(f"the network has no part {unknown[0]!r}")
        checked = {
            name: checked_array(arrays, name, (n_members, *part.shape), part.dtype.type)
            for name, part in expected.items()
        }
        return tuple(self._saved_member(checked, i) for i in range(n_members))

    def with_fresh_optimiser(self, state: State, data: TrainingData) -> State:
        """The same weights with an optimiser that has not taken a step; a scheduler goes on."""
        del data
        module = self._module()

        def refreshed(member: Member) -> Member:
            fresh = self.recipe.fresh(module, member.vector)
            groups = member.optimiser["param_groups"]  # they have the learning rate
            return member._replace(optimiser={**fresh, "param_groups": groups})

        return tuple(map(refreshed, state))

    def steps_per_epoch(self, n_rows: int) -> int:
        """One for each batch."""
        return len(batches(n_rows, self.batch_size))

    def _train_block(
        self,
        keys: MemberKeys,
        state: State,
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        plan: Plan,
        members: list[int],
        progress: Progress | None,
    ) -> list[Member]:
        """Some of the members, trained on side by side, or one by itself."""
        # A product with one matrix rounds differently from one with several. So a lone member has
        # itself beside it: its numbers do not depend on who trains with it (but for rounding,
        # where there is one feature).
        beside = members * 2 if self.way is not None and len(members) == 1 else members
        workbench = Workbench(
            self.likelihood,
            self.recipe,
            self._module(),
            [state[i] for i in beside],
            way=self.way,
            total_steps=plan.total * self.steps_per_epoch(data.n_rows),
        )
        of_members = targets[beside, : data.n_rows].astype(np.float32)
        rows = tuple(map(self._tensor, (data.inputs, of_members, data.weight[: data.n_rows])))
        for epoch in range(plan.done, plan.done + plan.epochs):
            orders = np.stack([_order(keys[i], epoch, data.rows_of(i)) for i in beside])
            with seeded(keys[beside[0]], LAYERS, epoch, device=self.device):
                losses = self._epoch(workbench, self._tensor(orders), rows)
            _refuse_divergence(losses, workbench.vectors, members, epoch)
            if progress is not None:
                progress(len(members))
        return workbench.members()[: len(members)]

    def _epoch(
        self, workbench: Workbench, orders: Int[Tensor, "member row"], rows: tuple[Tensor, ...]
    ) -> Float[Tensor, "step member"]:
        """The losses of an epoch's steps; rows are inputs, each member's targets, and weights."""
        X, y, weight = rows
        losses = []
        for batch in batches(len(weight), self.batch_size):
            index = orders[:, batch]
            losses.append(workbench.step((X[index], y.gather(1, index), weight[index])))
        return torch.stack(losses)

    def _new_member(self, key: UInt32[np.ndarray, "2"]) -> Member:
        return self._member_of(self.own.made(key).to(self.device))

    def _saved_member(self, arrays: Arrays, i: int) -> Member:
        module = self.own.template()
        for name, part in _all_parts(module).items():
            part.data = torch.tensor(arrays[name][i])
        return self._member_of(module.to(self.device))

    def _member_of(self, module: nn.Module) -> Member:
        """A module as a member that has not been trained on."""
        vector = vector_of(module)
        fixed = {name: part.detach().clone() for name, part in fixed_parts(module).items()}
        return Member(vector, fixed, self.recipe.fresh(module, vector))

    def _module(self) -> nn.Module:
        """A module of the right shape, to be given a member's weights."""
        return self.own.template().to(self.device)

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.tensor(array, device=self.device)

    def _n_threads(self, n_members: int, n_parameters: int) -> int:
        if self.n_threads is not None:
            return self.n_threads
        is_large = n_members * n_parameters * self.batch_size > WORTH_THREADS
        return torch.get_num_threads() if is_large else 1


def batches(n_rows: int, batch_size: int) -> list[slice]:
    """The batches of an epoch; the last one may be short.

    A single row that is left over joins the batch before it: layers that standardise over a batch
    cannot have a batch of one row.

    Example:
        >>> batches(5, 2)
        [slice(0, 2, None), slice(2, 5, None)]
    """
    all_of_them = list(slices(n_rows, batch_size))
    if n_rows > batch_size > 1 and n_rows % batch_size == 1:
        *all_of_them, before, last = all_of_them
        all_of_them.append(slice(before.start, last.stop))
    return all_of_them


def _order(
    key: UInt32[np.ndarray, "2"], epoch: int, rows: Int[np.ndarray, " row"]
) -> Int[np.ndarray, " row"]:
    """A member's rows in the order of an epoch, which comes from its key and the epoch alone."""
    return generator_from(key, ORDER, epoch).permutation(rows).astype(np.int64)


def _named(module: nn.Module) -> Arrays:
    """All that a module holds, as arrays."""
    return {name: part.detach().cpu().numpy().copy() for name, part in _all_parts(module).items()}


def _all_parts(module: nn.Module) -> dict[str, Tensor]:
    trained = {f"parameters.{name}": part for name, part in trained_parts(module).items()}
    return {**trained, **{f"buffers.{name}": part for name, part in fixed_parts(module).items()}}


def _refuse_divergence(
    losses: Float[Tensor, "step member"],
    vectors: Float[Tensor, "*member parameter"],
    members: list[int],
    epoch: int,
) -> None:
    """Names the first of the members whose losses, or weights in the end, are not finite."""
    weights = torch.atleast_2d(vectors).isfinite().all(dim=1)
    # The last step's loss may have been finite and its weights not.
    finite = torch.cat([losses.isfinite(), weights[None]])[:, : len(members)].cpu().numpy()
    if not finite.all():
        first = int(np.argmin(finite.all(axis=0)))
        step = min(int(np.argmin(finite[:, first])), len(losses) - 1)
        raise TrainingDivergedError(members[first], epoch, epoch * len(losses) + step)
