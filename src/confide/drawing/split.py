"""Shares of the sources of uncertainty, stacked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

Row = Float64[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class Share:
    """The share of one source in each row's variance, and where it lies in the stack."""

    source: str
    start: Row
    end: Row


def stacked(shares: Mapping[str, Row]) -> tuple[Share, ...]:
    """Shares one upon the other, in their order.

    Example:
        >>> noise, rest = stacked({"aleatoric": np.array([0.75]), "epistemic": np.array([0.25])})
        >>> rest.start.tolist(), rest.end.tolist()
        ([0.75], [1.0])
    """
    n_rows = len(next(iter(shares.values())))
    edges = np.cumsum([np.zeros(n_rows), *shares.values()], axis=0)
    return tuple(Share(source, edges[k], edges[k + 1]) for k, source in enumerate(shares))
