"""One table in one file, or in several of Parquet."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from confide.budget import Meter
from confide.errors import TableFileError, nearest
from confide.extras import require
from confide.tables.binary import BinaryTable
from confide.tables.dataset import ParquetFiles, is_of_many_files
from confide.tables.excel import ExcelTable
from confide.tables.recognise import ARROW_STREAM, CSV, EXCEL, PARQUET, table_format
from confide.tables.separated import BLOCK_BYTES, SeparatedText
from confide.tables.source import START_BYTES, Ahead, is_read_once, name_of, open_bytes, spooled

ROWS_PER_BLOCK = 65_536
# Bytes of memory for each of a block: its numbers, and copies on the way there.
GROWTH = 4.0
AnyTable: TypeAlias = SeparatedText | BinaryTable | ExcelTable | ParquetFiles


class TableFile:
    """A table in a file or on standard input: CSV, Excel, Parquet or Arrow, known by its content.

    Text may have , ; tab or | between its fields and needs a header line; empty fields, NA, NaN,
    null and their like are missing. A column whose first megabytes have a whole number that starts
    with a zero, such as the postal code 00501, is text. Numbers may have decimal commas where the
    fields have none between them. Of an Excel workbook the first sheet is read, with the names of
    the columns in its first row. A first column without a name that counts the rows, as pandas and
    R write it, is left out. Each file may be compressed by gzip, zstd
    or bz2. A folder of Parquet files, or a pattern such as folder/*.parquet, is one table, in the
    order of their names, if all have the same columns; so are those at an address such as
    s3://bucket/folder. The row labels of pandas in Parquet and
    Arrow are left out, other metadata is ignored; nothing in a file is run.

    Args:
        source: A path, a pattern of paths, or "-" for standard input, which is read once.
        block_bytes: How much text is read at a time; the first block decides the types of columns,
            and no row may be longer.

    Attributes:
        name: What messages call it.
        format: "CSV" (with any delimiter), "Excel", "Parquet", "Arrow file" or "Arrow stream".
        note: What there is to say about it, or None.
        schema: Names and types of the columns; those of text are what its first megabytes show.

    Raises:
        TableFileError: It is not there, no table, damaged, or has columns without their own name.
    """

    def __init__(self, source: str | Path, *, block_bytes: int = BLOCK_BYTES) -> None:
        self.name = name_of(source)
        self._source, self._block_bytes = source, block_bytes
        self._unread: AnyTable | None = self._opened()
        self.schema = self._unread.schema
        self.note: str | None = getattr(self._unread, "note", None)
        _check_names(self.schema.names, self.name)

    def blocks(
        self,
        rows_per_block: int = ROWS_PER_BLOCK,
        *,
        columns: Sequence[str] | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> Iterator[Any]:
        """The rows in order, as Arrow tables of the given size in bounded memory; one at least.

        Args:
            rows_per_block: Rows in each table but the last.
            columns: Those to read, in this order.
            types: Arrow types by column; those not in the file are ignored. Without them, a column
                of text has the type that its first rows show, and later rows must agree.

        Returns:
            The blocks, as Arrow tables.
        """
        self._check_columns(columns)
        table = self._taken()
        blocks = table.blocks(rows_per_block, columns, types or {})
        empty = self._empty(columns, types or {})
        return _of_equal_size(blocks, rows_per_block, empty, self.name)

    def read(
        self, *, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None
    ) -> Any:
        """The whole table; the types of columns as text, where not given, fit every row."""
        self._check_columns(columns)
        table = self._taken()
        if isinstance(table, SeparatedText):
            return table.read(columns, types or {})
        tables, meter = [self._empty(columns, types or {})], Meter(self.name)
        for block in table.blocks(ROWS_PER_BLOCK, columns, types or {}):
            meter.add(block.nbytes)
            tables.append(block)
        return require("pyarrow", "tables").concat_tables(tables)

    @property
    def about_rows(self) -> int | None:
        """How many rows there are, roughly; None where only reading would tell."""
        return None if self._unread is None else self._unread.about_rows

    def _opened(self) -> AnyTable:
        if is_of_many_files(self._source):
            self.format = PARQUET
            return ParquetFiles(self._source)
        stream = open_bytes(self._source)
        self.format = table_format(stream.peek(START_BYTES), self.name)
        if self.format == CSV:
            return SeparatedText(stream, self.name, self._block_bytes)
        if self.format == EXCEL:
            return ExcelTable(
                stream.path.open("rb") if stream.path else spooled(stream, self.name), self.name
            )
        return BinaryTable(_seekable(stream, self.format, self.name), self.format, self.name)

    def _taken(self) -> AnyTable:
        many = is_of_many_files(self._source)
        if self._unread is None and not many and is_read_once(self._source):
            raise TableFileError(f"{self.name} has been read already, and can be read only once.")
        table, self._unread = self._unread or self._opened(), None
        return table

    def _check_columns(self, columns: Sequence[str] | None) -> None:
        names = set(self.schema.names)
        for column in columns or ():
            if column not in names:
                raise TableFileError(
                    f"{self.name} has no column {column!r}. {nearest(column, self.schema.names)} "
                    f"Its columns: {', '.join(self.schema.names)}."
                )

    def _empty(self, columns: Sequence[str] | None, types: Mapping[str, Any]) -> Any:
        """No rows, for a table that has none."""
        arrow = require("pyarrow", "tables")
        fields = self.schema if columns is None else [self.schema.field(name) for name in columns]
        return arrow.schema([(f.name, types.get(f.name, f.type)) for f in fields]).empty_table()


def read_table(
    source: str | Path,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
) -> Any:
    """The whole table of a file or of standard input ("-").

    Args:
        source: A path, or "-" for standard input.
        columns: Those to read, in this order, or None for all.
        types: Arrow types by column, see `TableFile.blocks`.

    Returns:
        The Arrow table.
    """
    return TableFile(source).read(columns=columns, types=types)


def read_blocks(
    source: str | Path,
    rows_per_block: int = ROWS_PER_BLOCK,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """The table of a file or of standard input ("-") in blocks of rows.

    Args:
        source: A path, or "-" for standard input.
        rows_per_block: Rows in each table but the last.
        columns: Those to read, in this order.
        types: Arrow types by column, see `TableFile.blocks`.

    Returns:
        The blocks, as Arrow tables.
    """
    return TableFile(source).blocks(rows_per_block, columns=columns, types=types)


def _seekable(stream: Ahead, form: str, name: str) -> Any:
    """What pyarrow reads: the file itself, a temporary one, or the stream as it comes."""
    arrow = require("pyarrow", "tables")
    if stream.path is not None:
        stream.close()
        # Batches of an Arrow file, however large, are then pages that the system may drop.
        return (arrow.OSFile if form == PARQUET else arrow.memory_map)(str(stream.path))
    return stream if form == ARROW_STREAM else spooled(stream, name)


def _of_equal_size(tables: Iterable[Any], rows: int, empty: Any, name: str) -> Iterator[Any]:
    """The same rows, cut anew; without any, one table that has none.

    A few bytes of Parquet may be the same long text in every row, so what a block takes is counted.
    """
    concat = require("pyarrow", "tables").concat_tables
    waiting, count, any_yielded, meter = [], 0, False, Meter(name, GROWTH)
    for table in tables:
        start = 0
        while start < table.num_rows:
            waiting.append(table.slice(start, rows - count))
            meter.add(waiting[-1].nbytes)
            start += waiting[-1].num_rows
            count += waiting[-1].num_rows
            if count == rows:
                yield concat(waiting)
                waiting, count, any_yielded, meter = [], 0, True, Meter(name, GROWTH)
    if waiting or not any_yielded:
        yield concat(waiting) if waiting else empty


def _check_names(names: Sequence[str], name: str) -> None:
    if not names:
        raise TableFileError(f"{name} has no columns.")
    nameless = [str(position) for position, column in enumerate(names, 1) if not column.strip()]
    if nameless:
        raise TableFileError(
            f"{name} has no name for column {', '.join(nameless)}. Name every column; if pandas "
            "wrote its row labels there, write with index=False."
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise TableFileError(
            f"{name} has more than one column called {', '.join(map(repr, twice))}. Give each "
            "column its own name."
        )
