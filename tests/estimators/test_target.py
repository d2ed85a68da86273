"""Transformed and bounded targets: the mean is kept, bounds are, files are, and what is refused."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import confide
from confide import BootstrappedDeepEnsembleRegressor
from confide.estimators.target import Target
from confide.prediction import Prediction
from confide.simulate import Truth
from confide.uncertainty import Transform, bootstrapped_confidence_law, bootstrapped_prediction_law

NAMES = ("log", "sqrt", "yeo-johnson")
LEVELS = (0.05, 0.5, 0.8, 0.95, 0.99)


@pytest.fixture(scope="module")
def positive(data):
    """Targets above zero, skewed."""
    return data[0], np.exp(data[1] / 2)


@pytest.fixture(scope="module", params=NAMES)
def transformed(request, positive, small):
    model = BootstrappedDeepEnsembleRegressor(**small, target_transform=request.param)
    return model.fit(*positive)


class Line(Truth):
    def mean(self, X):
        return X[:, 0]

    def std(self, X):
        return np.ones(len(X))


def predicted(mean, standard_error, noise, n_members=50):
    """What a method says of transformed targets."""
    noise, epistemic = np.square([noise, standard_error])
    return Prediction(
        mean,
        noise,
        epistemic,
        bootstrapped_prediction_law(mean, epistemic, noise, n_members),
        bootstrapped_confidence_law(mean, epistemic, n_members),
        0.9 * epistemic,
        0.1 * n_members * epistemic,
        n_members,
    )


def share(interval, value):
    return np.mean((interval[:, 0] <= value) & (value <= interval[:, 1]))


def check_containment(prediction):
    for level in LEVELS:
        inner, outer = (prediction.interval(kind, level) for kind in ("confidence", "prediction"))
        assert np.all(outer[:, 0] <= inner[:, 0])
        assert np.all(inner[:, 1] <= outer[:, 1])


# What is promised.


@pytest.mark.parametrize("s", [0.3, 1.0])
def test_the_confidence_interval_of_a_lognormal_truth_is_for_its_mean(s):
    """20,000 experiments: n observations of log y tell its mean and its noise, each with error."""
    generator, n, mu, size = np.random.default_rng(0), 60, 0.7, 20_000
    means = mu + s / np.sqrt(n) * generator.normal(size=size)
    noise = s * np.sqrt(generator.chisquare(n - 1, size) / (n - 1))
    target = Target(Transform("log"), -np.inf, np.inf, n)
    prediction = target.restored(predicted(means, noise / np.sqrt(n), noise, n_members=n))
    true_mean = np.exp(mu + s**2 / 2)
    for level in (0.8, 0.95):
        covered = share(prediction.confidence_interval(level), true_mean)
        # Four errors of 20,000 trials, and what second order leaves (Zhou and Gao: a point).
        assert covered == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / size) + 0.008)
        # The median is another number: its interval misses the mean, as soon as there is noise.
        median = np.exp(bootstrapped_confidence_law(means, noise**2 / n, n).interval(level))
        assert share(median, true_mean) < covered - 0.1


def test_the_mean_is_that_of_the_target_and_a_new_observation_is_covered():
    generator, s, size = np.random.default_rng(1), 0.8, 20_000
    mu = generator.uniform(-1, 1, size)
    y = np.exp(mu + s * generator.normal(size=size))
    target = Target(Transform("log"), -np.inf, np.inf, 10**9)
    prediction = target.restored(predicted(mu, np.full(size, 1e-6), np.full(size, s)))
    assert prediction.mean == pytest.approx(np.exp(mu + s**2 / 2))
    # The standard error of the mean ratio is sqrt(exp(s^2) - 1) / sqrt(size) = 0.0067.
    assert np.mean(y / prediction.mean) == pytest.approx(1, abs=4 * 0.0067)
    noise = np.expm1(s**2) * prediction.mean**2
    assert prediction.aleatoric_variance == pytest.approx(noise)
    assert share(prediction.prediction_interval(0.9), y) == pytest.approx(0.9, abs=0.009)


def test_variances_are_those_of_the_delta_method():
    """Against draws of what the method does not know: its mean, and with n rows its noise."""
    n, mu, s, se = 200, 0.4, 0.6, 0.05
    target = Target(Transform("sqrt"), -np.inf, np.inf, n)
    prediction = target.restored(predicted(np.array([mu + 2]), np.array([se]), np.array([s])))
    generator = np.random.default_rng(0)
    means = mu + 2 + se * generator.normal(size=40_000)
    noise = s * (1 + generator.normal(size=40_000) / np.sqrt(2 * n))
    drawn = np.var(Transform("sqrt").mean(means, noise))
    # Four relative errors of a variance of 40,000 draws: 4 * sqrt(2 / 40,000).
    assert prediction.epistemic_variance[0] == pytest.approx(drawn, rel=0.03)
    parts = prediction.sources
    assert set(parts) == {"aleatoric", "classical", "optimisation"}
    assert sum(parts.values()) == pytest.approx(prediction.total_variance)


# Estimators.


def test_a_transform_changes_the_units_of_the_method_alone(transformed, positive, small):
    X, y = positive
    name = transformed.target_transform
    by_hand = Transform.fitted(name, y)
    own = BootstrappedDeepEnsembleRegressor(**small).fit(X, by_hand.forward(y))
    ours, theirs = transformed.get_prediction(X), own.get_prediction(X)
    expected = by_hand.mean(theirs.mean, np.sqrt(theirs.aleatoric_variance))
    np.testing.assert_array_equal(ours.mean, expected)
    np.testing.assert_array_equal(transformed.predict(X), ours.mean)
    quantile = by_hand.back(theirs.prediction_law.quantile(0.99))
    # Before it is made wider where it would not contain the confidence interval.
    assert ours.prediction_law.law.quantile(0.99) == pytest.approx(quantile)
    check_containment(ours)


@pytest.mark.filterwarnings("ignore:.* are infinite:UserWarning")
def test_calibrations_are_done_in_transformed_units_and_stay_contained(transformed, positive):
    X, y = positive
    generator = np.random.default_rng(1)
    X_new = X[:60] + 0.1 * generator.normal(size=(60, 3))
    model = copy.copy(transformed).calibrate(X_new, y[:60])
    prediction = model.get_prediction(X)
    assert prediction.prediction_law.origin == "held_out"
    in_own_units = model.get_prediction(X_new).prediction_law.law
    bounds = Transform.back(in_own_units.transform, in_own_units.law.law.interval(0.8))
    # The rank is ceil(61 * 0.8) = 49 of 60; at the bound itself rounding may go either way.
    assert round(60 * share(bounds, y[:60])) in {48, 49}
    check_containment(prediction)
    check_containment(prediction.uncalibrated)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_twins_are_of_the_transformed_targets(transformed, positive, tmp_path):
    model = copy.copy(transformed)
    model.calibrate_confidence(*positive, twin="forest", n_simulations=10, random_state=0)
    prediction = model.get_prediction(positive[0])
    assert prediction.confidence_law.origin == "twins"
    check_containment(prediction)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model").get_prediction(positive[0])
    ours, theirs = (p.confidence_interval(0.9) for p in (again, prediction))
    np.testing.assert_array_equal(ours, theirs)


def test_a_truth_of_ones_own_is_refused_for_twins(transformed, positive):
    with pytest.raises(ValueError, match=r"got a truth of your own\. Pass twin='auto'"):
        transformed.calibrate_confidence(*positive, twin=Line())


def test_a_loaded_model_answers_alike(transformed, positive, tmp_path):
    model = clone(transformed).set_params(bounds=(0.5, None), target_transform="log")
    model.fit(positive[0], positive[1] + 0.5)
    for name, each in {"one": transformed, "other": model}.items():
        each.save(tmp_path / name)
        again = confide.load(tmp_path / name)
        assert again.target_ == each.target_
        assert again.get_params() == each.get_params()
        for ask in ("prediction_interval", "confidence_interval"):
            ours, theirs = (getattr(m.get_prediction(positive[0]), ask)() for m in (again, each))
            np.testing.assert_array_equal(ours, theirs)


def test_many_fits_are_as_one_each(positive, small):
    X, y = positive
    model = BootstrappedDeepEnsembleRegressor(**small, target_transform="log", bounds=(0, None))
    targets = np.stack([y, y[::-1]])
    for fitted, own in zip(model.fit_many(X, targets, [8, 8]), targets, strict=True):
        np.testing.assert_allclose(fitted.predict(X), clone(model).fit(X, own).predict(X), 1e-5)


@pytest.mark.slow
def test_auto_finds_the_logarithm_of_a_lognormal_target_and_nothing_for_a_normal_one(small):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 3))
    z = X[:, 0] + 0.5 * generator.normal(size=400)
    model = BootstrappedDeepEnsembleRegressor(**small, target_transform="auto")
    assert model.fit(X, np.exp(2 * z)).target_.transform == Transform("log")
    assert model.fit(X, z).target_ is None
    assert model.target_transform == "auto"


def test_rows_too_far_for_floats_have_a_typical_target(transformed, positive):
    lowest = transformed.target_.transform.lowest
    far = np.concatenate([positive[0][:2], np.full((1, 3), 1e30)])
    with pytest.warns(UserWarning, match="too far from the training data"):
        prediction = transformed.get_prediction(far)
    assert np.isfinite(prediction.mean).all()
    assert positive[1].min() <= prediction.mean[2] <= positive[1].max()
    assert prediction.prediction_interval(0.9)[2].tolist() == [lowest, np.inf]


# Bounds.


@pytest.fixture(scope="module", params=[None, "log", "yeo-johnson"])
def bounded(request, small):
    """A model of targets from 0.2 to 1, many near the ends; held-out rows have calibrated it."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(164, 3))
    y = np.clip(0.6 + 0.3 * X[:, 0] + 0.2 * generator.normal(size=164), 0.2, 1)
    how = {**small, "bounds": (0.2, 1), "target_transform": request.param}
    model = BootstrappedDeepEnsembleRegressor(**how)
    raw = model.fit(X[:64], y[:64])
    return raw, copy.copy(raw).calibrate(X[64:], y[64:])


