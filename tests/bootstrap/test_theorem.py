"""Theorem 3.3 of the paper: its confidence interval is conservative, and exactly so at one end.

Assumptions 3.1 and 3.2 are simulated directly. Simulations take the place of rows, so the
library's own functions judge all of them at once.
"""

import functools

import numpy as np
import pytest
from scipy import stats

from confide.uncertainty import (
    bootstrapped_confidence_law,
    classical_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

N_SIMULATIONS = 40_000
TRUTH = 3.0
MEMBERS = pytest.mark.parametrize("n_members", [2, 3, 5, 10, 50])
LEVELS = pytest.mark.parametrize("level", [0.8, 0.95])


@functools.cache
def simulated_law(n_members, gamma, n_retrains=1):
    """The law of the true value in each simulation; gamma is random training's share of Eq. (2)."""
    rng = np.random.default_rng([n_members, int(100 * gamma), n_retrains])
    classical_std, optimisation_std = np.sqrt(1 - gamma), np.sqrt(gamma * n_members)
    shared = classical_std * rng.standard_normal(N_SIMULATIONS)
    own = optimisation_std * rng.standard_normal((n_members, N_SIMULATIONS))
    members = TRUTH + shared + own
    shifts = rng.standard_normal((n_retrains, n_members, N_SIMULATIONS))
    classical = classical_variance(members, members + classical_std * shifts)
    epistemic = epistemic_variance(classical, optimisation_variance(members), n_members)
    return bootstrapped_confidence_law(ensemble_mean(members), epistemic, n_members)


def coverage(law, level):
    """The share of simulations whose interval holds the truth."""
    return np.mean(np.abs(law.location - TRUTH) <= law.half_width(level))


def standard_error(probability):
    """Of a coverage over all simulations."""
    return np.sqrt(probability * (1 - probability) / N_SIMULATIONS)


@MEMBERS
@LEVELS
@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_confidence_interval_covers_at_least_its_level(n_members, gamma, level):
    covered = coverage(simulated_law(n_members, gamma), level)
    assert covered >= level - 4 * standard_error(level)


@MEMBERS
@LEVELS
def test_coverage_is_exact_when_all_uncertainty_is_from_training(n_members, level):
    # gamma = 1: the squared statistic is F(1, M - 1), whose root is the t the interval uses.
    covered = coverage(simulated_law(n_members, 1.0), level)
    assert covered == pytest.approx(level, abs=4 * standard_error(level))


@MEMBERS
@LEVELS
def test_coverage_is_that_of_one_more_degree_of_freedom_when_all_is_from_data(n_members, level):
    # gamma = 0: the squared statistic is F(1, M), met with the critical value of F(1, M - 1).
    expected = stats.f.cdf(stats.f.ppf(level, 1, n_members - 1), 1, n_members)
    covered = coverage(simulated_law(n_members, 0.0), level)
    assert covered == pytest.approx(expected, abs=4 * standard_error(expected))


@MEMBERS
def test_a_mix_of_both_sources_covers_at_least_as_much_as_their_chord(n_members):
    # The proof: the chance of a miss is convex in gamma. Three estimates, so three errors add.
    ends = [coverage(simulated_law(n_members, gamma), 0.8) for gamma in (0.0, 1.0)]
    middle = coverage(simulated_law(n_members, 0.5), 0.8)
    assert middle >= np.mean(ends) - 4 * standard_error(0.8) * np.sqrt(1 + 1 / 2)


@LEVELS
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_more_retrainings_of_each_member_keep_the_coverage(gamma, level):
    # With B = 4 the end gamma = 0 is F(1, 4 M), still below F(1, M - 1): the proof is unchanged.
    covered = coverage(simulated_law(5, gamma, n_retrains=4), level)
    assert covered >= level - 4 * standard_error(level)


def test_leaving_out_the_classical_part_breaks_the_coverage():
    # What Deep Ensembles lack, at gamma = 0.5: this test shows that the others can fail.
    rng = np.random.default_rng(7)
    own = np.sqrt(0.5 * 5) * rng.standard_normal((5, N_SIMULATIONS))
    members = TRUTH + np.sqrt(0.5) * rng.standard_normal(N_SIMULATIONS) + own
    without = epistemic_variance(np.zeros(N_SIMULATIONS), optimisation_variance(members), 5)
    law = bootstrapped_confidence_law(ensemble_mean(members), without, 5)
    assert coverage(law, 0.8) < 0.8 - 4 * standard_error(0.8)
