"""Both intervals of a prediction, and what calibration changed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from confide.checks import checked_targets
from confide.drawing import (
    BIASED,
    COLOURS,
    Band,
    IntervalsPicture,
    Places,
    calibration_bands,
    interval_bands,
    intervals_picture,
    places_of,
    widening_of,
)
from confide.plot.axes import (
    axis_or_new,
    label_places,
    legend,
    make_log_room,
    make_room,
    mark_size,
    paint_bars,
)
from confide.prediction import Kind, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_intervals(
    prediction: Prediction,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    kind: Kind | None = None,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """Predictions with their confidence and prediction intervals.

    Infinite bounds reach to the edge of the picture and are counted in the legend. Of more than a
    few thousand rows a random sample is drawn, which the legend says.

    Args:
        prediction: what to show.
        x: horizontal position of each row (numbers, dates, or text as categories), or None for
            rows sorted by their prediction.
        y: observed targets, drawn as points.
        confidence_level: level of both intervals.
        kind: "confidence" or "prediction" for one kind of intervals, or None for all there are.
        joined: whether neighbours along `x` belong together, as along a curve: they are drawn as
            bands. Pass False where rows differ in more than `x`. Categories are never joined.
        ax: where to draw, or None for a new figure.

    Returns:
        The axis with the picture.

    Example:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(3), np.ones(3))
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1)
        >>> ax = plot_intervals(prediction, y=[0.5, -2.5, 1], ax=Figure().subplots())
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['95 % prediction interval', 'prediction', 'observed']
    """
    bands = interval_bands(prediction, confidence_level, kind)
    observed = None if y is None else checked_targets(y, len(prediction))
    places = places_of(prediction.mean, x, joined=joined)
    picture = intervals_picture(prediction.mean, bands, places, observed)
    ax = _limited(ax, picture)
    for band in picture.bands:
        _paint_band(ax, places, band)
    _paint_mean(ax, picture, places.joined or places.by_prediction, (5, 1.5))
    if picture.observed is not None:
        style: dict[str, Any] = {"s": mark_size(places, 14, 6), "edgecolor": "white", "zorder": 3}
        style |= {"color": COLOURS["observed"], "linewidth": mark_size(places, 0.4, 0.2)}
        ax.scatter(places.position, picture.observed, label="observed", **style)
    lacks = kind is None and prediction.confidence_law is None
    return _finished(ax, places, ["this method has no confidence interval"] if lacks else [])


def plot_confidence_calibration(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """The method's own confidence intervals upon those that were calibrated on simulated twins.

    Args:
        prediction: of a model after `calibrate_confidence`.
        x: horizontal position of each row (numbers, dates, or text as categories), or None for
            rows sorted by their prediction.
        confidence_level: level of both.
        joined: whether neighbours along `x` belong together, as along a curve.
        ax: where to draw, or None for a new figure.

    Returns:
        The axis with the picture.
    """
    bands = calibration_bands(prediction, confidence_level)
    places = places_of(prediction.mean, x, joined=joined)
    picture = intervals_picture(prediction.mean, bands, places)
    ax = _limited(ax, picture)
    calibrated, own = picture.bands
    _paint_band(ax, places, calibrated)
    _paint_band(ax, places, own, thin=True)
    if places.joined:
        # Where the calibrated band is the narrower one, its edges still show.
        ax.plot(places.position, calibrated.bounds, color=COLOURS["confidence"], linewidth=1.2)
    _paint_mean(ax, picture, places.joined, (4, 1.2))
    return _finished(ax, places)


def plot_widening(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """How many times as wide as the method's own calibrated confidence intervals are.

    Rows are marked where the bias exceeds what the method claims: there no narrow confidence
    interval is honest.

    Args:
        prediction: of a model after `calibrate_confidence`.
        x: horizontal position of each row, or None for rows sorted by their prediction.
        confidence_level: level of the intervals.
        joined: whether neighbours along `x` belong together, as along a curve.
        ax: where to draw, or None for a new figure.

    Returns:
        The axis with the picture.
    """
    widening = widening_of(prediction, confidence_level)
    places = places_of(prediction.mean, x, joined=joined)
    shown, position = widening[places.rows], places.position
    ax = axis_or_new(ax)
    ax.set_yscale("log")
    dashes = (0, (5, 3))
    ax.axhline(1, color=COLOURS["nominal"], linestyle=dashes, linewidth=1, label="as wide")
    style: dict[str, Any]
    if places.joined:
        ax.plot(position, shown.times, color=COLOURS["confidence"], linewidth=1.4)
    else:
        style = {"color": COLOURS["confidence"], "markersize": mark_size(places, 4, 2)}
        ax.plot(position, shown.times, "o", **style)
    if shown.biased.any():
        style = {"color": COLOURS["biased"], "markersize": mark_size(places, 5, 2.5), "zorder": 3}
        only = np.where(shown.biased, shown.times, np.nan)
        ax.plot(position, only, ".-" if places.joined else "^", label=BIASED, **style)
    label_places(ax, places)
    _few_ticks(ax)
    make_log_room(ax, 0.3)
    ax.set_ylabel("times as wide")
    legend(ax, places.notes)
    return ax


def _limited(ax: "Axes | None", picture: IntervalsPicture) -> "Axes":
    ax = axis_or_new(ax)
    if picture.limits is not None:
        ax.set_ylim(*picture.limits)
    return ax


def _paint_band(ax: "Axes", places: Places, band: Band, *, thin: bool = False) -> None:
    """A band of joined rows, bars of rows side by side, else a line at each."""
    lower, upper = band.bounds.T
    style: dict[str, Any] = {"color": COLOURS[band.role], "label": band.name}
    if places.joined:
        ax.fill_between(places.position, lower, upper, linewidth=0, **style)
    elif places.by_prediction and not thin:
        paint_bars(ax, lower, upper, **style)
    else:
        few, many = (2, 0.6) if thin else (4, 1)
        width = mark_size(places, few, many)
        ax.vlines(places.position, lower, upper, linewidth=width, **style)


def _paint_mean(
    ax: "Axes", picture: IntervalsPicture, as_line: bool, sizes: tuple[float, float]
) -> None:
    places = picture.places
    style: dict[str, Any] = {"color": COLOURS["mean"], "label": "prediction"}
    if as_line:
        ax.plot(places.position, picture.mean, linewidth=1.2, **style)
    else:
        ax.plot(places.position, picture.mean, ".", markersize=mark_size(places, *sizes), **style)


def _finished(ax: "Axes", places: Places, notes: Sequence[str] = ()) -> "Axes":
    label_places(ax, places)
    make_room(ax)
    legend(ax, [*notes, *places.notes])
    return ax


def _few_ticks(ax: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