@pytest.mark.slow
@settings(max_examples=10)
@given(
    rows=st.lists(st.tuples(*3 * [st.floats(-50, 50)]), min_size=2, max_size=2),
    level=st.floats(0.01, 0.98),
)
def test_bounds_are_never_crossed(bounded, rows, level):
    for model in bounded:
        prediction = model.get_prediction(np.array(rows))
        answers = [prediction.mean, model.predict(np.array(rows)), prediction.quantiles([level])]
        answers += [prediction.interval(kind, level) for kind in ("confidence", "prediction")]
        answers += [
            prediction.sample(5, random_state=0, kind=k) for k in ("confidence", "prediction")
        ]
        for answer in answers:
            assert np.all((answer >= 0.2) & (answer <= 1))
        inner, outer = (prediction.interval(kind, level) for kind in ("confidence", "prediction"))
        assert np.all((outer[:, 0] <= inner[:, 0]) & (inner[:, 1] <= outer[:, 1]))


def test_bounds_far_away_change_nothing(data, small, bootstrapped):
    model = BootstrappedDeepEnsembleRegressor(**small, bounds=(-1e6, 1e6)).fit(*data)
    ours, theirs = (m.get_prediction(data[0]).summary_frame() for m in (model, bootstrapped))
    pd.testing.assert_frame_equal(ours, theirs)


