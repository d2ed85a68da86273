"""Predictions with their intervals: which rows and bands, where, and under which names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.checks import checked_targets
from confide.drawing.places import Places, places_of
from confide.drawing.widening import before_calibration
from confide.drawing.words import interval_name
from confide.prediction import Kind, Prediction

Bounds = Float64[np.ndarray, "row 2"]
Row = Float64[np.ndarray, " row"]
# Height left to the legend, as a part of what is drawn.
HEADROOM = 0.25


@dataclass(frozen=True, eq=False)
class Band:
    """An interval for each row.

    Attributes:
        role: whose colour it has.
        name: what the legend calls it.
        bounds: lower and upper ends; infinite ones end at the edge of the picture.
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
        notes: what the reader must know.
    """

    places: Places
    bands: tuple[Band, ...]
    mean: Row
    observed: Row | None
    limits: tuple[float, float] | None
    notes: tuple[str, ...]


def intervals_picture(
    prediction: Prediction,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    kind: Kind | None = None,
    joined: bool = True,
) -> IntervalsPicture:
    """Both intervals of a prediction, or one kind of them.

    Args:
        prediction: what to show.
        x: position of each row, or None for rows sorted by their prediction.
        y: observed targets, or None.
        confidence_level: level of both intervals.
        kind: "confidence" or "prediction" for one kind of intervals, or None for all there are.
        joined: whether neighbours along `x` belong together, as along a curve.

    Returns:
        What to draw; the wider interval comes first.
    """
    kinds: tuple[Kind, ...] = ("prediction", "confidence")
    notes = ()
    if kind is not None:
        kinds = (kind,)
    elif prediction.confidence_law is None:
        kinds, notes = ("prediction",), ("this method has no confidence interval",)
    bands = []
    for k in kinds:
        bounds = prediction.interval(k, confidence_level)
        name = interval_name(k, confidence_level, calibrated=prediction.is_calibrated(k))
        bands.append(Band(k, name + _infinite(bounds), bounds))
    observed = None if y is None else checked_targets(y, len(prediction))
    places = places_of(prediction.mean, x, joined=joined)
    return _picture(places, bands, prediction.mean, observed, notes)


def calibration_picture(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    joined: bool = True,
) -> IntervalsPicture:
    """The method's own confidence intervals upon those that were calibrated on twins.

    Args:
        prediction: of a model after `calibrate_confidence`.
        x: position of each row, or None for rows sorted by their prediction.
        confidence_level: level of both.
        joined: whether neighbours along `x` belong together, as along a curve.

    Returns:
        What to draw; the calibrated interval comes first.
    """
    own, _ = before_calibration(prediction)
    places = places_of(prediction.mean, x, joined=joined)
    name = interval_name("confidence", confidence_level)
    bands = [
        Band(role, f"{name}, {whose}", shown.confidence_interval(confidence_level))
        for role, whose, shown in (
            ("calibrated", "calibrated on twins", prediction),
            ("own", "the method's own", own),
        )
    ]
    return _picture(places, bands, prediction.mean)


def axis_limits(bounds: Bounds, values: Row) -> tuple[float, float]:
    """Ends of an axis with room for all finite values and nearly all bounds.

    Example:
        >>> axis_limits(np.array([[-np.inf, 2.0]]), np.array([0.0, 1.0, np.nan]))
        (-0.06, 2.06)
    """
    ends = [values[np.isfinite(values)]]
    for side, share in ((0, 0.01), (1, 0.99)):
        finite = bounds[np.isfinite(bounds[:, side]), side]
        ends.append(np.quantile(finite, [share]) if len(finite) else finite)
    everything = np.concatenate(ends)
    if not len(everything):
        return 0.0, 1.0
    low, high = float(everything.min()), float(everything.max())
    room = 0.03 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


def _picture(
    places: Places,
    bands: Sequence[Band],
    mean: Row,
    observed: Row | None = None,
    notes: tuple[str, ...] = (),
) -> IntervalsPicture:
    limits = None
    if not all(np.isfinite(band.bounds).all() for band in bands):
        limits = _limits_of_finite(*(band.bounds for band in bands), mean, observed)
        bands = [Band(band.role, band.name, np.clip(band.bounds, *limits)) for band in bands]
    rows = places.rows
    return IntervalsPicture(
        places,
        tuple(Band(band.role, band.name, band.bounds[rows]) for band in bands),
        mean[rows],
        None if observed is None else observed[rows],
        limits,
        (*notes, *places.notes),
    )


def _limits_of_finite(*parts: np.ndarray | None) -> tuple[float, float]:
    """Ends of an axis with all that is finite, and room for the legend."""
    everything = np.concatenate([np.ravel(part) for part in parts if part is not None])
    finite = everything[np.isfinite(everything)]
    margin = 0.05 * np.ptp(finite) or 1.0
    return finite.min() - margin, finite.max() + margin + HEADROOM * np.ptp(finite)


def _infinite(bounds: Bounds) -> str:
    n_infinite = int(np.isinf(bounds).any(axis=1).sum())
    return f" (infinite in {n_infinite} of {len(bounds)} rows)" if n_infinite else ""
