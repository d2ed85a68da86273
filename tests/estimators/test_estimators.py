"""The faces of the estimators: shapes, equal numbers by different ways, laws, quiet and loud."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor, NoSuchIntervalError

both_classes = pytest.mark.parametrize(
    "estimator_class", [BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor]
)
both_kinds = pytest.mark.parametrize("kind", ["confidence", "prediction"])


def numbers(model, X):
    """All that a model says of some rows, as one array: row x (mean, std, both intervals)."""
    prediction = model.get_prediction(X)
    return np.column_stack(
        [
            *model.predict(X, return_std=True),
            prediction.confidence_interval(0.9),
            prediction.prediction_interval(0.9),
        ]
    )


# Shapes and the ways to ask


def test_predict_returns_one_finite_float64_for_each_row(model, data):
    prediction = model.predict(data[0][:5])
    assert prediction.shape == (5,)
    assert prediction.dtype == np.float64
    assert np.isfinite(prediction).all()


def test_predict_learns_the_target(model, data):
    # On these rows the true function itself reaches 0.94.
    assert model.score(*data) > 0.85


def test_return_std_is_the_root_of_the_total_variance(model, data):
    mean, std = model.predict(data[0], return_std=True)
    prediction = model.get_prediction(data[0])
    np.testing.assert_array_equal(mean, prediction.mean)
    np.testing.assert_array_equal(std**2, np.sqrt(prediction.total_variance) ** 2)
    parts = prediction.aleatoric_variance + prediction.epistemic_variance
    np.testing.assert_array_equal(prediction.total_variance, parts)


@both_kinds
def test_one_level_gives_a_lower_and_an_upper_bound_for_each_row(model, data, kind):
    mean, interval = model.predict_interval(data[0], confidence_level=0.9, kind=kind)
    assert interval.shape == (64, 2)
    assert (interval[:, 0] < mean).all()
    assert (mean < interval[:, 1]).all()


@both_kinds
@pytest.mark.parametrize("levels", [[0.5, 0.9, 0.99], (0.5, 0.9), np.array([0.8])])
def test_several_levels_give_the_single_ones_side_by_side(model, data, kind, levels):
    mean, intervals = model.predict_interval(data[0], confidence_level=levels, kind=kind)
    assert intervals.shape == (64, 2, len(levels))
    for k, level in enumerate(levels):
        single_mean, single = model.predict_interval(data[0], confidence_level=level, kind=kind)
        np.testing.assert_array_equal(intervals[:, :, k], single)
        np.testing.assert_array_equal(mean, single_mean)


def test_predict_interval_is_a_95_percent_prediction_interval_by_default(model, data):
    _, interval = model.predict_interval(data[0])
    np.testing.assert_array_equal(interval, model.get_prediction(data[0]).prediction_interval(0.95))


@both_kinds
def test_kind_chooses_the_interval_of_that_name(model, data, kind):
    _, interval = model.predict_interval(data[0], 0.9, kind)
    named = getattr(model.get_prediction(data[0]), f"{kind}_interval")
    np.testing.assert_array_equal(interval, named(0.9))


def test_quantiles_are_the_bounds_of_the_prediction_interval_about_the_mean(model, data):
    quantiles = model.predict_quantiles(data[0], [0.05, 0.5, 0.95])
    mean, interval = model.predict_interval(data[0], 0.9)
    expected = np.column_stack([interval[:, 0], mean, interval[:, 1]])
    assert quantiles.shape == (64, 3)
    # 2 * 0.95 - 1 is 0.9 up to one rounding, which moves a quantile by about as much; the solver
    # leaves 1e-14.
    np.testing.assert_allclose(quantiles, expected, rtol=1e-12)


@pytest.mark.parametrize("factor", [5e-324, 1e-300, 1e13, 1e300, 1e308])
def test_a_score_depends_on_the_ratios_of_weights_alone(model, data, factor):
    X, y = data
    assert model.score(X, y, np.full(len(y), factor)) == pytest.approx(model.score(X, y), rel=1e-12)


def test_a_row_is_answered_alike_alone_and_among_others(model, data):
    alone, among = numbers(model, data[0][7:8])[0], numbers(model, data[0])[7]
    np.testing.assert_array_equal(alone[:2], among[:2])
    # Bounds are solved for together, to about 1e-14.
    np.testing.assert_allclose(alone[2:], among[2:], rtol=1e-12)


# Equal numbers by different ways


@both_classes
def test_same_seed_gives_the_same_numbers(estimator_class, data, small):
    first, second = (estimator_class(**small).fit(*data) for _ in range(2))
    np.testing.assert_array_equal(numbers(first, data[0]), numbers(second, data[0]))


@both_classes
@pytest.mark.parametrize("other", [1, None])
def test_another_seed_gives_other_numbers(estimator_class, data, small, other):
    first = estimator_class(**small).fit(*data)
    second = estimator_class(**{**small, "random_state": other}).fit(*data)
    assert (numbers(first, data[0]) != numbers(second, data[0])).all()


def test_a_generator_in_the_same_state_gives_the_numbers_of_its_seed(bootstrapped, data, small):
    generator = np.random.RandomState(small["random_state"])
    again = BootstrappedDeepEnsembleRegressor(**{**small, "random_state": generator}).fit(*data)
    np.testing.assert_array_equal(again.predict(data[0]), bootstrapped.predict(data[0]))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_the_number_of_threads_does_not_change_the_numbers(bootstrapped, data, small, n_jobs):
    again = BootstrappedDeepEnsembleRegressor(**small, n_jobs=n_jobs).fit(*data)
    np.testing.assert_array_equal(numbers(again, data[0]), numbers(bootstrapped, data[0]))


@pytest.mark.parametrize("kind_of_table", ["pandas", "polars", "lists"])
def test_every_kind_of_table_gives_the_same_numbers(
    bootstrapped, data, table, small, kind_of_table
):
    X = {"pandas": table, "polars": pl.from_pandas(table), "lists": data[0].tolist()}[kind_of_table]
    again = BootstrappedDeepEnsembleRegressor(**small).fit(X, data[1])
    np.testing.assert_array_equal(numbers(again, X), numbers(bootstrapped, data[0]))


def test_targets_may_be_a_pandas_series_in_any_order_of_its_index(bootstrapped, data, table, small):
    shuffled = table.assign(y=data[1]).set_index(np.arange(64)[::-1])
    again = BootstrappedDeepEnsembleRegressor(**small)
    again.fit(shuffled[["age", "bmi", "dose"]], shuffled["y"])
    np.testing.assert_array_equal(again.predict(table), bootstrapped.predict(data[0]))


def test_a_summary_joins_the_rows_that_it_is_about(data, table, small):
    model, asked = DeepEnsembleRegressor(**small).fit(table, data[1]), table.iloc[[40, 3, 17]]
    summary = model.get_prediction(asked).summary_frame()
    assert summary.index.tolist() == [40, 3, 17]
    np.testing.assert_array_equal(asked.join(summary)["mean"], model.predict(asked))
    without_index = model.get_prediction(pl.from_pandas(asked)).summary_frame()
    assert without_index.index.tolist() == [0, 1, 2]


def test_single_precision_input_is_standardised_in_double_precision(data, small):
    X = data[0].astype(np.float32)
    single = BootstrappedDeepEnsembleRegressor(**small).fit(X, data[1])
    double = BootstrappedDeepEnsembleRegressor(**small).fit(X.astype(np.float64), data[1])
    np.testing.assert_array_equal(single.predict(X), double.predict(X.astype(np.float64)))


@pytest.mark.parametrize("as_table", [lambda t: t, pl.from_pandas], ids=["pandas", "polars"])
def test_names_of_features_are_kept(data, table, small, as_table):
    named = DeepEnsembleRegressor(**small).fit(as_table(table), data[1])
    assert named.feature_names_in_.tolist() == ["age", "bmi", "dose"]
    assert named.n_features_in_ == 3


def test_an_array_leaves_no_names_of_features(model):
    assert not hasattr(model, "feature_names_in_")


def test_a_deep_ensemble_predicts_what_its_bootstrapped_form_predicts(bootstrapped, plain, data):
    ours, theirs = (m.get_prediction(data[0]) for m in (bootstrapped, plain))
    np.testing.assert_array_equal(ours.mean, theirs.mean)
    np.testing.assert_array_equal(ours.aleatoric_variance, theirs.aleatoric_variance)
    np.testing.assert_array_equal(ours.optimisation_variance, theirs.optimisation_variance)


# Rows far from all others


@pytest.fixture
def with_wild_rows(data):
    """Ordinary rows, and among them some in whose direction the variance overflows."""
    X = data[0].copy()
    X[::7] *= 1e4
    return X


def test_rows_whose_variance_overflows_have_infinite_bounds_and_are_novel(model, with_wild_rows):
    prediction = model.get_prediction(with_wild_rows)
    bounds = [prediction.interval(kind, 0.9) for kind in ("confidence", "prediction")]
    wild = np.isinf(bounds[1]).all(axis=1)
    assert 1 <= wild.sum() <= 10
    assert not np.isnan(bounds).any()
    np.testing.assert_array_equal(np.isinf(bounds[0]).all(axis=1), wild)
    assert prediction.is_novel[wild].all()
    np.testing.assert_array_equal(prediction.mean, model.predict(with_wild_rows))
    shares = np.array(list(prediction.shares.values()))
    np.testing.assert_allclose(shares.sum(axis=0), 1)


def test_rows_beside_wild_ones_are_answered_as_ever(model, with_wild_rows):
    prediction = model.get_prediction(with_wild_rows)
    tame = np.isfinite(prediction.prediction_interval(0.9)).all(axis=1)
    np.testing.assert_allclose(
        numbers(model, with_wild_rows)[tame], numbers(model, with_wild_rows[tame]), rtol=1e-9
    )


def test_an_unbounded_row_answers_every_question_of_a_law(model, with_wild_rows):
    law = model.get_prediction(with_wild_rows).prediction_law
    wild = np.isinf(law.interval(0.9)).all(axis=1)
    one = law.take(np.flatnonzero(wild)[:1])
    assert (one.quantile(0.1)[0], one.quantile(0.9)[0]) == (-np.inf, np.inf)
    assert one.quantile(0.5)[0] == model.predict(with_wild_rows)[wild][0]
    assert one.cdf(np.array(3.0))[0] == 0.5
    assert one.log_density(np.array(3.0))[0] == -np.inf
    assert (one.normal_mixture().scales >= 1e100).all()
    assert np.isinf(one.sample(np.random.default_rng(0), 5)).all()
    assert (one.origin, one.levels, one.has_t_part) == (law.origin, law.levels, law.has_t_part)


@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_calibrated_intervals_of_wild_rows_are_infinite_too(data, small, with_wild_rows):
    X, y = data
    model = DeepEnsembleRegressor(**small).fit(X, y).calibrate(X + 0.001, y)
    frame = model.get_prediction(with_wild_rows).summary_frame(0.8)
    wild = np.isinf(frame["obs_ci_upper"])
    assert wild.any()
    assert not wild.all()
    assert np.isinf(frame.loc[wild, "obs_ci_upper_uncalibrated"]).all()
    assert not frame.isna().any(axis=None)


# Weights


@both_classes
def test_rows_of_weight_zero_are_rows_left_out(estimator_class, data, small):
    X, y = data
    weight = np.tile([0.0, 1.0, 2.0, 3.0], 16)
    weighted = estimator_class(**small).fit(X, y, sample_weight=weight)
    kept = weight > 0
    without = estimator_class(**small).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(numbers(weighted, X), numbers(without, X))


@pytest.mark.parametrize("weight", [np.ones(64), np.full(64, 1e13), 2.0, [8] * 64])
def test_equal_weights_are_no_weights(bootstrapped, data, small, weight):
    weighted = BootstrappedDeepEnsembleRegressor(**small).fit(*data, sample_weight=weight)
    np.testing.assert_array_equal(numbers(weighted, data[0]), numbers(bootstrapped, data[0]))


def test_only_ratios_of_weights_matter(data, small):
    weight = np.tile([1.0, 2.0, 3.0, 4.0], 16)
    once, twice = (
        BootstrappedDeepEnsembleRegressor(**small).fit(*data, sample_weight=factor * weight)
        for factor in (1, 16)
    )
    np.testing.assert_array_equal(numbers(once, data[0]), numbers(twice, data[0]))


@pytest.mark.slow
@given(exponent=st.floats(-300, 300))
@example(exponent=13.0)
@example(exponent=200.0)
@example(exponent=-300.0)
@settings(max_examples=15)
def test_a_common_factor_of_any_size_changes_no_weighted_fit(weighted, data, small, exponent):
    weight, expected = weighted
    model = BootstrappedDeepEnsembleRegressor(**small)
    model.fit(*data, sample_weight=10.0**exponent * weight)
    np.testing.assert_array_equal(numbers(model, data[0]), expected)


@pytest.fixture(scope="module")
def weighted(data, small):
    weight = np.linspace(0.3, 3, 64)
    model = BootstrappedDeepEnsembleRegressor(**small).fit(*data, sample_weight=weight)
    return weight, numbers(model, data[0])


def test_the_smallest_weights_that_floats_have_are_weights(bootstrapped, data, small):
    model = BootstrappedDeepEnsembleRegressor(**small).fit(*data, sample_weight=5e-324)
    np.testing.assert_array_equal(numbers(model, data[0]), numbers(bootstrapped, data[0]))


def test_a_weight_too_small_beside_the_largest_is_zero(data, small):
    weight = np.tile([1e-200, 1.0, 2.0, 1e-39], 16)
    tiny, zero = (
        DeepEnsembleRegressor(**small).fit(*data, sample_weight=w)
        for w in (weight, np.where(weight < 1, 0, weight))
    )
    np.testing.assert_array_equal(numbers(tiny, data[0]), numbers(zero, data[0]))


@both_classes
def test_columns_and_targets_are_standardised_with_their_weighted_moments(
    data, small, estimator_class
):
    weight = np.tile([1.0, 2.0, 3.0, 10.0], 16)
    standardiser = estimator_class(**small).fit(*data, sample_weight=weight).fitted_.standardiser
    columns = np.column_stack(data)
    mean = np.average(columns, axis=0, weights=weight)
    variance = np.average((columns - mean) ** 2, axis=0, weights=weight)
    # Weights have the 24 bits of float32. A rounding moves a mean by that share of the spread.
    scales, rounding = [*standardiser.x_scale, standardiser.y_scale], 2.0**-23
    shifts = np.array([*standardiser.x_mean, standardiser.y_mean]) - mean
    assert np.all(np.abs(shifts) <= rounding * np.sqrt(variance))
    np.testing.assert_allclose(scales, np.sqrt(variance), rtol=rounding)


def test_rows_of_great_weight_draw_the_prediction_to_them(data, small):
    X, noise = data[0], data[1] / 64
    heavy = np.arange(64) % 2 == 1
    y = np.where(heavy, 1.0, -1.0) + noise
    model = DeepEnsembleRegressor(**small).fit(X, y, sample_weight=np.where(heavy, 1000.0, 1.0))
    # The weighted mean is 0.998 and the noise 0.04; unweighted rows would pull to 0.
    assert abs(model.predict(X).mean() - 1) < 0.1


# Laws


@pytest.mark.slow
@given(log_factor=st.integers(-8, 8), shift=st.integers(-1000, 1000))
@settings(max_examples=15)
def test_targets_scaled_and_shifted_scale_and_shift_every_answer(
    bootstrapped, data, small, log_factor, shift
):
    X, y = data
    factor = 2.0**log_factor
    again = BootstrappedDeepEnsembleRegressor(**small).fit(X, factor * y + shift)
    expected = numbers(bootstrapped, X)
    answer = numbers(again, X)
    answer[:, 1] += shift  # the standard deviation alone does not shift
    # The data are exact, so the networks see the same bits. Left are four roundings: of location
    # and bound in each of the two answers.
    tolerance = 4 * np.finfo(np.float64).eps * (abs(shift) / factor + np.abs(expected).max())
    np.testing.assert_allclose((answer - shift) / factor, expected, rtol=0, atol=tolerance)


@pytest.mark.slow
@given(
    log_factors=st.lists(st.integers(-20, 20), min_size=3, max_size=3),
    shifts=st.lists(st.integers(-1000, 1000), min_size=3, max_size=3),
)
@settings(max_examples=15)
def test_units_and_origins_of_the_columns_change_nothing(
    bootstrapped, data, small, log_factors, shifts
):
    X, y = data
    # Powers of two and whole shifts of exact data leave the standardised columns the same bits.
    other = (X + np.array(shifts)) * 2.0 ** np.array(log_factors)
    again = BootstrappedDeepEnsembleRegressor(**small).fit(other, y)
    np.testing.assert_array_equal(numbers(again, other), numbers(bootstrapped, X))


# A single network


@pytest.fixture(scope="module")
def single(data, small):
    return DeepEnsembleRegressor(**{**small, "n_members": 1}).fit(*data)


def test_a_single_network_predicts_with_its_own_variance(single, data):
    mean, std = single.predict(data[0], return_std=True)
    prediction = single.get_prediction(data[0])
    np.testing.assert_array_equal(std, np.sqrt(prediction.aleatoric_variance))
    _, interval = single.predict_interval(data[0], 0.9)
    # The normal table to twelve digits.
    np.testing.assert_allclose(interval[:, 1] - mean, 1.644853626951 * std, rtol=1e-11)


def test_a_single_network_is_the_first_member_of_an_ensemble(single, plain):
    first = plain.fitted_.members.parameters[:1]
    np.testing.assert_array_equal(single.fitted_.members.parameters, first)


def test_a_single_network_has_no_confidence_interval(single, data):
    needed = "needs at least two members, but this is a single network.*Ask for kind='prediction'"
    with pytest.raises(NoSuchIntervalError, match=needed) as caught:
        single.predict_interval(data[0], kind="confidence")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, AttributeError)


# Constant columns


@pytest.mark.parametrize(("named", "name"), [(True, "bmi"), (False, "1")])
def test_a_constant_column_is_named_in_one_warning(data, table, small, named, name):
    X = table.assign(bmi=2.5) if named else table.assign(bmi=2.5).to_numpy()
    with pytest.warns(UserWarning, match=f"Constant .*: {name}. .* extrapolations") as caught:
        DeepEnsembleRegressor(**small).fit(X, data[1])
    assert len(caught) == 1


def test_the_warning_of_a_constant_column_points_to_the_line_that_called_fit(data, table, small):
    with pytest.warns(UserWarning, match="Constant") as caught:
        DeepEnsembleRegressor(**small).fit(table.assign(bmi=2.5), data[1])
    assert caught[0].filename == __file__


def test_a_constant_column_does_not_change_with_its_value(data, table, small):
    answers = []
    for value in (0.0, 1e9):
        X = table.assign(bmi=value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answers.append(DeepEnsembleRegressor(**small).fit(X, data[1]).predict(X))
    np.testing.assert_array_equal(*answers)


# Quiet and loud


def test_fitting_writes_nothing_by_default(data, small, capfd):
    BootstrappedDeepEnsembleRegressor(**small).fit(*data)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("terminal", [True, False])
@both_classes
def test_verbose_writes_progress_to_standard_error(
    estimator_class, data, small, capfd, monkeypatch, terminal
):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    estimator_class(**small, verbose=True).fit(*data)
    out, err = capfd.readouterr()
    assert out == ""
    assert f"Fitting {estimator_class.__name__}" in err
    assert "100 %" in err


# Ctrl-C

LONG_FIT = """
import signal, threading, time
import numpy as np
from confide import BootstrappedDeepEnsembleRegressor

