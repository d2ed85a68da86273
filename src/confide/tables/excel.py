"""Tables as Excel workbooks (.xlsx): the cells of the first sheet; formulas as they were last."""

import datetime as dt
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confide.budget import Meter
from confide.errors import TableFileError, TooLargeError, listed
from confide.extras import require
from confide.tables.row_numbers import has_row_numbers, row_numbers_note
from confide.tables.separated import BYTES_PER_BYTE, MISSING
from confide.tables.words import type_in_words

PIECE = 2**20
# No workbook declares entities; some that do grow without end.
DECLARATION = b"<!DOCTYPE"
BYTES_PER_CELL = 8
# What a cell shows whose formula has failed.
ERRORS = ("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
NOTHING = frozenset((*MISSING, *ERRORS))


class ExcelTable:
    """The first sheet of a workbook, in memory; Excel has at most 1,048,576 rows."""

    def __init__(self, file: Any, name: str) -> None:
        """Reads all cells, and closes the file."""
        self._name = name
        with file:
            self._arrow, reader = require("pyarrow", "tables"), require("openpyxl", "excel")
            try:
                self._check_content(file)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of what it does not keep
                    book = reader.load_workbook(
                        file, read_only=True, data_only=True, keep_links=False
                    )
                    table = self._read(book)
            except (MemoryError, TableFileError, TooLargeError):
                raise
            except Exception as error:  # a damaged file may raise anything inside the reader
                raise TableFileError(
                    f"{name} is damaged or not an Excel workbook "
                    f"({str(error)[:80] or type(error)}). Open and save it in Excel again, or save "
                    "it as CSV."
                ) from error
        self._table, self.schema, self.about_rows = table, table.schema, table.num_rows

    def blocks(
        self, rows: int, columns: Sequence[str] | None, types: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Tables in the order of the sheet, each column of the type that was asked for."""
        table = self._table if columns is None else self._table.select(list(columns))
        for name in set(types) & set(table.column_names):
            try:
                column = table[name].cast(types[name])
            except self._arrow.ArrowException as error:
                needed = type_in_words(types[name])
                raise TableFileError(
                    f"{self._name}, column {name!r}: each value must be {needed}, but not "
                    f"all are ({str(error).splitlines()[0]}). Correct them."
                ) from error
            table = table.set_column(table.column_names.index(name), name, column)
        for start in range(0, table.num_rows, rows):
            yield table.slice(start, rows)

    def _check_content(self, file: Any) -> None:
        """Refuses what would not fit in memory: a small archive may hold any number of bytes."""
        meter = Meter(self._name, BYTES_PER_BYTE)
        with zipfile.ZipFile(file) as archive:
            for part in archive.infolist():  # any name may be that of a sheet
                with archive.open(part) as content:
                    last = b""
                    while piece := content.read(PIECE):
                        meter.add(len(piece))
                        if DECLARATION in (last + piece).replace(b"\0", b""):  # also in UTF-16
                            raise TableFileError(
                                f"{self._name} declares entities, which no Excel workbook does. "
                                "It is not opened."
                            )
                        last = piece[-2 * len(DECLARATION) :]
        file.seek(0)

    def _read(self, book: Any) -> Any:
        names = [sheet.title for sheet in book.worksheets]
        others = f", the first of {len(names)}: {listed(names)}" if len(names) > 1 else ""
        self.note = f"{self._name}: the sheet {names[0]!r} is read{others}." if others else None
        book.worksheets[0].reset_dimensions()  # it may claim any size
        meter, rows = Meter(self._name), []
        for row in book.worksheets[0].iter_rows(values_only=True):
            meter.add(BYTES_PER_CELL * len(row))
            values = [_value(value) for value in row]
            while values and values[-1] is None:
                values.pop()
            if values:
                rows.append(values)
        if not rows:
            raise TableFileError(
                f"{self._name}: the sheet {names[0]!r} is empty. A table with a header line is "
                "needed on the first sheet."
            )
        table = self._table_of(*rows)
        if not has_row_numbers(table):
            return table
        self.note = " ".join(filter(None, (self.note, row_numbers_note(self._name))))
        return table.remove_column(0)

    def _table_of(self, header: list[Any], *rows: list[Any]) -> Any:
        width = max(map(len, (header, *rows)))
        Meter(self._name).add(BYTES_PER_CELL * width * len(rows))  # short rows are filled up
        names = ["" if name is None else str(name) for name in header]
        names += [""] * (width - len(names))
        columns = [[row[i] if i < len(row) else None for row in rows] for i in range(width)]
        return self._arrow.Table.from_arrays([self._array(column) for column in columns], names)

    def _array(self, values: list[Any]) -> Any:
        """A column; of values of several kinds, their text."""
        arrow = self._arrow
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {dt.date, dt.datetime} and kinds:
            return arrow.array([_moment(value) for value in values], arrow.timestamp("us"))
        types = {
            bool: arrow.bool_(),
            dt.time: arrow.time64("us"),
            dt.timedelta: arrow.duration("us"),
        }
        if len(kinds) == 1 and (kind := next(iter(kinds))) in types:
            return arrow.array(values, types[kind])
        if not kinds or kinds <= {int, float}:
            of_type = arrow.null() if not kinds else arrow.float64() if float in kinds else None
            return arrow.array(values, of_type)
        return arrow.array([None if v is None else str(v) for v in values], arrow.string())


def _value(value: Any) -> Any:
    """What a cell holds; None for nothing."""
    if isinstance(value, str):
        return None if value.strip() in NOTHING else value
    return value


def _moment(value: Any) -> Any:
    is_day = type(value) is dt.date
    return dt.datetime.combine(value, dt.time()) if is_day else value
