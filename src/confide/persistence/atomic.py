"""Files that are whole at every moment: the old one, or the new one, never a part."""

import errno
import os
import platform
import re
import stat
import sys
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from confide.errors import NoRoomError, WouldOverwriteError

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

# In bytes, on nearly every disk.
LONGEST_NAME = 255
# Of a temporary file: the machine, the process and 32 random digits.
LONGEST_ENDING = 64
# Names of temporary files that this process writes now: others with its number are left over.
OPEN: set[str] = set()


def write_atomically(path: Path, content: bytes) -> None:
    """Writes beside the file, then renames: a crash leaves the old file or the new one."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to. It gets its name when the block ends; after an error nothing is left.

    A link is followed. A device or a named pipe cannot be replaced, so it is written to directly.

    Raises:
        FileNotFoundError: There is no such folder.
        IsADirectoryError: It is a folder.
        NoRoomError: The disk is full.
    """
    check_target(path, force=True)
    with said_if_full(path), _direct(path) if _is_stream(path) else _replacing(path) as file:
        yield file


def check_target(
    path: Path, *, force: bool = False, how_to_replace: str = "Add --force to replace it"
) -> None:
    """Refuses, before any work is done, what could not or should not be written to.

    Args:
        path: where to write.
        force: whether a file that is there may be replaced.
        how_to_replace: what to do to replace it.
    """
    _check_folder(path)
    if (mode := _mode(path)) is None or _is_stream(path):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder, but the result is a file. Name a file.")
    if stat.S_ISBLK(mode):
        raise OSError(
            f"{path} is a disk, and writing to it would destroy all its files. Name a file."
        )
    if not force:
        raise WouldOverwriteError(f"{path} already exists. {how_to_replace}, or name another file.")


def _is_stream(path: Path) -> bool:
    """Whether bytes written there go elsewhere, as with a named pipe or /dev/null."""
    mode = _mode(path)
    return mode is not None and not any(
        kind(mode) for kind in (stat.S_ISREG, stat.S_ISDIR, stat.S_ISBLK)
    )


def _mode(path: Path) -> int | None:
    """The kind and the permissions of what is there, or where a link points; None for nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _check_folder(path: Path) -> None:
    folder = (_followed(path) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}. Create it first.")


def _followed(path: Path) -> Path:
    """Where a link points to in the end: a rename would replace the link itself."""
    return Path(os.path.realpath(path))


@contextmanager
def _direct(path: Path) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        yield file


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    target = _followed(path)
    _remove_left_overs(target)
    temporary = target.with_name(f"{_start(target)}{machine()}-{os.getpid()}-{uuid.uuid4().hex}")
    OPEN.add(temporary.name)
    try:
        with _naming(path):
            file = _opened(temporary, target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _naming(path):
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):  # a disk that is read-only refuses this as well
            temporary.unlink()
        raise
    finally:
        OPEN.discard(temporary.name)


def _start(target: Path) -> str:
    """How temporary files beside it begin, cut so that no name is longer than it may be."""
    start = os.fsencode(f".{target.name}")[: LONGEST_NAME - LONGEST_ENDING]
    return f"{start.decode(errors='ignore')}."


def machine() -> str:
    """Says which machine a process runs on: others, too, may write to the folder.

    Containers of one machine may share its name, but each numbers its own processes.
    """
    numbering = 0
    with suppress(OSError):  # only Linux has it
        numbering = Path("/proc/self/ns/pid").stat().st_ino
    return f"{zlib.crc32(f'{platform.node()} {numbering}'.encode()):08x}"


def _remove_left_overs(target: Path) -> None:
    """Of processes that were killed while they wrote this very file."""
    if sys.platform == "win32":
        return  # no process can be asked there whether it lives
    name = re.compile(rf"{re.escape(_start(target))}{machine()}-(\d+)-[0-9a-f]{{32}}")
    with suppress(OSError):  # it is a courtesy
        for path in target.parent.iterdir():
            if (found := name.fullmatch(path.name)) and _is_dead(int(found[1]), path.name):
                path.unlink(missing_ok=True)


def _is_dead(process: int, temporary: str) -> bool:
    """Whether the process that wrote a file is gone: another may have its number by now."""
    return temporary not in OPEN if process == os.getpid() else is_gone(process)


def is_gone(process: int) -> bool:
    """Whether no process of this machine has that number."""
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # another user's, or no number of a process
    return False


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors speak of the user's file, as nobody knows the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _opened(temporary: Path, target: Path) -> BinaryIO:
    """A new file, at no time open to more people than the one that it is to replace."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return temporary.open("xb")
    file = open(temporary, "xb", opener=_for_nobody_else)  # noqa: SIM115
    _keep_permissions(file.fileno(), old)
    return file


def _for_nobody_else(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _keep_permissions(new: int, old: os.stat_result) -> None:
    if sys.platform == "win32":
        return  # a folder's permissions are those of its files
    for user in (old.st_uid, -1):  # only root gives a file to another user; a group may be kept
        with suppress(OSError):
            os.fchown(new, user, old.st_gid)
            break
    own, mode = os.fstat(new), stat.S_IMODE(old.st_mode)
    if own.st_gid != old.st_gid:
        mode &= ~stat.S_IRWXG
    if stat.S_IMODE(own.st_mode) != mode:  # some disks know no permissions, and refuse to set them
        os.fchmod(new, mode)


@contextmanager
def said_if_full(path: Path | str) -> Iterator[None]:
    """Turns the error of a full disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        full = NoRoomError(
            f"There is no space left to write {path} ({error.strerror}), and no part of it was "
            "kept. Free some space, or name a file on another disk."
        )
        full.errno = error.errno
        raise full from error
