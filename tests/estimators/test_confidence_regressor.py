"""Any regressor with both intervals."""

import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from confide import ConfidenceRegressor
from confide.errors import TwinError

SLOPES = np.array([2.0, -1.0, 0.0])


def sample(seed=0, n=60, noise=0.5):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    return X, X @ SLOPES + noise * generator.normal(size=n)


@pytest.fixture(scope="module")
def model():
    return ConfidenceRegressor(LinearRegression(), n_simulations=10, random_state=0).fit(*sample())


def test_the_prediction_is_the_regressors_own(model):
    X, y = sample()
    assert model.predict(X).tolist() == LinearRegression().fit(X, y).predict(X).tolist()
    prediction = model.get_prediction(X)
    assert prediction.mean.tolist() == model.predict(X).tolist()
    assert prediction.confidence_law.origin == "twins"
    assert prediction.prediction_law.origin == "held_out"


def test_levels_are_nested_and_prediction_intervals_contain_confidence_intervals(model):
    prediction = model.get_prediction(sample(seed=5, n=300)[0])
    levels = (0.5, 0.8, 0.9, 0.95)
    bounds = {
        kind: np.stack([prediction.interval(kind, level) for level in levels])
        for kind in ("confidence", "prediction")
    }
    for own in bounds.values():
        assert np.all(np.diff(own[..., 0], axis=0) <= 0)
        assert np.all(np.diff(own[..., 1], axis=0) >= 0)
    assert np.all(bounds["prediction"][..., 0] <= bounds["confidence"][..., 0])
    assert np.all(bounds["prediction"][..., 1] >= bounds["confidence"][..., 1])


def test_a_fit_that_fails_leaves_the_former_one_whole(monkeypatch):
    def fail(*_):
        raise OSError("the cluster is lost")

    X, y = sample()
    model = ConfidenceRegressor(LinearRegression(), n_simulations=10, random_state=0).fit(X, y)
    before = model.get_prediction(X).summary_frame()
    monkeypatch.setattr(ConfidenceRegressor, "_learn_noise", fail)
    with pytest.raises(OSError, match="is lost"):
        model.fit(X, -y)
    pd.testing.assert_frame_equal(model.get_prediction(X).summary_frame(), before)
    with pytest.raises(OSError, match="is lost"):
        (unfitted := clone(model)).fit(X, y)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


@pytest.mark.slow
def test_both_intervals_cover_a_linear_truth():
    shares = {"confidence": [], "prediction": []}
    for seed in range(16):
        X, y = sample(seed)
        new, observed = sample(1000 + seed, n=400)
        model = ConfidenceRegressor(
            LinearRegression(), twin="smooth", n_simulations=10, random_state=seed
        ).fit(X, y)
        for kind, wanted in (("confidence", new @ SLOPES), ("prediction", observed)):
            _, bounds = model.predict_interval(new, 0.8, kind)
            shares[kind].append(np.mean((bounds[:, 0] <= wanted) & (wanted <= bounds[:, 1])))
    for own in shares.values():
        error = np.std(own, ddof=1) / np.sqrt(len(own))
        # Ten simulations and sixty rows: somewhat too wide rather than too narrow.
        assert 0.8 - 4 * error < np.mean(own) < 0.9 + 4 * error


@pytest.mark.slow
def test_pipelines_take_tables_as_they_are():
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=np.where(X[:, 0] > 0, "x", "y"))
    regressor = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["a", "b", "c"])),
        ExtraTreesRegressor(5),
    )
    model = ConfidenceRegressor(regressor, n_simulations=10, random_state=0).fit(frame, y)
    lower, upper = model.predict_interval(frame.iloc[5:9], 0.9, "confidence")[1].T
    assert np.all(lower < upper)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.get_prediction(frame.iloc[5:9]).novelty.shape == (4,)


@pytest.mark.slow
def test_a_summary_has_the_index_of_its_rows(model):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"row {i}" for i in range(len(X))])
    named = clone(model).fit(frame, y)
    some = frame.iloc[7:11]
    assert named.get_prediction(some).summary_frame().index.tolist() == some.index.tolist()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_whoever_computes_them(model):
    X, y = sample()
    # Two: scikit-learn's threads add up predictions of trees in the order in which they finish.
    regressor = ExtraTreesRegressor(2)
    alone, several, other = (
        ConfidenceRegressor(regressor, n_simulations=10, n_jobs=jobs, random_state=seed).fit(X, y)
        for jobs, seed in ((None, 0), (2, 0), (None, 1))
    )
    with joblib.parallel_config("threading", n_jobs=2):
        threads = clone(alone).fit(X, y)
    expected = alone.predict_interval(X, 0.8, "confidence")[1].tolist()
    assert several.predict_interval(X, 0.8, "confidence")[1].tolist() == expected
    assert threads.predict_interval(X, 0.8, "confidence")[1].tolist() == expected
    assert other.predict_interval(X, 0.8, "confidence")[1].tolist() != expected


def test_a_regressor_that_goes_through_its_data_has_intervals_too():
    """It shows no bias, and its errors are the noise: the largest of them decide the widths."""
    X, y = sample()
    regressor = ExtraTreesRegressor(2, random_state=0)
    model = ConfidenceRegressor(regressor, n_simulations=10, random_state=0).fit(X, y)
    low, high = model.predict_interval(X, 0.8, "confidence")[1].T
    assert np.mean((low <= X @ SLOPES) & (high >= X @ SLOPES)) > 0.5


def test_a_model_can_be_pickled_and_cloned(model):
    X, _ = sample()
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.predict_quantiles(X).tolist() == model.predict_quantiles(X).tolist()
    assert clone(model).get_params()["estimator__fit_intercept"]
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


class TwoNumbers(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros((len(X), 2))


@pytest.mark.parametrize(
    ("regressor", "rows", "how", "error", "message"),
    [
        (TwoNumbers(), 60, {}, ValueError, r"TwoNumbers.predict must return one .*\(60, 2\)"),
        (LinearRegression(), 15, {}, TwinError, "at least 20 different rows, got 15"),
        (LinearRegression(), 60, {"n_simulations": 3}, ValueError, "at least 10, got 3"),
        (
            LinearRegression(),
            60,
            {"shift": 2},
            ValueError,
            r"`shift` must lie in \[0, 1\] or be 'auto', got 2",
        ),
    ],
)
def test_odd_input_is_refused(regressor, rows, how, error, message):
    with pytest.raises(error, match=message):
        ConfidenceRegressor(regressor, **{"random_state": 0} | how).fit(*sample(n=rows))


@pytest.mark.parametrize("source", ["folder/", Path("rows.parquet"), "dataset"], ids=str)
def test_files_and_datasets_are_refused(source):
    if source == "dataset":
        source = pyarrow.dataset.dataset(pa.table({"x": [1.0], "y": [1.0]}))
    message = r"in memory as X, .* no files and no datasets, got .* Read them first, such as"
    with pytest.raises(TypeError, match=message):
        ConfidenceRegressor(LinearRegression()).fit(source, "y")
