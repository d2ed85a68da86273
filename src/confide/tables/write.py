"""Tables into files, block by block."""

import codecs
import csv
import gzip
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from confide.errors import TableFileError
from confide.extras import require
from confide.persistence import atomic_file, check_target, said_if_full
from confide.terminal import escaped_json, plain_lines

STANDARD_OUTPUT = "-"
TEXT_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows")


def write_blocks(
    blocks: Iterable[Any],
    target: str | Path,
    *,
    ending: str | None = None,
    force: bool = False,
    for_spreadsheets: Callable[[Any], Any] | None = None,
) -> int:
    """Writes Arrow tables or batches of one schema, as they come; a file is whole or not there.

    Args:
        blocks: One at least; it may be empty. The first is asked for when the target is seen to be
            writable.
        target: A path whose ending says the format: .csv, .tsv, .jsonl (each also with .gz),
            .parquet, .arrow or .feather, .arrows for an Arrow stream; "-" is standard output,
            where CSV and TSV do not steer a terminal.
        ending: The format of standard output, .csv if not given.
        force: Whether a file that is there may go.
        for_spreadsheets: What to do with each block of CSV and TSV, which spreadsheets open.

    Returns:
        The number of rows.

    Raises:
        TableFileError: No format has such an ending.
        WouldOverwriteError: The file is there already.
        FileNotFoundError: There is no such folder.
        NoRoomError: The disk is full.
        BrokenPipeError: Whoever read standard output has stopped; the caller's to handle.
    """
    ending = checked_ending(target, ending)
    if str(target) != STANDARD_OUTPUT:
        check_target(Path(target), force=force)
    if for_spreadsheets is not None and ending.startswith((".csv", ".tsv")):
        blocks = map(for_spreadsheets, blocks)
    blocks = iter(blocks)
    rows = 0
    with ExitStack() as stack:
        # Before the first block is worked for.
        sink = stack.enter_context(_sink(target))
        if (first := next(blocks, None)) is None:
            raise ValueError(
                "There is no block to write: pass at least one, even if it has no rows."
            )
        if ending.endswith(".gz"):
            sink = stack.enter_context(gzip.GzipFile("", "wb", fileobj=sink, mtime=0))
        if ending in {".csv", ".tsv"} and _is_terminal(target):
            sink = _Terminal(sink)
        writer = stack.enter_context(_writer(sink, first.schema, ending.removesuffix(".gz")))
        for block in chain([first], blocks):
            writer.write(block)
            rows += block.num_rows
    return rows


def checked_ending(target: str | Path, ending: str | None = None) -> str:
    """The ending that says the format to write.

    Args:
        target: a path, or "-" for standard output.
        ending: of standard output.

    Raises:
        TableFileError: no format has such an ending.
    """
    name = (ending or ".csv") if str(target) == STANDARD_OUTPUT else Path(target).name.lower()
    for known in ENDINGS:
        if name.endswith(known):
            return known
        if known in TEXT_ENDINGS and name.endswith(f"{known}.gz"):
            return f"{known}.gz"
    raise TableFileError(
        f"{name} does not say which format to write. Use a name that ends in one of "
        f"{', '.join(ENDINGS)}; text files may also end in .gz."
    )


@contextmanager
def _sink(target: str | Path) -> Iterator[Any]:
    if str(target) == STANDARD_OUTPUT:
        if sys.stdout is None:
            raise TableFileError("Standard output is closed. Name a file to write to.")
        with said_if_full("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
    else:
        with atomic_file(Path(target)) as file:
            yield file


def _is_terminal(target: str | Path) -> bool:
    return str(target) == STANDARD_OUTPUT and sys.stdout.isatty()


class _Terminal(io.RawIOBase):
    """Text for a terminal, which the cells of a stranger's table must not steer."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a character may come in parts

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        content = bytes(data)
        self._sink.write(plain_lines(self._decoder.decode(content)).encode())
        return len(content)


def _writer(sink: Any, schema: Any, ending: str) -> Any:
    """An object with `write`, for tables and batches alike."""
    if ending in {".jsonl", ".ndjson"}:
        return nullcontext(JsonLines(sink))
    if ending in {".csv", ".tsv"}:
        return _separated_writer(sink, schema, "\t" if ending == ".tsv" else ",")
    if ending in {".parquet", ".pq"}:
        return require("pyarrow.parquet", "tables").ParquetWriter(sink, schema)
    ipc = require("pyarrow.ipc", "tables")
    return (ipc.new_stream if ending == ".arrows" else ipc.new_file)(sink, schema)


def _separated_writer(sink: Any, schema: Any, delimiter: str) -> Any:
    arrow_csv = require("pyarrow.csv", "tables")
    # pyarrow quotes every name.
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    sink.write(header.getvalue().encode())
    options = arrow_csv.WriteOptions(include_header=False, delimiter=delimiter)
    return arrow_csv.CSVWriter(sink, schema, write_options=options)


class JsonLines:
    """A JSON object in each line; what is not finite is null, as JSON has no word for it."""

    def __init__(self, sink: Any) -> None:
        """Writes to the sink."""
        self._sink = sink

    def write(self, block: Any) -> None:
        """All rows of a table or batch."""
        rows = ({n: _json_value(value) for n, value in row.items()} for row in block.to_pylist())
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self._sink.write(escaped_json("".join(lines)).encode())


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
