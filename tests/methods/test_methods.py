"""One contract for every method in the registry, and a sixth method that meets it."""

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import confide
from confide.errors import NoSuchIntervalError
from confide.estimators import ESTIMATORS
from confide.methods import (
    REGISTRY,
    bootstrapped_deep_ensemble,
    deep_ensemble,
    fit_batches,
    mean_of,
)
from confide.prediction import Prediction

SMALL = {"hidden_layer_sizes": (4,), "max_epochs": 6, "learning_rate": 0.05}
NETWORK = {"hidden_layer_sizes": (4,), "learning_rate": 0.05}
DOORS = (
    "NAME", "Settings", "Fitted", "learner", "member_epochs", "fit", "predict", "to_arrays",
    "from_arrays",
)  # fmt: skip
OF_NETWORKS = {name: each for name, each in ESTIMATORS.items() if each.method.NAME in REGISTRY}
OF_NETWORKS.pop("BootstrappedEnsembleRegressor")  # its learners are not networks
methods = pytest.mark.parametrize("method", REGISTRY.values(), ids=REGISTRY)
estimators = pytest.mark.parametrize("estimator_class", OF_NETWORKS.values(), ids=OF_NETWORKS)


def settings_and_learner(method, many=False):
    settings = method.Settings(max_epochs=6)
    learner = method.learner(settings, 3, **NETWORK)
    return settings, learner.for_many() if many else learner


def quick(estimator_class):
    """Arguments of a fit that takes no more than the contract needs."""
    known = estimator_class().get_params()
    return {**SMALL, "recipe": "paper"} if "recipe" in known else SMALL


def keys(n):
    return [jax.random.key(seed) for seed in range(n)]


@pytest.fixture(scope="module")
def targets(data):
    """Three data sets with the same inputs."""
    y = data[1]
    noise = np.random.default_rng(2).normal(size=(3, len(y)))
    return y + noise * [[0.0], [0.5], [1.0]]


def numbers(prediction: Prediction, level: float) -> np.ndarray:
    return np.column_stack([prediction.mean, prediction.prediction_interval(level)])


def level_of(settings) -> float:
    return getattr(settings, "confidence_level", 0.9)


@methods
def test_method_has_all_doors(method):
    assert all(hasattr(method, door) for door in DOORS)
    assert REGISTRY[method.NAME] is method
    assert [m.NAME for m in REGISTRY.values()] == [e.method.NAME for e in OF_NETWORKS.values()]


@pytest.mark.slow
@methods
def test_one_fit_for_each_key_and_predictions_of_every_row(method, data, targets):
    settings, learner = settings_and_learner(method)
    fits = method.fit(keys(3), data[0], targets, settings, learner)
    assert len(fits) == 3
    assert all(isinstance(fitted, method.Fitted) for fitted in fits)
    prediction = method.predict(fits[1], data[0][:7])
    assert prediction.mean.shape == (7,)
    assert prediction.mean.dtype == np.float64
    lower, upper = prediction.prediction_interval(level_of(settings)).T
    assert np.all(lower < prediction.mean)
    assert np.all(prediction.mean < upper)


@methods
def test_the_mean_alone_is_that_of_the_prediction(method, data):
    settings, learner = settings_and_learner(method)
    (fitted,) = method.fit(keys(1), data[0], data[1][None], settings, learner)
    for predict in (method.predict, replace(method.predict, rows_per_block=30)):
        np.testing.assert_array_equal(predict.mean(fitted, data[0]), predict(fitted, data[0]).mean)


