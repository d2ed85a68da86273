"""A prediction interval contains the confidence interval of its level: every estimator and path."""

import copy

import numpy as np
import pytest
from support.aliens import ALIENS

from confide import (
    BootstrappedDeepEnsembleRegressor,
    ConcreteDropoutRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
)
from confide.simulate import Truth

pytestmark = [
    pytest.mark.slow,  # every estimator is compiled
    pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning"),
    pytest.mark.filterwarnings("ignore:.* are infinite:UserWarning"),
]
# The law of the true function then has heavy tails: at 99 % its t quantile is 64.
FEW = {"n_members": 2, "random_state": 0, "calibration": None}
SMALL = {"hidden_layer_sizes": (4,), "max_epochs": 4}
ENSEMBLES = {
    "bootstrapped": BootstrappedDeepEnsembleRegressor,
    "deep": DeepEnsembleRegressor,
    "naive": NaiveBootstrapRegressor,
}
ESTIMATORS = {
    **{name: ensemble(**FEW, **SMALL) for name, ensemble in ENSEMBLES.items()},
    **{
        f"{name} tabular": ensemble(**FEW, **SMALL, recipe="tabular", dropout=0.0)
        for name, ensemble in ENSEMBLES.items()
    },
    "dropout": ConcreteDropoutRegressor(**SMALL, random_state=0),
    **{name: alien.make(max_epochs=4) for name, alien in ALIENS.items() if alien.is_here},
}
LEVELS = (0.05, 0.5, 0.8, 0.9, 0.95, 0.99)
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 2))
# Hardly any noise: most of what is uncertain is the function.
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.01 * GENERATOR.normal(size=200)
FITTED, HELD = slice(60), slice(60, 200)


class Sine(Truth):
    def mean(self, X):
        return np.sin(2 * X[:, 0]) + X[:, 1]

    def std(self, X):
        return np.full(len(X), 0.01)


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS.keys())
def model(request):
    return copy.copy(request.param).fit(X[FITTED], Y[FITTED])


def check(model):
    # Far rows too, where members disagree.
    prediction = model.get_prediction(np.concatenate([X, 3 * X[:20]]))
    for level in LEVELS:
        inner, outer = (prediction.interval(kind, level) for kind in ("confidence", "prediction"))
        # The published laws contain it by their mathematics, and bounds are rounded.
        slack = 1e-12 * np.abs(np.where(np.isfinite(inner), inner, 0.0)).max(axis=1)
        assert np.all(outer[:, 0] <= inner[:, 0] + slack)
        assert np.all(inner[:, 1] <= outer[:, 1] + slack)


def test_it_does_by_the_methods_own_laws(model):
    if (type(model), getattr(model, "recipe", None)) == (DeepEnsembleRegressor, "paper"):
        pytest.skip("The published law need not, see tests/test_prediction.py.")
    check(model)


def test_it_does_after_calibration_on_held_out_rows(model):
    check(copy.copy(model).calibrate(X[HELD], Y[HELD]))


def test_it_does_after_calibration_on_twins_and_on_both(model):
    how = {"twin": Sine(), "n_simulations": 10}
    on_twins = copy.copy(model).calibrate_confidence(X[FITTED], Y[FITTED], **how)
    check(on_twins)
    check(on_twins.calibrate(X[HELD], Y[HELD]))


@pytest.mark.parametrize("level", LEVELS)
def test_quantiles_tell_the_same_as_intervals(model, level):
    prediction = copy.copy(model).calibrate(X[HELD], Y[HELD]).get_prediction(X)
    ends = prediction.quantiles([(1 - level) / 2, (1 + level) / 2])
    assert ends == pytest.approx(prediction.prediction_interval(level), rel=1e-9)
