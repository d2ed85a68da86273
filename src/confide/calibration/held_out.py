r"""Prediction intervals that are calibrated on held-out rows: split conformal prediction.

A method predicts for each row where a new observation lies, $\mu(x)$, and on what scale, $s(x)$.
Rows that no training has seen tell how many scales make an interval of a given level: with scores
$|y_i - \mu(x_i)| / s(x_i)$ of n such rows, the $\lceil (n+1)\,\text{level} \rceil$-th smallest is
at least the score of a new row with that probability, whatever the law of the data and however
wrong $\mu$ and $s$ are (Lei et al. 2018, *Distribution-Free Predictive Inference for Regression*,
Theorem 2), as long as new rows and those rows come in no particular order. That is coverage on
average over rows: an interval that is too wide here and too narrow there stays so.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from confide.persistence import Arrays
from confide.prediction import Prediction
from confide.uncertainty import SAME_LEVEL, ContainingLaw, Origin, Row, ScoreLaw, Scores


def smallest_calibration_set(confidence_level: float) -> int:
    """How many rows it takes for a finite prediction interval at that level.

    Example:
        >>> smallest_calibration_set(0.9), smallest_calibration_set(0.95)
        (9, 19)
    """
    level = confidence_level - SAME_LEVEL
    return max(1, math.ceil(level / (1 - level)))


class ConformalLaw(ScoreLaw):
    """The law of a new observation, by the scores of held-out rows."""

    origin: ClassVar[Origin] = "held_out"

    def _why_infinite(self, confidence_level: float) -> str:
        n, needed = len(self.sorted_scores), smallest_calibration_set(confidence_level)
        reason = (
            f"and this level needs at least {needed}. Calibrate with more rows, or ask for a "
            "lower level"
            if n < needed
            else "because too many of them had bounds of width zero. Fit another model"
        )
        return (
            f"Calibrated prediction intervals at {100 * confidence_level:g} % are infinite: they "
            f"were calibrated with {n} rows, {reason}."
        )


@dataclass(frozen=True)
class Calibration:
    """The calibration of a model's prediction intervals on held-out rows.

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

    def calibrated(self, prediction: Prediction) -> Prediction:
        """The same with calibrated prediction intervals; everything else is as it was.

        They contain the confidence intervals, calibrated or not.
        """
        raw, inner = prediction.uncalibrated or prediction, prediction.confidence_law
        own = ConformalLaw(raw.mean, prediction.scale, self.sorted_scores)
        law = own if inner is None else ContainingLaw(own, inner)
        return replace(prediction, prediction_law=law, uncalibrated=raw)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        return {}, {"sorted_scores": self.sorted_scores}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "Calibration":
        """From a model file's parts, checked."""
        if payload != {} or set(arrays) != {"sorted_scores"}:
            raise ValueError("the calibration has unknown parts, or lacks some")
        return cls(checked_scores(arrays, "sorted_scores"))


def checked_scores(arrays: Arrays, name: str) -> Scores:
    """The scores of that name in a model file."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    scores = arrays[name]
    if scores.dtype != np.float64 or scores.ndim != 1 or len(scores) == 0:
        raise ValueError(
            f"calibration scores must be a list of float64, but are {scores.dtype} of shape "
            f"{scores.shape}"
        )
    # Infinite scores are in order: of rows with a scale of zero. NaN compares as false.
    if not (scores[0] >= 0 and np.all(scores[1:] >= scores[:-1])):
        raise ValueError("calibration scores must be positive and in order")
    return scores.copy()
