"""Runs that are killed, stopped, doubled or out of disk end with the tables of one left alone."""

import random
import signal
import sys
import time
from dataclasses import replace

import pytest
from support.toy_experiment import (
    LARGEST_FILE,
    LOG,
    PAUSE,
    Toy,
    ended,
    logged,
    processes,
    start,
    tables,
)

from confide.engines import InProcess
from confide.experiments import EXPERIMENTS, cells_of, open_run

pytestmark = [
    pytest.mark.slow,  # each process imports JAX
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals and limits"),
]
KEPT = "Finished cells are kept. The same command continues from there."


class Silent:
    def started(self, cell): ...

    def advanced(self, cell, share): ...

    def finished(self, cell, saved): ...


def wait_until(condition, process):
    while process.poll() is None and not condition():
        time.sleep(0.005)


def left_alone(experiment, options, path):
    folder = open_run(experiment, options, path)
    InProcess().run(cells_of(experiment, options, folder), folder, Silent())
    return tables(path)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The tables of the toy left alone."""
    return left_alone(Toy(), Toy.whole, tmp_path_factory.mktemp("undisturbed") / "toy")


def half_written(folder):
    return [path for path in (folder / "cells").rglob("*") if path.name.startswith(".")]


def test_a_run_killed_ten_times_ends_with_the_tables_of_one_left_alone(tmp_path, undisturbed):
    generator, log, killed = random.Random(20), tmp_path / "log", 0  # noqa: S311
    for _ in range(10):
        n_before = len(logged(log))
        process = start(tmp_path, **{LOG: log, PAUSE: 0.05})
        wait_until(lambda n=n_before: len(logged(log)) > n, process)
        time.sleep(generator.uniform(0, 0.3))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert tables(tmp_path / "toy").items() < undisturbed.items()
    assert killed == 10
    n_interrupted = len(logged(log)) - len(tables(tmp_path / "toy"))
    assert n_interrupted >= 5  # begun, and not finished when the kill came
    ended(start(tmp_path))
    assert tables(tmp_path / "toy") == undisturbed
    assert half_written(tmp_path / "toy") == []


def test_a_real_experiment_killed_once_ends_with_the_tables_of_one_left_alone(tmp_path):
    cells, arguments = (
        tmp_path / "overfitting" / "cells",
        ("--simulations", "1", "--methods", "BDE"),
    )
    process = start(tmp_path, "overfitting", *arguments)
    wait_until(lambda: len(list(cells.rglob("*.parquet"))) >= 1, process)
    time.sleep(0.2)
    process.kill()
    process.communicate()
    experiment = EXPERIMENTS["overfitting"]
    options = replace(experiment.whole, simulations=1, methods=("BDE",))
    whole = left_alone(experiment, options, tmp_path / "alone")
    assert len(tables(tmp_path / "overfitting")) == 1
    assert len(whole) == 2
    _, err = ended(start(tmp_path, "overfitting", *arguments))
    assert len(err.splitlines()) == 1  # what was there was not run again
    assert tables(tmp_path / "overfitting") == whole


def test_two_processes_on_one_folder_share_the_work(tmp_path, undisturbed):
    log = tmp_path / "log"
    both = [start(tmp_path, **{LOG: log, PAUSE: 0.1}) for _ in range(2)]
    for process in both:
        assert ended(process)[0] == f"{tmp_path / 'toy'}\n"
    assert len(processes(log)) == 2
    assert sorted(logged(log)) == [name.removesuffix(".parquet") for name in undisturbed]
    assert tables(tmp_path / "toy") == undisturbed


def test_a_full_disk_is_an_error_that_loses_no_finished_cell(tmp_path, undisturbed):
    out, err = ended(start(tmp_path, **{LARGEST_FILE: 450_000}), 1)
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("Error: There is no space left to write ")
    assert "(File too large)" in last
    assert last.endswith(KEPT)
    there = tables(tmp_path / "toy")
    assert list(there) == [f"a/{i:03d}.parquet" for i in range(40)]  # those of b are twice as long
    assert half_written(tmp_path / "toy") == []
    ended(start(tmp_path))
    assert tables(tmp_path / "toy") == undisturbed


def test_ctrl_c_leaves_finished_cells_and_says_how_to_go_on(tmp_path, undisturbed):
    log = tmp_path / "log"
    process = start(tmp_path, **{LOG: log, PAUSE: 0.2})
    wait_until(lambda: len(logged(log)) > 3, process)
    process.send_signal(signal.SIGINT)
    out, err = ended(process, 130)
    assert out == ""
    assert err.splitlines()[-1] == f"Stopped. {KEPT}"
    assert 3 <= len(tables(tmp_path / "toy")) < 80
    assert tables(tmp_path / "toy").items() < undisturbed.items()
    assert half_written(tmp_path / "toy") == []
    ended(start(tmp_path))
    assert tables(tmp_path / "toy") == undisturbed
