"""Tables as text: commas, semicolons, tabs or bars between the fields."""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Never

from confide.budget import Meter
from confide.errors import TableFileError, enumerated, listed
from confide.extras import require
from confide.tables.row_numbers import has_row_numbers, row_numbers_note
from confide.tables.source import Ahead
from confide.tables.words import reads_as_number, type_in_words

# Types are those of the first block, so it is larger than pyarrow's own; a record must fit in one.
# Reading takes about fifty times as much memory, as pyarrow reads ahead.
BLOCK_BYTES = 2**21
# Each column of each block takes pyarrow time and a kilobyte of its own: a wide table has blocks of
# so much for each column, up to a limit.
BYTES_PER_COLUMN, LONGEST_BLOCK = 2**9, 2**26
# To begin to read a column takes pyarrow ten kilobytes: so many are looked at by ourselves first.
MANY_COLUMNS = 1000
# Of a table in memory, for each byte of its text: 0 and a comma are a number of 8 bytes.
BYTES_PER_BYTE = 4
DELIMITERS = ",;\t|"
FIELD_STARTS = tuple(mark.encode() for mark in DELIMITERS + "\r\n")
# What pandas takes as missing.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
# 00501 is a postal code or another name in digits; as a number it would lose its zeros.
CODE = r"^\s*0[0-9]+\s*$"
CODE_BEGINS = re.compile(rb'[\s",;|]0[0-9]')
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+")
COMMA_IN_NUMBER = re.compile(rb"\d,\d")
CONVERSION = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.+?): invalid value '(.*)'",
    re.DOTALL,
)


