"""Whole numbers that name or count the rows of a table, and say nothing about them."""

import re

import numpy as np

from confide.encoding.reading import Rows, Source

# Fewer different numbers under the name of an identifier may be anything, and so may fewer that
# count the rows under any other name.
FEWEST_NAMED, FEWEST_COUNTED = 5, 20
# A counter of which rows were held out starts by this share of the rows late, and has at least
# this share of the numbers that it passes.
LATEST_START, SMALLEST_PART = 0.05, 0.5
_NAMES = re.compile(
    r"(.*[\W_])?(id|ids|identifier|[gpu]id|uuid|index|idx|key|serial|record|obs|n[or]|"
    r"row|rows|row[\W_]?(id|names?|n[or]|num|number))|unnamed: \d+",
    re.IGNORECASE,
)
_CAMEL_CASE = re.compile(r".*[a-z](Id|ID|Nr|No|Index|Key)")
# A column of one of these that counts 1, 2, 3 ... is a trend, or the axis of a curve.
_TIMES = re.compile(
    r"(.*[\W_])?(.|time|times?tamp|epoch|year|yr|quarter|month|week|day|date|hour|minute|second|"
    r"period|season|step|trend|age|tick|cycle|iteration|generation|position|pos|dist|distance|"
    r"depth|dose|level)s?([\W_]?\d*)",
    re.IGNORECASE,
)


def is_identifier(source: Source) -> bool:
    """Whether a column of whole numbers names the rows, or counts them.

    All its numbers are different; and either its name is that of an identifier, or they count the
    rows from the top of the table, from 0 or 1, without the name of a time or a place. Numbers with
    decimals, or of a type that could have some, are never identifiers.

    Args:
        source: the column.

    Returns:
        Whether it is one.
    """
    series = source.series
    if source.kind != "number" or source.objects is not None or not series.dtype.is_integer():
        return False
    n_rows = len(series)
    if n_rows < FEWEST_NAMED or series.null_count() or series.n_unique() < n_rows:
        return False
    if _NAMES.fullmatch(source.name) or _CAMEL_CASE.fullmatch(source.name):
        return True
    return n_rows >= FEWEST_COUNTED and not _TIMES.fullmatch(source.name) and _counts(source)


def _counts(source: Source) -> bool:
    values: Rows = source.numbers()
    starts_early = 0 <= values[0] <= 1 + LATEST_START * len(values)
    is_dense = len(values) >= SMALLEST_PART * (values[-1] - values[0] + 1)
    return bool(starts_early and is_dense and (np.diff(values) > 0).all())
