"""Where the uncertainty of each row comes from, and whether finite data is as large as noise."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from confide.diagnostics import LARGEST_RATIO, overfitting_check
from confide.drawing import COLOURS, HEADROOM, SOURCES, places_of, stacked
from confide.plot.axes import (
    axis_or_new,
    label_places,
    legend,
    make_log_room,
    paint_bars,
    set_words,
)
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Returns:
        The axis with the picture.

    Example:
        >>> import numpy as np
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
    places = places_of(prediction.mean, x, joined=joined)
    ax = axis_or_new(ax)
    for part in stacked({source: 100 * share[places.rows] for source, share in shares.items()}):
        colour, name = COLOURS[part.source], SOURCES[part.source]
        if places.joined:
            ax.fill_between(places.position, part.start, part.end, facecolor=colour, label=name)
        else:
            paint_bars(ax, part.start, part.end, color=colour, label=name)
    if places.joined or places.by_prediction:
        label_places(ax, places)
    else:
        ax.set_xlabel("rows, sorted by x")
        set_words(ax, *places.ticks_side_by_side())
    ax.set_ylim(0, 100 * (1 + HEADROOM))
    ax.set_yticks(range(0, 101, 20))
    ax.set_ylabel("share of variance, %")
    ax.margins(x=0)
    legend(ax, places.notes)
    return ax


def plot_overfitting(training: Prediction, *, ax: "Axes | None" = None) -> "Axes":
    """Classical against aleatoric variance at each training row, on logarithmic axes.

    Near the line where they are equal, networks follow the noise; sound fits lie far below.

    Args:
        training: the prediction at the rows that the model was trained on.
        ax: where to draw, or None for a new figure.
    """
    ratio = overfitting_check(training).ratio
    ax = axis_or_new(ax)
    noise, finite = np.asarray(training.aleatoric_variance), np.asarray(training.classical_variance)
    style: dict[str, Any] = {"s": 16, "edgecolor": "white", "linewidth": 0.3, "alpha": 0.8}
    ax.scatter(noise, finite, color=COLOURS["classical"], label="training rows", **style)
    ax.set(xscale="log", yscale="log")
    ends = np.array([noise.min(), noise.max()])
    ax.plot(ends, ends, color="black", linewidth=1.2, label="equal")
    limit = f"largest honest mean ratio, {LARGEST_RATIO:.2f}"
    ax.plot(ends, LARGEST_RATIO * ends, color="black", linestyle="--", linewidth=1, label=limit)
    mean = f"mean ratio {ratio:.2g}"
    ax.plot(ends, ratio * ends, color="black", linestyle=":", linewidth=2, label=mean)
    for axis in (ax.xaxis, ax.yaxis):  # between powers of ten, numbers run into each other
        axis.set_minor_formatter("")
    ax.set_xlabel("noise (aleatoric variance)")
    ax.set_ylabel("finite data (classical variance)")
    make_log_room(ax, 0.4)
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    return ax
