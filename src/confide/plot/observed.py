"""Nominal against observed coverage of prediction intervals."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.metrics import ObservedCoverage
from confide.plot.prediction import axis_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours once more; markers and lines tell curves apart in grey.
_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    {"color": "#009E73", "marker": "^", "linestyle": "-."},
    {"color": "#CC79A7", "marker": "D", "linestyle": ":", "markerfacecolor": "white"},
)


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
            "`coverages` must hold at least one curve, got none. Pass for example "
            "{'my model': prediction.observed_coverage(y)}."
        )
    ax = axis_or_new(ax)
    ax.plot([0, 1], [0, 1], color="#444444", linestyle=(0, (5, 3)), linewidth=1, label="perfect")
    for k, (name, coverage) in enumerate(coverages.items()):
        # Wilson's ends may miss a share of 0 or 1 by a rounding.
        below = np.maximum(coverage.shares - coverage.lower, 0)
        above = np.maximum(coverage.upper - coverage.shares, 0)
        ax.errorbar(
            coverage.confidence_levels,
            coverage.shares,
            yerr=[below, above],
            markersize=5,
            linewidth=1.2,
            elinewidth=1,
            label=name,
            **_STYLES[k % len(_STYLES)],
        )
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    ax.set_xlabel("nominal coverage of prediction intervals")
    ax.set_ylabel("observed coverage (bars: Wilson, 95 %)")
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax
