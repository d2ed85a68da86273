"""Coverage of intervals, under the names of a legend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.metrics import ObservedCoverage
from confide.prediction import Kind, Prediction


@dataclass(frozen=True, eq=False)
class PointwiseCoverage:
    """One estimator's coverage of one kind at one level.

    Attributes:
        estimator: its name.
        kind: "confidence" or "prediction".
        confidence_level: what the coverage should be.
        pointwise: what it is, at each test row.
    """

    estimator: str
    kind: Kind
    confidence_level: float
    pointwise: Float64[np.ndarray, " row"]


def named_coverages(
    prediction: Prediction, y: ArrayLike, confidence_levels: Sequence[float] | None = None
) -> dict[str, ObservedCoverage]:
    """Observed coverage of prediction intervals; of calibrated ones also that before calibration.

    Args:
        prediction: of rows that took no part in the fit.
        y: their targets.
        confidence_levels: levels to look at, or None for the usual ones.
    """
    named = {"prediction intervals": prediction}
    own = prediction.uncalibrated
    if own is not None and prediction.is_calibrated("prediction"):
        on_twins = prediction.prediction_law.origin == "twins"
        now = "prediction intervals calibrated on twins"
        now = now if on_twins else "calibrated prediction intervals"
        named = {now: prediction, "before calibration": own}
    return {name: p.observed_coverage(y, confidence_levels) for name, p in named.items()}