OF_THE_MEAN = (
    "BootstrappedDeepEnsembleRegressor",
    "DeepEnsembleRegressor",
    "NaiveBootstrapRegressor",
)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["paper", "tabular"])
@pytest.mark.parametrize("name", OF_THE_MEAN)
def test_a_fit_for_the_mean_alone_has_the_method_s_own_mean(name, recipe, data, targets):
    how = {"n_members": 2, "hidden_layer_sizes": (4,), "max_epochs": 4, "recipe": recipe}
    how |= {"dropout": 0.0, "smooth": False} if recipe == "tabular" else {}
    estimator = ESTIMATORS[name](**how)
    method, settings, learner = estimator.method, estimator.settings(), estimator.make_learner(3)
    given = keys(2), data[0], targets[:2], settings, learner
    for whole, alone in zip(method.fit(*given), method.MEAN_FITS.fit(*given), strict=True):
        mean = method.predict(whole, data[0]).mean
        np.testing.assert_array_equal(mean_of(method, alone, data[0]), mean)
        arrays = method.MEAN_FITS.to_arrays(alone)
        assert set(arrays) <= set(method.to_arrays(whole))
        again = method.MEAN_FITS.from_arrays(arrays, settings, learner, 3)
        np.testing.assert_array_equal(mean_of(method, again, data[0]), mean)


def test_methods_with_a_shorter_way_to_their_mean_are_those_that_are_tested():
    shorter = {name for name, each in OF_NETWORKS.items() if hasattr(each.method, "MEAN_FITS")}
    assert shorter == set(OF_THE_MEAN)


def test_many_members_are_asked_about_fewer_rows_at_once(bootstrapped, data, monkeypatch):
    asked, whole = [], bootstrapped.get_prediction(data[0])

    def numbers(fitted, X):
        asked.append(len(X))
        return deep_ensemble.predict.numbers(fitted, X)

    monkeypatch.setattr("confide.methods.predictor.ANSWERS_PER_BLOCK", 2 * 20)  # of two members
    predict = replace(deep_ensemble.predict, numbers=numbers)
    np.testing.assert_array_equal(predict.mean(bootstrapped.fitted_, data[0]), whole.mean)
    assert asked == [20, 20, 20, 4]


def test_the_mean_alone_does_not_ask_retrained_members(bootstrapped, data, monkeypatch):
    mean = bootstrapped.get_prediction(data[0]).mean

    def fail(*_):
        raise AssertionError("retrained members were asked")

    monkeypatch.setattr(bootstrapped_deep_ensemble, "_retrained_means", fail)
    np.testing.assert_array_equal(bootstrapped.predict(data[0]), mean)
    with pytest.raises(AssertionError, match="retrained members were asked"):
        bootstrapped.get_prediction(data[0])


@pytest.mark.slow
def test_a_method_that_changes_the_mean_changes_it_everywhere(data):
    """`predict.mean` belongs to one `predict`: another one takes it away."""

    def shifted(fitted, X):
        prediction = deep_ensemble.predict(fitted, X)
        return replace(prediction, mean=prediction.mean + 1)

    class Shifted(confide.DeepEnsembleRegressor):
        method = SimpleNamespace(**{**vars(deep_ensemble), "predict": shifted})

    model = Shifted(**quick(Shifted), calibration="twins", n_members=2, random_state=1).fit(*data)
    prediction = model.get_prediction(data[0])
    np.testing.assert_array_equal(model.predict(data[0]), prediction.mean)
    # Calibration has a shorter way to the mean of a deep ensemble, which is not this one's.
    assert prediction.is_calibrated("confidence")


@pytest.mark.slow
@methods
def test_a_data_set_does_not_depend_on_those_beside_it(method, data, targets):
    settings, learner = settings_and_learner(method, many=True)
    together = method.fit(keys(3), data[0], targets, settings, learner)
    for j in range(3):
        (alone,) = method.fit(keys(3)[j : j + 1], data[0], targets[j : j + 1], settings, learner)
        level = level_of(settings)
        np.testing.assert_array_equal(
            numbers(method.predict(together[j], data[0]), level),
            numbers(method.predict(alone, data[0]), level),
        )


@methods
def test_different_keys_give_different_numbers(method, data):
    settings, learner = settings_and_learner(method)
    same = np.stack([data[1], data[1]])
    first, second = method.fit(keys(2), data[0], same, settings, learner)
    differ = method.predict(first, data[0]).mean - method.predict(second, data[0]).mean
    assert np.abs(differ).max() > 1e-3


