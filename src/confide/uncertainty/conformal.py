r"""Prediction intervals whose coverage is calibrated on rows that were kept back: split conformal.

A method says for each row where a new observation lies, $\mu(x)$, and on what scale, $s(x)$. How
many scales make an interval of a given level is read off rows that no training has seen: with
scores $|y_i - \mu(x_i)| / s(x_i)$ of n such rows, the $\lceil (n+1)\,\text{level} \rceil$-th
smallest one holds the score of a new row with at least that probability, whatever the law of the
data and however wrong $\mu$ and $s$ are (Lei et al. 2018, *Distribution-Free Predictive Inference
for Regression*, Theorem 2), as long as new rows and those rows come in no particular order.
That is coverage on average over rows: it does not mend an interval that is too wide here and too
narrow there.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Float64

from confide.arrays import Arrays
from confide.errors import NoSuchIntervalError
from confide.uncertainty.level_law import SAME_LEVEL

Row = Float64[np.ndarray, " row"]
Scores = Float64[np.ndarray, " score"]


def conformal_quantile(sorted_scores: Scores, confidence_level: float) -> float:
    """The score that holds a new row's with at least that probability; infinite if there is none.

    Example:
        >>> nine = np.arange(1.0, 10.0)
        >>> conformal_quantile(nine, 0.9), conformal_quantile(nine[:8], 0.9)
        (9.0, inf)
    """
    # Levels are taken as they are meant: 100 * 0.07 is the 7th score, though floats make it more.
    rank = math.ceil((len(sorted_scores) + 1) * (confidence_level - SAME_LEVEL))
    if rank > len(sorted_scores):
        return math.inf
    return float(sorted_scores[rank - 1]) if rank > 0 else 0.0


def smallest_calibration_set(confidence_level: float) -> int:
    """How many rows it takes for a finite prediction interval at that level.

    Example:
        >>> smallest_calibration_set(0.9), smallest_calibration_set(0.95)
        (9, 19)
    """
    level = confidence_level - SAME_LEVEL
    return max(1, math.ceil(level / (1 - level)))


@dataclass(frozen=True)
class ConformalLaw:
    """What calibrated scores say of a new observation: the same face as `Law`.

    Its quantiles are those of the scores, so it has no density, and the share 1 / (n + 1) that n
    scores leave open lies at infinity, half on each side: `cdf` does not reach one, and one of
    n + 1 draws is infinite. Between scores `cdf` is linear, and at least the level at the bounds
    of a prediction interval.

    Attributes:
        location: its centre.
        scale: what a score of one stands for.
        sorted_scores: of the calibration rows.
    """

    location: Row
    scale: Row
    sorted_scores: Scores

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the prediction interval; infinite, with a warning, for want of rows."""
        score = conformal_quantile(self.sorted_scores, confidence_level)
        if score == math.inf:
            self._warn_of_infinity(confidence_level)
        return _times(score, self.scale)

    def quantile(self, probability: float) -> Row:
        """The value below which a new observation lies with that probability."""
        level = abs(2 * probability - 1)
        if level < SAME_LEVEL:
            return self.location
        return self.location + math.copysign(1, probability - 0.5) * self.half_width(level)

    def cdf(self, value: Float64[np.ndarray, "..."]) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        side = np.where(distance < 0, -1, 1)
        return (1 + side * self._central_probability(np.abs(distance))) / 2

    def sample(
        self, generator: np.random.Generator, n_samples: int
    ) -> Float64[np.ndarray, "sample row"]:
        """Independent draws, for each row; one of n + 1 is infinite."""
        shape = (n_samples, len(self.location))
        scores, probabilities = self._curve
        drawn = generator.uniform(size=shape)
        score = np.interp(drawn, probabilities, scores, right=math.inf)
        side = np.where(generator.uniform(size=shape) < 0.5, -1, 1)
        return self.location + side * _times(score, self.scale)

    def log_density(self, value: Float64[np.ndarray, "..."]) -> Row:
        """Refuses: scores have quantiles and no density."""
        self._refuse(value)

    def normal_mixture(self) -> NoReturn:
        """Refuses: scores are no mixture of normal laws."""
        self._refuse()

    @property
    def _curve(self) -> tuple[Scores, Scores]:
        """The finite scores from zero on, and the probability of a score up to each."""
        finite = self.sorted_scores[np.isfinite(self.sorted_scores)]
        probabilities = np.arange(len(finite) + 1) / (len(self.sorted_scores) + 1)
        return np.concatenate([[0.0], finite]), probabilities

    def _central_probability(self, distance: Row) -> Row:
        # A row without a scale has all finite scores at its centre.
        ratio = np.full_like(distance, math.inf)
        with np.errstate(over="ignore"):
            np.divide(distance, self.scale, out=ratio, where=self.scale > 0)
        return np.where(np.isinf(distance), 1.0, np.interp(ratio, *self._curve))

    def _warn_of_infinity(self, confidence_level: float) -> None:
        n, needed = len(self.sorted_scores), smallest_calibration_set(confidence_level)
        reason = (
            f"and this level takes at least {needed}. Calibrate with more rows, or ask for a lower "
            "level"
            if n < needed
            else "because too many of them had bounds of width zero. Fit another model"
        )
        warnings.warn(
            f"Calibrated prediction intervals at {100 * confidence_level:g} % are infinite: they "
            f"were calibrated with {n} rows, {reason}.",
            UserWarning,
            stacklevel=5,  # the line that asked a `Prediction` or an estimator, as a rule
        )

    def _refuse(self, *_: object) -> NoReturn:
        raise NoSuchIntervalError(
            "A calibrated prediction has quantiles and no density. Score its quantiles or its "
            "prediction intervals, or ask the law of `prediction.uncalibrated`."
        )


