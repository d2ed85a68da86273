"""Which words of a text tell something about the target.

What other columns tell is taken off the target first, by trees of a forest that did not see the
row. A word tells if the rows that have it then rank higher or lower than chance would make any of
so many words do: the mean rank of m rows drawn out of n has a known error, and the level is divided
by the number of words (Bonferroni). So a text of no use becomes no feature at all, but for one
column in a hundred.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float64
from scipy import stats

from confide.encoding.target_means import LARGEST_P

RowsOfWords: TypeAlias = dict[str, list[int]]
# So many that each row is left out of some.
N_TREES = 50
# Columns that a split of a tree looks at; with more, wide tables take too long.
MOST_TRIED = 16

# Letters alone: numbers in a text are rarely the same ones twice.
_PLAIN_WORD = re.compile(r"[a-z]{2,}")


def words_of(text: str) -> set[str]:
    """The different words of a text, in lower case: two letters or more, with their marks.

    Example:
        >>> sorted(words_of("Flat, 2 rooms; the flat is NEW"))
        ['flat', 'is', 'new', 'rooms', 'the']
    """
    if text.isascii():
        return set(_PLAIN_WORD.findall(text.lower()))
    return set(_any_word().findall(unicodedata.normalize("NFC", text.casefold())))


@functools.cache
def _any_word() -> re.Pattern[str]:
    """Words of any script: many have marks, such as vowels, that are no letters to `re`."""
    every = map(chr, range(sys.maxunicode + 1))
    marks = "".join(c for c in every if unicodedata.category(c).startswith("M"))
    return re.compile(rf"[^\W\d_](?:[^\W\d_]|[{re.escape(marks)}])+")


def untold(
    matrix: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
) -> Float64[np.ndarray, " row"]:
    """Of each row's target what other columns do not tell, up to a factor.

    Args:
        matrix: of the other columns.
        y: the targets.

    Returns:
        Targets less predictions of trees that did not see the row.
    """
    scaled = y / max(np.abs(y).max(), np.finfo(float).tiny)  # squares do not overflow
    if not matrix.shape[1]:
        return scaled
    from sklearn.ensemble import RandomForestRegressor  # here, as it takes a while

    forest = RandomForestRegressor(
        N_TREES,
        min_samples_leaf=3,
        max_features=min(matrix.shape[1], MOST_TRIED),
        oob_score=True,
        random_state=0,
    )
    ranks = stats.rankdata(matrix, axis=0)  # trees read them alike, and none is too large for them
    return np.asarray(scaled - forest.fit(ranks, scaled).oob_prediction_, np.float64)


def common_words(texts: Sequence[str], fewest: int) -> RowsOfWords:
    """The rows of each word that enough rows have, and enough have not.

    Args:
        texts: of each row, empty where it is missing.
        fewest: rows that are enough.

    Returns:
        Positions of rows by the word.
    """
    rows: RowsOfWords = {}
    for row, text in enumerate(texts):
        for word in words_of(text):
            rows.setdefault(word, []).append(row)
    return {word: rows[word] for word in rows if fewest <= len(rows[word]) <= len(texts) - fewest}


def telling_words(
    rows: RowsOfWords, n_rows: int, rest: Float64[np.ndarray, " row"] | None, most: int
) -> list[str]:
    """The words that tell something about the target, those that tell most first.

    Args:
        rows: of each word, see `common_words`.
        n_rows: of the table.
        rest: of each row's target what other columns do not tell; None to take the words of most
            rows.
        most: words to return, at most.

    Returns:
        The words.
    """
    known = sorted(rows)
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