class Text(io.RawIOBase):
    """Bytes that are seen to be UTF-8 text in lines of bearable length as they pass."""

    def __init__(
        self,
        stream: Any,
        name: str,
        longest: int,
        *,
        whole: bool = True,
        meter: Meter | None = None,
    ) -> None:
        """The stream, its name, the longest line, whether it ends where the file does; a count."""
        super().__init__()
        self._stream, self._name, self._longest, self._whole = stream, name, longest, whole
        self._meter = meter
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._lines = 0
        self._line_bytes = 0
        self._last = b"\n"
        self._quotes = 0
        self._open_quote: int | None = None

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes; at the end, the newline that the last line may lack."""
        piece: bytes = self._stream.read(size)
        if self._meter is not None:
            self._meter.add(len(piece))
        self._check_encoding(piece)
        if b"\0" in piece:
            self._refuse_nul(piece)
        self._watch_quotes(piece)
        self._check_lines(piece)
        at_end = size < 0 or len(piece) < size
        if at_end and self._whole:
            self._check_quotes()
        self._last = piece[-1:] or self._last
        if at_end and self._last != b"\n":
            self._last = b"\n"
            return piece + b"\n"
        return piece

    def _check_encoding(self, piece: bytes) -> None:
        kept = len(self._decoder.getstate()[0])
        try:
            self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            line = self._lines + piece[: max(error.start - kept, 0)].count(b"\n") + 1
            raise TableFileError(
                f"{self._name} is not UTF-8 text: byte 0x{error.object[error.start]:02x} in line "
                f"{line}. If it is Latin-1, convert it: iconv -f latin1 -t utf-8."
            ) from error

    def _refuse_nul(self, piece: bytes) -> Never:
        line = self._lines + piece[: piece.index(b"\0")].count(b"\n") + 1
        raise TableFileError(
            f"{self._name} is not text: there is a NUL byte in line {line}. If it is UTF-16, "
            "convert it: iconv -f utf-16 -t utf-8."
        )

    def _check_lines(self, piece: bytes) -> None:
        first = piece.find(b"\n")
        reach = self._line_bytes + (len(piece) if first < 0 else first)
        if reach >= self._longest:
            raise TableFileError(
                f"{self._name} has a line of more than {self._longest // 2**20} MiB, line "
                f"{self._lines + 1}. Is it a table, with a row in each line?"
            )
        self._lines += piece.count(b"\n")
        self._line_bytes = reach if first < 0 else len(piece) - piece.rfind(b"\n") - 1

    def _watch_quotes(self, piece: bytes) -> None:
        """Remembers the line of the last quotation mark if a field starts with it."""
        if (last := piece.rfind(b'"')) < 0:
            return
        self._quotes += piece.count(b'"')
        starts = (piece[last - 1 : last] or self._last) in FIELD_STARTS
        self._open_quote = self._lines + piece[:last].count(b"\n") + 1 if starts else None

    def _check_quotes(self) -> None:
        """What follows a mark that is never closed would be one long field, its rows lost."""
        if self._quotes % 2 and self._open_quote is not None:
            raise TableFileError(
                f"{self._name}, line {self._open_quote}: a quotation mark that is never closed. "
                "Close it; if the file was cut short, copy or download it again."
            )


class SeparatedText:
    """A table as text: its delimiter, header and types, as its start shows them."""

    def __init__(self, stream: Ahead, name: str, block_bytes: int = BLOCK_BYTES) -> None:
        """Looks at the start, and leaves the stream as it was."""
        self._stream, self._name, self._block_bytes = stream, name, block_bytes
        self._csv = require("pyarrow.csv", "tables")
        self._codes: dict[str, Any] = {}
        self._decimal_point = "."
        self._used: list[str] = []  # none for all
        head = stream.peek(2 * block_bytes)
        whole = len(head) < 2 * block_bytes
        if not whole:
            head = head[: head.rfind(b"\n") + 1] or head
        start = Text(io.BytesIO(head), name, block_bytes, whole=whole)
        while start.read(block_bytes):
            pass
        # Of a file as it lies on the disk: the rest has lines as long as the start.
        size = None if stream.path is None else stream.path.stat().st_size
        self.about_rows = None if size is None else head.count(b"\n") * size // max(len(head), 1)
        self._delimiter = _delimiter(head)
        records = _records(head, self._delimiter)
        names = next(records, [])
        _check_header(names, name)
        if len(names) > MANY_COLUMNS:
            self._refuse_ragged(names, next(records, names))
        wide = min(LONGEST_BLOCK, BYTES_PER_COLUMN * len(names))
        self._at_once = wide if wide > BLOCK_BYTES else block_bytes

        def again() -> Text:
            return Text(io.BytesIO(head), name, block_bytes, whole=whole)

        self.schema = self._first(again()).schema
        self._names = self.schema.names
        notes = []
        # Excel writes such files where decimals have commas.
        if self._delimiter != "," and COMMA_IN_NUMBER.search(head):
            notes += self._decimal_commas(again)
        if CODE_BEGINS.search(head):  # few files have any, and to look at each column takes long
            self._codes = self._codes_in(again())
        if self._names and not self._names[0].strip():
            notes += self._row_numbers(again())
        fields = (f.with_type(self._codes.get(f.name, f.type)) for f in self.schema)
        self.schema = require("pyarrow", "tables").schema(fields)
        self.note = " ".join(notes) or None

    def _text(self, meter: Meter | None = None) -> Text:
        return Text(self._stream, self._name, self._block_bytes, meter=meter)

    def _first(self, start: Text, types: Mapping[str, Any] | None = None) -> Any:
        """The reader, which has seen the first block."""
        with self._explained(list(types or ()), types) as options:
            return self._csv.open_csv(start, **options)

    def _decimal_commas(self, again: Callable[[], Text]) -> list[str]:
        """Has numbers such as 3,14 read, if a column needs it, and says so.

        Args:
            again: the start of the file.

        Returns:
            A note, or none.

        Raises:
            TableFileError: other columns need decimal points.
        """
        with_points = self.schema
        self._decimal_point = ","
        with_commas = self._first(again()).schema
        of_text = require("pyarrow", "tables").types.is_string
        commas, points = (
            [f.name for f in before if of_text(f.type) and not of_text(after.field(f.name).type)]
            for before, after in ((with_points, with_commas), (with_commas, with_points))
        )
        if not commas:
            self._decimal_point = "."
            return []
        if points:
            raise TableFileError(
                f"{self._name}: the numbers of {listed(commas, 3)} have decimal commas, but those "
                f"of {listed(points, 3)} have points. Write all with decimal points, and without "
                "thousands separators."
            )
        self.schema = with_commas
        have = "has" if len(commas) == 1 else "have"
        return [f"{self._name}: {listed(commas, 5)} {have} decimal commas: 3,14 is read as 3.14."]

    def _row_numbers(self, start: Text) -> list[str]:
        """Leaves out a first column without a name if it numbers the rows, and says so."""
        block = next(self._first(start), None)
        if block is None or not has_row_numbers(block):
            return []
        self.schema = self.schema.remove(0)
        self._used = self.schema.names
        return [row_numbers_note(self._name)]

    def _codes_in(self, start: Text) -> dict[str, Any]:
        """The columns that pyarrow takes for numbers although some start with a needless zero."""
        arrow, compute = require("pyarrow", "tables"), require("pyarrow.compute", "tables")
        numbers = {
            field.name: arrow.string()
            for field in self.schema
            if arrow.types.is_integer(field.type) or arrow.types.is_floating(field.type)
        }
        block = next(self._first(start, numbers), None) if numbers else None
        return {
            name: of_type
            for name, of_type in numbers.items()
            if block is not None
            and compute.any(compute.match_substring_regex(block[name], CODE)).as_py()
        }

    def blocks(
        self, _rows: int, columns: Sequence[str] | None, types: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Tables in the order of the file; types that are not given are those of the first."""
        table = require("pyarrow", "tables").Table
        with self._stream, self._explained(columns, types) as options:
            for batch in self._csv.open_csv(self._text(), **options):
                block = table.from_batches([batch])
                self._check_decimals(block, types)
                yield block

    def read(self, columns: Sequence[str] | None, types: Mapping[str, Any]) -> Any:
        """The whole table; types that are not given fit every row."""
        with self._stream, self._explained(columns, types) as options:
            table = self._csv.read_csv(self._text(Meter(self._name, BYTES_PER_BYTE)), **options)
        self._check_decimals(table, types)
        return table

    @contextmanager
    def _explained(
        self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Options for pyarrow, whose errors inside the block are raised again in words."""
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            if not row.text.strip():
                return "skip"
            ragged.append(row)
            return "error"

        arrow = require("pyarrow", "tables")
        try:
            yield {
                # One thread numbers the rows that it complains of, and is as fast on two cores.
                "read_options": self._csv.ReadOptions(block_size=self._at_once, use_threads=False),
                "parse_options": self._csv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=refuse
                ),
                "convert_options": self._csv.ConvertOptions(
                    column_types={**self._codes, **(types or {})},
                    include_columns=list(columns or self._used),
                    decimal_point=self._decimal_point,
                    null_values=MISSING,
                    strings_can_be_null=True,
                ),
            }
        except MemoryError as error:
            raise MemoryError(
                f"{self._name} does not fit into the memory ({error}). Compressed, a file may be "
                "far smaller than its table. Take fewer rows."
            ) from error
        except arrow.ArrowException as error:
            raise TableFileError(
                self._ragged(ragged[0]) if ragged else self._in_words(str(error))
            ) from error

    def _refuse_ragged(self, names: list[str], first: list[str]) -> None:
        """A header that is far longer than the first row is refused before pyarrow reads it."""
        if len(first) != len(names) and any(field.strip() for field in first):
            text = self._delimiter.join(first)
            row = self._csv.InvalidRow(len(names), len(first), 2, text)
            raise TableFileError(self._ragged(row))

    def _ragged(self, row: Any) -> str:
        return (
            f"{self._name}, {_counted(row.number)}: {row.actual_columns} fields, but the header "
            f"has {row.expected_columns}: {_short(row.text)}. Correct the row; a field that "
            "contains the delimiter needs quotes."
        )

    def _in_words(self, complaint: str) -> str:
        if (conversion := CONVERSION.search(complaint)) is not None:
            column, row, wanted, value = conversion.groups()
            return (
                f"{self._name}, {_counted(row)}, column {self._names[int(column)]!r}: "
                f"{_short(value)} is not {type_in_words(wanted)}, as the column needs. "
                f"{self._correction(value)}, or leave the field empty."
            )
        if "straddl" in complaint:
            return (
                f"{self._name} has a row of more than {self._at_once // 2**20} MiB. Is there a "
                "quotation mark that is never closed?"
            )
        return f"{self._name} cannot be read as CSV: {complaint}."

    def _correction(self, value: str) -> str:
        """What to do with a text that is no number."""
        if self._decimal_point == "." and _has_comma(value):
            return "Write a decimal point instead of the comma"
        if self._decimal_point == "," and DECIMAL_POINT.fullmatch(value.strip()):
            return "Write a decimal comma instead of the point"
        return "Correct it"

    def _check_decimals(self, table: Any, types: Mapping[str, Any]) -> None:
        """A text column of nothing but 1,5 and 2,25 was meant as numbers, and so with 3.5."""
        is_string = require("pyarrow", "tables").types.is_string
        for name in (field.name for field in table.schema if is_string(field.type)):
            if name in types:
                continue
            values = [v for v in table[name].slice(0, 1000).to_pylist() if v is not None]
            commas = [value for value in values if _has_comma(value)]
            points = [v for v in values if DECIMAL_POINT.fullmatch(v.strip())] if commas else []
            if commas and len(commas) + len(points) == len(values):
                shown = [
                    f"with {of}, such as {some[0]!r}"
                    for of, some in (("commas", commas), ("points", points))
                    if some
                ]
                raise TableFileError(
                    f"{self._name}, column {name!r}: numbers {enumerated(shown)}. "
                    "Write them with decimal points and without thousands separators."
                )


def _has_comma(value: object) -> bool:
    return isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip()) is not None


def _counted(row: int | str) -> str:
    """A row that pyarrow counts from the header, as all messages about rows count it."""
    return f"row {int(row) - 1} (from 1 below the header)"


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")


def _records(head: bytes, delimiter: str) -> Iterator[list[str]]:
    """Rows with something in them, read as they are asked for; those that csv can read."""
    lines = io.TextIOWrapper(io.BytesIO(head), "utf-8-sig", newline="")
    with suppress(csv.Error):
        yield from (row for row in csv.reader(lines, delimiter=delimiter) if row)


def _delimiter(head: bytes) -> str:
    """The delimiter that splits the header and gives most of the next rows as many fields."""

    def agreement(delimiter: str) -> tuple[float, int]:
        lengths = [len(row) for row in itertools.islice(_records(head, delimiter), 20)]
        if not lengths or lengths[0] == 1:
            return 0, 0
        return lengths.count(lengths[0]) / len(lengths), lengths[0]

    return max(DELIMITERS, key=agreement)


def _check_header(names: list[str], name: str) -> None:
    if names and all(map(reads_as_number, names)):
        raise TableFileError(
            f"{name} starts with numbers ({_short(', '.join(names))}), and a header line is "
            "needed. Put a line with the names of the columns first."
        )
