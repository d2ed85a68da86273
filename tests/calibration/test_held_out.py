"""Calibrated prediction intervals: exact ranks, MAPIE's numbers, coverage, and what is kept."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError

import confide
from confide import ModelFileError, NoSuchIntervalError, QualityDrivenEnsembleRegressor
from confide.calibration import Calibration, ConformalLaw, SignedConformalLaw
from confide.calibration.held_out import smallest_calibration_set
from confide.estimators.training_rows import MOST_KEPT, SeenRows
from confide.uncertainty import conformal_quantile

law = settings(derandomize=True, deadline=None, max_examples=60)
levels = st.floats(0.001, 0.999)
score_lists = st.lists(st.floats(0, 100) | st.just(np.inf), min_size=1, max_size=40)


def one_row(scores, location=0.0, scale=1.0):
    return ConformalLaw(np.array([location]), np.array([scale]), np.sort(np.array(scores, float)))


def fresh(generator, n):
    """Rows and targets like those of the `data` fixture."""
    X = generator.normal(size=(n, 3))
    return X, 2 * X[:, 0] + np.abs(X[:, 1]) + generator.normal(0, 0.5, n)


@pytest.fixture(scope="module")
def held_out():
    return fresh(np.random.default_rng(5), 50)


@pytest.fixture
def calibrated(model, held_out):
    """A copy, because fitted models are shared between tests."""
    return copy.copy(model).calibrate(*held_out)


# Ranks.


def test_nine_scores_bound_nine_tenths_by_their_largest_and_eight_cannot():
    assert conformal_quantile(np.arange(1.0, 10.0), 0.9) == 9
    assert conformal_quantile(np.arange(1.0, 9.0), 0.9) == np.inf


@pytest.mark.parametrize(
    ("n", "level", "rank"),
    # 100 * 0.07 is above 7 in floats and 100 * 0.57 below 57: both are meant as whole numbers.
    [(9, 0.5, 5), (10, 0.5, 6), (99, 0.95, 95), (99, 0.07, 7), (99, 0.57, 57), (9, 0.001, 1)],
)
def test_rank_of_the_conformal_quantile(n, level, rank):
    assert conformal_quantile(np.arange(1.0, n + 1), level) == rank


@law
@given(levels)
def test_smallest_calibration_set_is_the_smallest(level):
    n = smallest_calibration_set(level)
    assert conformal_quantile(np.ones(n), level) == 1
    assert n == 1 or conformal_quantile(np.ones(n - 1), level) == np.inf


def test_infinite_bounds_are_announced_with_what_it_takes():
    message = re.escape(
        "Calibrated prediction intervals at 90 % are infinite: they were calibrated with 8 rows, "
        "and this level needs at least 9. Calibrate with more rows, or ask for a lower level."
    )
    with pytest.warns(UserWarning, match=message):
        assert one_row(np.ones(8)).half_width(0.9).tolist() == [np.inf]
    assert one_row(np.ones(9)).half_width(0.9).tolist() == [1]


def test_scores_that_are_infinite_themselves_are_announced_with_their_reason():
    with pytest.warns(UserWarning, match="too many of them had bounds of width zero"):
        assert one_row([1, 2, np.inf]).half_width(0.7).tolist() == [np.inf]


# Scores.


def test_scores_are_distances_in_scales_in_order():
    y, location, scale = np.array([5.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0]), np.array([2.0, 4, 1])
    assert Calibration.of(y, location, scale).sorted_scores.tolist() == [0, 0.25, 2]


def test_a_scale_of_zero_has_an_infinite_score_unless_the_target_is_hit():
    zero = np.zeros(2)
    assert Calibration.of(np.array([0.0, 1e-9]), zero, zero).sorted_scores.tolist() == [0, np.inf]


def test_scores_cannot_be_changed():
    calibration = Calibration.of(np.ones(3), np.zeros(3), np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        calibration.sorted_scores[0] = 5
    assert calibration.n_rows == 3


# The law.


@law
@given(score_lists, levels, levels)
@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_higher_level_contains_the_lower(scores, level, other):
    low, high = sorted([level, other])
    assert one_row(scores).half_width(low) <= one_row(scores).half_width(high)


@law
@given(score_lists, st.floats(0.001, 0.999))
@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_cdf_has_at_least_the_level_at_the_bounds(scores, probability):
    calibrated = one_row(scores)
    bound = calibrated.quantile(probability)
    # Levels within SAME_LEVEL = 1e-9 are the same.
    if probability >= 0.5:
        assert calibrated.cdf(bound) >= probability - 1e-9
    else:
        assert calibrated.cdf(np.nextafter(bound, -np.inf)) <= probability + 1e-9


@law
@given(score_lists, st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9))
def test_cdf_rises_from_zero_to_one_and_is_symmetric(scores, values):
    calibrated = one_row(scores)
    probabilities = [calibrated.cdf(np.array(v))[0] for v in (-np.inf, *sorted(values), np.inf)]
    assert probabilities[0] == 0
    assert probabilities[-1] == 1
    assert probabilities == sorted(probabilities)
    for value in np.abs(values):
        if value > 0:
            below, above = (calibrated.cdf(np.array(v))[0] for v in (-value, value))
            assert below + above == pytest.approx(1, rel=1e-14)


def test_cdf_of_three_scores_by_hand():
    # Scores 1, 2, 4 times the scale 2, about 10: a quarter of the probability up to each.
    calibrated = one_row([1, 2, 4], location=10.0, scale=2.0)
    found = [calibrated.cdf(np.array(v))[0] for v in (18.0, 14.0, 12.0, 10.0, 8.0, 6.0, 2.0, 1.0)]
    assert found == [7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8, 1 / 8]
    assert calibrated.quantile(0.5).tolist() == [10]
    assert calibrated.quantile(0.75).tolist() == [14]
    assert calibrated.quantile(0.25).tolist() == [6]


@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_a_row_without_a_scale_is_a_point_and_then_all_the_line():
    calibrated = one_row([1, 2, 4], location=3.0, scale=0.0)
    assert calibrated.half_width(0.75).tolist() == [0]
    assert calibrated.half_width(0.76).tolist() == [np.inf]
    assert calibrated.cdf(np.array(3.0)).tolist() == [7 / 8]
    assert calibrated.cdf(np.array(2.9)).tolist() == [1 / 8]


def test_draws_follow_the_law():
    calibrated, n = one_row([0.5, 1, 3, 4], location=1.0, scale=2.0), 20_000
    draws = calibrated.sample(np.random.default_rng(0), n)[:, 0]
    # Five standard errors of a share of n draws are at most 5 * 0.5 / sqrt(n) = 0.018.
    for value in (-8.0, -5.0, 0.0, 1.0, 2.5, 7.0, 9.0):
        share = np.mean(draws <= value)
        assert share == pytest.approx(calibrated.cdf(np.array(value))[0], abs=0.018)
    assert np.mean(np.isinf(draws)) == pytest.approx(1 / 5, abs=0.018)


def test_a_density_is_refused_with_where_to_find_one():
    calibrated = one_row([1, 2])
    for ask in (calibrated.normal_mixture, lambda: calibrated.log_density(np.zeros(1))):
        with pytest.raises(NoSuchIntervalError, match=r"no density.*prediction\.uncalibrated"):
            ask()


# Bounds by themselves.


def signed(scores, location=0.0, scale=1.0):
    scores = np.sort(np.array(scores, float))
    return SignedConformalLaw(np.array([location]), np.array([scale]), scores)


signed_lists = st.lists(st.floats(-100, 100), min_size=2, max_size=40)


@law
@given(signed_lists, levels, levels)
@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_a_higher_level_contains_the_lower_with_signed_scores_too(scores, level, other):
    low, high = (signed(scores).interval(each)[0] for each in sorted([level, other]))
    assert high[0] <= low[0] <= signed(scores).quantile(0.5)[0] <= low[1] <= high[1]


@law
@given(signed_lists, st.floats(0.001, 0.999))
@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_signed_cdf_has_at_least_the_level_at_the_bounds(scores, probability):
    calibrated = signed(scores)
    bound = calibrated.quantile(probability)
    if probability > 0.5 + 1e-9:
        assert calibrated.cdf(bound) >= probability - 1e-9
    elif probability < 0.5 - 1e-9:
        assert calibrated.cdf(np.nextafter(bound, -np.inf)) <= probability + 1e-9


@pytest.mark.filterwarnings("ignore:Calibrated prediction intervals")
def test_signed_scores_by_hand():
    # Scores -2, 1 and 6 times the scale 2, about 10: a quarter of the probability up to each.
    calibrated = signed([-2, 1, 6], location=10.0, scale=2.0)
    assert calibrated.interval(0.5).tolist() == [[6, 22]]
    assert calibrated.interval(0.6).tolist() == [[-np.inf, np.inf]]
    assert calibrated.quantile(0.5).tolist() == [12]
    found = [calibrated.cdf(np.array(v))[0] for v in (-np.inf, 5.0, 6.0, 9.0, 12.0, 22.0, np.inf)]
    assert found == [0, 1 / 4, 1 / 4, 3 / 8, 2 / 4, 3 / 4, 1]
    point = signed([-2, 1, 6], location=10.0, scale=0.0)
    assert point.interval(0.5).tolist() == [[10, 10]]
    assert point.cdf(np.array(10.0)).tolist() == [3 / 4]
    assert calibrated.take(np.array([0, 0])).quantile(0.75).tolist() == [22, 22]
    with pytest.raises(NoSuchIntervalError, match="no density"):
        calibrated.log_density(np.zeros(1))


def test_signed_draws_follow_the_law():
    calibrated, n = signed([-4, -1, 0.5, 1, 3], location=1.0, scale=2.0), 20_000
    draws = calibrated.sample(np.random.default_rng(0), n)[:, 0]
    for value in (-7.0, -5.0, 0.0, 1.0, 2.5, 7.0):
        share = np.mean(draws <= value)
        assert share == pytest.approx(calibrated.cdf(np.array(value))[0], abs=0.018)
    assert np.mean(np.isinf(draws)) == pytest.approx(2 / 6, abs=0.018)


@law
@given(st.floats(0.01, 0.995))
def test_smallest_set_for_signed_scores_is_the_smallest(level):
    n = smallest_calibration_set(level, symmetric=False)
    assert np.isfinite(signed(np.ones(n)).interval(level)).all()
    if n > 1:
        with pytest.warns(UserWarning, match=f"with {n - 1} rows, and this level needs at least"):
            assert np.isinf(signed(np.ones(n - 1)).interval(level)).all()


def test_with_many_rows_each_bound_is_calibrated_by_itself(model, tmp_path):
    rows = fresh(np.random.default_rng(3), 200)
    many, few = copy.copy(model).calibrate(*rows), copy.copy(model)
    few.calibrate(rows[0][:199], rows[1][:199])
    assert (many.calibration_.symmetric, few.calibration_.symmetric) == (False, True)
    many.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    ours, theirs = (m.predict_quantiles(rows[0], [0.1, 0.5, 0.7]) for m in (again, many))
    np.testing.assert_array_equal(ours, theirs)


# Estimators.


class Asking(RegressorMixin, BaseEstimator):
    """One of a prediction's columns, as MAPIE wants to ask for it."""

    def __init__(self, answer=None):
        self.answer = answer
        self.fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answer(X)

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_prediction_intervals_are_those_of_mapie(model, held_out, data, level, symmetric):
    calibrated = copy.copy(model).calibrate(*held_out, symmetric=symmetric)
    spread = Asking(lambda X: model.predict(X, return_std=True)[1])
    mapie = SplitConformalRegressor(
        estimator=Asking(model.predict),
        confidence_level=level,
        conformity_score=ResidualNormalisedScore(
            residual_estimator=spread, prefit=True, sym=symmetric
        ),
        prefit=True,
    ).conformalize(*held_out)
    theirs = mapie.predict_interval(data[0])[1][:, :, 0]
    # Before they are made wider where they would not contain the confidence interval.
    ours = calibrated.get_prediction(data[0]).prediction_law.law.interval(level)
    # Both compute mean ± score * scale in float64: a few roundings of numbers below 100.
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


