"""Both intervals of a prediction, and where its uncertainty comes from."""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int, Num
from numpy.typing import ArrayLike

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
}
SOURCES = {
    "aleatoric": "noise (aleatoric)",
    "classical": "finite data (classical)",
    "optimisation": "random training (optimisation)",
}


def plot_intervals(
    prediction: Prediction,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    ax: "Axes | None" = None,
) -> "Axes":
    """Predictions with their confidence and prediction intervals.

    Args:
        prediction: what to show.
        x: horizontal position of each row, or None for rows sorted by their prediction.
        y: observed targets, drawn as points.
        confidence_level: level of both intervals.
        ax: where to draw, or None for a new figure.
    """
    ax = _axis(ax)
    order, position = _order_and_position(prediction, x)
    kinds: tuple[Kind, ...] = ("prediction", "confidence")
    for kind in kinds[: 1 if prediction.confidence_law is None else 2]:
        lower, upper = prediction.interval(kind, confidence_level)[order].T
        style: dict[str, Any] = {"color": COLOURS[kind], "linewidth": 0}
        style["label"] = f"{100 * confidence_level:g} % {kind} interval"
        if x is None:  # rows that only stand next to each other are not joined
            ax.bar(position, upper - lower, bottom=lower, width=0.85, **style)
        else:
            ax.fill_between(position, lower, upper, **style)
    mean = prediction.mean[order]
    ax.plot(position, mean, color=COLOURS["mean"], linewidth=1.2, label="prediction")
    if y is not None:
        observed = np.asarray(y)[order]
        style = {"s": 14, "edgecolor": "white", "linewidth": 0.4, "zorder": 3}
        ax.scatter(position, observed, color=COLOURS["observed"], label="observed", **style)
    if x is None:
        ax.set_xlabel("rows, sorted by prediction")
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax


def plot_split(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """The share of noise, finite data and random training in each row's total variance."""
    ax = _axis(ax)
    order, position = _order_and_position(prediction, x)
    shares = {source: 100 * share[order] for source, share in prediction.shares.items()}
    labels = [SOURCES[source] for source in shares]
    colours = [COLOURS[source] for source in shares]
    if x is None:
        bottoms = np.cumsum([np.zeros(len(prediction)), *shares.values()], axis=0)
        for share, bottom, label, colour in zip(
            shares.values(), bottoms, labels, colours, strict=False
        ):
            ax.bar(position, share, bottom=bottom, width=0.85, color=colour, label=label)
    else:
        ax.stackplot(position, list(shares.values()), labels=labels, colors=colours)
    ax.set_ylim(0, 100)
    ax.set_ylabel("share of variance, %")
    ax.margins(x=0)
    if x is None:
        ax.set_xlabel("rows, sorted by prediction")
    ax.legend(loc="lower left", fontsize="small")
    return ax


def _order_and_position(
    prediction: Prediction, x: ArrayLike | None
) -> tuple[Int[np.ndarray, " row"], Num[np.ndarray, " row"]]:
    if x is None:
        return np.argsort(prediction.mean), np.arange(len(prediction))
    position = np.asarray(x)
    order = np.argsort(position)
    return order, position[order]


def _axis(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # here, because importing it is slow

    return plt.subplots(layout="constrained")[1]
