"""Where results go: pipes, links, folders, permissions, disks that are full; for every command."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confide
import confide.workflow
from confide.cli import main
from confide.engines import RayCluster

QUICK = ["--recipe", "paper", "--epochs", "3", "--members", "2"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), prog_name="confide")


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(code, message, *arguments):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert re.search(message, result.stderr, re.DOTALL), result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it."""
    folder = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.normal(size=(60, 3)), columns=["a", "b", "price"])
    frame.to_csv(folder / "homes.csv", index=False)
    done("fit", folder / "homes.csv", "-t", "price", "-o", folder / "model.confide", *QUICK)
    return folder


@pytest.fixture(scope="module")
def commands(folder):
    """The arguments of each command that writes a file, but for the last, the file."""
    model, homes = folder / "model.confide", folder / "homes.csv"
    return {
        "fit": ("fit", homes, "-t", "price", *QUICK, "-o"),
        "predict": ("predict", model, homes, "-o"),
        "report": ("report", model, homes, "-o"),
        "export": ("export", model),
    }


NAMES = {"fit": "new.confide", "predict": "new.csv", "report": "new.html"}
if find_spec("onnx"):
    NAMES["export"] = "new.onnx"


@pytest.mark.slow
@pytest.mark.parametrize("command", NAMES)
def test_a_named_pipe_is_written_to_and_stays(commands, tmp_path, command):
    pipe = tmp_path / NAMES[command]
    os.mkfifo(pipe)
    read = []
    thread = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    thread.start()
    done(*commands[command], pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    thread.join(timeout=30)
    assert len(read[0]) > 100
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.slow
@pytest.mark.parametrize("command", NAMES)
def test_a_link_is_followed_and_stays(commands, tmp_path, command):
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / NAMES[command], tmp_path / NAMES[command]
    link.symlink_to(file)
    done(*commands[command], link)
    assert link.is_symlink()
    assert file.stat().st_size > 100
    refused(2, "already exists. Add --force", *commands[command], link)


def test_a_model_is_not_saved_over_a_pipe_or_a_folder(folder, tmp_path):
    model = confide.load(folder / "model.confide")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder is a folder"):
        model.save(tmp_path / "folder")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    model.save(tmp_path / "link")
    assert Path(tmp_path / "link").is_symlink()


@pytest.fixture
def read_only(monkeypatch):
    """Folders that nothing can be written to; root may write to real ones."""

    def denied(temporary, *_):
        raise PermissionError(errno.EACCES, "Permission denied", str(temporary))

    monkeypatch.setattr("confide.persistence.atomic._opened", denied)


@pytest.fixture
def unworked(monkeypatch):
    """Commands that must end before they train or predict."""
    for name in ("fit_table", "page_of", "check_table"):
        monkeypatch.setattr(confide.workflow, name, lambda *_, **__: pytest.fail("work began"))
    monkeypatch.setattr(
        confide.BootstrappedDeepEnsembleRegressor,
        "get_prediction",
        lambda *_, **__: pytest.fail("work began"),
    )
    monkeypatch.setattr("confide.export.onnx.file.onnx_model", lambda *_: pytest.fail("work began"))


@pytest.mark.parametrize("command", NAMES)
@pytest.mark.usefixtures("read_only", "unworked")
def test_a_read_only_folder_is_found_before_the_work(commands, tmp_path, command):
    path = tmp_path / NAMES[command]
    refused(1, f"Error: Permission denied: {path}.", *commands[command], path)


@pytest.mark.parametrize(("command", "output"), [("fit", "new.confide"), ("predict", "")])
@pytest.mark.usefixtures("read_only")
def test_a_read_only_folder_is_found_before_a_cluster_works(
    commands, tmp_path, command, output, monkeypatch
):
    monkeypatch.setattr(RayCluster, "connected", lambda _: nullcontext())
    monkeypatch.setattr(RayCluster, "map", lambda *_, **__: pytest.fail("work began"))
    path = tmp_path / (output or "homes.csv")
    words = [*commands[command], tmp_path / output, "--engine", "ray"]
    refused(1, f"Error: Permission denied: {path}.", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", NAMES)
@pytest.mark.usefixtures("unworked")
def test_a_name_that_is_too_long_is_found_before_the_work(commands, tmp_path, command):
    path = tmp_path / ("n" * 250 + NAMES[command])
    refused(2, f"File name too long: {path}", *commands[command], path)


@pytest.mark.slow
@pytest.mark.parametrize("command", NAMES)
def test_the_longest_name_can_be_written(commands, tmp_path, command):
    path = tmp_path / NAMES[command].rjust(255, "n")
    done(*commands[command], path)
    assert list(tmp_path.iterdir()) == [path]


# Pictures


class Drawn:
    """What `check` and `demo` need of a fit, without one."""

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    verdict = "Fine."

    @property
    def report(self):
        return self

    def plot(self):
        from matplotlib.figure import Figure

        return Figure()

    def to_frame(self):
        columns = ["estimator", "kind", "confidence_level", "coverage", "coverage_se", "brier"]
        return pd.DataFrame(columns=[*columns, "width"])


@pytest.fixture
def pictures(commands, monkeypatch):
    """The arguments of the commands that draw, with their work done already."""
    homes = commands["fit"][1]
    model = confide.load(commands["predict"][1])

    def fit(self, X, y):
        self.__dict__.update(model.__dict__)
        return self

    def get_prediction(_, X):
        features = X.iloc[:, :2].to_numpy()
        return real(model, pd.DataFrame(features, columns=["a", "b"]))

    real = confide.BootstrappedDeepEnsembleRegressor.get_prediction
    monkeypatch.setattr(confide.BootstrappedDeepEnsembleRegressor, "fit", fit)
    monkeypatch.setattr(confide.BootstrappedDeepEnsembleRegressor, "get_prediction", get_prediction)
    monkeypatch.setattr(confide.workflow, "check_table", lambda *_, **__: Drawn())
    return {"demo": ("demo", "-o"), "check": ("check", homes, "-t", "price", "--force", "-o")}


@pytest.mark.parametrize("command", ["demo", "check"])
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_are_written_in_one_step(pictures, tmp_path, monkeypatch, command, ending):
    path = tmp_path / f"picture.{ending}"
    path.write_text("old")
    seen = []
    monkeypatch.setattr("os.fsync", lambda _: seen.append(path.read_text()))
    done(*pictures[command], path)
    assert seen == ["old"]
    assert path.read_bytes().lstrip().startswith((b"\x89PNG", b"%PDF", b"<?xml"))
    assert list(tmp_path.iterdir()) == [path]


def test_the_demo_takes_the_name_of_its_picture_as_it_is(pictures, tmp_path):
    (tmp_path / "[").mkdir()
    path = tmp_path / "[/bold]\x1b[2J.png"  # which ends what is bold
    assert f"Picture: {tmp_path}/[/bold]\\x1b[2J.png\n" in done(*pictures["demo"], path).stderr


@pytest.mark.parametrize("command", ["demo", "check"])
def test_a_full_disk_is_said_and_the_old_picture_stays(pictures, tmp_path, monkeypatch, command):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "picture.png"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    refused(1, "There is no space left to write .*picture.png", *pictures[command], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", ["demo", "check"])
@pytest.mark.usefixtures("read_only")
def test_pictures_into_a_read_only_folder_are_refused_first(
    pictures, tmp_path, monkeypatch, command
):
    path = tmp_path / "picture.png"
    monkeypatch.setattr(
        confide.BootstrappedDeepEnsembleRegressor, "fit", lambda *_: pytest.fail("training began")
    )
    monkeypatch.setattr(confide.workflow, "check_table", lambda *_, **__: pytest.fail("work began"))
    refused(1, f"Error: Permission denied: {path}.", *pictures[command], path)


@pytest.mark.parametrize("seed", [-1, 2**32, 10**30])
@pytest.mark.parametrize("command", ["demo", "check", "fit"])
def test_a_seed_that_is_none_is_refused_in_words(pictures, commands, tmp_path, command, seed):
    arguments = (pictures | commands)[command]
    refused(
        2, "is not in the range 0<=x<=4294967295", *arguments, tmp_path / "picture.png",
        "--seed", seed,
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


# Signals

# Tests that nohup started would ignore SIGHUP, and so would their children.
COMMAND = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from confide.cli import main
main(prog_name='confide')
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_ended_leaves_nothing_and_says_so(commands, tmp_path, number):
    arguments = [
        *map(str, commands["fit"][:4]),
        "-o",
        str(tmp_path / "new"),
        *QUICK,
        "--epochs",
        "20000",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], stderr=subprocess.PIPE, text=True
    ) as child:
        while line := child.stderr.readline():
            if "Fitting" in line:
                assert len(list(tmp_path.iterdir())) == 1
                child.send_signal(number)
                break
        said = child.stderr.read()
    assert child.returncode == 128 + number
    assert "Stopped." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


IGNORED = """
import os, signal
from confide.cli.session import messages
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
with messages():
    os.kill(os.getpid(), signal.SIGHUP)
    print("went on")
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_what_nohup_ignores_stays_ignored():
    ran = subprocess.run(
        [sys.executable, "-c", IGNORED], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (143, "went on\n", "Stopped.\n")
