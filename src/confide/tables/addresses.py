"""Parquet files at addresses such as s3://bucket/folder, read by the file systems of pyarrow."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from confide.errors import TableFileError
from confide.extras import require

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
WILDCARD = "*"


class Place(NamedTuple):
    """What an address stands for: a path on a file system of pyarrow."""

    system: Any
    path: str


def is_address(source: str | Path) -> bool:
    """Whether it is an address such as s3://bucket/folder, not a path on this machine."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def is_pattern(address: str) -> bool:
    """Whether it stands for several files, by a * in it; ? starts the options of an address."""
    return WILDCARD in _parted(address)[0]


def file_name(source: str | Path) -> str:
    """The name of a file, without folders, and without the options of an address: its secrets."""
    return unquote(Path(_parted(str(source))[0]).name) if is_address(source) else Path(source).name


def files_at(address: str, ending: str) -> list[str]:
    """The addresses of the files that an address stands for.

    Args:
        address: of a file, of a folder, or with a * for any part of a name.
        ending: of the files of a folder.
    """
    fs = require("pyarrow.fs", "tables")
    system, path = _place(address)
    parts = PurePosixPath(path).parts
    first = next((i for i, part in enumerate(parts) if WILDCARD in part), len(parts))
    folder = str(PurePosixPath(*parts[:first]))
    with _explained(address):
        if first == len(parts) and system.get_file_info(path).type == fs.FileType.File:
            return [address]
        chosen = fs.FileSelector(folder, allow_not_found=True, recursive=True)
        below = system.get_file_info(chosen)
    found = [each.path for each in below if each.type == fs.FileType.File]
    wanted = f"{path}/{WILDCARD}{ending}" if first == len(parts) else path
    deep = first == len(parts)  # a folder has the files of its subfolders, a pattern has not
    files = [file for file in found if _matches(file, wanted, deep=deep)]
    bare, options = _parted(address)
    root = unquote(bare).rstrip("/").removesuffix(path)
    return [root + quote(file, safe="/=") + options for file in files]


def open_at(address: str) -> Any:
    """The file at an address, as pyarrow reads it."""
    system, path = _place(address)
    with _explained(address):
        return system.open_input_file(path)


def _parted(address: str) -> tuple[str, str]:
    """An address without its options, and these, with their question mark."""
    bare, mark, options = address.partition("?")
    return bare, mark + options


def _matches(file: str, pattern: str, *, deep: bool) -> bool:
    """Whether a path has the names of a pattern; a * does not stand for / unless it is deep."""
    if deep:
        return fnmatchcase(file, pattern)
    names, wanted = PurePosixPath(file).parts, PurePosixPath(pattern).parts
    return len(names) == len(wanted) and all(map(fnmatchcase, names, wanted))


def _place(address: str) -> Place:
    bare, options = _parted(address)
    with _explained(address):
        written = quote(bare, safe="/:=@%*~,;+$!'()&") + options
        return Place(*require("pyarrow.fs", "tables").FileSystem.from_uri(written))


@contextmanager
def _explained(address: str) -> Iterator[None]:
    arrow = require("pyarrow", "tables")
    try:
        yield
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise TableFileError(
            f"{_parted(address)[0]} cannot be read ({str(error).splitlines()[0]}). Check the "
            "address, the network, and that you may read it: pyarrow takes the keys of S3 and its "
            "like from where their own tools do, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL."
        ) from error
