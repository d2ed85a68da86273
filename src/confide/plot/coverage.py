"""Pointwise coverages of several estimators about their levels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from jaxtyping import Float64

from confide.plot.prediction import COLOURS
from confide.prediction import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PointwiseCoverage(Protocol):
    """What is drawn: one estimator's coverage of one kind at one level."""

    @property
    def estimator(self) -> str:
        """Its name."""
        ...

    @property
    def kind(self) -> Kind:
        """Confidence or prediction."""
        ...

    @property
    def confidence_level(self) -> float:
        """What the coverage should be."""
        ...

    @property
    def pointwise(self) -> Float64[np.ndarray, " row"]:
        """What it is, at each test row."""
        ...


def plot_coverage(coverages: Sequence[PointwiseCoverage]) -> "Figure":
    """A violin for each estimator, a panel for each kind and level; the dashed line is the level.

    Perfect intervals would lie on the line at every row.
    """
    import matplotlib.pyplot as plt

    kinds = [
        kind for kind in ("confidence", "prediction") if any(c.kind == kind for c in coverages)
    ]
    levels = sorted({c.confidence_level for c in coverages})
    names = list(dict.fromkeys(c.estimator for c in coverages))
    axes: Any
    figure, axes = plt.subplots(
        len(levels),
        len(kinds),
        figsize=(0.8 + len(kinds) * (1.4 + 1.1 * len(names)), 1.2 + 2.8 * len(levels)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for i, j in np.ndindex(len(levels), len(kinds)):
        ax, level, kind = axes[i, j], levels[i], kinds[j]
        here = {c.estimator: c for c in coverages if c.kind == kind and c.confidence_level == level}
        ax.axhline(level, color="#444444", linestyle="--", linewidth=1)
        for position, name in enumerate(names):
            if name not in here:
                ax.text(position, 0.5, "has none", ha="center", va="center", rotation=90)
                continue
            pointwise = here[name].pointwise
            parts = ax.violinplot(pointwise, [position], widths=0.8, showextrema=False)
            for body in parts["bodies"]:
                body.set(facecolor=COLOURS[kind], edgecolor="black", linewidth=0.5, alpha=0.9)
            ax.plot(position, pointwise.mean(), "o", color="black", markersize=4)
        labels = [name.removesuffix("Regressor") for name in names]
        ax.set_xticks(range(len(names)), labels, rotation=20, ha="right")
        ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(-0.02, 1.02))
        ax.set_title(f"{100 * level:g} % {kind} intervals", fontsize="medium")
        if j == 0:
            ax.set_ylabel("coverage at each test row")
    return figure
