"""The sources of a prediction's uncertainty: what they are called, and each one's share."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64

Row = Float64[np.ndarray, " row"]
Sources: TypeAlias = Mapping[str, Row]
"""For each source, its part of the total variance of each row."""


class Source(NamedTuple):
    """A source of uncertainty in words.

    Attributes:
        name: in two or three words.
        meaning: what is behind it.
        advice: what would shrink it, after "Most of it is".
    """

    name: str
    meaning: str
    advice: str


# A model that has not learnt all that the features tell counts the rest as noise.
SOURCES = {
    "aleatoric": Source(
        "noise",
        "scatter of the target that these features do not explain, or that the model has not "
        "learnt",
        "noise, or what the model has not learnt. More members do not shrink it. More rows shrink "
        "only what can still be learnt. Features that explain more of the target would shrink it.",
    ),
    "classical": Source(
        "finite data",
        "another sample of the same kind of data would have given another model",
        "finite data, which more training rows would shrink.",
    ),
    "optimisation": Source(
        "random training",
        "training again with other random numbers would have given another model",
        "random training, which more members would shrink. They cost computing time only.",
    ),
    "epistemic": Source(
        "finite data with random training",
        "finite data and random training, which this method does not separate",
        "finite data with random training, which this method does not separate. More training rows "
        "would shrink it.",
    ),
}
# Eq. (1) has no division by the number of members.
SPREAD = (
    "random training. More members do not shrink it: this method counts the whole spread of its "
    "members, however many there are."
)
WORDS = {key: source.name for key, source in SOURCES.items()}


def largest_words(mean_shares: Mapping[str, float]) -> str:
    """Which source is the largest and what would shrink it, in words."""
    largest = max(mean_shares, key=lambda name: mean_shares[name])
    most = "Most of it" if mean_shares[largest] > 0.5 else "The largest part"
    is_spread = largest == "optimisation" and "classical" not in mean_shares
    return f"{most} is {SPREAD if is_spread else SOURCES[largest].advice}"


def shares(sources: Sources) -> dict[str, Row]:
    """The share of each source in each row's sum; not a number where there is no variance.

    Example:
        >>> shares({"aleatoric": np.array([1.0, 0.0]), "classical": np.array([3.0, 0.0])})
        {'aleatoric': array([0.25,  nan]), 'classical': array([0.75,  nan])}
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
