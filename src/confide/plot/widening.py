"""How much wider calibration on simulated twins made confidence intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from confide.drawing import BIASED, COLOURS, places_of, widening_of
from confide.plot.axes import axis_or_new, label_places, legend, make_log_room, mark_size
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ERROR = "± one standard error"


def plot_widening(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """How many times as wide as the method's own calibrated confidence intervals are.

    The bars show one standard error, because few simulations cannot say it more precisely. Rows
    are marked where the systematic error exceeds chance and what the method claims: there no
    narrow interval is honest.

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
        style = {"color": COLOURS["calibrated"], "linewidth": 0, "label": ERROR}
        ax.fill_between(position, shown.low, shown.high, **style)
        ax.plot(position, shown.times, color=COLOURS["edge"], linewidth=1.4)
    else:
        bars = (shown.times - shown.low, shown.high - shown.times)
        style = {"fmt": "o", "color": COLOURS["own"], "markersize": mark_size(places, 4, 2)}
        style |= {"elinewidth": mark_size(places, 1, 0.5), "label": ERROR}
        ax.errorbar(position, shown.times, bars, **style)
    if shown.biased.any():
        style = {"color": COLOURS["observed"], "markersize": mark_size(places, 5, 2.5), "zorder": 3}
        only = np.where(shown.biased, shown.times, np.nan)
        ax.plot(position, only, ".-" if places.joined else "^", label=BIASED, **style)
    label_places(ax, places)
    _few_ticks(ax)
    make_log_room(ax, 0.3)
    ax.set_ylabel("times as wide")
    legend(ax, places.notes)
    return ax


def _few_ticks(ax: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
