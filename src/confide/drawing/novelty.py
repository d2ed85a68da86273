"""How many rows are unlike the training data."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int

from confide.checks import is_number
from confide.diagnostics import NOVEL
from confide.prediction import Prediction

N_BINS = 20


@dataclass(frozen=True, eq=False)
class NoveltyHistogram:
    """Rows counted by their p-value.

    Attributes:
        edges: of the bins.
        novel: rows in each bin below the threshold.
        others: the other rows in each bin.
        expected: rows in each bin if all were like the training data.
        name: what the legend calls the novel rows.
    """

    edges: Float64[np.ndarray, " edge"]
    novel: Int[np.ndarray, " bin"]
    others: Int[np.ndarray, " bin"]
    expected: float
    name: str


def novelty_histogram(
    p_values: Float64[np.ndarray, " row"], threshold: float = NOVEL
) -> NoveltyHistogram:
    """P-values in twentieths, those below the threshold apart.

    Example:
        >>> novelty_histogram(np.array([0.002, 0.3, 0.5, 0.9])).name
        'novel, p < 0.01: 1 of 4 rows (0.04 expected)'
    """
    if not (is_number(threshold) and 0 < threshold < 1):
        raise ValueError(
            f"`threshold` must lie in (0, 1), got {threshold!r}. It is a p-value: pass 0.01 to "
            "mark one in a hundred rows that are like the training data."
        )
    is_novel, n_rows = p_values < threshold, len(p_values)
    edges = np.linspace(0, 1, N_BINS + 1)
    novel, others = (np.histogram(p_values[some], edges)[0] for some in (is_novel, ~is_novel))
    expected = f"{round(threshold * n_rows, 2):g} expected"
    name = f"novel, p < {threshold:g}: {is_novel.sum()} of {n_rows} rows ({expected})"
    return NoveltyHistogram(edges, novel, others, n_rows / N_BINS, name)


def p_values_of(prediction: Prediction) -> Float64[np.ndarray, " row"]:
    """The p-values of a prediction that has some."""
    if prediction.novelty is None:
        raise ValueError(
            "A picture of novelty needs a p-value for each row, but this prediction has none. "
            "Take it from a fitted estimator's `get_prediction`."
        )
    return prediction.novelty