@dataclass(frozen=True)
class Calibration:
    """What rows that were kept back say of a fitted model's prediction intervals.

    Attributes:
        sorted_scores: |y - location| / scale of each of those rows, in order. A row whose scale
            is zero has an infinite score, or zero where its target was hit.
    """

    sorted_scores: Scores

    def __post_init__(self) -> None:
        self.sorted_scores.flags.writeable = False

    @property
    def n_rows(self) -> int:
        """The number of rows that it was calibrated on."""
        return len(self.sorted_scores)

    @classmethod
    def of(cls, y: Row, location: Row, scale: Row) -> "Calibration":
        """From targets and what was predicted for them.

        Example:
            >>> y, zeros = np.array([3.0, -1.0]), np.zeros(2)
            >>> Calibration.of(y, location=zeros, scale=np.array([1.0, 2.0])).sorted_scores.tolist()
            [0.5, 3.0]
        """
        distance = np.abs(y - location)
        scores = np.where(distance > 0, math.inf, 0.0)
        with np.errstate(over="ignore"):
            np.divide(distance, scale, out=scores, where=scale > 0)
        return cls(np.sort(scores))

    def law(self, location: Row, scale: Row) -> ConformalLaw:
        """The law of new observations."""
        return ConformalLaw(location, scale, self.sorted_scores)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        return {}, {"sorted_scores": self.sorted_scores}

    @classmethod
    def from_file(cls, said: Any, arrays: Arrays) -> "Calibration":
        """From a model file's parts, checked."""
        if said != {} or set(arrays) != {"sorted_scores"}:
            raise ValueError("the calibration has parts that are not its own, or lacks some")
        scores = arrays["sorted_scores"]
        if scores.dtype != np.float64 or scores.ndim != 1 or len(scores) == 0:
            raise ValueError(
                f"calibration scores must be a list of float64, but are {scores.dtype} of shape "
                f"{scores.shape}"
            )
        # Infinite scores are in order: of rows with a scale of zero. NaN compares as false.
        if not (scores[0] >= 0 and np.all(scores[1:] >= scores[:-1])):
            raise ValueError("calibration scores must be positive and in order")
        return cls(scores.copy())


def _times(score: float | Float64[np.ndarray, "..."], scale: Row) -> Float64[np.ndarray, "..."]:
    """Score times scale, where an infinite score is infinite on any scale, zero too."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isinf(score), math.inf, score * scale)
