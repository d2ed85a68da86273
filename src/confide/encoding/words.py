"""Which words of a text tell something about the target.

What other columns tell is taken off the target first, by boosted trees that did not see the row. A
word tells if the rows that have it then rank higher or lower than chance would make any of so many
words do: the mean rank of m rows drawn out of n has a known error, and the level is divided by the
number of words (Bonferroni). So a text of no use becomes no feature at all, and a word that is
chosen says as much about rows that were not seen.
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float64
from scipy import stats

from confide.encoding.target_means import LARGEST_P, N_FOLDS

# With fewer rows, trees have nothing to split.
FEWEST_FOR_TREES = 50

# Letters alone: numbers in a text are rarely the same ones twice.
_WORD = re.compile(r"[^\W\d_]{2,}")


def words_of(text: str) -> set[str]:
    """The different words of a text, in lower case.

    Example:
        >>> sorted(words_of("Flat, 2 rooms; the flat is NEW"))
        ['flat', 'is', 'new', 'rooms', 'the']
    """
    return set(_WORD.findall(text.casefold()))


def untold(
    matrix: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
) -> Float64[np.ndarray, " row"]:
    """Of each row's target what other columns do not tell.

    Args:
        matrix: of the other columns.
        y: the targets.

    Returns:
        Targets less predictions of trees that were fitted to other rows.
    """
    if not matrix.shape[1] or len(y) < FEWEST_FOR_TREES:
        return y
    from sklearn.ensemble import HistGradientBoostingRegressor  # here, as it takes a while
    from sklearn.model_selection import KFold, cross_val_predict

    folds = KFold(N_FOLDS, shuffle=True, random_state=0)
    trees = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
    return np.asarray(y - cross_val_predict(trees, matrix, y, cv=folds), np.float64)


def telling_words(
    texts: Sequence[str],
    rest: Float64[np.ndarray, " row"] | None,
    *,
    fewest: int,
    most: int,
) -> list[str]:
    """The words that tell something about the target, those that tell most first.

    Args:
        texts: of each row, empty where it is missing.
        rest: of each row's target what other columns do not tell; None to take the words of most
            rows.
        fewest: rows that a word must be in, and rows that it must not be in.
        most: words to return, at most.

    Returns:
        The words.
    """
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        for word in words_of(text):
            rows.setdefault(word, []).append(row)
    n_rows = len(texts)
    known = sorted(word for word in rows if fewest <= len(rows[word]) <= n_rows - fewest)
    counts = np.array([len(rows[word]) for word in known])
    if not known or rest is None:
        strength, least = counts, 0.0
    else:
        ranks = stats.rankdata(rest) - (n_rows + 1) / 2
        sums = np.array([ranks[rows[word]].sum() for word in known])
        error = ranks.std(ddof=1) * np.sqrt(counts * (1 - counts / n_rows))
        strength = np.abs(sums) / np.maximum(error, np.finfo(float).tiny)
        least = float(stats.norm.isf(LARGEST_P / (2 * len(known))))
    order = np.argsort(-strength, kind="stable")[:most]
    return [known[place] for place in order if strength[place] > least]
