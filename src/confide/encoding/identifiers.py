"""Whole numbers that name or count the rows of a table, or name what the rows are about."""

import re

import numpy as np

from confide.encoding.reading import Rows, Series, Source

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
# What several rows may be about, such as a patient: the names of fewer, or those of rows by the
# hundred, may well be learnt from.
_THINGS = re.compile(r"(?:(.*)[\W_])?(?i:id|identifier|[gpu]id)|(.*[a-z])(?:Id|ID)")
FEWEST_EACH, MOST_EACH = 2, 50
_CAMEL_CASE = re.compile(r".*[a-z](Id|ID|Nr|No|Index|Key)")
# A column of one of these that counts 1, 2, 3 ... is a trend, or the axis of a curve, as x or t may
# be: so any single letter is one of them.
_TIMES = re.compile(
    r"(.*[\W_])?(.|time|times?tamp|epoch|year|yr|quarter|month|week|day|date|hour|minute|second|"
    r"period|season|step|trend|age|tick|cycle|iteration|generation|position|pos|dist|distance|"
    r"depth|dose|level)s?([\W_]?\d*)",
    re.IGNORECASE,
)
# What R calls a first column without a name: read.csv the one, fread the other.
_UNNAMED = {"X", "V1"}


def why_identifier(source: Source, *, is_first: bool = False) -> str | None:
    """Whether and why a column of whole numbers is taken to name the rows, or to count them.

    All its numbers are different; and either its name is that of an identifier, or they count the
    rows from the top of the table, from 0 or 1, without the name of a time or a place. Some may be
    missing where the name says it. Numbers with decimals, or of a type that could have some, are
    never identifiers; but pandas has no other type for whole numbers of which some are missing.

    Args:
        source: the column.
        is_first: whether it is the first of the table.

    Returns:
        The reason, or None.
    """
    n_rows, known = len(source.series), _whole_numbers(source)
    if known is None or len(known) < max(FEWEST_NAMED, SMALLEST_PART * n_rows):
        return None
    if known.n_unique() < len(known):
        return None
    how = "floats" if source.series.dtype.is_integer() else "Float64"
    to_use = f"to use it, pass it as {how}, or name it in --numeric"
    if len(known) == n_rows >= FEWEST_COUNTED and _counts(source, is_first=is_first):
        return f"it only numbers the rows; {to_use}"
    if _NAMES.fullmatch(source.name) or _CAMEL_CASE.fullmatch(source.name):
        return f"its values are all different, like the names of rows; {to_use}"
    return None


def _whole_numbers(source: Source) -> Series | None:
    """The values of a column of whole numbers that are not missing; None for another column."""
    if source.kind != "number" or source.objects is not None:
        return None
    known = source.series.drop_nulls()
    if source.series.dtype.is_integer():
        return known
    may_be_whole = source.dtype == "float64" and len(known) < len(source.series)
    return known if may_be_whole and (known % 1 == 0).all() else None


def _counts(source: Source, *, is_first: bool) -> bool:
    """Whether the numbers of a column count the rows."""
    values: Rows = source.numbers()
    if is_first and source.name in _UNNAMED:
        return values[0] in {0, 1} and bool((np.diff(values) == 1).all())
    if _TIMES.fullmatch(source.name):
        return False
    starts_early = 0 <= values[0] <= 1 + LATEST_START * len(values)
    is_dense = len(values) >= SMALLEST_PART * (values[-1] - values[0] + 1)
    return bool(starts_early and is_dense and (np.diff(values) > 0).all())


def named_thing(source: Source) -> str | None:
    """What a column of whole numbers that repeat seems to name, by its own name; None for nothing.

    Example:
        >>> import polars as pl
        >>> from confide.encoding.reading import sources
        >>> named_thing(*sources(pl.DataFrame({"patient_id": [3, 8, 5, 2, 9] * 4})))
        'patient'
    """
    if (found := _THINGS.fullmatch(source.name)) is None:
        return None
    known = _whole_numbers(source)
    if known is None or (n_different := known.n_unique()) < FEWEST_NAMED:
        return None
    if not FEWEST_EACH <= len(known) / n_different <= MOST_EACH:
        return None
    words = re.split(r"[\W_]+", found[1] or found[2] or "")
    return " ".join(words).strip().lower() or "thing"