def test_each_bound_is_right_by_itself_where_noise_is_skewed():
    """Of 300 calibration sets with exponential noise, whose distribution function is exact."""
    generator, n, n_sets = np.random.default_rng(0), 99, 300
    y, zero, one = generator.exponential(size=(n_sets, n)) - 1, np.zeros(n), np.ones(n)

    def beyond(kind, *, symmetric):
        scores = (Calibration.of(row, zero, one, symmetric=symmetric).sorted_scores for row in y)
        bounds = np.array([kind(zero[:1], one[:1], own).interval(0.9)[0] for own in scores])
        below, above = np.exp(-np.maximum(bounds + 1, 0)).T
        return np.mean([1 - below, above], axis=1)

    # Each signed bound leaves out 5 of 100; over sets that share has the variance p (1 - p) / 101.
    error = np.sqrt(0.05 * 0.95 / 101 / n_sets)
    assert beyond(SignedConformalLaw, symmetric=False) == pytest.approx([0.05, 0.05], abs=4 * error)
    # The symmetric interval has none below and all above.
    assert beyond(ConformalLaw, symmetric=True) == pytest.approx([0, 0.1], abs=6 * error)


@pytest.mark.slow
def test_coverage_over_many_calibration_sets_is_nominal(bootstrapped):
    n_splits, n, n_test, level = 200, 39, 500, 0.9
    model, generator, shares = copy.copy(bootstrapped), np.random.default_rng(0), []
    for _ in range(n_splits):
        model.calibrate(*fresh(generator, n))
        X, y = fresh(generator, n_test)
        # Before it is made wider where it would not contain the confidence interval.
        lower, upper = model.get_prediction(X).prediction_law.law.interval(level).T
        shares.append(np.mean((lower <= y) & (y <= upper)))
    # The coverage of a calibrated interval is Beta(rank, n + 1 - rank) over calibration sets: mean
    # rank / (n + 1) = 36 / 40. A share adds the binomial variance of its n_test rows.
    mean = 36 / 40
    of_splits = mean * (1 - mean) / (n + 2)
    of_rows = (mean * (1 - mean) - of_splits) / n_test
    error = np.sqrt((of_splits + of_rows) / n_splits)
    assert np.mean(shares) == pytest.approx(mean, abs=3 * error)
    # A sample variance of 200 has a relative standard error of about sqrt(2 / 200) = 0.1.
    assert np.var(shares) == pytest.approx(of_splits + of_rows, rel=0.4)
    # The model's own prediction interval misses the level by far more: the test can fail.
    X, y = fresh(generator, 20_000)
    lower, upper = bootstrapped.predict_interval(X, level)[1].T
    assert abs(np.mean((lower <= y) & (y <= upper)) - mean) > 6 * error


