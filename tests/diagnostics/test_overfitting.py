"""The overfitting check: its numbers by hand, the paper's example, an honest fit, its picture."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

from confide import BootstrappedDeepEnsembleRegressor, NoSuchIntervalError, overfitting_check
from confide.diagnostics.overfitting import LARGEST_INFLATION, LARGEST_RATIO, OverfittingCheck
from confide.plot import plot_overfitting
from confide.prediction import Prediction
from confide.uncertainty import TPlusNormalLaw


def predicted(classical, aleatoric, mean=None):
    """A prediction with these variances."""
    classical, aleatoric = np.array(classical, np.float64), np.array(aleatoric, np.float64)
    mean = np.zeros(len(classical)) if mean is None else np.asarray(mean, np.float64)
    nothing = np.zeros(len(classical))
    any_law = TPlusNormalLaw.normal(mean, nothing)
    return Prediction(mean, aleatoric, classical, any_law, any_law, classical, nothing, 5)


def test_the_ratio_is_the_mean_of_the_rows_ratios():
    check = overfitting_check(predicted([1.0, 3.0], [2.0, 4.0]))
    assert check.ratio == (0.5 + 0.75) / 2
    assert check.effective_parameters == 1.25
    assert check.inflation is None


def test_least_squares_has_as_many_effective_parameters_as_coefficients():
    design = np.random.default_rng(0).normal(size=(30, 4))
    leverage = np.einsum("ij,ji->i", design, np.linalg.pinv(design))
    noise = np.full(30, 0.7)
    check = overfitting_check(predicted(noise * leverage, noise))
    assert check.effective_parameters == pytest.approx(4)
    assert not check.fires


def test_a_row_without_noise_or_shift_follows_nothing():
    assert overfitting_check(predicted([0.0, 1.0], [0.0, 2.0])).ratio == 0.25
    assert overfitting_check(predicted([1.0, 1.0], [0.0, 2.0])).fires


def test_both_thresholds_say_that_a_third_of_the_noise_is_followed():
    assert pytest.approx((1 + LARGEST_RATIO) / (1 - LARGEST_RATIO)) == LARGEST_INFLATION


@pytest.mark.parametrize(
    ("ratio", "inflation", "error", "fires"),
    [
        (0.34, None, None, True),
        (0.33, None, None, False),
        (0.05, 2.0, 0.4, True),
        (0.05, 1.99, 0.1, False),
        (0.05, 3.0, 1.01, False),  # within chance
        (5.0, 1.1, 0.1, False),  # held-out rows decide: hardly any noise
        (0.0, np.inf, 0.0, True),  # known by heart
        (None, 3.0, 0.5, True),  # a method without a classical variance
        (None, 1.0, 0.5, False),
    ],
)
def test_held_out_rows_decide_where_there_are_some(ratio, inflation, error, fires):
    check = OverfittingCheck(ratio, 100, inflation, error)
    assert check.fires == fires
    seen = "seem to follow the noise of their" if inflation is None else "fit their training rows"
    assert check.reason.startswith(f"The members {seen}" if fires else "No sign of overfitting.")
    assert ("Fewer epochs" in check.reason) == fires
    assert ("hardly any noise" in check.reason) == (ratio is not None and ratio >= LARGEST_RATIO)
    assert ("finite data is on average" in check.reason) == (ratio is not None)
    assert ("held-out rows are" in check.reason) == (inflation is not None)
    assert str(check) == check.reason


def test_inflation_is_the_quotient_of_mean_squares_with_its_error():
    training, held_out = (
        predicted([1.0, 1.0], [9.0, 9.0]),
        predicted([1.0] * 3, [9.0] * 3, [1, 1, 1]),
    )
    check = overfitting_check(training, [1.0, -1.0], held_out, [3.0, -1.0, 5.0])
    # Squares 1, 1 and 4, 4, 16: means 1 and 8.
    assert check.inflation == 8
    # The training squares are all alike: only the held-out ones err, with variance 48 over 3 rows.
    assert check.inflation_se == pytest.approx(4)


def test_the_error_of_the_inflation_is_that_of_repeated_samples():
    generator = np.random.default_rng(0)
    n_train, n_held_out, n_samples = 200, 100, 4000
    training = predicted(np.ones(n_train), np.ones(n_train))
    held_out = predicted(np.ones(n_held_out), np.ones(n_held_out))
    checks = [
        overfitting_check(
            training, generator.normal(size=n_train), held_out, generator.normal(size=n_held_out)
        )
        for _ in range(n_samples)
    ]
    spread = np.std([each.inflation for each in checks], ddof=1)
    # Spread errs by 1 / sqrt(2 n), 1.1 %, more for its heavier tail; the delta method by terms of
    # order 1 / rows, a few per cent: in all below 8 %.
    assert np.mean([each.inflation_se for each in checks]) == pytest.approx(spread, rel=0.08)


def test_held_out_rows_serve_every_method(plain, data):
    training, held_out = (
        plain.get_prediction(data[0][rows]) for rows in (slice(40), slice(40, 64))
    )
    check = overfitting_check(training, data[1][:40], held_out, data[1][40:])
    assert check.ratio is check.effective_parameters is None
    assert check.inflation > 0


def test_residuals_of_nothing_are_infinitely_inflated():
    training, held_out = predicted([0.0] * 2, [0.0] * 2), predicted([0.0] * 2, [0.0] * 2)
    assert overfitting_check(training, [0, 0], held_out, [1, 0]).fires
    assert overfitting_check(training, [0, 0], held_out, [0, 0]).inflation == 1


@pytest.mark.slow
def test_it_fires_on_the_papers_example():
    """Seven points of pure noise: in the benchmark it fires on 96 of 100 data sets."""
    x = np.linspace(0.1, 0.9, 7)[:, None]
    targets = np.random.default_rng(0).normal(0, 0.2, (3, 7))
    networks = BootstrappedDeepEnsembleRegressor(
        recipe="paper", hidden_layer_sizes=(400, 200, 100), l2_penalty=0.0
    )
    fits = networks.fit_many(x, targets, [0, 1, 2])
    assert sum(overfitting_check(each.get_prediction(x)).fires for each in fits) >= 2


@pytest.mark.slow
def test_it_is_silent_on_an_honest_fit_and_fires_where_rows_are_learnt_by_heart():
    X, y = load_diabetes(return_X_y=True)
    train, rest = slice(0, 350), slice(350, None)

    def check(epochs):
        model = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=epochs, random_state=0)
        model.fit(X[train], y[train])
        training, held_out = model.get_prediction(X[train]), model.get_prediction(X[rest])
        alone = overfitting_check(training)
        return alone, overfitting_check(training, y[train], held_out, y[rest])

    assert not any(each.fires for each in check(20))
    assert all(each.fires for each in check(400))


# --- bad input ------------------------------------------------------------------------------------


def test_a_method_without_a_classical_variance_is_refused(plain, data):
    with pytest.raises(NoSuchIntervalError, match=r"Pass held-out rows, or use Bootstrapped"):
        overfitting_check(plain.get_prediction(data[0]))


def test_half_of_the_held_out_rows_is_refused(bootstrapped, data):
    prediction = bootstrapped.get_prediction(data[0])
    with pytest.raises(ValueError, match="need all of `y_train`, `held_out` and `y_held_out`"):
        overfitting_check(prediction, data[1])


@pytest.mark.parametrize("wrong", ["y_train", "y_held_out"])
def test_targets_of_other_rows_are_refused(bootstrapped, data, wrong):
    prediction = bootstrapped.get_prediction(data[0])
    targets = {"y_train": data[1], "y_held_out": data[1], wrong: data[1][:-1]}
    with pytest.raises(ValueError, match=r"one target for each of the 64 .* \(63,\)"):
        overfitting_check(prediction, held_out=prediction, **targets)


def test_a_single_held_out_row_is_refused(bootstrapped, data):
    prediction, one = (bootstrapped.get_prediction(data[0][:n]) for n in (64, 1))
    with pytest.raises(ValueError, match="`y_held_out` must have at least two rows, got 1"):
        overfitting_check(prediction, data[1], one, data[1][:1])


# --- picture --------------------------------------------------------------------------------------


def test_the_picture_shows_both_variances_of_each_row_and_the_ratio(bootstrapped, data):
    prediction = bootstrapped.get_prediction(data[0])
    ax = Figure().subplots()
    assert plot_overfitting(prediction, ax=ax) is ax
    (points,) = ax.collections
    expected = np.column_stack([prediction.aleatoric_variance, prediction.classical_variance])
    np.testing.assert_array_equal(points.get_offsets(), expected)
    ratio = overfitting_check(prediction).ratio
    slopes = [line.get_ydata() / line.get_xdata() for line in ax.get_lines()]
    np.testing.assert_allclose(slopes, np.outer([1, LARGEST_RATIO, ratio], [1, 1]), rtol=1e-12)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert f"mean ratio {ratio:.2g}" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_picture_needs_a_classical_variance(bootstrapped, data):
    prediction = bootstrapped.get_prediction(data[0])
    without = dataclasses.replace(prediction, classical_variance=None)
    with pytest.raises(NoSuchIntervalError, match="overfitting check needs the variance"):
        plot_overfitting(without)
