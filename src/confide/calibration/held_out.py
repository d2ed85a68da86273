r"""Prediction intervals that are calibrated on held-out rows: split conformal prediction.

A method predicts for each row where a new observation lies, $\mu(x)$, and on what scale, $s(x)$.
Rows that no training has seen tell how many scales make an interval of a given level: with scores
$|y_i - \mu(x_i)| / s(x_i)$ of n such rows, the $\lceil (n+1)\,\text{level} \rceil$-th smallest is
at least the score of a new row with that probability, whatever the law of the data and however
wrong $\mu$ and $s$ are (Lei et al. 2018, *Distribution-Free Predictive Inference for Regression*,
Theorem 2), as long as new rows and those rows come in no particular order. That is coverage on
average over rows: an interval that is too wide here and too narrow there stays so.

Where noise is skewed, that interval has both bounds wrong. With signed scores
$(y_i - \mu(x_i)) / s(x_i)$, each bound is a quantile of its own, at half of what the level leaves
over (Linusson, Johansson and Lofstrom 2014, *Signed-Error Conformal Regression*), and is right by
itself. It takes more rows: 39 instead of 19 for 95 %. With scores of one group of rows alone, the
promise holds in that group (Vovk 2012, *Conditional Validity of Inductive Conformal Predictors*).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.persistence import Arrays, checked_fields
from confide.prediction import Prediction
from confide.uncertainty import (
    SAME_LEVEL,
    ContainingLaw,
    GroupedLaw,
    Law,
    Origin,
    Row,
    ScoreLaw,
    Scores,
    SignedScoreLaw,
)

# With so many rows or more, each bound is calibrated by itself, unless the user says otherwise.
MANY_ROWS = 200


def smallest_calibration_set(confidence_level: float, *, symmetric: bool = True) -> int:
    """How many rows it takes for a finite prediction interval at that level.

    Example:
        >>> smallest_calibration_set(0.9), smallest_calibration_set(0.95)
        (9, 19)
        >>> smallest_calibration_set(0.95, symmetric=False)
        39
    """
    level = confidence_level - SAME_LEVEL if symmetric else (1 + confidence_level) / 2 - SAME_LEVEL
    return max(1, math.ceil(level / (1 - level)))


class ConformalLaw(ScoreLaw):
    """The law of a new observation, by the scores of held-out rows."""

    origin: ClassVar[Origin] = "held_out"

    def _why_infinite(self, confidence_level: float) -> str:
        needed = smallest_calibration_set(confidence_level)
        return _why_infinite(confidence_level, len(self.sorted_scores), needed)


class SignedConformalLaw(SignedScoreLaw):
    """The same with each bound by itself."""

    origin: ClassVar[Origin] = "held_out"

    def _why_infinite(self, confidence_level: float) -> str:
        needed = smallest_calibration_set(confidence_level, symmetric=False)
        return _why_infinite(confidence_level, len(self.sorted_scores), needed)


def _why_infinite(confidence_level: float, n: int, needed: int) -> str:
    reason = (
        f"and this level needs at least {needed}. Calibrate with more rows, or ask for a lower "
        "level"
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
        sorted_scores: (y - location) / scale of each of those rows, in order; without their sign
            where bounds are symmetric. A row whose scale is zero has an infinite score, or zero
            where its target was hit.
        symmetric: whether both bounds are calibrated together, as far from the location.
        column: name or number of the column whose values are groups, or None.
        of_groups: the scores of each group.
    """

    sorted_scores: Scores
    symmetric: bool = True
    column: str | int | None = None
    of_groups: Mapping[str, Scores] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for scores in (self.sorted_scores, *self.of_groups.values()):
            scores.flags.writeable = False

    @property
    def n_rows(self) -> int:
        """The number of rows that it was calibrated on."""
        return len(self.sorted_scores)

    @classmethod
    def of(
        cls,
        y: Row,
        location: Row,
        scale: Row,
        *,
        symmetric: bool | None = True,
        column: str | int | None = None,
        groups: Sequence[str] | None = None,
    ) -> "Calibration":
        """From targets and what was predicted for them.

        Args:
            y: the targets.
            location: what was predicted.
            scale: on what scale.
            symmetric: see `Calibration`; None to decide by the number of rows.
            column: of the groups.
            groups: the group of each row, or None.

        Returns:
            The calibration.

        Example:
            >>> y, zeros = np.array([3.0, -1.0]), np.zeros(2)
            >>> Calibration.of(y, location=zeros, scale=np.array([1.0, 2.0])).sorted_scores.tolist()
            [0.5, 3.0]
        """
        names, group = np.unique(np.array(groups or [], dtype=str), return_inverse=True)
        fewest = int(np.bincount(group).min()) if len(names) else len(y)
        symmetric = fewest < MANY_ROWS if symmetric is None else bool(symmetric)
        distance = np.abs(y - location) if symmetric else y - location
        scores = np.where(distance == 0, 0.0, np.copysign(math.inf, distance))
        with np.errstate(over="ignore"):
            np.divide(distance, scale, out=scores, where=scale > 0)
        own = {str(name): np.sort(scores[group == i]) for i, name in enumerate(names)}
        return cls(np.sort(scores), symmetric, column, own)

    def calibrated(self, prediction: Prediction, groups: Sequence[str] | None = None) -> Prediction:
        """The same with calibrated prediction intervals; everything else is as it was.

        They contain the confidence intervals, calibrated or not.

        Args:
            prediction: of the model.
            groups: the group of each row, where the calibration has groups. Those that it does not
                know have the scores of all rows.
        """
        raw, inner = prediction.uncalibrated or prediction, prediction.confidence_law
        kind = ConformalLaw if self.symmetric else SignedConformalLaw
        scores = [self.sorted_scores, *self.of_groups.values()]
        laws = [kind(raw.mean, prediction.scale, own) for own in scores]
        own: Law = laws[0]
        if groups is not None:
            number = {name: i for i, name in enumerate(self.of_groups, 1)}
            own = GroupedLaw(tuple(laws), np.array([number.get(g, 0) for g in groups], np.int64))
        law = own if inner is None else ContainingLaw(own, inner)
        return replace(prediction, prediction_law=law, uncalibrated=raw)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays; what is symmetric and without groups is as it always was."""
        arrays = {"sorted_scores": self.sorted_scores}
        if self.symmetric and self.column is None:
            return {}, arrays
        arrays |= {f"group.{i}": own for i, own in enumerate(self.of_groups.values())}
        names = list(self.of_groups)
        return {"symmetric": self.symmetric, "column": self.column, "groups": names}, arrays

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "Calibration":
        """From a model file's parts, checked."""
        saved = {"symmetric": True, "column": None, "groups": []} if payload == {} else payload
        own = checked_fields(_Saved, saved)
        names = [f"group.{i}" for i in range(len(own["groups"]))]
        is_grouped = own["column"] is not None
        if set(arrays) != {"sorted_scores", *names} or is_grouped != bool(names):
            raise ValueError("the calibration has unknown parts, or lacks some")
        pooled, *scores = (
            checked_scores(arrays, name, signed=not own["symmetric"])
            for name in ("sorted_scores", *names)
        )
        of_groups = dict(zip(own["groups"], scores, strict=True))
        if len(of_groups) < len(names):
            raise ValueError("two groups of the calibration have the same name")
        return cls(pooled, own["symmetric"], own["column"], of_groups)


@dataclass(frozen=True)
class _Saved:
    symmetric: bool
    column: str | int | None
    groups: tuple[str, ...]


def checked_scores(arrays: Arrays, name: str, *, signed: bool = False) -> Scores:
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
    if not (
        (signed or scores[0] >= 0) and scores[0] <= scores[-1] and np.all(scores[1:] >= scores[:-1])
    ):
        raise ValueError("calibration scores must be positive and in order")
    return scores.copy()