def test_only_prediction_intervals_change(model, calibrated, data):
    before, after = (m.get_prediction(data[0]) for m in (model, calibrated))
    assert after.prediction_law.origin == "held_out"
    assert after.uncalibrated.prediction_law.origin == "model"
    assert after.uncalibrated.uncalibrated is None
    own = after.uncalibrated.prediction_interval(0.9)
    np.testing.assert_array_equal(own, before.prediction_interval(0.9))
    assert not np.allclose(after.prediction_interval(0.9), own)
    for kind in (after, after.uncalibrated):
        np.testing.assert_array_equal(kind.confidence_interval(), before.confidence_interval())
        np.testing.assert_array_equal(kind.novelty, before.novelty)
        np.testing.assert_array_equal(kind.total_variance, before.total_variance)


def test_quantiles_are_the_bounds_of_prediction_intervals(calibrated, data):
    quantiles = calibrated.predict_quantiles(data[0], [0.05, 0.5, 0.95])
    y_pred, bounds = calibrated.predict_interval(data[0], 0.9)
    np.testing.assert_array_equal(quantiles[:, [0, 2]], bounds)
    np.testing.assert_array_equal(quantiles[:, 1], y_pred)


def test_summary_has_both_prediction_intervals(model, calibrated, data):
    own, frame = (m.get_prediction(data[0]).summary_frame(0.9) for m in (model, calibrated))
    last = ["obs_ci_lower_uncalibrated", "obs_ci_upper_uncalibrated"]
    assert frame.columns.tolist() == [*own.columns, *last]
    assert own.columns[-1] == "novelty"
    np.testing.assert_array_equal(frame[last], own[["obs_ci_lower", "obs_ci_upper"]])
    bounds = calibrated.predict_interval(data[0], 0.9)[1]
    np.testing.assert_array_equal(frame[["obs_ci_lower", "obs_ci_upper"]], bounds)


