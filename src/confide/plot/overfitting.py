"""Finite data against noise at the training rows: the picture of the overfitting check."""

from typing import TYPE_CHECKING, Any

import numpy as np

from confide.diagnostics import LARGEST_RATIO, overfitting_check
from confide.drawing import COLOURS
from confide.plot.axes import axis_or_new, make_log_room
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    ax.plot(ends, ratio * ends, color=COLOURS["observed"], linewidth=1.5, label=mean)
    for axis in (ax.xaxis, ax.yaxis):  # between powers of ten, numbers run into each other
        axis.set_minor_formatter("")
    ax.set_xlabel("noise (aleatoric variance)")
    ax.set_ylabel("finite data (classical variance)")
    make_log_room(ax, 0.4)
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    return ax
