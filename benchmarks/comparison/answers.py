"""What every contender is asked, and the form of its answer."""

from typing import Any, NamedTuple, Protocol

import numpy as np

LEVELS = (0.8, 0.95)
"""Of the prediction and confidence intervals that are judged."""

MIDPOINTS = tuple((2 * i + 1) / 40 for i in range(20))
"""Probabilities of the quantiles that the CRPS is made of; the outermost bound the 95 % interval.

They are twenty, not more, so that methods that calibrate on few rows can answer: the outermost
take 19 rows.
"""

PROBABILITIES = tuple(sorted({*MIDPOINTS, 0.1, 0.9}))
"""All quantiles that are asked for, symmetric about the median and in order."""

CENTRAL_LEVELS = tuple(1 - 2 * p for p in PROBABILITIES if p < 0.5)
"""Levels of the central prediction intervals between those quantiles, the widest first."""


class Answers(NamedTuple):
    """What a contender says of some rows.

    Attributes:
        mean: the point prediction, [row].
        quantiles: of a new observation, at `PROBABILITIES`, [row, probability].
        confidence: confidence intervals for the true function at `LEVELS`, [row, 2, level]; None
            where the contender has none.
    """

    mean: np.ndarray
    quantiles: np.ndarray
    confidence: np.ndarray | None = None


class Predict(Protocol):
    """A fitted contender."""

    def __call__(self, X: Any, /) -> Answers:
        """All that is asked about some rows."""


class Fit(Protocol):
    """A contender: X and y come as they are, so scaling is its own affair.

    X is an array, or a frame where there are categories or holes and the contender reads frames.
    """

    def __call__(self, X: Any, y: np.ndarray, *, seed: int) -> Predict:
        """Fit to all rows."""


def between_bounds(intervals: np.ndarray) -> np.ndarray:
    """Quantiles, [row, probability], from central intervals at `CENTRAL_LEVELS`, [row, 2, level].

    An interval that says nothing of its two sides is read as leaving out as much on each.
    """
    return np.concatenate([intervals[:, 0], intervals[:, 1, ::-1]], axis=1)


def conformal_shift(residuals: np.ndarray) -> np.ndarray:
    """How far to move predictions so that they are quantiles of new observations.

    For each of `PROBABILITIES`, that quantile of the residuals of rows that were left out, counted
    among one more than they are (split conformal prediction, one-sided, for each probability).

    Args:
        residuals: target less prediction, [row, 1] for a mean or [row, probability].
    """
    each = np.broadcast_to(residuals, (len(residuals), len(PROBABILITIES))).T
    columns = zip(PROBABILITIES, each, strict=True)
    return np.array([np.quantile(column, p, method="weibull") for p, column in columns])


def normal_quantiles(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Quantiles of normal laws at `PROBABILITIES`, [row, probability]."""
    from scipy.special import ndtri

    return np.asarray(mean[:, None] + std[:, None] * ndtri(PROBABILITIES))


def normal_intervals(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Central intervals of normal laws at `LEVELS`, [row, 2, level]."""
    from scipy.special import ndtri

    half_width = std[:, None] * ndtri((1 + np.array(LEVELS)) / 2)
    return np.stack([mean[:, None] - half_width, mean[:, None] + half_width], axis=1)
