"""Confidence intervals before and after their calibration on simulated twins of the data."""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.plot.places import Places
from confide.plot.prediction import (
    COLOURS,
    axis_or_new,
    draw_intervals,
    legend,
    make_room,
    mark_size,
    places_of,
    within_the_picture,
)
from confide.prediction import Prediction
from confide.uncertainty import TwinErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's, light under dark: the method's own is drawn upon the calibrated.
CALIBRATED, EDGE, OWN = "#F6CF80", "#E69F00", COLOURS["confidence"]
BIASED = COLOURS["observed"]


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
    """
    own, _ = before_calibration(prediction)
    places = places_of(prediction, x, joined=joined)
    calibrated = prediction.confidence_interval(confidence_level)
    claimed = own.confidence_interval(confidence_level)
    ax = axis_or_new(ax)
    level = f"{100 * confidence_level:g} % confidence interval"
    names = (f"{level}, calibrated on twins", f"{level}, the method's own")
    calibrated, claimed = within_the_picture(ax, [calibrated, claimed], prediction.mean)
    how: dict[str, Any] = {"sorted_rows": x is None, "color": CALIBRATED, "label": names[0]}
    draw_intervals(ax, places, calibrated, **how)
    mean, black = prediction.mean[places.rows], COLOURS["mean"]
    if places.joined:
        draw_intervals(ax, places, claimed, sorted_rows=False, color=OWN, label=names[1])
        # Where the calibrated band is the narrower one, its edges still show.
        ax.plot(places.position, calibrated[places.rows], color=EDGE, linewidth=1.2)
        ax.plot(places.position, mean, color=black, linewidth=1.2, label="prediction")
    else:
        thin = mark_size(places, 2, 0.6)
        lower, upper = claimed[places.rows].T
        ax.vlines(places.position, lower, upper, color=OWN, linewidth=thin, label=names[1])
        ax.plot(places.position, mean, ".", color=black, markersize=2 * thin, label="prediction")
    places.label(ax)
    if x is None:
        ax.set_xlabel("rows, sorted by prediction")
    make_room(ax)
    legend(ax, places.notes)
    return ax


def plot_widening(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """How many times as wide as the method's own calibrated confidence intervals are.

    With one standard error, as so many simulations tell it no better. Rows where the systematic
    error exceeds chance and what the method claims are marked: there no narrow interval is honest.

    Args:
        prediction: of a model after `calibrate_confidence`.
        x: horizontal position of each row, or None for rows sorted by their prediction.
        confidence_level: level of the intervals.
        joined: whether neighbours along `x` belong together, as along a curve.
        ax: where to draw, or None for a new figure.
    """
    _, simulated = before_calibration(prediction)
    places = places_of(prediction, x, joined=joined)
    times = widening_of(prediction, confidence_level)[places.rows]
    error, biased = simulated.factor_error[places.rows], simulated.is_biased[places.rows]
    ax = axis_or_new(ax)
    ax.set_yscale("log")
    ax.axhline(1, color="#444444", linestyle=(0, (5, 3)), linewidth=1, label="as wide")
    if places.joined:
        _curve(ax, places, times, error)
    else:
        bars = (times * error / (1 + error), times * error)
        style: dict[str, Any] = {"fmt": "o", "markersize": mark_size(places, 4, 2)}
        style |= {"elinewidth": mark_size(places, 1, 0.5), "color": OWN}
        ax.errorbar(places.position, times, bars, label="± one standard error", **style)
    if biased.any():
        mark = ".-" if places.joined else "^"
        style = {"color": BIASED, "markersize": mark_size(places, 5, 2.5), "zorder": 3}
        only = np.where(biased, times, np.nan)
        ax.plot(places.position, only, mark, label="systematic error exceeds chance", **style)
    places.label(ax)
    _few_ticks(ax)
    lowest, highest = ax.get_ylim()
    ax.set_ylim(lowest, highest * (highest / lowest) ** 0.3)  # room for the legend
    if x is None:
        ax.set_xlabel("rows, sorted by prediction")
    ax.set_ylabel("times as wide")
    legend(ax, places.notes)
    return ax


def widening_of(prediction: Prediction, confidence_level: float) -> Float64[np.ndarray, " row"]:
    """Width of the calibrated confidence interval over that of the method's own, for each row."""
    own, _ = before_calibration(prediction)
    widths = (np.diff(each.confidence_interval(confidence_level)) for each in (prediction, own))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(*widths)[:, 0]


def before_calibration(prediction: Prediction) -> tuple[Prediction, TwinErrors]:
    """The method's own prediction, and what the simulations say of its rows.

    Raises:
        ValueError: the confidence intervals were not calibrated.
    """
    if prediction.uncalibrated is None or prediction.twin_errors is None:
        raise ValueError(
            "The picture needs confidence intervals that were calibrated on simulated twins, and "
            "these are the method's own. Call `calibrate_confidence(X, y)` with the rows of `fit`, "
            "and predict again."
        )
    return prediction.uncalibrated, prediction.twin_errors


def _curve(
    ax: "Axes",
    places: Places,
    times: Float64[np.ndarray, " place"],
    error: Float64[np.ndarray, " place"],
) -> None:
    low, high = times / (1 + error), times * (1 + error)
    label = "± one standard error"
    ax.fill_between(places.position, low, high, color=CALIBRATED, linewidth=0, label=label)
    ax.plot(places.position, times, color=EDGE, linewidth=1.4)


def _few_ticks(ax: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
