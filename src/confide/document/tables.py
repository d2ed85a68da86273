"""What the cells of a table say, and tables as CSV and Markdown."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.checks import is_number
from confide.document.document import Column, Table
from confide.terminal import for_spreadsheet

MARK = "†"
MISSING = "–"
# Below this, leading zeros take more room than the digits.
SMALLEST_FIXED = 1e-4
# From here on, thousands stand apart; beyond the other, digits are no more than noise.
FEWEST_SEPARATED, MOST_FIXED = 9999.5, 1e15
MARKDOWN = re.compile(r"([\\`*<>\[\]|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


@dataclass(frozen=True)
class Cell:
    """What one cell says.

    Attributes:
        text: what is shown, without its mark.
        value: what it is sorted by; None where the value is missing.
        marked: whether it carries the mark.
    """

    text: str
    value: str | None
    marked: bool


def cells(table: Table) -> Iterator[tuple[Cell, ...]]:
    """The rows of a table."""
    for row in table.frame[list(table.sources)].to_dict(orient="records"):
        yield tuple(_cell(column, row) for column in table.columns)


def is_numeric(table: Table, column: Column) -> bool:
    """Whether a column holds numbers, which stand right-aligned and are sorted as numbers."""
    import pandas as pd

    values = table.frame[column.name]
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def number_text(value: float, shape: str) -> str:
    """A number in that format, the infinite and the missing ones in signs.

    Decimals below zero round to tens, hundreds and so on.

    Example:
        >>> number_text(-1.25, ".1f"), number_text(-np.inf, ".1f"), number_text(np.nan, ".1f")
        ('-1.2', '-∞', '–')
        >>> number_text(24161.2, ",.-2f"), number_text(-0.04, ".1f")
        ('24,200', '0.0')
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    before, rounds, digits = shape.partition(".-")
    if rounds:
        return format(round(value, -int(digits[:-1])), f"z{before}.0f")
    unsigned = "" if isinstance(value, int | np.integer) else "z"  # no zero is negative
    return format(value, f"{unsigned}{shape}")


def for_people(value: float) -> str:
    """A number by itself: all digits of a whole one, else four or those before the point.

    Example:
        >>> for_people(9.9e9), for_people(2021), for_people(3.14159), for_people(12345.678)
        ('9,900,000,000', '2021', '3.142', '12,346')
        >>> for_people(1e30), for_people(0.0), for_people(np.nan)
        ('1e+30', '0', '–')
    """
    large = MOST_FIXED > abs(value) >= FEWEST_SEPARATED
    is_whole = abs(value) < MOST_FIXED and value == round(value)
    return number_text(value, f"{separator(value)}.0f" if large or is_whole else ".4g")


def separator(*values: float) -> str:
    """What separates the thousands of such numbers: nothing where all are as small as years."""
    return "," if _largest(values) >= FEWEST_SEPARATED else ""


def _largest(values: Iterable[float]) -> float:
    return max((abs(v) for v in values if math.isfinite(v)), default=0)


def rounded_alike(*values: float, digits: int = 3) -> list[str]:
    """Numbers with the decimals that give the smallest of them so many digits.

    Example:
        >>> rounded_alike(24161.2, 25038.9, 79903.0), rounded_alike(0.5, 12.34)
        (['24,200', '25,000', '79,900'], ['0.500', '12.340'])
    """
    there = [abs(v) for v in values if math.isfinite(v) and v != 0]
    decimals = digits - 1 - math.floor(math.log10(min(there, default=1.0)))
    shape = f"{separator(*values)}.{decimals}f" if abs(decimals) <= 9 else f".{digits}g"
    return [number_text(v, shape) for v in values]


def with_error(value: float, error: float) -> str:
    """A value and its standard error, both to the error's last digit that means something.

    The error keeps one digit, or two where the first is a 1: rounding 0.14 to 0.1 would change it
    by a third.

    Example:
        >>> with_error(0.01234, 0.00041), with_error(0.01234, 0.00014)
        ('0.0123 ± 0.0004', '0.01234 ± 0.00014')
        >>> with_error(1234.5, 67.8), with_error(3.21e-7, 4.3e-9)
        ('1230 ± 70', '(3.21 ± 0.04)e-07')
    """
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{value:g} ± {error:g}"
    exponent = math.floor(math.log10(max(abs(value), error)))
    if 10.0**exponent < SMALLEST_FIXED:
        inside = with_error(value / 10.0**exponent, error / 10.0**exponent)
        return f"({inside})e{exponent:03d}"
    first, last = f"{error:.1e}".split("e")
    decimals = -int(last) + (1 if first.startswith("1") else 0)
    if decimals <= 0:
        shape = f"{separator(value)}.0f"
        return f"{round(value, decimals):z{shape}} ± {round(error, decimals):{shape}}"
    return f"{value:z{separator(value)}.{decimals}f} ± {error:.{decimals}f}"


def to_csv(table: Table) -> str:
    """All columns with their errors and marks, under the frame's names, all digits kept.

    Text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    shown = table.frame[list(table.sources)]
    shown = shown.apply(lambda column: column.map(_inert, na_action="ignore"))
    return str(shown.rename(columns=_inert).to_csv(index=False, lineterminator="\n"))


def _inert(value: Any) -> Any:
    return for_spreadsheet(value) if isinstance(value, str) else value


def has_marks(table: Table) -> bool:
    """Whether some cell carries the mark."""
    return any(cell.marked for row in cells(table) for cell in row)


def to_markdown(table: Table) -> str:
    """What people see: caption, rows, and what the mark means."""
    numeric = [is_numeric(table, column) for column in table.columns]
    lines = [
        [_markdown(column.title) for column in table.columns],
        ["---:" if right else "---" for right in numeric],
        *([_markdown(_with_mark(cell)) for cell in row] for row in cells(table)),
    ]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    note = f"\n{MARK} {_markdown(table.mark)}\n" if has_marks(table) else ""
    return f"{_markdown(table.caption)}\n\n{rows}\n{note}"


def _cell(column: Column, row: dict[Any, Any]) -> Cell:
    value = row[column.name]
    marked = column.marked is not None and _is_true(row[column.marked])
    if _is_missing(value):
        return Cell(MISSING, None, marked)
    error = None if column.error is None else row[column.error]
    text = _text(column, value, error)
    if column.to is not None:
        text += f" to {_text(column, row[column.to], None)}"
    return Cell(text, _sort_value(value), marked)


def _text(column: Column, value: Any, error: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not is_number(value):
        return str(value)
    if error is None or _is_missing(error):
        return number_text(value, column.format)
    if column.format.endswith("%"):
        return f"{with_error(100 * float(value), 100 * float(error))}%"
    return with_error(float(value), float(error))


def _sort_value(value: Any) -> str:
    return repr(float(value)) if is_number(value) else str(value)


def _with_mark(cell: Cell) -> str:
    return f"{cell.text} {MARK}" if cell.marked else cell.text


def _markdown(text: str) -> str:
    """Plain text as Markdown that shows it so, on one line."""
    return MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _is_true(value: Any) -> bool:
    return not _is_missing(value) and bool(value)


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
