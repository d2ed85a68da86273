"""Noise from rows that were left out: net of the fit's error, with the tails of the residuals."""

import numpy as np
import pytest

import confide.methods.noise
from confide.bootstrap import Keys
from confide.learners import NetworkEnsemble, SquaredError, TrainingData
from confide.learners.tabular import TabularNetwork
from confide.methods.noise import Noise, Residuals, out_of_fold_residuals, share_with_all_rows
from confide.randomness import key_from
from confide.trees import Trees, variance_of_residuals

GENERATOR = np.random.default_rng(0)
N_ROWS = 2000


def residuals(variance, law):
    """Of a given variance, the same at all rows."""
    drawn = np.sqrt(variance) * law
    Z = np.random.default_rng(1).normal(size=(N_ROWS, 1))
    trees, _ = variance_of_residuals(Z, drawn, seed=0)
    return Residuals(drawn, trees, np.full(N_ROWS, variance))


def at(value):
    return np.full(N_ROWS, value)


def test_noise_is_net_of_finite_data_and_random_training():
    # Noise 1, moved by 0.5 of it by finite data, and 0.25 of random training over five members.
    left_out = residuals(1 + 0.5 + 0.25 / 5, GENERATOR.normal(size=N_ROWS))
    simulated = 1 + 0.5 + 0.25 / 5  # the bootstrap's targets had all of the residuals' variance
    noise = left_out.noise(at(0.5 * simulated), at(0.25), n_members=5)
    assert noise.net * simulated == pytest.approx(1.0)
    assert noise.net * 0.5 * simulated == pytest.approx(0.5)
    row = np.zeros((1, 1))
    assert noise.variance(row)[0] == pytest.approx(noise.net * left_out.variance(row)[0])


def test_without_a_bootstrap_only_random_training_is_taken_off():
    noise = residuals(1.0, GENERATOR.normal(size=N_ROWS)).noise(None, at(0.2), n_members=5)
    assert noise.net == pytest.approx(0.96)


def test_some_of_the_residuals_is_always_noise():
    noise = residuals(1.0, GENERATOR.normal(size=N_ROWS)).noise(at(1e9), at(1e9), n_members=5)
    assert noise.net == 0.1


@pytest.mark.parametrize(
    ("law", "few", "many"),
    [
        (np.random.default_rng(2).standard_normal(N_ROWS), 20, 50),
        (np.random.default_rng(3).standard_t(3, N_ROWS) / np.sqrt(3), 3, 4),
    ],
)
def test_tails_are_those_of_the_residuals(law, few, many):
    noise = residuals(1.0, law).noise(None, at(0.0), n_members=5)
    assert few <= noise.degrees_of_freedom <= many
    zeros = np.zeros(N_ROWS)
    observed = noise.prediction_law(zeros, zeros, at(1.0), n_members=5)
    for level in (0.5, 0.8, 0.95):
        low, high = observed.interval(level).T
        # Four standard errors of a share of 2,000 rows, and what fitting the tails may cost.
        assert np.mean((low <= law) & (law <= high)) == pytest.approx(level, abs=0.045)