@pytest.mark.slow
def test_a_method_of_one_level_has_every_level_once_calibrated(data, held_out):
    model = QualityDrivenEnsembleRegressor(
        confidence_level=0.8, hidden_layer_sizes=(4,), max_epochs=5, random_state=0
    ).fit(*data)
    own = model.predict_interval(data[0], 0.8)[1]
    model.calibrate(*held_out)
    bounds = model.predict_interval(held_out[0], 0.9)[1]
    inside = (bounds[:, 0] <= held_out[1]) & (held_out[1] <= bounds[:, 1])
    # The rank is ceil(51 * 0.9) = 46 of the 50; at the bound itself rounding may go either way.
    assert inside.sum() in {45, 46}
    frames = [model.get_prediction(data[0]).summary_frame(level) for level in (0.8, 0.9)]
    last = ["obs_ci_lower_uncalibrated", "obs_ci_upper_uncalibrated"]
    np.testing.assert_array_equal(frames[0][last], own)
    assert not set(last) & set(frames[1].columns)


def test_calibrating_anew_replaces_and_does_not_add_up(model, calibrated, held_out):
    again = copy.copy(calibrated).calibrate(held_out[0][:30], held_out[1][:30])
    direct = copy.copy(model).calibrate(held_out[0][:30], held_out[1][:30])
    np.testing.assert_array_equal(
        again.calibration_.sorted_scores, direct.calibration_.sorted_scores
    )


