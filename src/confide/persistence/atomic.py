"""Files that are whole at every moment: the old one, or the new one, never a part."""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from confide.errors import NoRoomError, WouldOverwriteError

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(path: Path, content: bytes) -> None:
    """Writes beside the file, then renames: a crash leaves the old file or the new one."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to. It gets its name when the block ends; after an error nothing is left.

    Raises:
        FileNotFoundError: There is no such folder.
        NoRoomError: The disk is full.
    """
    check_folder(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex}")
    try:
        with said_if_full(path):
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_folder(path: Path) -> None:
    """Refuses a file in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.absolute().parent}: make it first.")


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuses, before any work is done, a file that could not or should not be written."""
    check_folder(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and a file was to be written. Name a file.")
    if path.exists() and not force:
        raise WouldOverwriteError(
            f"{path} is there already, and was left as it is. Name another file, or overwrite it "
            "with --force."
        )


@contextmanager
def said_if_full(path: Path | str) -> Iterator[None]:
    """Turns the error of a full disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        full = NoRoomError(
            f"There is no room left to write {path} ({error.strerror}), and no part of it was "
            "kept. Free some, or name a file on another disk."
        )
        full.errno = error.errno
        raise full from error
