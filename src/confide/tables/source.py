"""The bytes of a file or of standard input, decompressed, with a look ahead."""

import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Any, BinaryIO

from confide.errors import TableFileError, no_such_file
from confide.extras import require
from confide.persistence import said_if_full
from confide.tables.addresses import public
from confide.tables.recognise import compression

STANDARD_INPUT = "-"
START_BYTES = 4096


class Ahead(io.RawIOBase):
    """A stream whose next bytes can be looked at; a read is short at the end alone."""

    def __init__(self, file: Any, name: str, path: Path | None = None) -> None:
        """The stream, what messages call it, and the file on disk that has these very bytes."""
        super().__init__()
        self._file, self._name, self.path = file, name, path
        self._next = b""
        if not _is_standard_input(file):
            weakref.finalize(self, file.close)  # also where an error keeps the stream for a while

    def readable(self) -> bool:
        """Yes."""
        return True

    def peek(self, size: int) -> bytes:
        """The next bytes, left where they are."""
        if len(self._next) < size:
            self._next += self._all_of(size - len(self._next))
        return self._next[:size]

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as many as asked for."""
        if size < 0:
            taken, self._next = self._next, b""
            return taken + self._file.read()
        taken, self._next = self._next[:size], self._next[size:]
        return taken + self._all_of(size - len(taken))

    def _all_of(self, size: int) -> bytes:
        """A pipe gives what has come so far; this waits for the rest."""
        pieces = []
        try:
            while size and (piece := self._file.read(size)):
                pieces.append(piece)
                size -= len(piece)
        except OSError as error:
            raise TableFileError(
                f"{self._name} cannot be read to its end ({error}). It is damaged or cut short: "
                "copy or download it again."
            ) from error
        return b"".join(pieces)

    def close(self) -> None:
        """Closes the file too, unless it is standard input."""
        if not _is_standard_input(self._file):
            self._file.close()
        super().close()


def _is_standard_input(file: Any) -> bool:
    return sys.stdin is not None and file is sys.stdin.buffer


def name_of(source: str | Path) -> str:
    """What messages call it."""
    return "Standard input" if str(source) == STANDARD_INPUT else public(source)


def is_read_once(source: str | Path) -> bool:
    """Whether the bytes come and go: standard input, a named pipe."""
    return str(source) == STANDARD_INPUT or not stat.S_ISREG(_stat(Path(source)).st_mode)


def open_bytes(source: str | Path) -> Ahead:
    """The bytes, decompressed if their first ones say that they are compressed."""
    name = name_of(source)
    if str(source) == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.isatty():
            state = "closed" if sys.stdin is None else "the keyboard"
            raise TableFileError(
                f"Standard input is {state}, but a table is needed. Pipe a table in, or name a "
                "file."
            )
        raw = Ahead(sys.stdin.buffer, name)
    else:
        path = None if is_read_once(source) else Path(source)
        raw = Ahead(_opened(Path(source)), name, path)
    codec = compression(raw.peek(START_BYTES))
    if codec is None:
        return raw
    arrow = require("pyarrow", "tables")
    return Ahead(arrow.CompressedInputStream(arrow.PythonFile(raw, mode="r"), codec), name)


def spooled(stream: Ahead, name: str) -> BinaryIO:
    """The same bytes as a temporary file, for formats that are read from their end; close it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    with said_if_full(f"{name} to {tempfile.gettempdir()}"):
        shutil.copyfileobj(stream, file, 2**20)
        file.seek(0)
    return file


def _stat(path: Path) -> os.stat_result:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise TableFileError(no_such_file(path)) from error
    except OSError as error:
        raise TableFileError(f"{path} cannot be opened: {error.strerror}.") from error
    if stat.S_ISDIR(status.st_mode):
        raise TableFileError(f"{path} is a folder, but a file is needed. Name one of its files.")
    return status


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise TableFileError(
            f"{path} cannot be opened: {error.strerror}. Check that you may read it (chmod u+r)."
        ) from error
