"""Both intervals of a prediction, and where its uncertainty comes from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.checks import checked_targets
from confide.plot.places import Places, places_along, places_by_prediction
from confide.prediction import Kind, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart by colour-blind readers, and by lightness in grey print.
COLOURS = {
    "mean": "#000000",
    "confidence": "#0072B2",
    "prediction": "#9AD0F0",
    "observed": "#D55E00",
    "aleatoric": "#D9D9D9",
    "classical": "#0072B2",
    "optimisation": "#E69F00",
    "epistemic": "#009E73",
}
SOURCES = {
    "aleatoric": "noise (aleatoric)",
    "classical": "finite data (classical)",
    "optimisation": "random training (optimisation)",
    "epistemic": "finite data and random training (epistemic)",
}
# Height left to the legend, as a part of what is drawn.
_HEADROOM = 0.25
# Of more bars than this, the gaps would be narrower than a pixel.
_MOST_WITH_GAPS = 200
Bounds = Float64[np.ndarray, "row 2"]


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

    Example:
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(3), np.ones(3))
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1)
        >>> ax = plot_intervals(prediction, y=[0.5, -2.5, 1], ax=Figure().subplots())
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['95 % prediction interval', 'prediction', 'observed']
    """
    intervals = {k: prediction.interval(k, confidence_level) for k in _kinds(prediction, kind)}
    observed = None if y is None else checked_targets(y, len(prediction))
    places = places_of(prediction, x, joined=joined)
    ax = axis_or_new(ax)
    drawn = within_the_picture(ax, list(intervals.values()), prediction.mean, observed)
    for (k, bounds), shown in zip(intervals.items(), drawn, strict=True):
        calibrated = ", calibrated" if prediction.is_calibrated(k) else ""
        label = f"{100 * confidence_level:g} % {k} interval{calibrated}{_infinite(bounds)}"
        draw_intervals(ax, places, shown, sorted_rows=x is None, color=COLOURS[k], label=label)
    mean = prediction.mean[places.rows]
    style: dict[str, Any] = {"color": COLOURS["mean"], "label": "prediction"}
    if x is None or places.joined:
        ax.plot(places.position, mean, linewidth=1.2, **style)
    else:
        ax.plot(places.position, mean, ".", markersize=mark_size(places, 5, 1.5), **style)
    if observed is not None:
        style = {"s": mark_size(places, 14, 6), "edgecolor": "white", "zorder": 3}
        style |= {"color": COLOURS["observed"], "linewidth": mark_size(places, 0.4, 0.2)}
        ax.scatter(places.position, observed[places.rows], label="observed", **style)
    places.label(ax)
    if x is None:
        ax.set_xlabel("rows, sorted by prediction")
    notes = places.notes
    if kind is None and "confidence" not in intervals:
        notes = ("this method has no confidence interval", *notes)
    make_room(ax)
    legend(ax, notes)
    return ax


