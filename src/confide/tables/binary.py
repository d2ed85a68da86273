"""Tables as Arrow and Parquet files. Nothing that such a file brings along is run."""

import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confide.budget import within_memory
from confide.errors import TableFileError, TooLargeError
from confide.extras import require
from confide.tables.recognise import ARROW_STREAM, PARQUET
from confide.tables.words import type_in_words

# With a buffer, and nothing read before it is asked for, a column of Parquet is read page by page:
# 2e6 rows of 9 columns took 69 MB in place of 190, whatever the size of the row groups.
BUFFER_BYTES = 2**20
# Read at once: the same text in every row takes a few bytes in the file, and gigabytes in memory.
ROWS_AT_ONCE = 8_192
# Where pandas keeps the labels of its rows; they say nothing about a row.
ROW_LABELS = re.compile(r"__index_level_\d+__")


class BinaryTable:
    """A table as Parquet, an Arrow file or an Arrow stream."""

    def __init__(self, file: Any, form: str, name: str) -> None:
        """Reads the description of the columns; the file stays open."""
        self._arrow = require("pyarrow", "tables")
        self._form, self._name = form, name
        self._close = weakref.finalize(self, file.close)
        with self._explained():
            self._reader = self._opened(file)
            described = self._reader.schema_arrow if form == PARQUET else self._reader.schema
            fields = [field for field in described if not ROW_LABELS.fullmatch(field.name)]
            self.about_rows = self._reader.metadata.num_rows if form == PARQUET else None
            self.schema = self._arrow.schema([(f.name, self._storage(f.type)) for f in fields])

    def blocks(
        self, rows: int, columns: Sequence[str] | None, types: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Tables in the order of the file, each column of the type that was asked for."""
        wanted = self.schema if columns is None else [self.schema.field(name) for name in columns]
        types = {field.name: types.get(field.name, field.type) for field in wanted}
        seen = 0
        with self._explained():
            for batch in self._batches(rows, list(types)):
                block = self._arrow.Table.from_batches([batch])
                yield self._arrow.table(
                    {name: self._cast(block[name], to, name, seen) for name, to in types.items()}
                )
                seen += batch.num_rows
        self._close()

    def _opened(self, file: Any) -> Any:
        if self._form == PARQUET:
            return require("pyarrow.parquet", "tables").ParquetFile(
                file,
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        ipc = require("pyarrow.ipc", "tables")
        return (ipc.open_stream if self._form == ARROW_STREAM else ipc.open_file)(file)

    def _batches(self, rows: int, columns: list[str]) -> Iterator[Any]:
        if self._form == PARQUET:
            at_once = min(rows, ROWS_AT_ONCE)
            yield from self._reader.iter_batches(at_once, columns=columns, use_threads=False)
            return
        count = getattr(self._reader, "num_record_batches", None)
        each = self._reader if count is None else map(self._reader.get_batch, range(count))
        batches = iter(each)
        while (batch := self._unpacked(batches)) is not None:
            # The offsets in a stranger's file may point anywhere.
            batch.validate(full=True)
            yield batch

    def _unpacked(self, batches: Iterator[Any]) -> Any:
        """The next batch, or None; a few compressed bytes of it may become any number, at once."""
        with within_memory(self._name):
            return next(batches, None)

    def _storage(self, of_type: Any) -> Any:
        """What an extension type, which may come with code of its own, is kept as."""
        extension = isinstance(of_type, self._arrow.BaseExtensionType)
        return of_type.storage_type if extension else of_type

    def _cast(self, values: Any, to: Any, name: str, seen: int) -> Any:
        values = values.cast(self._storage(values.type))
        if values.type == to:
            return values
        # A whole number above 2 ** 53 is rounded when asked for as a float; else nothing is lost.
        safe = not self._arrow.types.is_floating(to)
        try:
            return values.cast(to, safe=safe)
        except self._arrow.ArrowException as error:
            at = self._first_failing(values, to, safe=safe)
            raise TableFileError(
                f"{self._name}, row {seen + at + 1}, column {name!r}: {str(values[at])!r} (of type "
                f"{values.type}) is not {type_in_words(to)}, as the column needs. Correct it, or "
                "leave it missing."
            ) from error

    def _first_failing(self, values: Any, to: Any, *, safe: bool) -> int:
        """Halves the rows until one is left."""
        start, end = 0, len(values)
        while end - start > 1:
            middle = (start + end) // 2
            try:
                values.slice(start, middle - start).cast(to, safe=safe)
                start = middle
            except self._arrow.ArrowException:
                end = middle
        return start

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (TableFileError, TooLargeError):
            raise
        except (OSError, ValueError, OverflowError, MemoryError, self._arrow.ArrowException) as e:
            raise TableFileError(
                f"{self._name} is damaged or cut short, and cannot be read as {self._form} "
                f"({str(e).splitlines()[0] if str(e) else type(e).__name__}). Copy, download or "
                "write it again."
            ) from e
