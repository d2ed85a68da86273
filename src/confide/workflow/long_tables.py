"""Tables that are larger than memory: a sample of their rows is read, the others stay on disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.budget import available_memory, of_fits
from confide.encoding import LongTable
from confide.errors import TargetError, TwinError, rows_without_target
from confide.progress import progress_bar
from confide.tables import PARQUET, TableFile
from confide.workflow.columns import as_meant
from confide.workflow.target import take_target

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
# Of the choice of rows that are in memory.
SEED = 0


def beyond_memory(source: TableFile) -> bool:
    """Whether a fit to all rows of Parquet files at once needs more memory than there is."""
    n_rows, available = source.about_rows, available_memory()
    if source.format != PARQUET or n_rows is None or available is None:
        return False
    return of_fits(n_rows, len(source.schema.names), 0, "tabular").bytes > available


def long_table(
    source: TableFile, meant: "Callable[[pa.Table], pa.Table]", say: Callable[[str], None]
) -> LongTable:
    """A sample of the rows, target and all, and the others on disk.

    Args:
        source: the files.
        meant: a function that gives the columns of some rows the types that they should have.
        say: called with messages for the user.

    Returns:
        The table.
    """
    n_rows = source.about_rows or 0

    def taken(table: "pa.Table") -> "tuple[pa.Table, Row]":
        return meant(table), np.zeros(len(table))

    with progress_bar(f"Reading {source.name}", n_rows, shown=True) as progress:
        how: dict[str, Any] = {"generator": np.random.default_rng(SEED), "progress": progress}
        long, y = LongTable.drawn(source.blocks, taken, n_rows, **how)
    say(
        f"{source.name} has {n_rows:,} rows, more than memory holds. The members are trained on "
        f"all of them, from disk. {len(y):,} of them, drawn at random, are in memory, to choose "
        "how to train, to learn the noise, and to judge and calibrate the model."
    )
    return long


def as_long(
    table: "pa.Table | LongTable",
    hold_out_by: str | None,
    group: str | None,
    *,
    calibrate_confidence: bool,
) -> LongTable:
    """The table as a long one, with no further rows if it is in memory.

    Args:
        table: either of them.
        hold_out_by: the column by which rows are held out, if any.
        group: the column of groups, if any.
        calibrate_confidence: whether confidence intervals are calibrated after the fit.

    Raises:
        TargetError: rows cannot be held out so, because not all of them are in memory.
        TwinError: the calibration needs all rows in memory.
    """
    if not isinstance(table, LongTable):
        return LongTable(table, lambda: iter(()), 0)
    for option, value in {"hold_out_by": hold_out_by, "group": group}.items():
        if value is not None:
            raise TargetError(
                f"`{option}` needs all rows in memory, and the table is larger. Leave it out, or "
                "pass a sample of the rows."
            )
    if calibrate_confidence:
        raise TwinError(
            "Confidence intervals are calibrated on twins that are fitted in memory, and the table "
            "is larger. Leave the calibration out, or pass a sample of the rows."
        )
    return table


@dataclass
class FurtherKnownRows:
    """The rows on disk whose target is known, from their beginning at each call.

    Attributes:
        table: with its target.
        target: name of the column to predict.
        unused: columns that are not used to predict.
        n_missing: how many rows had no target, when all of them were last read.
    """

    table: LongTable
    target: str
    unused: Sequence[str]
    n_missing: int = 0

    def beside(self, train: Any) -> Any:
        """What an estimator is fitted to: rows in memory, encoded, and these."""
        n_further = self.table.n_further
        return LongTable(train, self, n_further) if n_further else train

    @property
    def n_known(self) -> int:
        """How many rows there are."""
        return self.table.n_further - self.n_missing

    def left_out(self, n_in_memory: int) -> str:
        """How many rows of the whole table have no target, where so many in memory have one."""
        n_rows = self.table.sample.num_rows + self.table.n_further
        return rows_without_target(n_rows - n_in_memory - self.n_known, n_rows, self.target)

    def __call__(self) -> "Iterator[tuple[pa.Table, Row]]":
        """Blocks of features and targets."""
        n_missing = 0
        for rows, _ in self.table.further():
            features, y = take_target(rows, self.target)
            known = ~np.isnan(y)
            n_missing += int(np.sum(~known))
            yield as_meant(features.filter(known), exclude=self.unused), y[known]
        self.n_missing = n_missing
