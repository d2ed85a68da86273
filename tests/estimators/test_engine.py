"""`engine` says where members are trained: it changes no number, and no file keeps it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import confide
from confide.engines import Joblib

HOW = {"recipe": "paper", "n_members": 4, "max_epochs": 4, "hidden_layer_sizes": (4,)}


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    return X, X[:, 0] + generator.normal(0, 0.3, 60)


def fitted(rows, engine):
    model = confide.BootstrappedDeepEnsembleRegressor(**HOW, random_state=0, engine=engine)
    return model.fit(*rows)


@pytest.mark.slow
def test_a_model_of_several_processes_is_the_same_file(rows, tmp_path):
    contents = []
    for engine in (None, Joblib(2)):
        fitted(rows, engine).save(tmp_path / "model", overwrite=True)
        contents.append((tmp_path / "model").read_bytes())
    assert contents[0] == contents[1]
    assert b"engine" not in contents[0]
    again = confide.load(tmp_path / "model")
    assert again.engine is None
    assert "engine" not in again.parameters_


def test_copies_carry_it_along():
    engine = Joblib(2)
    model = confide.DeepEnsembleRegressor(engine=engine)
    assert clone(model).engine == engine
    assert model.get_params()["engine"] is engine


@pytest.mark.parametrize(
    "model",
    [confide.DeepEnsembleRegressor, lambda **how: confide.ConfidenceRegressor(Ridge(), **how)],
)
def test_an_unknown_engine_is_refused(rows, model):
    with pytest.raises(ValueError, match=r"`engine` must be one of .* got 'spark'"):
        model(engine="spark").fit(*rows)


@pytest.mark.slow
def test_any_regressor_takes_it_too(rows):
    home, away = (
        confide.ConfidenceRegressor(Ridge(), n_simulations=10, random_state=0, engine=engine)
        .fit(*rows)
        .predict_interval(rows[0], 0.9, kind="confidence")[1]
        for engine in ("in-process", Joblib(2))
    )
    assert np.array_equal(home, away)


@pytest.mark.slow
def test_regressors_that_multiply_matrices_are_the_same_in_other_processes():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(600, 4))
    y = np.sin(2 * X[:, 0]) + generator.normal(0, 0.3, 600)
    home, away = (
        confide.ConfidenceRegressor(
            KernelRidge(kernel="rbf"),
            twin="forest",
            n_simulations=10,
            random_state=0,
            engine=engine,
        )
        .fit(X, y)
        .predict_interval(X, 0.9, kind="confidence")[1]
        for engine in ("in-process", Joblib(2))
    )
    assert np.array_equal(home, away)


@pytest.mark.slow
def test_a_check_takes_it_too(rows):
    how = {"n_simulations": 2, "confidence_levels": 0.8, "random_state": 0}
    model = confide.DeepEnsembleRegressor(**HOW, random_state=0)
    home, away = (
        confide.coverage_check(model, *rows, **how, engine=engine) for engine in (None, Joblib(2))
    )
    assert home.to_frame().equals(away.to_frame())
    assert model.engine is None