@pytest.mark.parametrize("degrees", [3, 5, 50])
@pytest.mark.parametrize("level", [0.01, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_the_prediction_interval_contains_the_confidence_interval(degrees, level):
    from confide.uncertainty import bootstrapped_confidence_law

    trees, _ = variance_of_residuals(np.zeros((20, 1)), np.ones(20), seed=0)
    noise = Noise(trees, 1.0, 0.5, degrees)
    mean, epistemic, aleatoric = np.zeros(3), np.ones(3), np.array([0.0, 0.5, 100.0])
    inner = bootstrapped_confidence_law(mean, epistemic, 5).interval(level)
    outer = noise.prediction_law(mean, epistemic, aleatoric, 5).interval(level)
    assert np.all(outer[:, 1] >= inner[:, 1] * (1 - 1e-9))


@pytest.mark.parametrize(("fewer", "share"), [(1.0, 1.0), (4 / 3, 0.8)])
def test_residuals_have_the_size_of_those_of_the_whole_ensemble_on_all_rows(
    monkeypatch, fewer, share
):
    y, errors = GENERATOR.uniform(-9, 9, N_ROWS), GENERATOR.normal(size=(2, N_ROWS))
    y[:2], errors[:, :2] = (-20, 20), 0.0  # so that nothing is out of reach
    means = {1: (y - errors)[None], 2: (y - np.sqrt(fewer) * errors)[None]}
    monkeypatch.setattr(
        confide.methods.noise,
        "held_out_means",
        lambda *_, n_left_out=1, **__: means[n_left_out],
    )
    keys = Keys.from_key(key_from(0), 5)
    data = TrainingData.from_rows(np.zeros((N_ROWS, 1), np.float32))
    learner = NetworkEnsemble(TabularNetwork.of((4,), 0.0, smooth=False), SquaredError())
    (found,) = out_of_fold_residuals(keys, learner, data, y[None].astype(np.float32), 1)
    # Errors of two members are independent: those of five have a fifth of the variance of one.
    of_five = (errors**2).mean() - 0.8 * errors.var(axis=0, ddof=1).mean()
    assert of_five == pytest.approx(0.2, abs=0.05)
    assert np.mean(found.residuals**2) == pytest.approx(share * of_five, rel=1e-5)
    assert np.corrcoef(found.residuals, errors.mean(axis=0))[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_an_error_that_falls_as_a_power_of_the_rows_is_continued(power):
    squares = GENERATOR.chisquare(1, N_ROWS)
    share = share_with_all_rows(squares, (4 / 3) ** power * squares)
    assert share == pytest.approx(0.8**power)


def test_an_error_that_grows_with_the_rows_is_left_as_it_is():
    assert share_with_all_rows(np.full(9, 2.0), np.ones(9)) == 1.0


def test_rows_without_an_error_are_no_reason_to_divide_by_zero():
    assert share_with_all_rows(np.zeros(9), np.zeros(9)) == 1.0


def test_few_rows_tell_little_about_what_more_of_them_would_bring():
    few, many = (chances_of_more_rows(n) for n in (20, 20_000))
    # The power is one: 0.8 is right. Of few rows, a standard error is as large as the fall.
    assert many == pytest.approx(0.8, abs=0.02)
    assert few > many + 0.02


def chances_of_more_rows(n_rows):
    """The mean share over 200 tables, of errors that are drawn independently."""
    draws = np.random.default_rng(4).chisquare(1, (200, 2, n_rows))
    return np.mean([share_with_all_rows(more, 4 / 3 * fewer) for more, fewer in draws])


def test_there_and_back():
    noise = residuals(1.0, GENERATOR.normal(size=N_ROWS)).noise(at(0.3), at(0.2), n_members=5)
    again = Noise.from_arrays(noise.to_arrays(), 1)
    rows = np.linspace(-1, 1, 5)[:, None]
    assert np.array_equal(again.variance(rows), noise.variance(rows))
    assert again.net == noise.net
    assert (again.tail_scale, again.degrees_of_freedom) == (
        noise.tail_scale,
        noise.degrees_of_freedom,
    )


@pytest.mark.parametrize("law", [(0.0, 1, 3), (2.0, 1, 3), (1, 0, 3), (1, 1, 2)])
def test_a_law_that_is_none_is_refused(law):
    noise = residuals(1.0, GENERATOR.normal(size=N_ROWS)).noise(None, at(0.0), n_members=5)
    arrays = noise.to_arrays() | {"law": np.array(law, np.float64)}
    with pytest.raises(ValueError, match="the law of the noise"):
        Noise.from_arrays(arrays, 1)


def test_noise_of_two_sizes_is_found():
    Z = np.random.default_rng(5).uniform(-1, 1, (N_ROWS, 3))
    true = np.where(Z[:, 0] > 0, 9.0, 1.0)
    drawn = np.sqrt(true) * np.random.default_rng(6).normal(size=N_ROWS)
    variance, at_rows = variance_of_residuals(Z, drawn, seed=0)
    assert at_rows.mean() == pytest.approx(np.mean(drawn**2))
    # A standard error of the mean square of half the rows is 0.045 of it. Leaves at the step mix.
    for found in (at_rows, variance(Z)):
        for size in (1.0, 9.0):
            assert np.median(found[true == size]) == pytest.approx(size, rel=0.18)


def test_a_row_has_no_say_in_its_own_variance():
    Z, drawn = np.random.default_rng(7).normal(size=(2, N_ROWS))
    variance, without_itself = variance_of_residuals(Z[:, None], drawn, seed=0)
    assert abs(np.corrcoef(without_itself, drawn**2)[0, 1]) < 4 / np.sqrt(N_ROWS)
    assert np.corrcoef(variance(Z[:, None]), drawn**2)[0, 1] > 0.3


def test_a_row_that_all_trees_have_seen_has_the_mean_of_the_others():
    trees, _ = variance_of_residuals(np.arange(40.0)[:, None], np.arange(40.0), seed=0)
    rows = np.array([[3.0], [33.0]])
    all_seen = [np.array([0])] * len(trees.roots)
    of_second = trees(rows)[1] / len(trees.roots)
    assert trees.without_own(rows, all_seen) == pytest.approx([of_second, of_second])


def test_without_residuals_there_is_no_variance():
    trees, at_rows = variance_of_residuals(np.arange(40.0)[:, None], np.zeros(40), seed=0)
    assert not at_rows.any()
    assert not trees(np.zeros((1, 1))).any()


def test_scaled_trees_are_scaled():
    trees, _ = variance_of_residuals(np.arange(40.0)[:, None], np.arange(40.0), seed=0)
    rows = np.array([[3.0], [33.0]])
    assert isinstance(trees.scaled(2.0), Trees)
    assert np.allclose(trees.scaled(2.0)(rows), 2 * trees(rows))
