"""A user's code: `mypy --strict` checks it against the public names (`make lint`), nothing runs it.

`assert_type` fails where a public name loses its type, so that editors and checkers stay of use.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import numpy as np

import confide


def fit(X: np.ndarray, y: np.ndarray) -> confide.BootstrappedDeepEnsembleRegressor:
    """An estimator keeps its class from one call to the next."""
    confide.enable_compilation_cache()
    model = confide.BootstrappedDeepEnsembleRegressor(n_members=5, random_state=0).fit(X, y)
    assert_type(model, confide.BootstrappedDeepEnsembleRegressor)
    assert_type(model.calibrate(X, y), confide.BootstrappedDeepEnsembleRegressor)
    return assert_type(model.calibrate_confidence(X, y), confide.BootstrappedDeepEnsembleRegressor)


def rivals() -> Sequence[str]:
    """Every estimator has the same face."""
    models = (
        confide.ConcreteDropoutRegressor(),
        confide.DeepEnsembleRegressor(max_epochs="auto"),
        confide.NaiveBootstrapRegressor(calibration=None),
        confide.QualityDrivenEnsembleRegressor(),
    )
    return [type(model).__name__ for model in models]


def ask(model: confide.BootstrappedDeepEnsembleRegressor, X: np.ndarray) -> float:
    """Answers are arrays, not unions of what might come."""
    assert_type(model.predict(X), np.ndarray)
    mean, std = model.predict(X, return_std=True)
    mean, intervals = model.predict_interval(X, confidence_level=0.9, kind="confidence")
    prediction = assert_type(model.get_prediction(X), confide.Prediction)
    lower, upper = prediction.prediction_interval(0.9).T
    assert_type(prediction.explain(), confide.Explanation)
    assert_type(prediction.mean, np.ndarray)
    return float(np.mean(upper - lower) + np.mean(std) + intervals.size + mean.size)


def judge(model: confide.BootstrappedDeepEnsembleRegressor, X: np.ndarray, y: np.ndarray) -> str:
    """Reports and checks."""
    report = assert_type(confide.coverage_check(model, X, y), confide.CoverageCheck)
    check = confide.overfitting_check(model.get_prediction(X), y)
    assert_type(check, confide.OverfittingCheck)
    return f"{report}, {check}, {confide.__version__}"


def keep(model: confide.BootstrappedDeepEnsembleRegressor, path: Path) -> np.ndarray:
    """A model file, and what may go wrong with it."""
    model.save(path)
    try:
        return confide.load(path).predict(np.zeros((1, 3)))
    except confide.ModelFileError as error:
        raise SystemExit(str(error)) from error
