"""The column to predict, taken out of a table."""

import contextlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64, Int

from confide.errors import TargetError, rows_without_target
from confide.tables import reads_as_number
from confide.workflow.notes import Notes

if TYPE_CHECKING:
    import pyarrow as pa

# Values shown where a column is not what it should be.
SHOWN = 3


class Taken(NamedTuple):
    """A table without its target, and the target: NaN where it is missing."""

    features: "pa.Table"
    y: Float64[np.ndarray, " row"]


class Known(NamedTuple):
    """The rows whose target is known, without it; and where in the table they are, from 0."""

    features: "pa.Table"
    y: Float64[np.ndarray, " row"]
    rows: Int[np.ndarray, " row"]


def take_target(table: "pa.Table", target: str) -> Taken:
    """Splits a table into features and target.

    Raises:
        TargetError: there is no such column, or it does not hold numbers that can be predicted.
    """
    names = table.column_names
    if target not in names:
        raise TargetError.of_missing(target, names)
    if len(names) == 1:
        raise TargetError(
            f"{target!r} is the only column: predicting it needs at least one other. Add columns "
            "that say something about it."
        )
    y = _numbers(table.column(target), target)
    return Taken(table.drop_columns([target]), y)


def known_rows(table: "pa.Table", target: str, notes: Notes) -> Known:
    """The rows whose target is known, split; a note says how many are dropped.

    Raises:
        TargetError: as for `take_target`, or the target is nowhere known.
    """
    features, y = take_target(table, target)
    known = ~np.isnan(y)
    if len(y) == 0:
        raise TargetError("The table has a header but no rows, so there is nothing to learn from.")
    if not known.any():
        raise TargetError.of_missing_values(target, len(y))
    rows = np.flatnonzero(known)
    if len(rows) == len(y):
        return Known(features, y, rows)
    notes.add(rows_without_target(len(y) - len(rows), len(y), target))
    return Known(features.filter(known), y[known], rows)


def _numbers(column: "pa.ChunkedArray", target: str) -> Float64[np.ndarray, " row"]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        with contextlib.suppress(pa.ArrowInvalid):  # numbers that were written as text, as 007
            column, kind = pc.cast(column, pa.float64()), pa.float64()
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise TargetError(_not_numbers(column, target))
    y = pc.cast(column, pa.float64(), safe=False).to_numpy().astype(np.float64)
    if np.isinf(y).any():
        raise TargetError(
            f"The target {target!r} is infinite in row {int(np.argmax(np.isinf(y))) + 1}. Correct "
            "the value, or leave it empty: rows without a target are dropped."
        )
    return y


def _not_numbers(column: "pa.ChunkedArray", target: str) -> str:
    import pyarrow as pa

    kind = column.type
    problem = f"The target {target!r} must be numbers, but it is {kind}"
    if pa.types.is_boolean(kind):
        return f"{problem}. A yes-or-no target needs a classifier. Choose a column of numbers."
    if pa.types.is_temporal(kind):
        return f"{problem}. Pass dates as numbers, for example as days since a fixed date."
    words = [str(value) for value in column.drop_null().unique().to_pylist()]
    odd = [word for word in words if not reads_as_number(word)]
    shown = ", ".join(repr(word[:30]) for word in (odd or words)[:SHOWN])
    if len(odd) < len(words) / 2:
        return f"{problem}: most values are numbers, but not {shown}. Correct or empty the others."
    return (
        f"{problem}, with values such as {shown}. Classes need a classifier; numbers must be "
        "without units and decimal commas."
    )