# A shell that works in the background has its programs ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

def tell_when_training():
    while not any(t.name.startswith("confide") for t in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.3)
    print("training", flush=True)

generator = np.random.default_rng(0)
X, y = generator.normal(size=(64, 3)), generator.normal(size=64)
how = {"recipe": "paper", "n_members": 2, "hidden_layer_sizes": (4,), "max_epochs": 10}
model = BootstrappedDeepEnsembleRegressor(**how)
model.fit(X, y)  # compiles
threading.Thread(target=tell_when_training, daemon=True).start()
try:
    model.set_params(max_epochs=10**8).fit(X, y)
finally:
    left = [t.name for t in threading.enumerate() if t.name.startswith("confide")]
    print("threads left:", left, flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_long_fit_at_once_and_leaves_no_thread():
    child = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert child.stdout.readline() == "training\n"
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    # The fit would take half an hour; a call of the compiled loop takes a quarter of a second.
    try:
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert time.monotonic() - start < 5
    assert child.returncode == -signal.SIGINT
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert out == "threads left: []\n"


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1e-200), (0.0, 1e200), (1e9, 1e-4)])
def test_columns_of_any_size_are_learnt_from(data, small, shift, factor):
    X, y = data
    plain = DeepEnsembleRegressor(**small).fit(X, y)
    odd = shift + factor * X
    # At 1e9 a float leaves 1e-4 three digits: the networks see inputs that are off by that much.
    assert DeepEnsembleRegressor(**small).fit(odd, y).score(odd, y) == pytest.approx(
        plain.score(X, y), abs=0.02
    )


def test_targets_with_a_large_mean_and_a_small_spread_are_learnt(data, small):
    X, y = data
    plain = DeepEnsembleRegressor(**small).fit(X, y)
    odd = 1e9 + 1e-3 * y
    assert DeepEnsembleRegressor(**small).fit(X, odd).score(X, odd) == pytest.approx(
        plain.score(X, y), abs=0.02
    )
