"""Parquet files at addresses such as s3://bucket/folder, read by the file systems of pyarrow."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, unquote

from confide.errors import TableFileError
from confide.extras import require

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
WILDCARD = "*"
# What stands for itself in an address; % begins an escape.
PLAIN = "/:=@%*~,;+$!'()&"


def is_address(source: str | Path) -> bool:
    """Whether it is an address such as s3://bucket/folder, not a path on this machine."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def is_pattern(address: str) -> bool:
    """Whether it stands for several files, by a * in it; ? starts the options of an address."""
    return WILDCARD in _bare(address)


def public(source: str | Path) -> str:
    """What people are told of an address: neither its options nor its user, which may be secrets.

    Example:
        >>> public("s3://key:secret@bucket/part%201.parquet?region=eu")
        's3://bucket/part%201.parquet'
    """
    if not is_address(source):
        return str(source)
    scheme, _, rest = _bare(str(source)).partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"


def file_name(source: str | Path) -> str:
    """The name of a file, without its folders."""
    return unquote(Path(public(source)).name) if is_address(source) else Path(source).name


def files_at(address: str, ending: str) -> list[str]:
    """The addresses of the files that an address stands for, in the order of their names.

    Args:
        address: of a file, of a folder, or with a * for any part of a name.
        ending: of the files of a folder.
    """
    at = _Place.of(address)
    first = at.first_wildcard
    with _explained(address):
        if first == len(at.names) and at.is_file():
            return [address]
        found = [names[first:] for names in at.files_below(first)]
    wanted = [_as_regex(part) for part in at.written[first:]]
    if wanted:
        found = [names for names in found if _match(names, wanted)]
    else:
        found = [names for names in found if names[-1].endswith(ending)]
    return [at.address_of(first, names) for names in sorted(found)]


def open_at(address: str) -> Any:
    """The file at an address, as pyarrow reads it."""
    at = _Place.of(address)
    with _explained(address):
        return at.system.open_input_file(at.path)


@dataclass(frozen=True)
class _Place:
    """What an address stands for.

    Attributes:
        system: the file system of pyarrow.
        path: on it.
        start: of the address, before its path.
        written: the parts of the path as the address has them; a * in them stands for any text.
        options: of the address, with their question mark.
    """

    system: Any
    path: str
    start: str
    written: list[str]
    options: str

    @classmethod
    def of(cls, address: str) -> Self:
        scheme, _, rest = (bare := _bare(address)).partition("://")
        options = address[len(bare) :]
        if scheme.lower() == "file":
            raise TableFileError(f"{public(address)} is on this machine. Pass its path, {rest}.")
        with _explained(address):
            from_uri = require("pyarrow.fs", "tables").FileSystem.from_uri
            system, path = from_uri(_escaped(address))
        parts = [part for part in rest.split("/") if part]
        n_before = len(parts) - len(_names(path))
        start = "/".join([f"{scheme}:/", *parts[:n_before]])
        return cls(system, path, start, parts[n_before:], options)

    @property
    def names(self) -> list[str]:
        return _names(self.path)

    @property
    def first_wildcard(self) -> int:
        """The number of parts before the first one that has a wildcard."""
        found = (i for i, part in enumerate(self.written) if WILDCARD in part)
        return next(found, len(self.written))

    def is_file(self) -> bool:
        kind = require("pyarrow.fs", "tables").FileType.File
        return bool(self.system.get_file_info(self.path).type == kind)

    def files_below(self, depth: int) -> list[list[str]]:
        """The names of the files in the folder of so many parts, and in its folders."""
        fs = require("pyarrow.fs", "tables")
        folder = "/" * self.path.startswith("/") + "/".join(self.names[:depth])
        found = self.system.get_file_info(fs.FileSelector(folder, recursive=True))
        return [_names(each.path) for each in found if each.type == fs.FileType.File]

    def address_of(self, depth: int, names: list[str]) -> str:
        """The address of a file by its names below the folder of so many parts."""
        folder = "/".join([self.start, *self.written[:depth]])
        return "/".join([folder, *(quote(name, safe="=") for name in names)]) + self.options


def _bare(address: str) -> str:
    """An address without its options."""
    return address.partition("?")[0]


def _escaped(address: str) -> str:
    bare = _bare(address)
    return quote(bare, safe=PLAIN) + address[len(bare) :]


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _as_regex(part: str) -> re.Pattern[str]:
    """A part of a pattern, in which * alone stands for others, and not if it is written %2A."""
    pieces = (re.escape(unquote(piece)) for piece in part.split(WILDCARD))
    return re.compile(".*".join(pieces), re.DOTALL)


def _match(names: list[str], wanted: list[re.Pattern[str]]) -> bool:
    each = zip(wanted, names, strict=False)
    return len(names) == len(wanted) and all(regex.fullmatch(name) for regex, name in each)


@contextmanager
def _explained(address: str) -> Iterator[None]:
    arrow = require("pyarrow", "tables")
    try:
        yield
    except (OSError, ValueError, arrow.ArrowException) as error:
        said = str(error).splitlines()[0].replace(_escaped(address), public(address))
        raise TableFileError(
            f"{public(address)} cannot be read ({said}). Check the address, the network, and that "
            "you may read it: pyarrow takes the keys of S3 and its like from where their own tools "
            "do, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL."
        ) from error
