"""The picture of effects: each feature's curve with its confidence band, and the parts below."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.diagnostics import WORDS
from confide.drawing import COLOURS
from confide.plot.axes import set_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def plot_effects(curves: "Mapping[str, pd.DataFrame]", confidence_level: float) -> "Figure":
    """Two rows of small pictures, one column for each feature.

    Args:
        curves: of some features, as `Effects.curves`.
        confidence_level: of their bands.

    Returns:
        The figure.
    """
    from matplotlib import pyplot as plt  # here, because importing it is slow

    size = (3.2 * len(curves), 5)
    how: dict[str, Any] = {"squeeze": False, "sharey": "row", "figsize": size}
    figure, axes = plt.subplots(2, len(curves), layout="constrained", **how)
    for (name, curve), (above, below) in zip(curves.items(), axes.T, strict=True):
        categories = curve["value"].dtype.kind == "O"
        x = np.arange(len(curve)) if categories else curve["value"].to_numpy()
        if "mean_ci_lower" in curve:
            label = f"{confidence_level:.0%} confidence band".replace("%", " %")
            band = curve["mean_ci_lower"].to_numpy(), curve["mean_ci_upper"].to_numpy()
            above.fill_between(x, *band, color=COLOURS["confidence"], alpha=0.4, label=label)
        above.plot(x, curve["mean"].to_numpy(), color="black", marker="." if categories else "")
        for source, words in WORDS.items():
            if f"{source}_sd" in curve:
                below.plot(x, curve[f"{source}_sd"].to_numpy(), color=COLOURS[source], label=words)
        if categories:
            set_words(below, x, list(curve["value"]))
        below.set_xlabel(name)
    axes[0, 0].set_ylabel("mean prediction")
    axes[1, 0].set_ylabel("standard deviation")
    for ax in axes[:, 0]:
        ax.legend(frameon=False, fontsize="small")
    return figure
