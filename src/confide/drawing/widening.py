"""How many times as wide as the method's own calibrated confidence intervals are."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from confide.prediction import Prediction
from confide.uncertainty import TwinErrors

Row = Float64[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class Widening:
    """A factor for each row, with one standard error.

    On a logarithmic axis an error of the same share is as long above as below.

    Attributes:
        times: width of the calibrated confidence interval over that of the method's own.
        low: less one standard error.
        high: plus one.
        biased: whether the systematic error exceeds chance and what the method claims.
    """

    times: Row
    low: Row
    high: Row
    biased: Bool[np.ndarray, " row"]

    def __getitem__(self, rows: np.ndarray) -> "Widening":
        """Some rows, in that order."""
        return Widening(self.times[rows], self.low[rows], self.high[rows], self.biased[rows])


def widening_of(prediction: Prediction, confidence_level: float = 0.95) -> Widening:
    """How much wider calibration made each confidence interval; not finite where it had no width.

    Raises:
        ValueError: the confidence intervals were not calibrated.
    """
    own, errors = before_calibration(prediction)
    widths = (np.diff(p.confidence_interval(confidence_level)) for p in (prediction, own))
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.divide(*widths)[:, 0]
    part = 1 + errors.factor_error
    return Widening(times, times / part, times * part, errors.is_biased)


def before_calibration(prediction: Prediction) -> tuple[Prediction, TwinErrors]:
    """The method's own prediction, and what the simulations say about its rows.

    Raises:
        ValueError: the confidence intervals were not calibrated.
    """
    if prediction.uncalibrated is None or prediction.twin_errors is None:
        raise ValueError(
            "The picture needs confidence intervals that were calibrated on simulated twins, "
            "but these are not calibrated. Call `calibrate_confidence(X, y)` with the rows of "
            "`fit`, and predict again."
        )
    return prediction.uncalibrated, prediction.twin_errors
