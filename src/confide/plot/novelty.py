"""How many rows are unlike the training data."""

from typing import TYPE_CHECKING, Any

from confide.diagnostics import NOVEL
from confide.drawing import COLOURS, novelty_histogram, p_values_of
from confide.plot.axes import axis_or_new
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_novelty(
    prediction: Prediction, *, threshold: float = NOVEL, ax: "Axes | None" = None
) -> "Axes":
    """A histogram of the rows' novelty p-values, which are uniform for rows like the training data.

    Neither kind of interval can be trusted where the p-value is small. The dashed line is what
    each bar would be if all rows were like the training data.

    Args:
        prediction: one that has novelty p-values.
        threshold: rows with a p-value below this are counted and marked as novel.
        ax: where to draw, or None for a new figure.

    Returns:
        The axis.

    Example:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(4), np.ones(4))
        >>> p = np.array([0.002, 0.3, 0.5, 0.9])
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1, novelty=p)
        >>> ax = plot_novelty(prediction, ax=Figure().subplots())
        >>> ax.get_legend().get_texts()[0].get_text()
        'novel, p < 0.01: 1 of 4 rows (0.04 expected)'
    """
    counted = novelty_histogram(p_values_of(prediction), threshold)
    ax = axis_or_new(ax)
    starts, counts = counted.edges[:-1], [counted.novel, counted.others]
    style: dict[str, Any] = {"stacked": True, "edgecolor": "white", "linewidth": 0.5}
    style |= {"color": [COLOURS["novel"], COLOURS["ordinary"]]}
    style |= {"label": [counted.name, "other rows"]}
    ax.hist([starts, starts], counted.edges.tolist(), weights=counts, **style)
    line: dict[str, Any] = {"color": COLOURS["nominal"], "linestyle": "--", "linewidth": 1}
    ax.axhline(counted.expected, label="if none were novel", **line)
    ax.set_xlim(0, 1)
    ax.set(xlabel="novelty p-value of a row", ylabel="rows")
    ax.legend(frameon=False, fontsize="small")
    return ax
