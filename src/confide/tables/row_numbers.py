"""Row numbers without a name, as pandas and R write them before the first column."""

from typing import Any


def has_row_numbers(table: Any) -> bool:
    """Whether the first of several columns has no name, and counts from 0 or 1 without a gap."""
    if table.num_rows == 0 or len(table.column_names) < 2 or table.column_names[0].strip():
        return False
    values = table.column(0).to_pylist()
    return values[0] in {0, 1} and values == list(range(values[0], values[0] + len(values)))


def row_numbers_note(name: str) -> str:
    """What to say of a table, of that name, whose row numbers are left out."""
    return f"{name}: the first column is left out. It has no name, and only numbers the rows."
