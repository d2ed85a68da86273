"""Fits to tables that are larger than memory."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import confide
from confide.encoding import LongTable, long_table
from confide.errors import CalibrationWarning, TargetError, TooLargeError
from confide.methods import FurtherRows, bootstrapped_deep_ensemble
from confide.randomness import key_from

N_ROWS = 120


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x, colour = rng.normal(size=N_ROWS), rng.integers(0, 2, N_ROWS)
    y = x**2 + colour + 0.1 * rng.normal(size=N_ROWS)
    return pa.table({"x": x, "colour": pa.array(["red", "blue"]).take(pa.array(colour)), "y": y})


@pytest.fixture
def folder(table, tmp_path):
    for number in range(3):
        pq.write_table(table.slice(40 * number, 40), tmp_path / f"part-{number}.parquet")
    return tmp_path


def small(**arguments):
    how = {"n_members": 2, "max_epochs": 3, "dropout": 0.0, "smooth": False, "random_state": 0}
    how |= {"hidden_layer_sizes": (8,), "calibration": None}
    return confide.BootstrappedDeepEnsembleRegressor(**how | arguments)


@pytest.mark.slow
def test_files_that_memory_holds_are_fitted_as_their_table(folder, table):
    X = table.drop_columns(["y"])
    in_memory = small().fit(X, table["y"].to_numpy()).get_prediction(X)
    for source in (folder, str(folder), f"{folder}/*.parquet", ds.dataset(folder)):
        frame = small().fit(source, "y").get_prediction(X).summary_frame()
        assert frame.equals(in_memory.summary_frame())


def test_folders_that_are_no_columns_are_said(folder):
    (folder / "year=2020").mkdir()
    (folder / "part-1.parquet").rename(folder / "year=2020" / "part-1.parquet")
    with (
        pytest.warns(UserWarning, match="year=2020 are not columns here") as given,
        pytest.raises(TargetError, match="'nothing'"),
    ):
        small().fit(folder, "nothing")
    assert given[0].filename == __file__


@pytest.mark.slow
def test_a_fit_from_disk_is_the_fit_in_memory_where_the_sample_is_all_rows(table, tmp_path):
    X = np.column_stack([table["x"].to_numpy(), np.arange(N_ROWS) % 7.0])
    y, key, model = table["y"].to_numpy(), key_from(0), small()
    settings, learner = model.settings(), model.make_learner(2)
    further = FurtherRows(lambda: iter(()), tmp_path, settings.max_epochs)
    in_memory, from_disk = (
        bootstrapped_deep_ensemble.fit([key], X, y[None], settings, learner, **how)[0]
        for how in ({}, {"further": further})
    )
    one, other = (bootstrapped_deep_ensemble.to_arrays(fitted) for fitted in (in_memory, from_disk))
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert (tmp_path / "simulated").stat().st_size == 4 * 2 * N_ROWS


@pytest.mark.slow
def test_members_learn_from_all_rows(folder, table, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    seen = []
    write = FurtherRows.stored

    def stored(self, *arguments):
        data, targets, standardiser = write(self, *arguments)
        seen.append((data.n_rows, targets.rows.shape, Path(self.folder)))
        return data, targets, standardiser

    monkeypatch.setattr(FurtherRows, "stored", stored)
    model = small().fit(folder, "y")
    [(n_rows, shape, kept)] = seen
    assert (n_rows, shape) == (N_ROWS, (N_ROWS, 1))
    assert not kept.exists()  # nothing is left behind
    assert model.seen_rows_.n_rows == N_ROWS
    again = small().fit(folder, "y")
    X = table.drop_columns(["y"])
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    # Predictions reach as far as all targets do, not those of the sample alone.
    high = table["y"].to_numpy().max() - model.fitted_.standardiser.y_mean
    assert model.fitted_.standardiser.reach[1] > high / model.fitted_.standardiser.y_scale


@pytest.mark.slow
def test_rows_that_it_was_trained_on_are_known_again(folder, table, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    model = small().fit(folder, "y")
    with pytest.raises(ValueError, match="trained on 100 % of them"):
        model.calibrate(table.drop_columns(["y"]), table["y"].to_numpy())


def without_targets(table, folder, n):
    """The same rows, the first few of them without a target."""
    y = pa.array([None] * (n - 1) + [np.nan] + table["y"].to_pylist()[n:])
    pq.write_table(table.set_column(2, "y", y).slice(0, 40), folder / "part-0.parquet")


@pytest.mark.parametrize("in_memory", [N_ROWS, 50], ids=["in memory", "on disk"])
def test_rows_without_a_target_are_left_out_with_one_warning(folder, table, monkeypatch, in_memory):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", in_memory)
    without_targets(table, folder, 30)
    with pytest.warns(UserWarning, match=f"^30 rows of {N_ROWS} left out: the target 'y'") as given:
        model = small().fit(folder, "y")
    assert model.seen_rows_.n_rows == N_ROWS - 30
    assert [warning.filename for warning in given] == [__file__]


def test_a_target_that_is_nowhere_known_is_refused(folder, table):
    for number in range(3):
        y = pa.array([None] * 40, pa.float64())
        pq.write_table(table.slice(0, 40).set_column(2, "y", y), folder / f"part-{number}.parquet")
    with pytest.raises(
        TargetError, match=r"'y' is missing in all 120 rows.* Choose another column"
    ):
        small().fit(folder, "y")


def test_the_sample_and_the_further_rows_are_all_rows_once(table):
    def blocks():
        yield from (table.slice(start, 50) for start in range(0, N_ROWS, 50))

    def taken(rows):
        return rows, rows["y"].to_numpy()

    how = {"generator": np.random.default_rng(1), "rows_in_memory": 30}
    long, y = LongTable.drawn(blocks, taken, N_ROWS, **how)
    rest = [rows for rows, _ in long.further()]
    assert (len(y), long.n_further) == (30, 90)
    together = pa.concat_tables([long.sample, *rest])["x"].to_pylist()
    assert sorted(together) == sorted(table["x"].to_pylist())
    assert pa.concat_tables(rest).equals(pa.concat_tables([r for r, _ in long.further()]))


def test_twins_are_left_out_with_a_warning(folder, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    with pytest.warns(CalibrationWarning, match="must be fitted in memory, and the table is larg"):
        model = small(calibration="twins").fit(folder, "y")
    assert model.confidence_calibration_ is None


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda m, f: m.fit(f, [1.0]), TypeError, "y must be the name of the column to predict"),
        (lambda m, f: m.fit(f, "z"), TargetError, "z"),
        (lambda m, f: m.fit(f, "colour"), TargetError, "must be numbers, but it is string"),
        (lambda m, f: m.fit(f, "y", [1.0]), ValueError, "`sample_weight` needs a table in memory"),
        (lambda m, f: m.fit(f, "y", groups=[1]), ValueError, "`groups` needs a table in memory"),
    ],
)
def test_what_files_cannot_be_fitted_with_is_refused(folder, fit, error, message):
    with pytest.raises(error, match=message):
        fit(small(), folder)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (confide.NaiveBootstrapRegressor(recipe="paper"), "The naive bootstrap draws rows"),
        (
            confide.BootstrappedDeepEnsembleRegressor(
                recipe="paper", retrain_targets="restandardised"
            ),
            "'restandardised' needs all targets in memory",
        ),
    ],
)
def test_methods_that_need_all_rows_in_memory_say_so(folder, model, message, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    with pytest.raises(ValueError, match=message):
        model.set_params(max_epochs=4).fit(folder, "y")


def test_an_infinite_number_is_refused_before_training(folder, table, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 10)
    x = table["x"].to_numpy().copy()
    x[35:] = np.inf
    x[:35] = 0.5
    for number in range(3):
        part = table.set_column(0, "x", pa.array(x)).slice(40 * number, 40)
        pq.write_table(part, folder / f"part-{number}.parquet")
    with pytest.raises(ValueError, match="X must be finite, but column x is inf in some row"):
        small().fit(folder, "y")


@pytest.mark.parametrize("bad", [slice(60, None), 7], ids=["in the sample", "on disk"])
def test_a_target_that_cannot_be_names_no_row_of_the_sample(folder, table, bad, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    y = 1 + table["y"].to_numpy()
    y[bad] = -1.0
    for number in range(3):
        part = table.set_column(2, "y", pa.array(y)).slice(40 * number, 40)
        pq.write_table(part, folder / f"part-{number}.parquet")
    how = {"recipe": "paper", "max_epochs": 2, "hidden_layer_sizes": (4,), "random_state": 0}
    model = confide.DeepEnsembleRegressor(2, bounds=(0, None), **how)
    with pytest.raises(ValueError, match=r"0 to inf, got -1 in some row\. Correct the targets"):
        model.fit(folder, "y")


def test_rows_that_the_disk_does_not_hold_are_refused_before_training(folder, monkeypatch):
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 50)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=70 * 4 * 4))
    with pytest.raises(TooLargeError, match=r"Training on 70 rows from disk needs .* TMPDIR"):
        small().fit(folder, "y")


def test_a_long_table_takes_fewer_epochs_as_in_memory():
    model = confide.BootstrappedDeepEnsembleRegressor(dropout=0.0, smooth=False)
    learner = model.make_learner(3)
    settings = model._within_steps(model.settings(), learner, 65_536)
    assert settings.max_epochs == 11
    assert model._epochs_of_all(settings, learner, 10_000_000, 11) == 1
    assert model._epochs_of_all(settings, learner, 131_072, 11) == 5
