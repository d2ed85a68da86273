"""One file of named arrays and a JSON header, in safetensors' format. Nothing in it can run."""

import hashlib
import io
import json
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from confide.errors import ModelFileError, no_such_file
from confide.persistence.arrays import Arrays
from confide.persistence.atomic import write_atomically

CHECKSUM = "sha256"
# In bytes; safetensors reads no longer ones.
LONGEST_HEADER = 100_000_000
# Bytes that a value of the header takes once it is read, at most, and what all may take beyond the
# size of the file: `[],` thousands of times over is a small file and a large list.
BYTES_PER_VALUE, BYTES_BEYOND_FILE = 100, 50_000_000
# What people take for a model, by its first bytes.
STRANGERS = {
    b"PAR1": "a table in Parquet",
    b"ARROW1": "a table in Arrow",
    b"PK\3\4": "a zip archive, such as an Excel workbook or a model of another library",
    b"\x80": "a Python pickle",
    bytes(8): "filled with zeros, as a broken copy may be",
}


@dataclass(frozen=True)
class Container:
    """What a file holds.

    Attributes:
        header: what JSON can say; its "format" and "format_version" are checked when it is read.
        arrays: by name.
    """

    header: dict[str, Any]
    arrays: Arrays

    def write(self, target: Path | BinaryIO) -> None:
        """Writes the file with a checksum; an older one of that name is replaced in one step."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        header = json.dumps({**self.header, CHECKSUM: self.checksum()})
        content = save(arrays, {"header": header})
        if _has_too_many_values(header.encode(), len(content)):
            raise ModelFileError(
                "The model cannot be saved: a file that describes so many columns and categories "
                "would not be read again. Exclude columns with very many categories."
            )
        if isinstance(target, Path):
            write_atomically(target, content)
        else:
            target.write(content)

    @classmethod
    def read(cls, path: Path, *, format: str, versions: Sequence[int]) -> Self:  # noqa: A002
        """Reads a file, and checks that it is whole and of that format, in one of its versions.

        `is_as_written` says whether its checksum is right.

        Raises:
            FileNotFoundError: there is no such file.
            ModelFileError: it is something else.
        """
        refuse_other_than_file(path)
        # Not a memory map: where the file is rewritten meanwhile, that would end the process.
        with _whole(path, format), path.open("rb") as file:
            return cls._read(path, file, path.stat().st_size, format, versions)

    @classmethod
    def parsed(
        cls,
        content: bytes,
        path: Path,
        *,
        format: str,  # noqa: A002
        versions: Sequence[int],
    ) -> Self:
        """The same for what was read from a file that may be gone by now; errors name its path."""
        with _whole(path, format):
            return cls._read(path, io.BytesIO(content), len(content), format, versions)

    @classmethod
    def _read(
        cls,
        path: Path,
        file: BinaryIO,
        size: int,
        format: str,  # noqa: A002
        versions: Sequence[int],
    ) -> Self:
        from safetensors.numpy import load

        _refuse_stranger(path, file.read(512), format)
        file.seek(0)
        header = _header(file, size)
        _check_format(path, header, format, versions)
        file.seek(0)
        return cls(header, load(file.read()))

    def is_as_written(self) -> bool:
        """Whether the checksum is that of the header and the arrays."""
        try:
            return bool(self.header[CHECKSUM] == self.checksum())
        except (LookupError, RecursionError, TypeError, ValueError):
            return False

    def checksum(self) -> str:
        """Of the header and all arrays: shows a byte that changed on a disk or on the way.

        It is no proof against malice: who can change the file can change the checksum.
        """
        header = {name: value for name, value in self.header.items() if name != CHECKSUM}
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


@contextmanager
def _whole(path: Path, format: str) -> Iterator[None]:  # noqa: A002
    """Errors inside say that the file is no model, whatever a hostile one makes readers raise."""
    try:
        yield
    except (FileNotFoundError, ModelFileError):
        raise
    except Exception as error:
        no_json = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError))
        why = "its header cannot be read" if no_json else error
        raise ModelFileError(
            f"{path} is not a whole {format} ({why}). It may be truncated, or of another "
            "kind; pass a file that `save` wrote."
        ) from error


def _refuse_stranger(path: Path, start: bytes, format: str) -> None:  # noqa: A002
    what = next((known for magic, known in STRANGERS.items() if start.startswith(magic)), None)
    if start[6:9] == b"\0\0{":  # a header and its length, which may begin like anything
        what = None
    elif start[:1] < b"\x80" and start and not any(b < 9 or 13 < b < 32 for b in start):
        what = "text, such as a table in CSV"
    if what is not None:
        raise ModelFileError(
            f"{path} is {what}, not a {format}. Pass a file that `save` or `confide fit` wrote; "
            "commands take the model first, then the table."
        )


def refuse_other_than_file(path: Path) -> None:
    """Refuses a path where there is no file of a model that could be read to its end."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{no_such_file(path)} A model is a file that `save` or `confide fit` wrote."
        ) from error
    if stat.S_ISDIR(mode):
        raise ModelFileError(f"{path} is a folder: pass a file that `save` wrote.")
    if not stat.S_ISREG(mode):  # it may have no end
        raise ModelFileError(f"{path} is a device or a pipe: pass a file that `save` wrote.")


def _header(file: BinaryIO, size: int) -> Any:
    """What the file says beside its arrays; a large one of another program is read no further."""
    length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise ValueError("its header is too long")
    text = file.read(length)
    if _has_too_many_values(text, size):
        raise ValueError("its header has too many values")
    return json.loads((json.loads(text).get("__metadata__") or {}).get("header", "{}"))


def _has_too_many_values(text: bytes, size: int) -> bool:
    """Whether JSON, or JSON within it, takes too much memory for a file of that size."""
    n_values = sum(map(text.count, (b",", b"[", b"{")))
    return n_values * BYTES_PER_VALUE > size + BYTES_BEYOND_FILE


def _check_format(path: Path, header: Any, format: str, versions: Sequence[int]) -> None:  # noqa: A002
    if not isinstance(header, dict) or header.get("format") != format:
        raise ModelFileError(
            f"{path} is not a {format}: its header does not say so. Pass a file that `save` wrote."
        )
    version = header.get("format_version")
    if version not in versions:
        old = isinstance(version, int) and version < min(versions)
        what = "fit and save the model again" if old else "install that version or a newer one"
        raise ModelFileError(
            f"{path} has format version {version!r}, and this confide reads version "
            f"{' and '.join(map(str, versions))}. It was written by confide "
            f"{header.get('confide_version', 'of an unknown version')}: {what}."
        )
