"""The Ray engine: the tables of the in-process one, whatever becomes of the workers."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.toy_experiment import LOG, PAUSE, Toy, begun_by, ended, logged, start, tables

from confide.cli import main
from confide.engines import Engine, InProcess, LostPieceError, RayCluster
from confide.experiments import EXPERIMENTS, RunFolder, cells_of, open_run

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")

pytestmark = [
    pytest.mark.slow,  # Ray's processes take seconds to start, and JAX in them
    # Ray tells of a change to come in how it treats accelerators; we have none.
    pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning"),
    # Ray starts its own processes so; nothing of JAX is used between fork and exec.
    pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning"),
]
OBJECT_STORE = 80_000_000


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


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "log"


@pytest.fixture(scope="module")
def cluster(log):
    """A head node of one core, with this process connected; a test may add nodes."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(LOG, str(log))
        environment.setenv(PAUSE, "0.4")
        made = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1,
                "object_store_memory": OBJECT_STORE,
                "include_dashboard": False,
            },
        )
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def begun(log, monkeypatch):
    """The log of cells that workers began, empty; workers find the toy."""
    log.unlink(missing_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=":")
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
    def init(address, **_):
        raise ConnectionError(f"No Ray at {address}.")

    monkeypatch.setitem(EXPERIMENTS, "toy", Toy())
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    arguments = ["run", "toy", "--quick", "--engine", "ray", "--address", "head:6379"]
    result = CliRunner().invoke(main, ["experiment", *arguments, "--runs", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: No Ray at head:6379. Finished cells are kept. The same command continues from "
        "there.\n"
    )


def test_a_node_lost_in_mid_run_changes_no_table(cluster, begun, saves, monkeypatch, tmp_path):
    options = replace(Toy.whole, simulations=20, sets=("a",))
    expected = in_process(tmp_path / "alone", options)
    saves.clear()
    begun.unlink(missing_ok=True)
    monkeypatch.setenv(PAUSE, "3")  # of the doomed node's cells: it is lost in the midst of one
    node = cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE)
    cluster.wait_for_nodes()
    interrupted = []

    def lose_a_node():
        if interrupted:
            return
        interrupted.extend(cell for cell in begun_at(node, begun) if cell not in heard.ended)
        if interrupted:
            cluster.remove_node(node, allow_graceful=False)

    heard = Heard(lose_a_node)
    folder, cells = run_of(tmp_path / "run", options)
    RayCluster().run(cells, folder, heard)
    assert interrupted
    assert logged(begun).count(interrupted[0]) > 1  # it was begun again elsewhere
    names = sorted(cell.name for cell in cells)
    assert sorted(saves) == sorted(heard.ended) == sorted(heard.begun) == names
    assert tables(tmp_path / "run") == expected


def begun_at(node, log):
    """The cells that a node's workers have begun: those whose parent is the node's raylet."""
    (raylet,) = node.all_processes["raylet"]
    return [cell for cell, process in begun_by(log) if parent(process) == raylet.process.pid]


def parent(process):
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("PPid:")), None)


@pytest.mark.usefixtures("cluster", "begun")
def test_a_real_experiment_has_the_same_numbers_to_the_last_bit(tmp_path):
    experiment = EXPERIMENTS["overfitting"]
    options = replace(experiment.whole, simulations=1)
    folder, cells = run_of(tmp_path / "run", options, experiment)
    RayCluster().run(cells, folder, Heard())
    assert tables(tmp_path / "run") == in_process(tmp_path / "alone", options, experiment)


@pytest.mark.usefixtures("cluster")
def test_what_is_there_is_not_run_again(begun, tmp_path):
    folder, cells = run_of(tmp_path)
    InProcess().run(cells[:2], folder, Heard())
    begun.unlink()
    heard = Heard()
    RayCluster().run(cells, folder, heard)
    assert logged(begun) == heard.begun == [cell.name for cell in cells[2:]]
    assert sorted(heard.ended) == [cell.name for cell in cells]
    assert ray.is_initialized()  # it was there before the run, and is left


@pytest.mark.usefixtures("cluster", "begun")
def test_a_cell_that_another_process_holds_is_waited_for(tmp_path):
    folder, cells = run_of(tmp_path)
    heard = Heard(lambda: len(heard.ended) == 3 and other.__exit__(None, None, None))
    other = folder.claimed(cells[0])
    assert other.__enter__()
    RayCluster().run(cells, folder, heard)
    assert heard.ended[-1] == cells[0].name
    assert len(tables(tmp_path)) == 4


@pytest.mark.usefixtures("cluster")
def test_a_cell_that_raises_gives_its_own_message(begun, tmp_path):
    folder, cells = run_of(tmp_path)
    faulty = replace(cells[3], settings={**cells[3].settings, "set": "faulty"})
    with pytest.raises(ValueError, match=r"^Simulation 3 went wrong\.$") as caught:
        RayCluster().run([*cells[:3], faulty], folder, Heard())
    assert type(caught.value) is ValueError
    assert caught.value.__cause__ is None
    assert logged(begun).count("faulty/003") == 1  # not tried again
    assert tables(tmp_path).keys() == {"a/000.parquet", "a/001.parquet", "a/002.parquet"}


@pytest.mark.usefixtures("cluster")
def test_ctrl_c_cancels_what_runs_and_leaves_finished_cells(begun, tmp_path):
    def stop():
        raise KeyboardInterrupt

    options = replace(Toy.whole, simulations=20, sets=("a",))
    folder, cells = run_of(tmp_path, options)
    with pytest.raises(KeyboardInterrupt):
        RayCluster().run(cells, folder, Heard(stop))
    assert len(tables(tmp_path)) == 1
    time.sleep(1.5)  # in which three cells could have begun
    assert len(logged(begun)) <= 3  # finished, at work, about to begin
    for cell in cells:
        with folder.claimed(cell) as mine:
            assert mine


def killer(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("cluster", "begun")
def test_a_cell_that_kills_every_worker_is_named(tmp_path):
    folder, cells = run_of(tmp_path)
    deadly = replace(cells[0], compute=killer)
    with pytest.raises(LostPieceError, match="of a/000 was lost 2 times; Ray says WorkerCrashed"):
        RayCluster(most_losses=1).run([deadly], folder, Heard())