def plot_split(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """The share of noise, finite data and random training in each row's total variance.

    Args:
        prediction: what to show.
        x: a position for each row (numbers, dates, or text as categories), or None for rows sorted
            by their prediction.
        joined: whether neighbours along `x` belong together, as along a curve. Otherwise rows
            stand side by side, sorted by `x`.
        ax: where to draw, or None for a new figure.

    Example:
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> noise, shift = np.array([1.0, 3.0]), np.array([1.0, 1.0])
        >>> law = TPlusNormalLaw.normal(np.zeros(2), np.sqrt(noise + shift))
        >>> prediction = Prediction(law.location, noise, shift, law, law, shift, 0 * shift, 5)
        >>> ax = plot_split(prediction, ax=Figure().subplots())
        >>> ax.get_ylabel()
        'share of variance, %'
    """
    shares = prediction.shares
    places = places_of(prediction, x, joined=joined)
    ax = axis_or_new(ax)
    parts = [100 * share[places.rows] for share in shares.values()]
    labels = [SOURCES[source] for source in shares]
    colours = [COLOURS[source] for source in shares]
    if places.joined:
        ax.stackplot(places.position, parts, labels=labels, colors=colours)
        places.label(ax)
    else:
        edges = np.cumsum([np.zeros(len(places.rows)), *parts], axis=0)
        for k, (label, colour) in enumerate(zip(labels, colours, strict=True)):
            _bars(ax, edges[k], edges[k + 1], color=colour, label=label)
        ax.set_xlabel("rows, sorted by prediction" if x is None else "rows, sorted by x")
        if x is not None:
            places.label_side_by_side(ax)
    ax.set_ylim(0, 100 * (1 + _HEADROOM))
    ax.set_yticks(range(0, 101, 20))
    ax.set_ylabel("share of variance, %")
    ax.margins(x=0)
    legend(ax, places.notes)
    return ax


def axis_or_new(ax: "Axes | None") -> "Axes":
    """The axis that was given, or one of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # here, because importing it is slow

    return plt.subplots(layout="constrained")[1]


def _kinds(prediction: Prediction, kind: Kind | None) -> tuple[Kind, ...]:
    """The wider one first: the other is drawn on top of it."""
    if kind is not None:
        return (kind,)
    return ("prediction",) if prediction.confidence_law is None else ("prediction", "confidence")


def places_of(prediction: Prediction, x: ArrayLike | None, *, joined: bool) -> Places:
    """Where each row stands: along `x`, or side by side without one."""
    if x is None:
        return places_by_prediction(prediction.mean)
    return places_along(x, prediction.mean, joined=joined)


def _infinite(bounds: Bounds) -> str:
    n_infinite = int(np.isinf(bounds).any(axis=1).sum())
    return f" (infinite in {n_infinite} of {len(bounds)} rows)" if n_infinite else ""


def within_the_picture(
    ax: "Axes", intervals: Sequence[Bounds], *others: np.ndarray | None
) -> list[Bounds]:
    """Bounds as they are, but infinite ones at the edge of a picture of all that is finite."""
    if all(np.isfinite(bounds).all() for bounds in intervals):
        return list(intervals)
    everything = [np.ravel(part) for part in (*intervals, *others) if part is not None]
    finite = np.concatenate(everything)
    finite = finite[np.isfinite(finite)]
    margin = 0.05 * np.ptp(finite) or 1.0
    edges = finite.min() - margin, finite.max() + margin + _HEADROOM * np.ptp(finite)
    ax.set_ylim(*edges)
    return [np.clip(bounds, *edges) for bounds in intervals]


def draw_intervals(
    ax: "Axes", places: Places, bounds: Bounds, *, sorted_rows: bool, color: str, label: str
) -> None:
    """Bars of rows side by side, a band of joined ones, else a line at each."""
    lower, upper = bounds[places.rows].T
    if sorted_rows:  # rows that only stand next to each other are not joined
        _bars(ax, lower, upper, color=color, label=label)
    elif places.joined:
        ax.fill_between(places.position, lower, upper, color=color, linewidth=0, label=label)
    else:
        style: dict[str, Any] = {"linewidth": mark_size(places, 4, 1), "label": label}
        ax.vlines(places.position, lower, upper, color=color, **style)


def _bars(
    ax: "Axes",
    lower: Float64[np.ndarray, " place"],
    upper: Float64[np.ndarray, " place"],
    *,
    color: str,
    label: str,
) -> None:
    """A bar at 0, 1, ...; all as one artist, and many without gaps as one staircase."""
    from matplotlib.collections import PolyCollection

    place = np.arange(len(lower))
    if len(place) > _MOST_WITH_GAPS:
        ax.fill_between(place, lower, upper, step="mid", linewidth=0, color=color, label=label)
        return
    left, right = place - 0.425, place + 0.425
    corners = [(left, lower), (left, upper), (right, upper), (right, lower)]
    bars = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    ax.add_collection(PolyCollection(list(bars), facecolor=color, linewidth=0, label=label))
    ax.autoscale_view()


def mark_size(places: Places, few: float, many: float) -> float:
    """Marks of a few rows are large, and of many small: between 50 and 500 in proportion."""
    part = np.clip((len(places.rows) - 50) / 450, 0, 1)
    return float(few + part * (many - few))


def make_room(ax: "Axes") -> None:
    """Room for the legend, and later artists still find theirs."""
    if ax.get_autoscaley_on():
        box = ax.dataLim
        ax.update_datalim([(box.x0, box.y1 + _HEADROOM * box.height)])
        ax.autoscale_view()


def legend(ax: "Axes", notes: Sequence[str]) -> None:
    """What is drawn, and what the reader must know about it."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"fontsize": "small", "title_fontsize": "small", "edgecolor": "none"}
    drawn = ax.legend(title="\n".join(notes), loc="upper left", ncols=2, **style)
    drawn.set_alignment("left")
    for line, text in zip(drawn.legend_handles, drawn.get_texts(), strict=True):
        if isinstance(line, Line2D) and "interval" in text.get_text():
            line.set_linewidth(4)  # as thin as those of many rows, it would have no colour
