"""Several targets on an engine: each is one call, and is what a fit to it alone is."""

import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from support.aliens import equinox_network
from support.calls import threads_there
from support.workers import Workers

from confide import BootstrappedDeepEnsembleRegressor, ConfidenceRegressor, DeepEnsembleRegressor
from confide.cores import blas_threads
from confide.engines import InProcess, Joblib
from confide.errors import RowError
from confide.estimators.side_by_side import for_each_target, n_side_by_side
from confide.learners import TrainingDivergedError

WHOLE = "_fitted_here"


@pytest.fixture(scope="module")
def targets(data):
    X, y = data
    names = ["dose effect", "risk", "cost"]
    return pd.DataFrame(dict(zip(names, [y, np.abs(X[:, 2]) + y, X[:, 1] - y], strict=True)))


def content(model, path):
    model.save(path, overwrite=True)
    return path.read_bytes()


# How many targets have a worker each


@pytest.mark.parametrize(
    ("n_workers", "n_targets", "n_whole"),
    [(1, 5, 0), (2, 2, 2), (2, 3, 2), (2, 4, 4), (4, 2, 0), (4, 3, 3), (4, 6, 4), (64, 2, 0),
     (64, 3, 3), (64, 66, 64), (64, 100, 100)],
)  # fmt: skip
def test_targets_of_a_last_round_with_idle_workers_are_spread(n_workers, n_targets, n_whole):
    assert n_side_by_side(Workers(n_workers), n_targets) == n_whole


def test_only_engines_that_tell_of_other_processes_get_whole_fits():
    assert Joblib(2).n_workers() == 2
    assert n_side_by_side(InProcess(), 4) == n_side_by_side(Joblib(1), 4) == 0
    with joblib.parallel_config("threading", n_jobs=2):
        assert n_side_by_side(Joblib(), 4) == 0


def test_a_ray_has_a_worker_for_so_many_cores(monkeypatch):
    ray_cluster = pytest.importorskip("confide.engines.ray_cluster")
    pytest.importorskip("ray")
    session = ray_cluster.SESSION
    monkeypatch.setattr(type(session), "opened", lambda *_: Workers(1).connected())
    monkeypatch.setattr(type(session), "look", lambda *_: None)
    monkeypatch.setattr(session, "n_cpus", 7.0)
    assert ray_cluster.RayCluster(cpus_per_piece=2).n_workers() == 3


# The fits


def test_two_targets_are_one_call_each_and_a_third_is_spread(data, small, targets, tmp_path):
    engine = Workers(2)
    estimator = BootstrappedDeepEnsembleRegressor(**small)
    model = clone(estimator)
    model.engine = engine
    model.fit(data[0], targets)
    assert engine.names == [WHOLE, WHOLE]
    assert list(model.targets_) == list(targets)
    for name, own in model.targets_.items():
        alone = clone(estimator).fit(data[0], targets[name])
        assert content(own, tmp_path / "own") == content(alone, tmp_path / "alone")
        assert own.get_params() == {**alone.get_params(), "engine": engine}


def test_members_of_the_users_own_are_spread(data, small, targets):
    engine, few = Workers(2), {"n_members": 2, "max_epochs": 2, "random_state": 0}
    network = DeepEnsembleRegressor(network=equinox_network, engine=engine, **few)
    network.fit(data[0], targets.iloc[:, :2])
    assert WHOLE not in engine.names


def test_weights_and_groups_are_sent_along(data, small, targets, tmp_path):
    of_rows = np.arange(64.0), np.arange(64) // 4
    model = DeepEnsembleRegressor(**small, engine=Workers(3)).fit(data[0], targets, *of_rows)
    alone = DeepEnsembleRegressor(**small).fit(data[0], targets["cost"], *of_rows)
    own = model.targets_["cost"]
    assert content(own, tmp_path / "own") == content(alone, tmp_path / "alone")


def test_without_a_seed_numpys_own_one_decides(data, small, targets):
    def predicted():
        engine = Workers(3)
        np.random.seed(3)  # noqa: NPY002 - what `random_state=None` stands for
        model = DeepEnsembleRegressor(**{**small, "random_state": None}, engine=engine)
        answer = model.fit(data[0], targets).predict(data[0])
        assert model.targets_["risk"].random_state is None
        return answer, {seed for _, _, seed in engine.items}

    (one, seeds), (other, _) = predicted(), predicted()
    np.testing.assert_array_equal(one, other)
    assert len(seeds) == 3


