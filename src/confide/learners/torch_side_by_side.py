"""Several members in one call of their PyTorch module: outputs and losses side by side."""

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call, vmap

# They treat every number by itself, so a leading axis makes no difference.
ACTIVATIONS = (
    nn.CELU,
    nn.ELU,
    nn.GELU,
    nn.Hardswish,
    nn.Hardtanh,
    nn.Identity,
    nn.LeakyReLU,
    nn.Mish,
    nn.ReLU,
    nn.ReLU6,
    nn.SELU,
    nn.Sigmoid,
    nn.SiLU,
    nn.Softplus,
    nn.Softsign,
    nn.Tanh,
)


class _OverRows(ModuleType):
    """PyTorch with sums over rows alone: batches side by side then have a loss each.

    Losses inside `vmap` would be the same, and a step a third slower.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    @staticmethod
    def sum(of_rows: Shaped[Tensor, "*member row"]) -> Shaped[Tensor, "*member"]:
        """The sum over the last axis."""
        return torch.sum(of_rows, dim=-1)


OVER_ROWS = _OverRows("over_rows")


def raw_outputs(
    of_members: Float[Tensor, "member row *output"],
) -> Float[Tensor, "output member row"]:
    """What modules said of batches, as likelihoods read it."""
    return of_members.reshape(*of_members.shape[:2], -1).movedim(-1, 0)


def vmapped(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """The outputs of members whose weights lead the module's parts, each for its own batch."""
    parts = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    every_name = [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]
    # PyTorch would look for parts that have several names at every call, which takes a while.
    is_tied = len(every_name) > len(parts)
    # PyTorch does not put a layer's own parts back where the layer has several names.
    shell = copy.deepcopy(module)

    def of_member(parts: dict[str, Tensor], X: Tensor) -> Tensor:
        return functional_call(shell, parts, (X,), tie_weights=is_tied)

    of_members = vmap(of_member, randomness="error")
    return lambda X: of_members(parts, X)


def perceptron(module: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """The same for a plain perceptron, in half of `vmap`'s time; None for other modules."""
    if type(module) is not nn.Sequential:
        return None
    layers = list(module)
    if any(type(layer) not in (nn.Linear, *ACTIVATIONS) for layer in layers):
        return None

    def of_members(X: Tensor) -> Tensor:
        for layer in layers:
            if not isinstance(layer, nn.Linear):
                X = layer(X)
            elif layer.bias is None:
                X = torch.bmm(X, layer.weight.mT)
            else:
                X = torch.baddbmm(layer.bias[:, None], X, layer.weight.mT)
        return X

    return of_members