# What is refused.


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"target_transform": "log"},
            "'log' needs targets above zero, got 0 in row 1. Pass target_",
        ),
        ({"target_transform": "logs"}, "must be None or one of .* got 'logs'. Did you mean 'log'"),
        ({"target_transform": "sqrt"}, "needs targets of at least zero, got -2 in row 3"),
        ({"bounds": (0, None)}, "within `bounds`, 0 to inf, got -2 in row 3. Correct the targets"),
        ({"bounds": (0, None), "target_transform": "auto"}, "within `bounds`"),
        ({"bounds": 0}, r"lower and a higher number.* got 0. Pass \(0, None\) for targets"),
        ({"bounds": (1, 0)}, "lower and a higher number"),
        ({"bounds": (0, "1")}, "lower and a higher number"),
        ({"bounds": (0, 1, 2)}, "lower and a higher number"),
    ],
)
def test_what_cannot_be_is_refused_before_training(small, how, message):
    y = np.array([1.0, 0.0, 2.0, -2.0])
    model = BootstrappedDeepEnsembleRegressor(**{**small, **how})
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0).reshape(4, 2), y)
    assert not hasattr(model, "fitted_")


def test_held_out_targets_are_checked_too(bounded):
    with pytest.raises(ValueError, match=r"within `bounds`, 0\.2 to 1, got 3 in row 1"):
        bounded[0].calibrate(np.zeros((2, 3)), [0.5, 3.0])


GOOD = {"transform": {"name": "log", "power": 1.0}, "lower": 0.0, "upper": None, "n_rows": 3}


@pytest.mark.parametrize(
    "change",
    [
        {"transform": {"name": "cube", "power": 1.0}},
        {"transform": {"name": "yeo-johnson", "power": 3.0}},
        {"transform": {"name": "log", "power": np.nan}},
        {"transform": {"name": "log"}},
        {"transform": "log"},
        {"lower": 1.0, "upper": 0.0},
        {"upper": "1"},
        {"n_rows": 0},
        {"more": 1},
    ],
    ids=repr,
)
@pytest.mark.usefixtures("without_type_checker")
def test_hostile_files_are_refused(change):
    assert Target.from_file(GOOD, {}) == Target(Transform("log"), 0.0, np.inf, 3)
    with pytest.raises(ValueError, match=r"unknown|wrong type|lower and a higher|no rows"):
        Target.from_file(GOOD | change, {})
    with pytest.raises(ValueError, match="unknown parts"):
        Target.from_file(GOOD, {"more": np.ones(1)})
