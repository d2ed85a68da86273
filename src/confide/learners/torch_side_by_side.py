"""Several members in one call of their PyTorch module: outputs and losses side by side."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call, vmap

Way: TypeAlias = Callable[[nn.Module], Callable[[Tensor], Tensor]]
"""How a module whose parts have a leading axis is asked for several members at once."""


class _OverRows(ModuleType):
    """PyTorch with sums over rows alone: batches side by side then have a loss each.

    Losses inside `vmap` would be the same, and a step about a fifth slower.
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