def test_a_fit_drops_the_calibration(data, small, held_out):
    model = confide.DeepEnsembleRegressor(**small).fit(*data).calibrate(*held_out)
    assert model.calibration_.n_rows == 50
    assert model.fit(*data).calibration_ is None
    assert model.get_prediction(data[0]).uncalibrated is None


def test_a_clone_is_not_calibrated(calibrated):
    assert clone(calibrated).calibration_ is None


def test_frames_calibrate_as_arrays_do(data, table, small, held_out):
    X, y = held_out
    model = confide.DeepEnsembleRegressor(**small).fit(table, data[1])
    frame = pd.DataFrame(X, columns=table.columns, index=np.arange(len(X))[::-1])
    targets = (pd.Series(y, index=frame.index), pd.DataFrame({"y": y}), y.tolist())
    scores = [model.calibrate(frame, each).calibration_.sorted_scores for each in targets]
    plain = confide.DeepEnsembleRegressor(**small).fit(*data).calibrate(X, y)
    for each in scores:
        np.testing.assert_array_equal(each, plain.calibration_.sorted_scores)


def test_a_loaded_model_is_calibrated_alike(calibrated, data, tmp_path):
    calibrated.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    for level in (0.3, 0.9):
        ours, theirs = (m.predict_interval(data[0], level)[1] for m in (again, calibrated))
        np.testing.assert_array_equal(ours, theirs)
    assert again.calibration_.n_rows == 50


def test_a_model_without_calibration_is_loaded_without(model, tmp_path):
    model.save(tmp_path / "model")
    assert confide.load(tmp_path / "model").calibration_ is None


# What is refused.


def test_rows_of_the_fit_are_refused(model, data, held_out, tmp_path):
    model.save(tmp_path / "model")
    message = (
        "must be new to the model, but it was trained on 100 % of them. Their residuals are too "
        "small, and their prediction intervals would be too narrow. Split the table before `fit`"
    )
    for each in (copy.copy(model), confide.load(tmp_path / "model")):
        with pytest.raises(ValueError, match=re.escape(message)):
            each.calibrate(*data)
        both = np.concatenate([data[0], held_out[0]]), np.concatenate([data[1], held_out[1]])
        with pytest.raises(ValueError, match="trained on 56 % of them"):
            each.calibrate(*both)
        assert each.calibration_ is None
        # One row of 51 may be there twice; as decimals of a file it is the same row.
        one = [
            np.concatenate([new, old[:1].astype(np.float32)])
            for new, old in zip(held_out, data, strict=True)
        ]
        assert each.calibrate(*one).calibration_.n_rows == 51


