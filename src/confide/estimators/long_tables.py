"""Fits to tables that are larger than memory: from files, or from a dataset of pyarrow."""

import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from confide.budget import in_gigabytes
from confide.encoding import Encoder, LongTable
from confide.errors import (
    CalibrationWarning,
    RowError,
    TargetError,
    TooLargeError,
    rows_without_target,
)
from confide.estimators.target import Target
from confide.estimators.training_rows import SeenRows
from confide.methods import FurtherRows
from confide.persistence import temporary_folder
from confide.progress import Progress, progress_bar
from confide.tables import ROWS_PER_BLOCK, ArrowDataset, TableFile, is_arrow_dataset

Row = Float64[np.ndarray, " row"]
NOT_CALIBRATED = (
    "The confidence intervals are not calibrated: twins of the data must be fitted in memory, and "
    "the table is larger. They are too narrow where the true function is rough."
)
HOW_TO_SILENCE = (
    "Pass calibration=None to fit without this warning, or a sample of the rows as a table."
)


def is_source(X: Any) -> bool:
    """Whether X is the name of files, or a dataset of pyarrow."""
    return isinstance(X, str | os.PathLike) or is_arrow_dataset(X)


def long_table(
    X: Any,
    y: Any,
    generator: np.random.Generator,
    *,
    shown: bool,
    **others: Any,
) -> tuple[LongTable, Row]:
    """The table of some files or of a dataset, and the targets of the rows that are in memory.

    Args:
        X: the name of a file, of a folder or a pattern of Parquet files, or a dataset of pyarrow.
        y: the name of the column to predict.
        generator: of the choice of rows.
        shown: whether progress is shown.
        others: arguments of `fit` that need a table in memory.
    """
    if not isinstance(y, str):
        raise TypeError(
            "With files or a dataset as X, y must be the name of the column to predict, got "
            f"{type(y).__name__}. Pass for example model.fit('folder/', 'price')."
        )
    for name, value in others.items():
        if value is not None:
            raise ValueError(
                f"`{name}` needs a table in memory, but X is files or a dataset. Leave it out, or "
                "read the table first."
            )
    source = ArrowDataset(X) if is_arrow_dataset(X) else TableFile(X)
    if source.note is not None:
        warnings.warn(source.note, stacklevel=3)
    names = source.schema.names
    if y not in names:
        raise TargetError.of_missing(y, names)
    n_rows, n_missing = _counts(source, y)
    if left_out := rows_without_target(n_missing, n_rows, y):
        warnings.warn(left_out, stacklevel=3)

    def taken(table: Any) -> tuple[Any, Row]:
        return table.drop_columns([y]), _numbers(table.column(y), y)

    with progress_bar("Reading", n_rows, shown=shown) as progress:
        how: dict[str, Any] = {"generator": generator, "progress": progress}
        return LongTable.drawn(lambda: source.blocks(ROWS_PER_BLOCK), taken, n_rows, **how)


def _counts(source: ArrowDataset | TableFile, target: str) -> tuple[int, int]:
    """How many rows there are, and how many of them have no target."""
    n_rows = n_missing = 0
    for block in source.blocks(ROWS_PER_BLOCK, columns=[target]):
        n_rows += len(block)
        n_missing += int(np.sum(np.isnan(_numbers(block.column(target), target))))
    if 0 < n_rows == n_missing:
        raise TargetError.of_missing_values(target, n_rows)
    return n_rows, n_missing


@contextmanager
def further_rows(
    table: LongTable | None, estimator: Any, epochs_in_memory: int, progress: Progress | None
) -> Iterator[dict[str, FurtherRows]]:
    """What a method's fit is told of rows that are not in memory; their files are gone afterwards.

    Args:
        table: the table, or None for one in memory.
        estimator: with encoder and target of the rows in memory; it comes to know all rows.
        epochs_in_memory: of a training on the rows in memory.
        progress: called with the work just done; reading all rows counts as one unit.
    """
    if table is None or table.n_further == 0:
        yield {}
        return
    with temporary_folder() as folder:
        _refuse_beyond_disk(table, estimator, folder)
        blocks = _encoded(table, estimator, progress)
        yield {"further": FurtherRows(blocks, folder, epochs_in_memory)}


@contextmanager
def in_some_row() -> Iterator[None]:
    """Errors inside name no row: of a sample, or of a block, it is not the number in the table."""
    try:
        yield
    except RowError as error:
        message = re.sub(r"(at|in) row \{row\}", "in some row", error.message)
        raise ValueError(message) from error


def _refuse_beyond_disk(table: LongTable, estimator: Any, folder: Path) -> None:
    """Refuses rows that fill the disk: 4 bytes for each number, target and simulated target."""
    settings = estimator.settings()
    n_simulated = settings.n_members * getattr(settings, "n_retrains", 0)
    n_numbers = len(estimator.encoder_.feature_names) + 1 + n_simulated
    needed, free = 4.0 * table.n_further * n_numbers, shutil.disk_usage(folder).free
    if needed > free:
        raise TooLargeError(
            f"Training on {table.n_further:,} rows from disk needs {in_gigabytes(needed)} in "
            f"{folder.parent}, which has {in_gigabytes(free)} left. Free some space, or set "
            "the environment variable TMPDIR to a folder on another disk."
        )


def warn_not_calibrated() -> None:
    """Says that twins need all rows in memory."""
    warnings.warn(f"{NOT_CALIBRATED} {HOW_TO_SILENCE}", CalibrationWarning, stacklevel=4)


def _encoded(
    table: LongTable, estimator: Any, progress: Progress | None
) -> Callable[[], Iterator[tuple[Any, Row]]]:
    """The further rows as numbers, and their targets as the method sees them."""
    encoder: Encoder = estimator.encoder_
    target: Target | None = estimator.target_
    of_sample: SeenRows = estimator.seen_rows_

    def blocks() -> Iterator[tuple[Any, Row]]:
        seen = of_sample
        for rows, y in table.further():
            X = encoder.encode(rows)
            seen = seen.beside(X, y)
            yield X, y if target is None else target.forward(y)
            if progress is not None:
                progress(Fraction(len(y), table.n_further))
        estimator.seen_rows_ = seen

    return blocks


def _numbers(column: Any, name: str) -> Row:
    """The targets, NaN where they are missing."""
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise TargetError(
            f"The target {name!r} must be numbers, but it is {kind}. Choose a column of numbers."
        )
    y = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)
    if np.isinf(y).any():
        raise TargetError(
            f"The target {name!r} must be finite, but it is infinite in some rows. Correct them, "
            "or leave them empty: rows without a target are dropped."
        )
    return y
