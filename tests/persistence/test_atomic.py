"""What is written to: files in one step, devices and pipes as they are, links where they point."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from confide.errors import WouldOverwriteError
from confide.persistence import atomic_file, check_target, write_atomically


def read_in_thread(path: Path) -> tuple[threading.Thread, list[bytes]]:
    """A reader of a named pipe, without which a writer would wait for ever."""
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    thread.start()
    return thread, read


def node(path: Path, kind: int, number: int) -> Path:
    """A device of the test's own, so that a mistake harms no real one."""
    try:
        os.mknod(path, kind | 0o600, number)
    except PermissionError:
        pytest.skip("needs the right to make devices")
    return path


def test_a_named_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread, read = read_in_thread(pipe)
    check_target(pipe)
    write_atomically(pipe, b"content")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    thread.join(timeout=30)
    assert read == [b"content"]
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_is_written_to_and_stays(tmp_path):
    null = node(tmp_path / "null", stat.S_IFCHR, os.makedev(1, 3))
    check_target(null)
    try:
        write_atomically(null, b"content")
    except PermissionError:
        assert stat.S_ISCHR(null.stat().st_mode)
        pytest.skip("needs a file system whose devices can be opened")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert list(tmp_path.iterdir()) == [null]


def test_a_disk_is_refused(tmp_path):
    disk = node(tmp_path / "disk", stat.S_IFBLK, os.makedev(240, 0))
    for write in (check_target, lambda path: write_atomically(path, b"content")):
        with pytest.raises(OSError, match=r"disk is a disk.*Name a file"):
            write(disk)
    assert stat.S_ISBLK(disk.stat().st_mode)


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "far").mkdir()
    file, link, second = tmp_path / "far" / "file", tmp_path / "link", tmp_path / "second"
    link.symlink_to(Path("far") / "file")
    second.symlink_to(link)
    for content in (b"new", b"newer"):  # the first finds the link pointing to nothing
        write_atomically(second, content)
        assert second.is_symlink()
        assert link.is_symlink()
        assert file.read_bytes() == content
        assert list((tmp_path / "far").iterdir()) == [file]
    with pytest.raises(WouldOverwriteError, match=r"second already exists"):
        check_target(second)
    check_target(second, force=True)


def test_a_link_into_a_folder_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("no-such-folder/file")
    for write in (check_target, lambda path: write_atomically(path, b"content")):
        with pytest.raises(FileNotFoundError, match=r"no folder .*no-such-folder"):
            write(tmp_path / "link")


def test_a_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("link")
    for write in (check_target, lambda path: write_atomically(path, b"content")):
        with pytest.raises(OSError, match=r"symbolic links.*link"):
            write(link)
    assert link.is_symlink()


def test_a_folder_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    for name in ("folder", "link"):
        for force in (False, True):
            with pytest.raises(IsADirectoryError, match=f"{name} is a folder"):
                check_target(tmp_path / name, force=force)
        with (
            pytest.raises(IsADirectoryError, match=f"{name} is a folder"),
            atomic_file(tmp_path / name),
        ):
            pytest.fail("the file was opened")
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "link"}


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, 0o755])
def test_the_permissions_of_a_file_that_is_replaced_stay(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_file(path) as file:
        file.write(b"new")
        during = [permissions(each) for each in tmp_path.iterdir() if each != path]
    assert during == [mode]
    assert permissions(path) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "file", b"new")
    finally:
        os.umask(before)
    assert permissions(tmp_path / "file") == 0o666 & ~umask


