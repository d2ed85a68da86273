"""Inside scikit-learn and its relatives: estimator checks, pipelines, searches, MAPIE."""

import copy
import importlib.util
import pickle

import numpy as np
import pytest
from mapie.regression import SplitConformalRegressor
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.estimators import ESTIMATORS

NO_TREES = pytest.mark.skipif(
    importlib.util.find_spec("xgboost") is None, reason="needs the extra confide[boosting]"
)
both_classes = pytest.mark.parametrize(
    "estimator_class",
    [
        pytest.param(
            each, id=name, marks=NO_TREES if name == "BootstrappedEnsembleRegressor" else ()
        )
        for name, each in ESTIMATORS.items()
    ],
)

EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": (
        "Rows are dealt into shuffled mini-batches, so a row of weight two and two rows of weight "
        "one meet different batches; and the default penalty is 1 / number of rows."
    )
}
# Runs only where SCIPY_ARRAY_API is set before SciPy is imported; confide answers with NumPy.
EXPECTED_TO_BE_SKIPPED = {"check_array_api_input"}


@pytest.mark.slow
@both_classes
def test_every_estimator_check_passes(estimator_class):
    known = estimator_class().get_params()
    short = {"max_epochs": 10} if "learner" in known else {}
    if "recipe" in known:
        short = {"max_epochs": 20, "dropout": 0.0, "smooth": True, "calibration": None}
        # One hidden layer, as compiling is most of the work.
        short |= {"hidden_layer_sizes": (16,), "n_members": 2}
    results = check_estimator(
        estimator_class(**short),
        expected_failed_checks=EXPECTED_TO_FAIL,
        on_skip=None,
        on_fail=None,
    )
    names = {status: set() for status in ("passed", "xfail", "skipped", "failed")}
    for result in results:
        names[result["status"]].add(result["check_name"])
    assert names["failed"] == set()
    assert names["xfail"] == set(EXPECTED_TO_FAIL)
    assert names["skipped"] == EXPECTED_TO_BE_SKIPPED
    assert {"check_regressors_train", "check_regressor_multioutput"} <= names["passed"]


@both_classes
def test_a_clone_is_unfitted_with_equal_arguments(estimator_class, data, small):
    known = {name: small[name] for name in small if name in estimator_class().get_params()}
    fitted = estimator_class(**known).fit(*data)
    copied = clone(fitted)
    assert copied.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(data[0])


def test_arguments_can_be_set_after_construction(bootstrapped, data, small):
    model = BootstrappedDeepEnsembleRegressor().set_params(**small).fit(*data)
    np.testing.assert_array_equal(model.predict(data[0]), bootstrapped.predict(data[0]))


def pickled(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_copy_gives_the_same_bits(model, data, copied):
    again, original = (m.get_prediction(data[0]) for m in (copied(model), model))
    np.testing.assert_array_equal(again.mean, original.mean)
    for kind in ("confidence", "prediction"):
        np.testing.assert_array_equal(again.interval(kind, 0.9), original.interval(kind, 0.9))


def test_the_last_step_of_a_pipeline_sees_the_transformed_columns(bootstrapped, data, small):
    # Columns scaled by a power of two are standardised to the same bits.
    four_times = FunctionTransformer(lambda X: 4 * X)
    pipeline = make_pipeline(four_times, BootstrappedDeepEnsembleRegressor(**small)).fit(*data)
    answer = pipeline.predict(data[0], return_std=True)
    np.testing.assert_array_equal(answer, bootstrapped.predict(data[0], return_std=True))
    np.testing.assert_array_equal(pipeline[-1].predict(4 * data[0]), bootstrapped.predict(data[0]))


def test_grid_search_prefers_a_trained_network(data, small):
    search = GridSearchCV(DeepEnsembleRegressor(**small), {"max_epochs": [1, 20]}, cv=2)
    search.fit(*data)
    assert search.best_params_ == {"max_epochs": 20}
    refitted = DeepEnsembleRegressor(**small).fit(*data)
    np.testing.assert_array_equal(search.predict(data[0]), refitted.predict(data[0]))


@pytest.mark.slow
def test_grid_search_in_other_processes_gives_the_same_scores(data, small):
    grid = {"max_epochs": [5, 20]}
    here, there = (
        GridSearchCV(DeepEnsembleRegressor(**small), grid, cv=2, n_jobs=n_jobs).fit(*data)
        for n_jobs in (1, 2)
    )
    here_scores, there_scores = (s.cv_results_["mean_test_score"] for s in (here, there))
    np.testing.assert_array_equal(here_scores, there_scores)


def test_cross_validated_predictions_are_those_of_the_other_folds(data, small):
    X, y = data
    folds = KFold(4)
    answer = cross_val_predict(DeepEnsembleRegressor(**small), X, y, cv=folds)
    for train, test in folds.split(X):
        expected = DeepEnsembleRegressor(**small).fit(X[train], y[train]).predict(X[test])
        np.testing.assert_array_equal(answer[test], expected)


@pytest.mark.parametrize("prefit", [True, False])
def test_mapie_makes_covering_intervals_around_the_prediction(small, prefit):
    n_train, n_calibration, n_test = 64, 99, 1000
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_train + n_calibration + n_test, 3))
    y = X[:, 0] + generator.normal(size=len(X))
    parts = np.split(np.arange(len(X)), [n_train, n_train + n_calibration])
    train, calibration, test = ((X[rows], y[rows]) for rows in parts)
    model = BootstrappedDeepEnsembleRegressor(**small)
    conformal = SplitConformalRegressor(
        model.fit(*train) if prefit else model, confidence_level=0.9, prefit=prefit
    )
    if not prefit:
        conformal.fit(*train)
    prediction, interval = conformal.conformalize(*calibration).predict_interval(test[0])
    np.testing.assert_array_equal(prediction, clone(model).fit(*train).predict(test[0]))
    inside = (interval[:, 0, 0] <= test[1]) & (test[1] <= interval[:, 1, 0])
    # Of 100 places among 99 calibration rows, 90 lie inside: the number covered is beta-binomial.
    assert stats.betabinom(n_test, 90, 10).cdf(inside.sum()) > 1e-4
    assert stats.betabinom(n_test, 90, 10).sf(inside.sum()) > 1e-4
