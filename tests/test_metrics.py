"""Coverage fractions and Brier scores, by hand and against their known distribution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.metrics import brier_score, cicf


def intervals(*bounds):
    """One row, one simulation for each pair of bounds."""
    return np.array(bounds, np.float64)[:, None, :]


def test_cicf_is_the_share_of_simulations_whose_interval_holds_the_truth():
    held = cicf(np.array([1.0]), intervals((0, 2), (0.5, 1.5), (2, 3), (-1, 0)))
    assert held.tolist() == [0.5]


def test_cicf_judges_each_row_by_itself():
    truth = np.array([0.0, 10.0])
    bounds = np.array([[[-1.0, 1.0], [-1.0, 1.0]], [[-1.0, 1.0], [9.0, 11.0]]])
    assert cicf(truth, bounds).tolist() == [1.0, 0.5]


@pytest.mark.parametrize("bounds", [(1, 2), (0, 1), (1, 1)], ids=["lower", "upper", "both"])
def test_a_truth_on_a_bound_is_not_held(bounds):
    assert cicf(np.array([1.0]), intervals(bounds)).tolist() == [0.0]


@pytest.mark.parametrize("bounds", [(1 - 1e-15, 2), (0, 1 + 1e-15)], ids=["lower", "upper"])
def test_a_truth_just_inside_a_bound_is_held(bounds):
    assert cicf(np.array([1.0]), intervals(bounds)).tolist() == [1.0]


def test_brier_score_by_hand():
    # Distances 0.3, 0.2, 0.1: squares 0.09 + 0.04 + 0.01 = 0.14.
    assert brier_score(np.array([0.5, 1.0, 0.9]), 0.8) == pytest.approx(0.14 / 3, rel=1e-14)


def test_brier_score_is_zero_for_coverage_at_the_level_everywhere():
    assert brier_score(np.full(7, 0.9), 0.9) == 0.0


def test_brier_score_does_not_let_errors_of_different_rows_cancel():
    # The average coverage is the level itself.
    assert brier_score(np.array([0.6, 1.0]), 0.8) == pytest.approx(0.04, rel=1e-14)


def test_a_perfect_interval_still_scores_its_binomial_variance():
    rng, n_simulations, n_rows, level = np.random.default_rng(1), 100, 2000, 0.8
    # Bounds drawn so that each interval holds zero with probability 0.8.
    lower = rng.uniform(-0.8, 0.2, (n_simulations, n_rows))
    bounds = np.stack([lower, np.ones_like(lower)], axis=-1)
    score = brier_score(cicf(np.zeros(n_rows), bounds), level)
    # A squared deviation has mean p(1-p)/n and, being near normal, sqrt(2) times that as sd.
    expected = level * (1 - level) / n_simulations
    assert score == pytest.approx(expected, abs=4 * expected * np.sqrt(2 / n_rows))


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.01, 0.99))
def test_brier_score_is_smallest_when_the_level_is_the_mean_coverage(coverage, level):
    coverage = np.array(coverage)
    # The mean minimises a sum of squares; terms are at most one, so rounding is below 1e-14.
    assert brier_score(coverage, coverage.mean()) <= brier_score(coverage, level) + 1e-14


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_cicf_counts_whole_simulations(n_simulations, seed):
    rng = np.random.default_rng(seed)
    bounds = np.sort(rng.normal(size=(n_simulations, 3, 2)), axis=-1)
    counts = cicf(rng.normal(size=3), bounds) * n_simulations
    assert np.all(np.isclose(counts, np.round(counts), atol=1e-12))
    assert np.all((counts >= 0) & (counts <= n_simulations + 1e-12))


def test_wider_intervals_never_cover_less():
    rng = np.random.default_rng(2)
    truth, centre = rng.normal(size=50), rng.normal(size=(40, 50))
    covered = [cicf(truth, np.stack([centre - w, centre + w], axis=-1)) for w in (0.5, 1.0, 2.0)]
    assert np.all(np.diff(covered, axis=0) >= 0)
    assert np.mean(covered[0]) < np.mean(covered[2])
