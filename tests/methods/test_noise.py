"""Noise from rows that were left out: net of the fit's error, with the tails of the residuals."""

import numpy as np
import pytest

from confide.methods.noise import Noise, Residuals
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
    # Noise 1, moved by 0.5 of it by finite data, and 0.25 of random training over two members.
    left_out = residuals(1 + 0.5 + 0.25 / 2, GENERATOR.normal(size=N_ROWS))
    simulated = 1 + 0.5 + 0.25 / 2  # the bootstrap's targets had all of the residuals' variance
    noise = left_out.noise(at(0.5 * simulated), at(0.25), n_members=5)
    assert noise.net * simulated == pytest.approx(1.0)
    assert noise.net * 0.5 * simulated == pytest.approx(0.5)
    row = np.zeros((1, 1))
    assert noise.variance(row)[0] == pytest.approx(noise.net * left_out.variance(row)[0])


def test_without_a_bootstrap_only_random_training_is_taken_off():
    noise = residuals(1.0, GENERATOR.normal(size=N_ROWS)).noise(None, at(0.2), n_members=5)
    assert noise.net == pytest.approx(0.9)


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


def test_scaled_trees_are_scaled():
    trees, _ = variance_of_residuals(np.arange(40.0)[:, None], np.arange(40.0), seed=0)
    rows = np.array([[3.0], [33.0]])
    assert isinstance(trees.scaled(2.0), Trees)
    assert np.allclose(trees.scaled(2.0)(rows), 2 * trees(rows))
