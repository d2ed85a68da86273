"""Predictions with their intervals, before and after calibration: which rows, where, what names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64
from numpy.typing import ArrayLike

from confide.drawing.places import Places
from confide.drawing.words import interval_name
from confide.metrics import ObservedCoverage
from confide.prediction import Kind, Prediction
from confide.uncertainty import TwinErrors

Bounds = Float64[np.ndarray, "row 2"]
Row = Float64[np.ndarray, " row"]
# Height left to the legend, as a part of what is drawn.
HEADROOM = 0.25


class Band(NamedTuple):
    """An interval for each row.

    Attributes:
        role: whose colour it has.
        name: what the legend calls it.
        bounds: lower and upper ends.
    """

    role: str
    name: str
    bounds: Bounds


@dataclass(frozen=True, eq=False)
class IntervalsPicture:
    """Rows from left to right with their predictions and intervals.

    Attributes:
        places: which rows, and where they stand.
        bands: their intervals; a later one is drawn upon those before it.
        mean: their predictions.
        observed: their targets, or None.
        limits: ends of the vertical axis where bounds are infinite, or None.
    """

    places: Places
    bands: tuple[Band, ...]
    mean: Row
    observed: Row | None
    limits: tuple[float, float] | None


def interval_bands(
    prediction: Prediction, confidence_level: float, kind: Kind | None = None
) -> list[Band]:
    """One kind of interval, or None for all that there are: the wider one first."""
    kinds: tuple[Kind, ...] = ("prediction", "confidence")
    if kind is not None or prediction.confidence_law is None:
        kinds = (kind or "prediction",)
    bands = []
    for k in kinds:
        bounds = prediction.interval(k, confidence_level)
        name = interval_name(k, confidence_level, calibrated=prediction.is_calibrated(k))
        bands.append(Band(k, name + _infinite(bounds), bounds))
    return bands


def calibration_bands(prediction: Prediction, confidence_level: float) -> list[Band]:
    """Confidence intervals calibrated on twins, then the method's own to be drawn upon them."""
    own, _ = before_calibration(prediction)
    name = interval_name("confidence", confidence_level)
    now, before = (p.confidence_interval(confidence_level) for p in (prediction, own))
    return [
        Band("confidence", f"{name}, calibrated on twins", now),
        Band("own", f"{name}, the method's own", before),
    ]


def intervals_picture(
    mean: Row, bands: Sequence[Band], places: Places, observed: Row | None = None
) -> IntervalsPicture:
    """Some rows with their intervals; infinite ends are at the edge of the picture.

    Args:
        mean: predictions of all rows.
        bands: intervals of all rows.
        places: which of them are drawn, and where.
        observed: targets of all rows, or None.

    Returns:
        What to draw.
    """
    limits, rows = None, places.rows
    if not all(np.isfinite(band.bounds).all() for band in bands):
        limits = _limits_of_finite(*(band.bounds for band in bands), mean, observed)
        bands = [band._replace(bounds=np.clip(band.bounds, *limits)) for band in bands]
    drawn = tuple(band._replace(bounds=band.bounds[rows]) for band in bands)
    shown = None if observed is None else observed[rows]
    return IntervalsPicture(places, drawn, mean[rows], shown, limits)


def axis_limits(bounds: Bounds, values: Row) -> tuple[float, float]:
    """Ends of an axis with room for nearly all values and bounds: none flattens all the others.

    Example:
        >>> axis_limits(np.array([[-np.inf, 2.0]]), np.array([0.0, 1.0, np.nan]))
        (-0.06, 2.06)
        >>> axis_limits(np.empty((0, 2)), np.array([1.0, 2, 3, 1, 2, 3, 9e9]))
        (0.94, 3.06)
    """
    everything = np.concatenate([robust_range(part) for part in (values, *bounds.T)])
    if not len(everything):
        return 0.0, 1.0
    low, high = float(everything.min()), float(everything.max())
    room = 0.03 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


def robust_range(values: Row) -> Float64[np.ndarray, " end"]:
    """The ends of the finite values, without those that are far from all others.

    Far is more than the range of the middle 98 % beyond it, of which at least one value at either
    end is no part. None where no value is finite.

    Example:
        >>> robust_range(np.array([1.0, 2, 3, 1, 2, 3, 9e9])).tolist()
        [1.0, 3.0]
    """
    finite = np.sort(values[np.isfinite(values)])
    if len(finite) < 4:
        return finite[[0, -1]] if len(finite) else finite
    cut = max(1, len(finite) // 100)
    low, high = finite[cut], finite[-1 - cut]
    near = finite[(finite >= 2 * low - high) & (finite <= 2 * high - low)]
    return (near if high > low else finite)[[0, -1]]


def _limits_of_finite(*parts: np.ndarray | None) -> tuple[float, float]:
    """Ends of an axis with all that is finite, and room for the legend."""
    everything = np.concatenate([np.ravel(part) for part in parts if part is not None])
    finite = everything[np.isfinite(everything)]
    margin = 0.05 * np.ptp(finite) or 1.0
    return finite.min() - margin, finite.max() + margin + HEADROOM * np.ptp(finite)


def _infinite(bounds: Bounds) -> str:
    n_infinite = int(np.isinf(bounds).any(axis=1).sum())
    return f" (infinite in {n_infinite} of {len(bounds)} rows)" if n_infinite else ""


@dataclass(frozen=True, eq=False)
class Widening:
    """How much wider calibration made the confidence interval of each row.

    Attributes:
        times: width of the calibrated confidence interval over that of the method's own.
        biased: whether the bias exceeds what the method claims.
    """

    times: Row
    biased: Bool[np.ndarray, " row"]

    def __getitem__(self, rows: np.ndarray) -> "Widening":
        """Some rows, in that order."""
        return Widening(self.times[rows], self.biased[rows])


def widening_of(prediction: Prediction, confidence_level: float = 0.95) -> Widening:
    """How much wider calibration made each confidence interval; not finite where it had no width.

    Raises:
        ValueError: the confidence intervals were not calibrated.
    """
    own, errors = before_calibration(prediction)
    widths = (np.diff(p.confidence_interval(confidence_level)) for p in (prediction, own))
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.divide(*widths)[:, 0]
    return Widening(times, errors.is_biased)


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


def named_coverages(
    prediction: Prediction, y: ArrayLike, confidence_levels: Sequence[float] | None = None
) -> dict[str, ObservedCoverage]:
    """The coverage of a prediction, and if it is calibrated also that before calibration."""
    named = {"prediction intervals": prediction}
    own = prediction.uncalibrated
    if own is not None and prediction.is_calibrated("prediction"):
        named = {"calibrated prediction intervals": prediction, "before calibration": own}
    return {name: p.observed_coverage(y, confidence_levels) for name, p in named.items()}
