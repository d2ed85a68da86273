"""Each source's share of a variance, for each row and on average."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

Row = Float64[np.ndarray, " row"]
Sources: TypeAlias = Mapping[str, Row]
"""For each source, its part of the total variance of each row."""


def epistemic(sources: Sources) -> dict[str, Row]:
    """The sources of the prediction's own variance: all but the noise."""
    return {name: part for name, part in sources.items() if name != "aleatoric"}


def shares(sources: Sources) -> dict[str, Row]:
    """The share of each source in each row's sum.

    Example:
        >>> {name: each.tolist() for name, each in shares({"aleatoric": np.ones(2)}).items()}
        {'aleatoric': [1.0, 1.0]}
    """
    total = np.sum(list(sources.values()), axis=0)
    return {name: over(part, total) for name, part in sources.items()}


def mean_shares(sources: Sources) -> dict[str, float]:
    """The mean of the rows' shares: of sums, a row with a huge variance would be all one sees."""
    return {name: mean(share) for name, share in shares(sources).items()}


def over(part: Row, whole: Row) -> Row:
    """Their quotient; not a number where there is no whole."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def mean(values: Row) -> float:
    """The mean of those that are numbers."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else np.nan
