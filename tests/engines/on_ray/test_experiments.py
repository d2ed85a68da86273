"""The Ray engine: the tables of the in-process one, whatever becomes of the workers."""

import time
from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.calls import killer
from support.ray_nodes import wait_until
from support.toy_experiment import Toy, ended, logged, start, tables

from confide.cli import main
from confide.engines import Engine, InProcess, LostPieceError, RayCluster
from confide.experiments import EXPERIMENTS, RunFolder, cells_of, open_run

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")


class Heard:
    """An observer that remembers, and does something when a cell is finished."""

    def __init__(self, then=lambda: None):
        self.begun, self.ended, self.then = [], [], then

    def started(self, cell):
        self.begun.append(cell.name)

    def advanced(self, cell, share): ...

    def finished(self, cell, saved):
        assert saved.path.exists()
        self.ended.append(cell.name)
        self.then()


@pytest.fixture
def begun(nodes, log):
    """The log of cells that workers began, empty."""
    log.unlink(missing_ok=True)
    return log


def run_of(path, options=Toy.quick, experiment=None):
    experiment = experiment or Toy()
    folder = open_run(experiment, options, path)
    return folder, cells_of(experiment, options, folder)


def in_process(path, *arguments):
    folder, cells = run_of(path, *arguments)
    InProcess().run(cells, folder, Heard())
    return tables(path)


@pytest.fixture
def saves(monkeypatch):
    """The names of the cells that are written, in their order."""
    names, save = [], RunFolder.save

    def spy(folder, cell, content):
        names.append(cell.name)
        return save(folder, cell, content)

    monkeypatch.setattr(RunFolder, "save", spy)
    return names


def test_it_is_an_engine():
    assert isinstance(RayCluster(), Engine)


@pytest.mark.parametrize("cpus", [0.0, -1.0, float("nan")])
def test_a_cell_needs_some_of_a_core(cpus):
    with pytest.raises(ValueError, match=r"`cpus_per_piece` must be larger than 0, got .*Pass for"):
        RayCluster(cpus_per_piece=cpus)


def test_the_command_starts_a_ray_of_its_own(tmp_path):
    expected = in_process(tmp_path / "alone")
    out, err = ended(start(tmp_path, "toy", "--quick", "--engine", "ray"))
    assert out == f"{tmp_path / 'toy-quick'}\n"
    assert [line.split()[0] for line in err.splitlines()] == ["1/4", "2/4", "3/4", "4/4"]
    assert tables(tmp_path / "toy-quick") == expected


def test_an_address_without_a_cluster_is_a_line(monkeypatch, tmp_path):
    monkeypatch.setitem(EXPERIMENTS, "toy", Toy())
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    arguments = ["run", "toy", "--quick", "--engine", "ray", "--address", "127.0.0.1:1"]
    result = CliRunner().invoke(main, ["experiment", *arguments, "--runs", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: No Ray cluster answers at 127.0.0.1:1. Start one with")
    assert result.stderr.endswith(
        "Finished cells are kept. The same command continues from there.\n"
    )


def test_a_node_lost_in_mid_run_changes_no_table(lose_node, begun, saves, tmp_path):
    expected = in_process(tmp_path / "alone")
    saves.clear()
    interrupted = []

    def lose():
        if not interrupted:
            wait_until(lambda: len(logged(begun)) > 1)  # it is in the midst of the next cell
            interrupted.append(logged(begun)[1])
            lose_node()

    heard = Heard(lose)
    folder, cells = run_of(tmp_path / "run")
    RayCluster().run(cells, folder, heard)
    assert logged(begun).count(interrupted[0]) > 1  # it was begun again elsewhere
    names = [cell.name for cell in cells]
    assert sorted(saves) == sorted(heard.ended) == sorted(heard.begun) == names
    assert tables(tmp_path / "run") == expected


@pytest.mark.usefixtures("begun")
def test_a_real_experiment_has_the_same_numbers_to_the_last_bit(tmp_path):
    experiment = EXPERIMENTS["overfitting"]
    options = replace(experiment.whole, simulations=1)
    folder, cells = run_of(tmp_path / "run", options, experiment)
    RayCluster().run(cells, folder, Heard())
    assert tables(tmp_path / "run") == in_process(tmp_path / "alone", options, experiment)


def test_what_is_there_is_not_run_again(begun, tmp_path):
    folder, cells = run_of(tmp_path)
    InProcess().run(cells[:2], folder, Heard())
    heard = Heard()
    RayCluster().run(cells, folder, heard)
    assert sorted(logged(begun)) == heard.begun == [cell.name for cell in cells[2:]]
    assert sorted(heard.ended) == [cell.name for cell in cells]
    assert ray.is_initialized()  # it was there before the run, and is left


@pytest.mark.usefixtures("begun")
def test_a_cell_that_another_process_holds_is_waited_for(tmp_path):
    folder, cells = run_of(tmp_path)
    heard = Heard(lambda: len(heard.ended) == 3 and other.__exit__(None, None, None))
    other = folder.claimed(cells[0])
    assert other.__enter__()
    RayCluster().run(cells, folder, heard)
    assert heard.ended[-1] == cells[0].name
    assert len(tables(tmp_path)) == 4


def test_a_cell_that_raises_gives_its_own_message(begun, tmp_path):
    folder, cells = run_of(tmp_path)
    faulty = replace(cells[3], settings={**cells[3].settings, "set": "faulty"})
    with pytest.raises(ValueError, match=r"^Simulation 3 went wrong\.$") as caught:
        RayCluster().run([*cells[:3], faulty], folder, Heard())
    assert type(caught.value) is ValueError
    assert caught.value.__cause__ is None
    assert logged(begun).count("faulty/003") == 1  # not tried again
    finished = tables(tmp_path).keys()
    assert finished
    assert finished <= {"a/000.parquet", "a/001.parquet", "a/002.parquet"}


def test_ctrl_c_cancels_what_runs_and_leaves_finished_cells(begun, tmp_path):
    def stop():
        raise KeyboardInterrupt

    options = replace(Toy.whole, simulations=20, sets=("a",))
    folder, cells = run_of(tmp_path, options)
    with pytest.raises(KeyboardInterrupt):
        RayCluster().run(cells, folder, Heard(stop))
    assert len(tables(tmp_path)) == 1
    time.sleep(1.0)  # in which ten cells could have begun
    assert len(logged(begun)) <= 5  # one finished, two at work, two about to begin
    for cell in cells:
        with folder.claimed(cell) as mine:
            assert mine


@pytest.mark.usefixtures("begun")
def test_a_cell_that_kills_every_worker_is_named(tmp_path):
    folder, cells = run_of(tmp_path)
    deadly = replace(cells[0], compute=killer)
    with pytest.raises(LostPieceError, match="of a/000 was lost 2 times; Ray says WorkerCrashed"):
        RayCluster(most_losses=1).run([deadly], folder, Heard())