@pytest.fixture
def foreign(tmp_path):
    """A file of another user and group."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.chown(path, 12345, 54321)
    except PermissionError:
        pytest.skip("needs the right to give files away")
    path.chmod(0o664)
    return path


def test_the_owner_of_a_file_that_is_replaced_stays(foreign):
    write_atomically(foreign, b"new")
    assert (foreign.stat().st_uid, foreign.stat().st_gid) == (12345, 54321)
    assert permissions(foreign) == 0o664


def test_where_the_group_cannot_stay_another_gets_no_permission(foreign, monkeypatch):
    def denied(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", denied)
    write_atomically(foreign, b"new")
    assert foreign.stat().st_gid != 54321
    assert permissions(foreign) == 0o604


@pytest.mark.parametrize(
    "name", ["n" * 255, "é" * 127, "n" * 230, "\N{DOG FACE}" * 63], ids=[0, 1, 2, 3]
)
def test_any_name_that_the_disk_allows_can_be_written(tmp_path, name):
    path = tmp_path / name
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [check_target, lambda path: write_atomically(path, b"content")])
def test_a_name_that_is_too_long_is_said_of_the_file(tmp_path, write):
    path = tmp_path / ("n" * 256)
    with pytest.raises(OSError, match="too long") as caught:
        write(path)
    assert caught.value.filename in {path, str(path)}


@pytest.mark.parametrize("step", ["confide.persistence.atomic._opened", "pathlib.Path.replace"])
def test_errors_name_the_file_and_not_the_temporary_one(tmp_path, monkeypatch, step):
    def denied(temporary, *_):
        raise PermissionError(errno.EACCES, "Permission denied", str(temporary))

    monkeypatch.setattr(step, denied)
    path = tmp_path / "file"
    with pytest.raises(PermissionError, match=r"Permission denied: '\S*/file'$"):
        write_atomically(path, b"content")
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_file_on_a_disk_that_can_only_be_read(tmp_path, monkeypatch):
    def refused(temporary, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(temporary))

    for step in ("confide.persistence.atomic._opened", "pathlib.Path.unlink"):
        monkeypatch.setattr(step, refused)
    with pytest.raises(OSError, match=r"Read-only file system: '\S*/file'$"):
        write_atomically(tmp_path / "file", b"content")


KILLED = """
import os, signal, sys
from pathlib import Path
from confide.persistence import atomic_file
with atomic_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["file", "[*]", "n" * 255])
def test_the_next_write_removes_what_a_killed_process_left(tmp_path, name):
    path, other = tmp_path / name, tmp_path / "file.html"
    for killed in (path, other):
        subprocess.run([sys.executable, "-c", KILLED, str(killed)], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 2  # what is left of another file is not ours to judge
    write_atomically(other, b"new")
    assert set(tmp_path.iterdir()) == {path, other}


def test_what_a_killed_process_with_the_number_of_this_one_left_is_removed(tmp_path):
    path = tmp_path / "file"
    with atomic_file(path):
        (temporary,) = tmp_path.iterdir()
        left = temporary.with_name(f"{temporary.name[:-32]}{'0' * 32}")
        left.touch()
        write_atomically(path, b"new")
        assert set(tmp_path.iterdir()) == {path, temporary}


def test_what_a_process_at_work_writes_stays(tmp_path):
    path = tmp_path / "file"
    with atomic_file(path) as one:
        one.write(b"one")
        write_atomically(path, b"two")
        assert path.read_bytes() == b"two"
    assert path.read_bytes() == b"one"


def test_files_of_another_machine_that_shares_the_folder_stay(tmp_path, monkeypatch):
    path = tmp_path / "file"
    monkeypatch.setattr("platform.node", lambda: "another")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    (left,) = tmp_path.iterdir()
    write_atomically(path, b"new")
    assert set(tmp_path.iterdir()) == {path, left}


def test_files_of_a_container_of_the_same_name_stay(tmp_path, monkeypatch):
    path = tmp_path / "file"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    (left,) = tmp_path.iterdir()
    status = Path.stat

    def numbered(path, **how):
        other = path == Path("/proc/self/ns/pid")
        return SimpleNamespace(st_ino=1) if other else status(path, **how)

    monkeypatch.setattr(Path, "stat", numbered)
    write_atomically(path, b"new")
    assert set(tmp_path.iterdir()) == {path, left}