@methods
def test_further_data_sets_compile_nothing(method, data, targets, compilations):
    settings, learner = settings_and_learner(method, many=True)

    def fit_and_predict(rows):
        fits = method.fit(keys(len(rows)), data[0], targets[rows], settings, learner)
        for fitted in fits:
            method.predict(fitted, data[0][: 10 + len(rows)])

    fit_and_predict([0])
    compilations.clear()
    fit_and_predict([0, 1, 2])
    assert compilations == []


@methods
def test_progress_counts_what_was_announced(method, data, targets):
    (settings, learner), done = settings_and_learner(method), []
    method.fit(keys(2), data[0], targets[:2], settings, learner, progress=done.append)
    assert sum(done) == 2 * method.member_epochs(settings, learner)


@methods
def test_arrays_hold_all_that_a_prediction_needs(method, data):
    settings, learner = settings_and_learner(method)
    (fitted,) = method.fit(keys(1), data[0], data[1][None], settings, learner)
    again = method.from_arrays(method.to_arrays(fitted), settings, learner, 3)
    level = level_of(settings)
    np.testing.assert_array_equal(
        numbers(method.predict(again, data[0]), level),
        numbers(method.predict(fitted, data[0]), level),
    )


@methods
def test_scale_and_shift_of_y_scale_and_shift_every_answer(method, data):
    settings, learner = settings_and_learner(method)
    level = level_of(settings)
    # Powers of two: standardised targets are then the same to the last bit.
    (one,) = method.fit(keys(1), data[0], data[1][None], settings, learner)
    (other,) = method.fit(keys(1), data[0], 4 * data[1][None], settings, learner)
    np.testing.assert_array_equal(
        4 * numbers(method.predict(one, data[0]), level),
        numbers(method.predict(other, data[0]), level),
    )


@methods
def test_weights_reach_the_loss(method, data):
    settings, learner = settings_and_learner(method)
    weight = np.linspace(0.1, 3, len(data[1]))
    (plain,) = method.fit(keys(1), data[0], data[1][None], settings, learner)
    (weighted,) = method.fit(
        keys(1), data[0], data[1][None], settings, learner, sample_weight=weight
    )
    difference = method.predict(plain, data[0]).mean - method.predict(weighted, data[0]).mean
    assert np.abs(difference).max() > 1e-3


@pytest.mark.slow
@estimators
def test_an_interval_is_there_or_refused_with_a_reason(estimator_class, data):
    settings = estimator_class().settings()
    level = level_of(settings)
    model = estimator_class(**quick(estimator_class), random_state=0).fit(*data)
    prediction = model.get_prediction(data[0])
    _, interval = model.predict_interval(data[0], level, kind="prediction")
    np.testing.assert_array_equal(interval, prediction.prediction_interval(level))
    if prediction.confidence_law is None:
        with pytest.raises(NoSuchIntervalError, match="Ask for kind='prediction'"):
            model.predict_interval(data[0], level, kind="confidence")
    else:
        _, confidence = model.predict_interval(data[0], level, kind="confidence")
        assert np.all(np.diff(confidence) > 0)


@estimators
def test_many_fits_are_the_methods_own_and_carry_their_seed(estimator_class, data, targets):
    model = estimator_class(**quick(estimator_class))
    fits = list(model.fit_many(data[0], targets, [5, 6, 7]))
    assert [fitted.random_state for fitted in fits] == [5, 6, 7]
    (again,) = model.fit_many(data[0], targets[1:2], [6])
    level = level_of(model.settings())
    np.testing.assert_array_equal(
        fits[1].predict_interval(data[0], level)[1], again.predict_interval(data[0], level)[1]
    )
    assert fits[0].n_features_in_ == 3


def test_batches_of_many_fits_do_not_change_the_numbers(data, targets):
    settings, learner = settings_and_learner(deep_ensemble)
    at_once, one_by_one = (
        fit_batches(deep_ensemble, keys(3), data[0], targets, settings, learner, **size)
        for size in ({}, {"targets_per_batch": 1})
    )
    np.testing.assert_array_equal(
        [deep_ensemble.predict(fitted, data[0]).mean for fitted in at_once],
        [deep_ensemble.predict(fitted, data[0]).mean for fitted in one_by_one],
    )