@pytest.mark.slow
def test_equal_rows_of_a_table_of_few_values_are_no_rows_of_the_fit(small):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 3, size=(300, 2)).astype(float)
    y = generator.integers(0, 4, 300).astype(float)
    model = confide.DeepEnsembleRegressor(**small).fit(X[:200], y[:200])
    # Nearly all of the 36 kinds of rows are there; that says nothing.
    assert model.calibrate(X[200:], y[200:]).calibration_.n_rows == 100


def test_of_a_long_table_the_smallest_fingerprints_are_kept():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(3 * MOST_KEPT, 1)), generator.normal(size=3 * MOST_KEPT)
    seen = SeenRows.of(X, y)
    assert (len(seen.numbers), seen.n_rows, seen.n_repeated) == (MOST_KEPT, 3 * MOST_KEPT, 0)
    with pytest.raises(ValueError, match="trained on 100 % of them"):
        seen.refuse(X[-300:], y[-300:])
    seen.refuse(X[-300:], y[-300:] + 1)
    again = SeenRows.from_file(*seen.to_file())
    assert again.numbers.tolist() == seen.numbers.tolist()
    for numbers in (seen.numbers.astype(float), seen.numbers[:0], seen.numbers[None]):
        with pytest.raises(ValueError, match="list of 64-bit numbers"):
            SeenRows.from_file(seen.to_file()[0], {"numbers": numbers})
    with pytest.raises(ValueError, match="more rows are repeated"):
        SeenRows.from_file({"n_rows": 1, "n_repeated": 2}, seen.to_file()[1])


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (np.zeros(49), "one target for each of the 50 predicted rows, got shape"),
        (np.zeros((50, 2)), "one target for each"),
        (np.r_[np.zeros(49), np.nan], "must be finite numbers, got nan in row 49"),
        (np.r_[np.inf, np.zeros(49)], "must be finite numbers, got inf in row 0"),
        (["cheap"] * 50, "must be numbers"),
    ],
)
@pytest.mark.usefixtures("without_type_checker")
def test_bad_targets_are_refused_and_change_nothing(calibrated, held_out, targets, message):
    before = calibrated.calibration_
    with pytest.raises(ValueError, match=message):
        calibrated.calibrate(held_out[0], targets)
    assert calibrated.calibration_ is before


def test_rows_of_other_columns_are_refused(calibrated, held_out):
    with pytest.raises(ValueError, match=r"features, but .* is expecting"):
        calibrated.calibrate(held_out[0][:, :2], held_out[1])


def test_no_rows_are_refused(calibrated):
    with pytest.raises(ValueError, match="filtered down to nothing"):
        calibrated.calibrate(np.zeros((0, 3)), np.zeros(0))


def test_an_unfitted_estimator_is_refused(held_out):
    with pytest.raises(NotFittedError):
        confide.DeepEnsembleRegressor().calibrate(*held_out)


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, np.nan],
        [np.nan],
        [-1.0, 2.0],
        [2.0, 1.0],
        [],
        [[1.0]],
        np.array([1.0, 2.0], np.float32),
        np.array([1, 2]),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("without_type_checker")
def test_hostile_scores_are_refused(calibrated, tmp_path, scores):
    hostile = copy.copy(calibrated)
    hostile.calibration_ = Calibration(np.array(scores))  # saved with a checksum that is right
    hostile.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="calibration scores must be"):
        confide.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("said", "arrays"),
    [
        ({}, {}),
        ({"n": 1}, {"sorted_scores": np.ones(1)}),
        ([], {"sorted_scores": np.ones(1)}),
        ({}, {"sorted_scores": np.ones(1), "more": np.ones(1)}),
    ],
)
def test_foreign_parts_are_refused(said, arrays):
    with pytest.raises(ValueError, match=r"unknown parts, or lacks some|lacks parts, or has parts"):
        Calibration.from_file(said, arrays)


def test_infinite_scores_are_kept():
    calibration = Calibration(np.array([1.0, np.inf]))
    assert Calibration.from_file(*calibration.to_file()).sorted_scores.tolist() == [1, np.inf]
