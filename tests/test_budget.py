"""What work takes is told before it starts, and more than the machine has is refused."""

import gzip
import resource
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LinearRegression

import confide.workflow
from confide.budget import (
    SPEEDS,
    Meter,
    Need,
    available_memory,
    of_fits,
    of_other_fit,
    of_predicting,
    of_predicting_elsewhere,
    within_memory,
)
from confide.calibration import EstimatorRefit
from confide.cli import main
from confide.coverage import simulated_answers
from confide.encoding import EncodedTable
from confide.engines import InProcess
from confide.errors import TooLargeError
from confide.randomness import key_from
from confide.tables import ROWS_PER_BLOCK, TableFile, read_table
from confide.workflow import (
    about_features,
    fit_table,
    kept_columns,
    memory_of_worker,
    prediction_blocks,
    refuse_missing_columns,
    rows_per_block,
)
from confide.workflow.columns import MOST_LOOKED_AT

MEGABYTE = 10**6


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), prog_name="confide")


@pytest.fixture
def little_memory(monkeypatch):
    """A machine that has 50 MB left."""
    monkeypatch.setattr("confide.budget._of_system", lambda: 50 * MEGABYTE)


@pytest.fixture
def unworked(monkeypatch):
    for name in ("fit_table", "page_of", "check_table"):
        monkeypatch.setattr(confide.workflow, name, lambda *_, **__: pytest.fail("work began"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, a model of it, and files that are far larger than they look."""
    folder = tmp_path_factory.mktemp("budget")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "y"])
    frame.to_csv(folder / "homes.csv", index=False)
    model = confide.DeepEnsembleRegressor(
        recipe="paper", n_members=2, hidden_layer_sizes=(4,), max_epochs=3, random_state=0
    )
    fit_table(pa.Table.from_pandas(frame), "y", model).model.save(folder / "model.confide")
    with gzip.open(folder / "bomb.csv.gz", "wb") as bomb:
        bomb.write(b"a,b,y\n" + b"0,0,0\n" * (20 * MEGABYTE // 6))
    zeros = pa.array(np.zeros(10 * MEGABYTE, np.int8)).cast(pa.int64())
    pq.write_table(pa.table({"a": zeros, "b": zeros, "y": zeros}), folder / "bomb.parquet")
    return folder


@pytest.mark.parametrize("bomb", ["bomb.csv.gz", "bomb.parquet"])
def test_a_small_file_that_becomes_large_is_refused(folder, little_memory, unworked, bomb):
    assert (folder / bomb).stat().st_size < MEGABYTE
    for command in (("fit", folder / bomb, "-t", "y"), ("check", folder / bomb, "-t", "y")):
        result = run(*command, "-o", folder / f"out{'.png' * (command[0] == 'check')}")
        assert result.exit_code == 1, result.output
        # `fit` leaves Parquet on disk that memory does not hold, but here not even a sample fits.
        from_disk = command[0] == "fit" and bomb.endswith("parquet")
        said = "of memory, and this machine has" if from_disk else "there are more than 0."
        assert said in result.stderr
        assert "Use fewer columns or a sample of the rows" in result.stderr
    result = run("report", folder / "model.confide", folder / bomb, "-o", folder / "out.html")
    assert result.exit_code == 1
    assert "does not fit in memory" in result.stderr


READ_WITH_LITTLE_MEMORY = """
import resource, sys
from confide import budget
from confide.errors import TooLargeError
from confide.tables import TableFile

budget._of_system = lambda: 50_000_000
try:
    next(TableFile(sys.argv[1]).blocks())
except TooLargeError as error:
    print(error, resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY)
"""


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_small_batch_that_becomes_large_is_refused(tmp_path, make):
    zeros = pa.table({"a": np.zeros(20 * MEGABYTE)})
    how, bomb = pa.ipc.IpcWriteOptions(compression="zstd"), tmp_path / "bomb.arrow"
    with make(bomb, zeros.schema, options=how) as file:
        file.write_table(zeros)  # one batch, which is unpacked as a whole
    assert bomb.stat().st_size < MEGABYTE
    # In a process of its own: this one may have kept as much memory from other tests.
    words = [sys.executable, "-c", READ_WITH_LITTLE_MEMORY, bomb]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    assert "does not fit in memory: this machine has 0.1 GB left. Use fewer" in done.stdout
    assert done.stdout.endswith("True\n")  # it may have all memory again


def test_threads_that_read_at_once_leave_the_limit_as_it_was(little_memory):
    before = resource.getrlimit(resource.RLIMIT_AS)
    one, other = within_memory("one"), within_memory("other")
    one.__enter__()
    assert resource.getrlimit(resource.RLIMIT_AS) != before
    other.__enter__()
    one.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_AS) != before
    other.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_whole_bomb_is_read_where_there_is_memory(folder):
    assert read_table(folder / "bomb.parquet").num_rows == 10 * MEGABYTE


def test_a_table_too_wide_to_learn_from_is_refused_before_it_is_encoded(little_memory, monkeypatch):
    table = pd.DataFrame(np.zeros((20, 1)) + np.arange(20)[:, None], columns=["a"])
    assert EncodedTable.for_training(table).matrix.shape == (20, 1)
    monkeypatch.setattr("confide.budget._of_system", lambda: 700)
    with pytest.raises(
        TooLargeError, match=r"Learning from 20 rows and 1 columns of numbers needs"
    ):
        EncodedTable.for_training(table)


def test_predicting_needs_little_memory_however_wide_the_table_is():
    assert rows_per_block(10) == ROWS_PER_BLOCK
    assert rows_per_block(10**5) * 10**5 < 10**7
    assert rows_per_block(10**9) == 1


def written(command, folder):
    """The option for the file that a command writes, if it writes one."""
    names = {"fit": "out.confide", "report": "out.html", "predict": "out.csv"}
    return ("-o", folder / names[command]) if command in names else ()


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("fit", "homes.csv", "-t", "y"), "Learning from 60 rows and 3 columns"),
        (("check", "homes.csv", "-t", "y"), "A check with 60 rows and 3 columns"),
        (("report", "model.confide", "homes.csv"), "A page of 60 rows and 3 columns"),
        (("predict", "model.confide", "homes.csv"), "Predicting 2 columns"),
    ],
)
def test_work_beyond_the_memory_is_refused_before_it_begins(
    folder, monkeypatch, unworked, command, what
):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("confide.budget._of_system", lambda: 30_000)
    result = run(*command, *written(command[0], folder), "--force")
    assert result.exit_code == 1
    assert (
        f"{what} needs about 0.0 GB of memory, and this machine has 0.0 GB left." in result.stderr
    )
    assert "Use fewer columns" in result.stderr


def test_names_of_a_wide_table_are_not_searched_one_by_one():
    """Of 100,000 columns that took minutes."""

    class Names(list):
        def __contains__(self, name):
            pytest.fail("a search")

    names = Names(f"c{i}" for i in range(30))
    model = SimpleNamespace(encoder_=None, feature_names_in_=list(names))
    refuse_missing_columns(model, names)
    assert kept_columns("all", names) == list(names)


def test_more_rows_at_once_than_the_memory_takes_are_refused(folder, monkeypatch):
    model, table = confide.load(folder / "model.confide"), read_table(folder / "homes.csv")
    monkeypatch.setattr("confide.budget._of_system", lambda: 1000)
    with pytest.raises(TooLargeError, match="Predicting 60 rows of 2 columns of numbers at once"):
        confide.workflow.predict.encoded(model, table)


@pytest.mark.parametrize("command", ["fit", "check", "report", "predict"])
def test_each_command_says_what_it_will_take(folder, monkeypatch, command):
    monkeypatch.setattr("confide.budget.PREDICTED_ROWS_PER_SECOND", 0.001)
    monkeypatch.setitem(SPEEDS, "tabular", (0.001, 40))

    def stop(*_, **__):
        raise ValueError("The work begins.")

    for name in ("fit_table", "page_of", "check_table", "prediction_blocks"):
        monkeypatch.setattr(confide.workflow, name, stop)
    homes, model = folder / "homes.csv", folder / "model.confide"
    target = ("-t", "y") if command in {"fit", "check"} else ()
    inputs = (homes, *target) if target else (model, homes)
    result = run(command, *inputs, *written(command, folder), "--force")
    first, last = result.stderr.strip().splitlines()
    assert first.startswith("This will take about ")
    assert first.endswith((" hours.", " days."))
    assert last == "Error: The work begins."


def test_a_text_counts_as_often_as_it_has_common_categories():
    texts = [f"c{i % 20}" for i in range(400)]
    assert about_features(pa.table({"x": range(400), "text": texts})) == (21, 20)
    wide = {f"x{i}": [0.0, 1.0] for i in range(MOST_LOOKED_AT[1] + 1)}
    assert about_features(pa.table(wide)) == (len(wide), 0)
    assert about_features(pa.table({"lists": [[1], [2]]})) == (
        1,
        0,
    )  # the fit will say what is wrong


def test_small_work_is_not_announced(folder):
    result = run("predict", folder / "model.confide", folder / "homes.csv")
    assert "will take" not in result.stderr


def test_needs_grow_with_the_work():
    assert str(of_fits(100, 10, 500)) == ""
    # The recipe for tables compiles more, and chooses twins.
    assert str(of_fits(100, 10, 500, "tabular")) == "This will take about 15 seconds."
    assert str(of_fits(100_000, 10, 10_000)) == "This will take about 9 minutes."
    # A column of two values costs the network for tables a ninth of another one, which has waves.
    start = of_fits(100_000, 0, 10_000, "tabular").seconds
    plain, two = (of_fits(100_000, 90, 10_000, "tabular", n_indicators=n) for n in (0, 90))
    assert two.seconds - start == pytest.approx((plain.seconds - start) / 9)
    # Each column has weights in every network, and more members keep more of them.
    assert of_fits(200, 10**5, 400, "tabular").bytes > 10**10
    few, many = (of_fits(200, 10**4, 1, "tabular", n_members=n).bytes for n in (5, 105))
    assert many - few == 100 * (512 * 10**4 + 70_000)
    assert of_fits(120, 3, 1, n_members=10**6).bytes > 20e9
    assert str(of_predicting(10**7, 10, 21, 65_536)) == "This will take about 35 minutes."
    assert str(Need(2.5e9, 1)) == "This will take about 2.5 GB of memory."
    assert str(Need(0, 80)) == "This will take about 80 seconds."


def test_the_estimators_tell_what_they_will_train():
    fixed = confide.BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=80)
    # Five members, and a third of their epochs again; a search in five folds where it is asked for.
    assert fixed.expected_epochs(1000, 10, n_fits=3) == 3 * 5 * (80 + 24)
    auto = confide.BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs="auto")
    assert auto.expected_epochs(1000, 10, n_fits=3) == 3 * 5 * (80 + 24) + 5 * 5 * 640 / 4
    # The recipe for tables chooses in folds too, and takes fewer epochs of a long one.
    tabular = confide.BootstrappedDeepEnsembleRegressor(calibration=None)
    short, long = (tabular.expected_epochs(n_rows, 10) for n_rows in (1000, 100_000))
    assert short > 10 * 128
    assert long / 7 == pytest.approx(short / 128, rel=0.05)
    # Calibration fits one ensemble, and two for each of 20 simulated data sets, or of 10.
    calibrated = confide.BootstrappedDeepEnsembleRegressor()
    assert calibrated.expected_epochs(1000, 10) == short + (2 * 20 + 1) * 5 * 128
    assert calibrated.expected_epochs(100_000, 10) == long + (2 * 10 + 1) * 5 * 7
    assert tabular.expected_epochs(0, 10) > 0


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ((), "tabular"),
        (("--recipe", "paper"), "paper"),
        (("--learner", "xgboost"), "trees"),
        (("--network", "support.aliens:equinox_network"), "paper"),
    ],
)
def test_a_fit_is_judged_by_what_it_trains(folder, monkeypatch, how, kind):
    def stop(*_, **__):
        raise ValueError("The work begins.")

    monkeypatch.setattr(confide.workflow, "fit_table", stop)
    for name in SPEEDS:
        monkeypatch.setitem(SPEEDS, name, (0.001 if name == kind else 1e30, 40))
    result = run("fit", folder / "homes.csv", "-t", "y", "-o", folder / "out", "--force", *how)
    assert result.stderr.startswith("This will take about ")
    assert "days" in result.stderr


def test_rows_of_a_file_are_estimated(folder, tmp_path):
    pd.DataFrame({"a": range(300_000)}).to_csv(tmp_path / "long.csv", index=False)
    assert TableFile(tmp_path / "long.csv").about_rows == pytest.approx(300_000, rel=0.1)
    assert TableFile(folder / "bomb.parquet").about_rows == 10 * MEGABYTE
    assert TableFile(folder / "bomb.csv.gz").about_rows is None


def test_what_ulimit_leaves_counts():
    script = (
        "import resource; from confide.budget import available_memory;"
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32)); print(available_memory())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert 0 < int(done.stdout) < 2**32
    assert available_memory() > 0


def test_without_a_word_from_the_system_nothing_is_refused(monkeypatch):
    for name in ("_of_system", "_of_container", "_of_process"):
        monkeypatch.setattr(f"confide.budget.{name}", lambda: None)
    assert available_memory() is None
    Meter("a file").add(10**18)


def test_what_others_need_grows_with_the_rows():
    one = of_other_fit((1000, 10))
    assert of_other_fit((2000, 10)) - one == 3 * 8 * 11 * 1000  # three times numbers and targets
    assert of_other_fit((1000,)) < of_other_fit((1000, 4, 4)) < one + 3 * 8 * 6000 + 1
    few, many = (of_predicting_elsewhere(n_rows, 13) for n_rows in (1, 65_536))
    assert many - few == of_predicting(65_536, 13, 1).bytes - of_predicting(1, 13, 1).bytes
    assert 5e8 < few < many < 7e8  # as `results/ray_data.md` has it


def test_engines_are_told_the_memory_of_every_kind_of_work(data, small, monkeypatch):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    model = confide.DeepEnsembleRegressor(**small).fit(frame, y)
    blocks = [pa.Table.from_pandas(frame)]
    asked = []

    class Asked(InProcess):
        def map(self, function, items, common=(), *, memory=0.0):
            asked.append((function.__name__, memory))
            return super().map(function, items, common)

    list(prediction_blocks(model, blocks, engine=Asked()))
    assert asked == [("predicted_block", memory_of_worker(model))]
    rows = np.arange(len(X))
    list(EstimatorRefit(LinearRegression(), frame, Asked()).fit(key_from(0), rows, y[None]))
    simulated_answers(LinearRegression(), X, y[None], X, [], [0], engine=Asked())
    assert asked[1:] == [("_fitted", of_other_fit(X.shape))] * 2


@pytest.mark.parametrize("command", ["predict", "check"])
def test_commands_say_what_a_worker_needs(command, table, data, tmp_path, small, monkeypatch):
    table.assign(y=data[1]).to_csv(tmp_path / "t.csv", index=False)
    words = [tmp_path / "t.csv"]
    if command == "predict":
        model = confide.DeepEnsembleRegressor(**small).fit(table, data[1])
        model.save(tmp_path / "m.confide")
        words.insert(0, tmp_path / "m.confide")
    monkeypatch.setattr("confide.engines.named_engine", lambda *_: InProcess())
    monkeypatch.setattr("confide.workflow.check_table", mock.Mock(side_effect=ValueError("so far")))
    result = run(command, *words, *(("-t", "y") if command == "check" else ()), "--engine", "ray")
    assert "Each worker of Ray needs about 0." in result.stderr, result.stderr
