"""Coverage of intervals: at each test row about its level, and observed against nominal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.drawing import COLOURS
from confide.metrics import ObservedCoverage
from confide.plot.axes import axis_or_new
from confide.prediction import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from confide.coverage import Coverage

# Okabe and Ito's colours once more; markers and lines tell curves apart in grey.
_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    {"color": "#009E73", "marker": "^", "linestyle": "-."},
    {"color": "#CC79A7", "marker": "D", "linestyle": ":", "markerfacecolor": "white"},
)


def plot_coverage(coverages: Sequence["Coverage"]) -> "Figure":
    """A violin for each estimator, a panel for each kind and level; the dashed line is the level.

    Perfect intervals would lie on the line at every row.
    """
    import matplotlib.pyplot as plt

    kinds = [kind for kind in KINDS if any(c.kind == kind for c in coverages)]
    levels = sorted({c.confidence_level for c in coverages})
    names = list(dict.fromkeys(c.estimator for c in coverages))
    size = (0.8 + len(kinds) * (1.4 + 1.1 * len(names)), 1.2 + 2.8 * len(levels))
    how: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False}
    axes: Any
    figure, axes = plt.subplots(len(levels), len(kinds), figsize=size, layout="constrained", **how)
    for i, j in np.ndindex(axes.shape):
        ax, level, kind = axes[i, j], levels[i], kinds[j]
        pointwise = {
            c.estimator: c.pointwise
            for c in coverages
            if c.kind == kind and c.confidence_level == level
        }
        ax.axhline(level, color=COLOURS["nominal"], linestyle="--", linewidth=1)
        for position, name in enumerate(names):
            if name in pointwise:
                _violin(ax, position, pointwise[name], COLOURS[kind])
            else:
                ax.text(position, 0.5, "has none", ha="center", va="center", rotation=90)
        labels = [name.removesuffix("Regressor") for name in names]
        ax.set_xticks(range(len(names)), labels, rotation=20, ha="right")
        ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(-0.02, 1.02))
        ax.set_title(f"{100 * level:g} % {kind} intervals", fontsize="medium")
        if j == 0:
            ax.set_ylabel("coverage at each test row")
    return figure


def plot_observed_coverage(
    coverages: Mapping[str, ObservedCoverage], *, ax: "Axes | None" = None
) -> "Axes":
    """Observed against nominal coverage of prediction intervals, a curve for each name.

    Points above the diagonal are of intervals that are too wide, points below of intervals that
    are too narrow. Bars are Wilson's 95 % confidence intervals for the coverage behind each point.

    Args:
        coverages: what `Prediction.observed_coverage` returns, under the names of the legend.
        ax: where to draw, or None for a new figure.

    Example:
        >>> from matplotlib.figure import Figure
        >>> numbers = [np.array([number]) for number in (0.9, 0.8, 0.03, 0.7, 0.87)]
        >>> model = {"my model": ObservedCoverage(*numbers)}
        >>> ax = plot_observed_coverage(model, ax=Figure().subplots())
        >>> ax.get_xlabel()
        'nominal coverage of prediction intervals'
    """
    if not coverages:
        raise ValueError(
            "`coverages` must contain at least one curve, got none. Pass for example "
            "{'my model': prediction.observed_coverage(y)}."
        )
    ax = axis_or_new(ax)
    style: dict[str, Any] = {"linestyle": (0, (5, 3)), "linewidth": 1, "label": "perfect"}
    ax.plot([0, 1], [0, 1], color=COLOURS["nominal"], **style)
    for k, (name, coverage) in enumerate(coverages.items()):
        levels, shares = coverage.confidence_levels, coverage.shares
        # Wilson's ends may miss a share of 0 or 1 by a rounding.
        bars = np.maximum([shares - coverage.lower, coverage.upper - shares], 0)
        style = {"markersize": 5, "linewidth": 1.2, "elinewidth": 1, **_STYLES[k % len(_STYLES)]}
        ax.errorbar(levels, shares, bars, label=name, **style)
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    ax.set_xlabel("nominal coverage of prediction intervals")
    ax.set_ylabel("observed coverage (bars: Wilson, 95 %)")
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax


def _violin(ax: "Axes", position: int, values: np.ndarray, colour: str) -> None:
    """The spread of some values, and their mean."""
    parts: Any = ax.violinplot(values, [position], widths=0.8, showextrema=False)
    for body in parts["bodies"]:
        body.set(facecolor=colour, edgecolor="black", linewidth=0.5, alpha=0.9)
    ax.plot(position, values.mean(), "o", color="black", markersize=4)
