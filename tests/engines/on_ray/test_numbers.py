"""Fits, calibration, checks and predictions on a Ray cluster: the numbers of home."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from sklearn.linear_model import Ridge

import confide
from confide.cli import main
from confide.workflow import BatchPredictor, Notes, prediction_blocks

N_ROWS = 60


def table():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(N_ROWS, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": generator.choice(["u", "v"], N_ROWS)})
    return frame, x[:, 0] + generator.normal(0, 0.3, N_ROWS)


def estimator(engine=None):
    arguments = {"n_members": 3, "recipe": "paper", "max_epochs": 4, "hidden_layer_sizes": (4,)}
    return confide.BootstrappedDeepEnsembleRegressor(**arguments, random_state=0, engine=engine)


def calibrated(engine=None):
    X, y = table()
    return estimator(engine).fit(X, y).calibrate_confidence(X, y, twin="smooth", n_simulations=10)


def content(model, path):
    model.save(path, overwrite=True)
    return path.read_bytes()


@pytest.fixture(scope="module")
def at_home():
    return calibrated()


def test_a_fit_and_its_calibration_are_those_of_home_to_the_last_bit(engine, at_home, tmp_path):
    away = calibrated(engine)
    assert content(away, tmp_path / "away") == content(at_home, tmp_path / "home")
    assert not hasattr(away.fitted_.learner, "engine")


class Counting:
    """A cluster that counts the calls of its workers, by the names of the functions."""

    def __init__(self, engine):
        self.engine, self.names = engine, []
        self.connected, self.run, self.n_workers = engine.connected, engine.run, engine.n_workers

    def map(self, function, items, common=(), *, memory=0.0):
        for result in self.engine.map(function, items, common, memory=memory):
            self.names.append(function.__name__)
            yield result


def test_two_targets_have_a_worker_each_and_are_those_of_home(engine, tmp_path):
    X, y = table()
    Y, counting = pd.DataFrame({"price": y, "rent": np.abs(y)}), Counting(engine)
    home, away = (estimator(one).set_params(calibration="twins") for one in (None, counting))
    assert content(away.fit(X, Y), tmp_path / "away") == content(home.fit(X, Y), tmp_path / "home")
    assert counting.names == ["_fitted_here"] * 2
    assert away.targets_["rent"].engine is counting


class Losing:
    """A cluster that loses a node when the first result has come."""

    def __init__(self, engine, lose):
        self.engine, self.lose = engine, lose
        self.connected, self.run = engine.connected, engine.run

    def map(self, function, items, common=(), *, memory=0.0):
        for result in self.engine.map(function, items, common, memory=memory):
            self.lose()
            yield result


def test_a_node_lost_in_mid_fit_changes_no_number(engine, lose_node, at_home, tmp_path):
    away = calibrated(Losing(engine, lose_node))
    assert content(away, tmp_path / "away") == content(at_home, tmp_path / "home")


def test_a_check_is_that_of_home_to_the_last_bit(engine):
    X, y = table()
    how = {"n_simulations": 2, "random_state": 0, "confidence_levels": 0.8}
    home, away = (
        confide.coverage_check(
            {"ours": estimator(), "theirs": confide.ConfidenceRegressor(Ridge(), n_simulations=10)},
            X.drop(columns="c"), y, engine=one, **how,
        )
        for one in (None, engine)
    )  # fmt: skip
    for one, other in zip(home.coverages, away.coverages, strict=True):
        assert np.array_equal(one.held, other.held)
        assert np.array_equal(one.width, other.width)


def test_calibrations_of_many_data_sets_are_those_of_home(engine):
    X, y = table()
    found = []
    for one in (None, engine):
        ours = estimator(one).set_params(calibration="twins")
        fits = ours.fit_many(X[["a", "b"]].to_numpy(), np.stack([y, y[::-1]]), [0, 1])
        found.append([fitted.predict_interval(X[["a", "b"]].to_numpy(), 0.8) for fitted in fits])
    for (mean, interval), (other_mean, other) in zip(*found, strict=True):
        assert np.array_equal(mean, other_mean)
        assert np.array_equal(interval, other)


def test_any_regressor_is_fitted_there(engine):
    X, y = table()
    model = confide.ConfidenceRegressor(Ridge(), n_simulations=10, random_state=0)
    numbers = X.drop(columns="c")
    home = model.fit(numbers, y).get_prediction(numbers).summary_frame()
    away = model.set_params(engine=engine).fit(numbers, y).get_prediction(numbers).summary_frame()
    pd.testing.assert_frame_equal(home, away, check_exact=True)


def test_predictions_and_their_notes_are_those_of_home(engine, at_home):
    X = pa.Table.from_pandas(table()[0].assign(c="w"))
    blocks = [X.slice(0, 25), X.slice(25)]
    of_home, of_away = Notes(), Notes()
    home = list(prediction_blocks(at_home, blocks, notes=of_home))
    away = list(prediction_blocks(at_home, blocks, notes=of_away, engine=engine))
    assert [one.equals(other) for one, other in zip(home, away, strict=True)] == [True, True]
    assert list(of_away) == list(of_home)
    assert "'w'" in str(list(of_away))


# Ray Data leaves threads that end the process when they ask a Ray that was left: here their own.
RAY_DATA = """
import sys
import pandas as pd, ray
from confide.workflow import BatchPredictor
from confide.workflow.batch_predictor import _loaded

