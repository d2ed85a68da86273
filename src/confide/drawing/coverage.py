"""Observed coverage of prediction intervals, under the names of a legend."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from confide.metrics import ObservedCoverage
from confide.prediction import Prediction


def named_coverages(
    prediction: Prediction, y: ArrayLike, confidence_levels: Sequence[float] | None = None
) -> dict[str, ObservedCoverage]:
    """That of a prediction; of a calibrated one also that before calibration."""
    named = {"prediction intervals": prediction}
    own = prediction.uncalibrated
    if own is not None and prediction.is_calibrated("prediction"):
        on_twins = prediction.prediction_law.origin == "twins"
        now = "prediction intervals calibrated on twins"
        now = now if on_twins else "calibrated prediction intervals"
        named = {now: prediction, "before calibration": own}
    return {name: p.observed_coverage(y, confidence_levels) for name, p in named.items()}
