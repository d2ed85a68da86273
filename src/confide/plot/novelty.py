"""How many rows are unlike the training data."""

from typing import TYPE_CHECKING

import numpy as np

from confide.checks import is_number
from confide.plot.prediction import COLOURS, axis_or_new
from confide.prediction import NOVEL, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 20


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

    Example:
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(4), np.ones(4))
        >>> p = np.array([0.002, 0.3, 0.5, 0.9])
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1, novelty=p)
        >>> ax = plot_novelty(prediction, ax=Figure().subplots())
        >>> ax.get_legend().get_texts()[0].get_text()
        'novel, p < 0.01: 1 of 4 rows (0.04 expected)'
    """
    p_values = checked_novelty(prediction)
    if not (is_number(threshold) and 0 < threshold < 1):
        raise ValueError(
            f"`threshold` must lie in (0, 1), got {threshold!r}. It is a p-value: pass 0.01 to "
            "mark one in a hundred rows that are like the training data."
        )
    ax = axis_or_new(ax)
    novel = p_values < threshold
    n_rows, edges = len(p_values), np.linspace(0, 1, N_BINS + 1).tolist()
    count = f"{novel.sum()} of {n_rows} rows ({round(threshold * n_rows, 2):g} expected)"
    ax.hist(
        [p_values[novel], p_values[~novel]],
        edges,
        stacked=True,
        color=[COLOURS["observed"], COLOURS["prediction"]],
        edgecolor="white",
        linewidth=0.5,
        label=[f"novel, p < {threshold:g}: {count}", "other rows"],
    )
    expected = n_rows / N_BINS
    ax.axhline(expected, color="#444444", linestyle="--", linewidth=1, label="if none were novel")
    ax.set_xlim(0, 1)
    ax.set(xlabel="novelty p-value of a row", ylabel="rows")
    ax.legend(frameon=False, fontsize="small")
    return ax


def checked_novelty(prediction: Prediction) -> np.ndarray:
    """The p-values, if there are any."""
    if prediction.novelty is None:
        raise ValueError(
            "A picture of novelty needs a p-value for each row, and this prediction has none: "
            "novelty was not computed with it. Take it from a fitted estimator's `get_prediction`."
        )
    return prediction.novelty