def test_many_fits_want_a_row_of_targets_for_each_seed(data, targets):
    model = confide.DeepEnsembleRegressor(**quick(confide.DeepEnsembleRegressor))
    with pytest.raises(ValueError, match=r"one row for each of the 2 random states.*\(3, 64\)"):
        list(model.fit_many(data[0], targets, [5, 6]))


@pytest.mark.slow
def test_a_data_set_that_diverges_is_named(data, targets):
    model = confide.DeepEnsembleRegressor(**{**SMALL, "learning_rate": 1e6, "max_epochs": 200})
    with pytest.raises(confide.TrainingDivergedError) as caught:
        list(model.fit_many(data[0], targets, [1, 2, 3]))
    data_set = caught.value.member // 5 % 3
    assert f"belongs to data set {data_set}." in caught.value.__notes__[0]


def test_no_data_sets_are_refused(data):
    with pytest.raises(ValueError, match="at least one row, got none"):
        list(confide.DeepEnsembleRegressor(**SMALL).fit_many(data[0], np.empty((0, 64)), []))


def test_a_constant_data_set_among_many_is_refused(data, targets):
    targets = targets.copy()
    targets[1] = 3.0
    with pytest.raises(ValueError, match="all 64 targets equal 3"):
        list(confide.DeepEnsembleRegressor(**SMALL).fit_many(data[0], targets, [1, 2, 3]))


@pytest.mark.slow
def test_many_fits_leave_the_estimator_unfitted(data, targets):
    model = confide.DeepEnsembleRegressor(**quick(confide.DeepEnsembleRegressor))
    list(model.fit_many(data[0], targets, [1, 2, 3]))
    with pytest.raises(NotFittedError):
        model.predict(data[0])
    with pytest.raises(NotFittedError):
        model.save("never-written")


@pytest.mark.slow
@estimators
def test_names_of_features_reach_the_copies(estimator_class, table, targets):
    (fitted, *_) = estimator_class(**quick(estimator_class)).fit_many(table, targets, [5, 6, 7])
    assert fitted.feature_names_in_.tolist() == list(table.columns)


def half_as_sure(fitted, X):
    """A deep ensemble's prediction with its confidence law twice as wide."""
    prediction = deep_ensemble.predict(fitted, X)
    law = replace(prediction.confidence_law, t_scale=2 * prediction.confidence_law.t_scale)
    return replace(prediction, confidence_law=law)


class CautiousRegressor(confide.DeepEnsembleRegressor):
    """A sixth method: the doors of a deep ensemble, one of them changed."""

    method = SimpleNamespace(**{**vars(deep_ensemble), "NAME": "cautious", "predict": half_as_sure})


@pytest.mark.slow
def test_a_sixth_method_works_in_every_tool(data, tmp_path):
    how = quick(CautiousRegressor)
    plain = confide.DeepEnsembleRegressor(**how, random_state=1).fit(*data)
    model = CautiousRegressor(**how, random_state=1).fit(*data)
    width, plain_width = (
        np.diff(each.predict_interval(data[0], 0.8, kind="confidence")[1])
        for each in (model, plain)
    )
    np.testing.assert_allclose(width, 2 * plain_width, rtol=1e-12)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        confide.load(tmp_path / "model", estimators=[CautiousRegressor])
        .get_prediction(data[0])
        .confidence_interval(0.8),
        model.get_prediction(data[0]).confidence_interval(0.8),
    )
    assert clone(model).get_params() == model.get_params()
    report = confide.coverage_check(
        [CautiousRegressor(**how), confide.DeepEnsembleRegressor(**how)],
        *data, n_simulations=10, random_state=0,
    )  # fmt: skip
    cautious, other = (
        next(c for c in report.coverages if (c.estimator, c.kind) == (name, "confidence"))
        for name in ("CautiousRegressor", "DeepEnsembleRegressor")
    )
    np.testing.assert_allclose(cautious.width, 2 * other.width, rtol=1e-12)
    assert cautious.mean > other.mean