class Counted(BatchPredictor):
    def __call__(self, batch):
        return super().__call__(batch).assign(loads=_loaded.cache_info().misses)

address, folder = sys.argv[1:]
ray.init(address, log_to_driver=False)
ray.data.from_pandas(pd.read_parquet(folder + "/rows")).map_batches(
    Counted,
    fn_constructor_args=[folder + "/model.confide"],
    fn_constructor_kwargs={"keep": ["row"]},
    batch_format="pandas",
    batch_size=20,
    concurrency=1,
).to_pandas().to_parquet(folder + "/predicted")
"""


def test_ray_data_asks_a_predictor_that_is_loaded_once(nodes, at_home, tmp_path):
    rows = table()[0].assign(row=np.arange(N_ROWS))
    at_home.save(tmp_path / "model.confide")
    rows.to_parquet(tmp_path / "rows")
    asked = [sys.executable, "-c", RAY_DATA, nodes.address, str(tmp_path)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300, check=False)
    assert (tmp_path / "predicted").exists(), done.stderr
    frame = pd.read_parquet(tmp_path / "predicted").sort_values("row", ignore_index=True)
    assert set(frame.pop("loads")) == {1}  # though there were three batches
    expected = BatchPredictor(at_home, keep=["row"])(rows)
    # Ray Data returns types of Arrow, and rows in other company differ by rounding.
    frame = frame.astype(expected.dtypes)
    pd.testing.assert_frame_equal(frame, expected, check_exact=False, rtol=1e-12)


def test_the_commands_write_there_what_they_write_at_home(nodes, tmp_path):
    X, y = table()
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    small = ["--recipe", "paper", "--members", "2", "--epochs", "3", "--seed", "0"]
    away = ["--engine", "ray", "--address", nodes.address]
    written, said = [], []
    for where in ([], away):
        folder = tmp_path / ("away" if where else "home")
        folder.mkdir()
        model, rows = folder / "model.confide", tmp_path / "rows.csv"
        run("fit", rows, "--target", "y", "-o", model, *small, *where)
        run("predict", model, rows, "-o", folder / "predicted.csv", *where)
        how = ["--simulations", "2", "--model", model, "--json", *where]
        said.append(run("check", rows, "--target", "y", *how))
        written.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert written[0] == written[1]
    assert said[0] == said[1]


def run(*words):
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 0, result.stderr
    return result.stdout
