"""Folders for large files that are needed for a while."""

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confide.persistence.atomic import is_gone, machine


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder in that of `TMPDIR`, gone afterwards; so are those of processes that were killed."""
    start = f"confide-{machine()}-"
    _remove_left_overs(Path(tempfile.gettempdir()), start)
    with tempfile.TemporaryDirectory(prefix=f"{start}{os.getpid()}-") as folder:
        yield Path(folder)


def _remove_left_overs(parent: Path, start: str) -> None:
    """Of this user's processes on this machine that are gone."""
    if sys.platform == "win32":
        return  # no process can be asked there whether it lives
    name = re.compile(rf"{re.escape(start)}(\d+)-[a-z0-9_]+")
    with suppress(OSError):  # it is a courtesy
        for path in parent.iterdir():
            if (found := name.fullmatch(path.name)) and is_gone(int(found[1])) and _is_own(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_own(path: Path) -> bool:
    """Whether it is a folder, and no link, of this user: others may write to the same place."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