def test_only_the_bar_of_all_targets_is_shown(data, small, targets, capfd):
    DeepEnsembleRegressor(**small, verbose=True, engine=Workers(3)).fit(data[0], targets)
    said = capfd.readouterr().err.splitlines()
    assert said[-1] == "Fitting 3 targets side by side: 100 %"
    assert {line.partition(":")[0] for line in said} == {"Fitting 3 targets side by side"}


@pytest.mark.parametrize("engine", [None, Workers(2)])
def test_an_error_says_which_target_it_is_of(data, small, targets, engine):
    wild = {**small, "learning_rate": 1e30}
    with pytest.raises(TrainingDivergedError) as caught:
        DeepEnsembleRegressor(**wild, engine=engine).fit(data[0], targets)
    assert caught.value.__notes__ == ["This was the target 'dose effect'."]


@pytest.mark.parametrize("error", [TrainingDivergedError(1, 2, 3), RowError("row {row}", 4)])
def test_errors_keep_their_notes_on_the_way(error):
    error.add_note("This was the target 'risk'.")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), vars(again)) == (str(error), vars(error))


# Other processes


@pytest.mark.slow
def test_two_processes_give_the_same_files_and_warnings(small, tmp_path):
    # Long enough to be mapped into the workers' memory, where nothing can write to it.
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    X[:, 7] = 1.0
    half = {**small, "learning_rate": lambda step: 0.05 / (1 + step), "max_epochs": 2}
    table = pd.DataFrame(X).add_prefix("x")
    Y = pd.DataFrame({"sum": X[:, 0] + X[:, 1], "product": X[:, 2] * X[:, 3]})
    with pytest.warns(UserWarning, match="of no use to the model: x7"):
        model = DeepEnsembleRegressor(**half, engine=Joblib(2)).fit(table, Y)
    for name, own in model.targets_.items():
        with pytest.warns(UserWarning, match="of no use to the model: x7"):
            alone = DeepEnsembleRegressor(**half).fit(table, Y[name])
        assert content(own, tmp_path / "own") == content(alone, tmp_path / "alone")
        assert own.learning_rate(0) == 0.05


@pytest.mark.slow
def test_matrices_have_as_many_threads_there():
    estimator = DeepEnsembleRegressor(engine=Joblib(2))
    found = for_each_target(threads_there, estimator, {"a": 1, "b": 2}, shape=(10, 2))
    assert found == {"a": blas_threads(), "b": blas_threads()}


@pytest.mark.slow
def test_an_error_of_another_process_says_which_target_it_is_of(data, small, targets):
    wild = {**small, "learning_rate": 1e30}
    with pytest.raises(TrainingDivergedError) as caught:
        DeepEnsembleRegressor(**wild, engine=Joblib(2)).fit(data[0], targets.iloc[:, :2])
    assert re.fullmatch("This was the target '(dose effect|risk)'.", caught.value.__notes__[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_calibration_on_twins_is_the_same_there(small, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]])
    Y += generator.normal(0, 0.3, Y.shape)
    few = {**small, "calibration": "twins", "max_epochs": 3}
    model = BootstrappedDeepEnsembleRegressor(**few)
    together = clone(model).set_params(engine=Joblib(2)).fit(X, Y)
    for own, y in zip(together.targets_.values(), Y.T, strict=True):
        alone = clone(model).fit(X, y)
        assert content(own, tmp_path / "own") == content(alone, tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"engine": Workers(2)}, {"n_jobs": 2}])
def test_any_regressor_goes_there(data, targets, how):
    X, Y = data[0], targets.iloc[:, :2]
    wrapped = ConfidenceRegressor(Ridge(), n_simulations=10, random_state=0)
    model = ConfidenceRegressor(Ridge(), n_simulations=10, random_state=0, **how).fit(X, Y)
    frames, engine = model.get_prediction(X).summary_frame(), how.get("engine")
    assert engine is None or engine.names == [WHOLE, WHOLE]
    for name, own in model.targets_.items():
        assert own.engine is engine
        alone = clone(wrapped).fit(X, Y[name]).get_prediction(X).summary_frame()
        pd.testing.assert_frame_equal(frames[name], alone, check_exact=True)
