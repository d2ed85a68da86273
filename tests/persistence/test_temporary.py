"""Temporary folders: gone afterwards, and those of killed processes, but nothing else."""

import os
import subprocess
import sys

import pytest

from confide.persistence import temporary_folder

KILLED = """
import os, signal
from confide.persistence import temporary_folder
with temporary_folder() as folder:
    (folder / "rows").write_text("many")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def parent(tmp_path, monkeypatch):
    """A place for temporary folders, of this process and of those that it starts."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_gone_afterwards(parent):
    with temporary_folder() as folder:
        (folder / "rows").write_text("many")
        assert list(parent.iterdir()) == [folder]
    assert list(parent.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be asked whether it lives")
def test_what_a_killed_process_left_is_removed_and_nothing_else(parent):
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = parent.iterdir()
    start, process, _ = left.name.rsplit("-", 2)
    precious = parent / "precious"
    precious.mkdir()
    (parent / f"{start}-{process}-link").symlink_to(precious)
    (parent / f"{start}-{process}-file").touch()
    others = {f"{start}-{os.getppid()}-alive", f"{start}-x", f"{start[:-1]}-{process}-machine"}
    for name in (*others, "confide-old"):
        (parent / name).mkdir()
    before = {*parent.iterdir()}
    with temporary_folder() as first, temporary_folder():
        assert first.exists()  # the folders of a process that lives stay
    assert {*parent.iterdir()} == before - {left}


@pytest.mark.skipif(sys.platform == "win32", reason="files have no owner there")
def test_folders_of_another_user_stay(parent, monkeypatch):
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    before = {*parent.iterdir()}
    monkeypatch.setattr(os, "getuid", lambda: parent.stat().st_uid + 1)
    with temporary_folder():
        pass
    assert {*parent.iterdir()} == before
