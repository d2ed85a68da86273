"""Rows in the order of time, or in groups: what is held out should be like what will come."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int

from confide.encoding import (
    Source,
    sources,
    with_amounts_read,
    with_dates_read,
    with_written_dates_read,
)
from confide.errors import TargetError

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
# Blocks of time that are left out in turn, one for each fold.
N_BLOCKS = 5
# Dates that follow the order of the rows so closely, and are so many, suggest an order in time.
SORTED, FEWEST_DATES = 0.95, 20
# Whole numbers between these are years, under such a name; they must follow the rows entirely.
YEARS, FEWEST_YEARS = (1900, 2100), 3
_YEAR = re.compile(r"(.*[\W_])?(?i:year|yr)|.*[a-z]Year")


def order_of(table: "pa.Table", name: str) -> Row:
    """The values of a column as numbers to sort by; rows without one come first.

    Raises:
        TargetError: there is no such column, or it has no order.
    """
    if name not in table.column_names:
        raise TargetError.of_missing(name, table.column_names, "hold out by")
    source = _read(table, name)
    if source.kind not in {"date", "number", "duration"}:
        raise TargetError(
            f"Rows can be held out by a column of dates or numbers, but {name!r} is "
            f"{source.kind or source.dtype}. Write dates as 2020-03-25, or choose another column."
        )
    values = source.numbers()
    if len(np.unique(values[~np.isnan(values)])) < 2:
        raise TargetError(
            f"Rows can be held out by a column with different values, but all of {name!r} are the "
            "same or missing. Choose another column."
        )
    return np.nan_to_num(values, nan=-np.inf)


def n_novel_by(novel_columns: Iterable[Sequence[str]], by: str | None) -> int:
    """How many rows are novel by that very column alone, if this is so of most; else none.

    Args:
        novel_columns: for each novel row the columns behind that.
        by: the column whose last rows were held out, or None.
    """
    alone = [list(names) == [by] for names in novel_columns]
    return sum(alone) if 2 * sum(alone) > len(alone) else 0


def groups_in(table: "pa.Table", name: str) -> Int[np.ndarray, " row"]:
    """The number of each row's group; a row without one is a group of its own.

    Raises:
        TargetError: there is no such column, or it is one group.
    """
    import pyarrow.compute as pc

    if name not in table.column_names:
        raise TargetError.of_missing(name, table.column_names, "group by")
    codes = pc.dictionary_encode(table.column(name)).combine_chunks().indices
    numbers = codes.to_numpy(zero_copy_only=False).astype(np.float64)
    alone = np.isnan(numbers)
    numbers[alone] = len(numbers) + np.arange(np.sum(alone))
    names, groups = np.unique(numbers, return_inverse=True)
    if len(names) < 2:
        raise TargetError(
            f"Groups need a column with different values, but all of {name!r} are the same. Choose "
            "another column."
        )
    return groups


def last_rows(order: Row, share: float) -> Bool[np.ndarray, " row"]:
    """Whether each row is among the last, about a share of all; equal values stay together."""
    values, counts = np.unique(order, return_counts=True)
    from_each_on = np.cumsum(counts[::-1])[::-1]
    first = 1 + np.argmin(np.abs(from_each_on[1:] - share * len(order)))
    return np.asarray(order >= values[first])


def blocks_of_time(order: Row) -> Int[np.ndarray, " row"]:
    """The number of the block that each row is in, of about as many rows each."""
    ends = np.quantile(order, np.arange(1, N_BLOCKS) / N_BLOCKS, method="lower")
    return np.searchsorted(np.unique(ends), order)


def sorted_by(table: "pa.Table") -> str | None:
    """The first column of dates that the rows are sorted by, in either direction, or nearly.

    Or the first one of years by which they are sorted entirely.
    """
    for name in table.column_names:
        source = _read(table, name)
        if _is_of_years(source):
            return name
        if source.kind != "date":
            continue
        values = source.numbers()
        known = values[~np.isnan(values)]
        different, rank = np.unique(known, return_inverse=True)
        if len(different) >= FEWEST_DATES:
            follows = np.corrcoef(rank, np.arange(len(rank)))[0, 1]
            if abs(follows) >= SORTED:
                return name
    return None


def _is_of_years(source: Source) -> bool:
    """Whether a column holds whole years, in their order, each of several rows on average."""
    if not _YEAR.fullmatch(source.name) or not source.series.dtype.is_integer():
        return False
    years = source.numbers()
    n_different = len(np.unique(years))
    if np.isnan(years).any() or not 2 * n_different <= len(years) >= FEWEST_DATES:
        return False
    steps, (first, last) = np.diff(years), YEARS
    is_sorted = bool((steps >= 0).all() or (steps <= 0).all())
    return n_different >= FEWEST_YEARS and first <= years.min() <= years.max() <= last and is_sorted


def _read(table: "pa.Table", name: str) -> Source:
    (source,) = sources(table.select([name]))
    return with_amounts_read(with_written_dates_read(with_dates_read(source)))
