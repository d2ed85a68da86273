"""How each column of a training table is to be turned into numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from confide.encoding.columns import (
    CYCLES,
    KINDS,
    CategoryColumn,
    Column,
    LeftOutColumn,
    ManyCategoriesColumn,
    WordsColumn,
    WrittenNumberColumn,
    circle,
    codes_of,
    counts_of,
)
from confide.encoding.identifiers import why_identifier
from confide.encoding.reading import Rows, Source, known_zone
from confide.encoding.target_means import prior_rows, shrunk_means
from confide.encoding.texts import hint
from confide.encoding.words import RowsOfWords, common_words

# An indicator of few rows is a huge number once standardised, one over the root of their share, and
# so are its other rows if they are few. One with fewer than either is not made: the networks see at
# most 14, and never learn from fewer than five rows.
FEWEST_ROWS = 5
SMALLEST_SHARE = 0.005
MOST_CATEGORIES = 30
MOST_WORDS = 30
# Free text may have so many fillers, such as "none": texts that come again and again.
MOST_FILLERS = 3
# A column with more texts than this does not remember the rare ones.
MOST_REMEMBERED = 1000
# So many texts have a mean target, the most common ones; a model file keeps them all.
MOST_ENCODED = 100_000
# At least this share of rows must have a text that comes again: others say nothing about new rows.
SMALLEST_REPEATED = 0.1
# A cycle is kept if its sine or cosine moves by more than this in training, six days of a year.
SMALLEST_SWING = 0.1


def fitted_column(
    source: Source,
    y: Rows | None = None,
    *,
    may_be_identifier: bool = True,
    is_first: bool = False,
) -> Column:
    """How a column of the training table is to be turned into numbers.

    Args:
        source: the column.
        y: the target of each row, for what many categories say about it; or None.
        may_be_identifier: whether to leave out what only names or numbers the rows.
        is_first: whether it is the first of the table.

    Returns:
        The column as it will be read in other tables.
    """
    if source.kind == "category":
        return _fitted_category(source, y)
    if may_be_identifier and (why := why_identifier(source, is_first=is_first)) is not None:
        return LeftOutColumn(source.name, why)
    zone = None if source.time_zone is None else known_zone(source.time_zone)
    values = source.numbers(zone)
    missing = np.isnan(values)
    if source.kind is None or missing.all():
        return LeftOutColumn(source.name, "all its values are missing")
    known, n_missing = values[~missing], int(np.count_nonzero(missing))
    facts = (source.name, float(np.median(known)), n_missing > 0, _enough(n_missing, len(missing)))
    more = (_cycles(known), zone, *(source.date_order or ())) if source.kind == "date" else ()
    kind: Callable[..., Column] = KINDS[source.kind]
    if source.written is not None:
        kind, more = WrittenNumberColumn, source.written
    return kind(*facts, *more)


def may_have_words(source: Source, column: Column) -> bool:
    """Whether to look at the words of a text: it is another in nearly every row, or else left out.

    Args:
        source: the column, which is not what its library calls categories.
        column: what it becomes without its words.
    """
    if source.kind != "category" or source.are_called_categories:
        return False
    counts = counts_of(source.texts())
    rest = sorted(counts.values(), reverse=True)[MOST_FILLERS:]
    n_again = sum(count for count in rest if count > 1)
    differs = n_again < SMALLEST_REPEATED * sum(rest) and 2 * sum(rest) > sum(counts.values())
    is_text = len(rest) > MOST_CATEGORIES and _meant(list(counts)) is None
    return is_text and (differs or isinstance(column, LeftOutColumn))


def words_in(source: Source, rows: Int[np.ndarray, " some"]) -> RowsOfWords:
    """The words of a text that enough of some rows have, and where among these rows they are."""
    filled = source.texts().fill_null("").to_list()
    return common_words([filled[row] for row in rows.tolist()], _fewest(len(rows)))


def with_words(column: Column, source: Source, words: Sequence[str]) -> Column:
    """A column by the words in it that tell something; as it was, if none does.

    Args:
        column: what it becomes without its words.
        source: the column.
        words: that tell something.
    """
    texts = source.texts()
    if words:
        n_missing = int(texts.null_count())
        facts = n_missing > 0, _enough(n_missing, len(texts))
        return WordsColumn(source.name, tuple(sorted(words)), *facts)
    if not isinstance(column, LeftOutColumn):
        return column
    reason = f"{column.reason}; no word in it tells enough about the target"
    return replace(column, reason=reason, may_tell=False)


def _fitted_category(source: Source, y: Rows | None) -> Column:
    texts = source.texts()
    n_rows, n_missing = len(texts), int(texts.null_count())
    counts = counts_of(texts)
    by_count = sorted(counts, key=lambda text: (-counts[text], text))
    common = [text for text in by_count if _enough(counts[text], n_rows)][:MOST_CATEGORIES]
    rare = sorted(set(counts).difference(common))
    n_other = n_rows - n_missing - sum(counts[text] for text in common)
    facts: dict[str, Any] = {
        "has_other": _enough(n_other, n_rows),
        "had_holes": n_missing > 0,
        "has_indicator": _enough(n_missing, n_rows),
    }
    named = (source.name, tuple(sorted(common)))
    n_again = sum(count for count in counts.values() if count > 1)
    if y is not None and len(counts) > MOST_CATEGORIES and n_again >= SMALLEST_REPEATED * n_rows:
        kept = sorted(set(by_count[:MOST_ENCODED]).difference(common))
        means = _target_means(texts, (*named[1], *kept), y)
        if means is not None:
            facts |= {"remembers_all": len(kept) == len(rare), **means}
            return ManyCategoriesColumn(*named, tuple(kept), **facts)
    if not common:
        reason = _why_nothing_is_common(counts, by_count, n_rows)
        are_repeated = len(by_count) < n_rows - n_missing and 2 * counts[by_count[0]] <= n_rows
        return LeftOutColumn(source.name, reason, are_repeated or _meant(by_count) is not None)
    remembers_all = len(rare) <= MOST_REMEMBERED
    return CategoryColumn(*named, tuple(rare) if remembers_all else (), remembers_all, **facts)


def _target_means(texts: Any, known: tuple[str, ...], y: Rows) -> dict[str, Any] | None:
    """What many categories say about the target; None if nothing."""
    codes = codes_of(texts, known)
    codes, y = codes[codes >= 0], y[codes >= 0]
    if (prior := prior_rows(codes, y)) is None:
        return None
    means = shrunk_means(codes, y, len(known), prior)
    return {"means": tuple(means.tolist()), "mean": float(y.mean()), "prior": prior}


def _why_nothing_is_common(counts: dict[str, int], by_count: list[str], n_rows: int) -> str:
    most = by_count[0]
    if 2 * counts[most] > n_rows:
        but = f" but {n_rows - counts[most]}" if counts[most] < n_rows else ""
        return f"all{but} of its values are {most!r}"
    advice = "to use it, turn it into numbers, or into categories with common values"
    meant = _meant(by_count) or advice
    return f"it is text with {len(counts)} different values, none of them common; {meant}"


def _meant(texts: list[str]) -> str | None:
    """What texts were perhaps meant as."""
    return hint(texts[:MOST_REMEMBERED])


def _cycles(days: Rows) -> tuple[str, ...]:
    """The cycles that dates go round at least once, and on which they move."""
    return tuple(
        name
        for name, period in CYCLES.items()
        if np.ptp(days) >= period and max(map(np.ptp, circle(days, period))) > SMALLEST_SWING
    )


def _enough(count: int, n_rows: int) -> bool:
    """Whether rows of a table, and the rest of them, are enough to learn from an indicator."""
    return min(count, n_rows - count) >= _fewest(n_rows)


def _fewest(n_rows: int) -> int:
    return max(FEWEST_ROWS, math.ceil(SMALLEST_SHARE * n_rows))
