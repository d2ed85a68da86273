"""Coverage, widths, bias and scores: by hand, by law, and against their known distribution."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import scoringrules
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.metrics import mean_pinball_loss

from confide.metrics import (
    at_equal_mean_width,
    attainable_brier_score,
    brier_score,
    brier_score_standard_error,
    calibration_curve,
    cicf,
    cicf_at_equal_mean_width,
    covered,
    crps_of_normal_mixture,
    interval_score,
    log_score,
    mean_width,
    observed,
    picf,
    pinball_loss,
    pointwise_bias,
    pointwise_mean_width,
    stretched_to_mean_width,
    unbiased_brier_score,
)
from confide.uncertainty import TPlusNormalLaw

law_of_metrics = settings(derandomize=True, deadline=None, max_examples=50)
seeds = st.integers(0, 2**32 - 1)


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


def test_covered_keeps_simulations_and_rows_apart():
    truth = np.array([0.0, 10.0])
    bounds = np.array([[[-1.0, 1.0], [-1.0, 1.0]], [[-1.0, 1.0], [9.0, 11.0]]])
    assert covered(truth, bounds).tolist() == [[True, False], [True, True]]


def test_picf_is_the_mean_probability_over_simulations():
    probabilities = np.array([[0.5, 1.0], [0.75, 0.5], [1.0, 0.0]])
    assert picf(probabilities).tolist() == [0.75, 0.5]


# --- the Brier score's error and bias


def test_brier_score_standard_error_by_hand():
    # Coverage without each simulation in turn: 1/2, 1/2, 1; scores at level 1: 1/4, 1/4, 0.
    # Their mean is 1/6 and their squared distances sum to 1/24, times 2/3.
    held = np.array([[True], [True], [False]])
    assert brier_score_standard_error(held, 1.0) == pytest.approx(1 / 6, rel=1e-14)


@law_of_metrics
@given(st.integers(2, 12), st.integers(1, 5), st.floats(0.01, 0.99), st.booleans(), seeds)
def test_brier_score_standard_error_is_the_naive_jackknife(n_sim, n_rows, level, hits, seed):
    held = np.random.default_rng(seed).uniform(size=(n_sim, n_rows))
    held = held < level if hits else held
    left_out = [
        brier_score(np.delete(held, j, axis=0).mean(axis=0, dtype=np.float64), level)
        for j in range(n_sim)
    ]
    expected = np.sqrt((n_sim - 1) / n_sim * np.sum((left_out - np.mean(left_out)) ** 2))
    # Scores are at most one: rounding of 1e-16, times the square root of simulations.
    found = brier_score_standard_error(held, level)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def repeated_scores(draw_hits, level, n_repeats):
    """Brier scores of many repeated experiments, and the variances that each claims for its own."""
    rng = np.random.default_rng(0)
    hits = [draw_hits(rng) for _ in range(n_repeats)]
    values = [brier_score(each.mean(axis=0, dtype=np.float64), level) for each in hits]
    return np.array(values), np.array([brier_score_standard_error(h, level) ** 2 for h in hits])


def test_brier_score_standard_error_is_the_spread_of_repeated_experiments():
    n_repeats, n_simulations, level = 2000, 100, 0.95

    def draw(rng):
        # Rows err together: each simulation shifts all four. About half of them are held.
        shift = rng.normal(size=(n_simulations, 1)) + rng.normal(size=(n_simulations, 4))
        return np.abs(shift) < 1

    values, claimed = repeated_scores(draw, level, n_repeats)
    # The score is nearly linear in the coverage. The quadratic part adds sigma^2 / (2 d^2 S) to
    # the variance, and twice that to the claim: with distance d = 0.43 about 0.7 %. The sample
    # variance of near-normal scores has relative error sqrt(2 / R).
    ratio = np.mean(claimed) / np.var(values, ddof=1)
    assert ratio == pytest.approx(1, abs=4 * np.sqrt(2 / n_repeats) + 0.01)


def test_brier_score_standard_error_is_too_large_by_sqrt_2_for_a_perfect_interval():
    n_repeats, n_simulations, n_rows, level = 2000, 100, 20, 0.8
    values, claimed = repeated_scores(
        lambda rng: rng.uniform(size=(n_simulations, n_rows)) < level, level, n_repeats
    )
    # A mean of 20 squared normals has excess kurtosis 12 / 20; terms of order 1 / S are left.
    tolerance = 2 * (4 * np.sqrt((2 + 12 / n_rows) / n_repeats) + 2 / n_simulations)
    assert np.mean(claimed) / np.var(values, ddof=1) == pytest.approx(2, abs=tolerance)


def test_one_simulation_has_no_standard_error():
    with pytest.raises(ValueError, match=r"At least two simulations .* got 1\. Pass an array of"):
        brier_score_standard_error(np.ones((1, 3), bool), 0.9)


def expectation_over_hits(score, probability, n_simulations):
    """The exact mean of a score of one row's hits: every outcome with its probability."""
    total = 0.0
    for hits in itertools.product([True, False], repeat=n_simulations):
        chance = probability ** sum(hits) * (1 - probability) ** (n_simulations - sum(hits))
        total += chance * score(np.array(hits)[:, None])
    return total


@law_of_metrics
@given(st.integers(2, 6), st.floats(0, 1), st.floats(0.01, 0.99))
def test_unbiased_brier_score_is_on_average_the_score_of_the_true_coverage(n_sim, true, level):
    found = expectation_over_hits(lambda held: unbiased_brier_score(held, level), true, n_sim)
    assert found == pytest.approx((true - level) ** 2, rel=0, abs=1e-14)


def test_unbiased_brier_score_of_probabilities_takes_off_their_own_variance():
    # Coverage 1/2, at its level. Sample variance (1/16 + 1/16) / 1, divided by 2 simulations.
    assert unbiased_brier_score(np.array([[0.25], [0.75]]), 0.5) == pytest.approx(-1 / 16)


@law_of_metrics
@given(st.integers(1, 6), st.floats(0.01, 0.99))
def test_attainable_brier_score_is_the_mean_score_of_a_perfect_interval(n_simulations, level):
    found = expectation_over_hits(
        lambda held: brier_score(held.mean(axis=0, dtype=np.float64), level), level, n_simulations
    )
    assert attainable_brier_score(level, n_simulations) == pytest.approx(found, rel=1e-12)


# --- widths


def test_mean_widths_by_hand():
    # Widths 1, 4 and 3, 8.
    bounds = np.array([[[0.0, 1.0], [5.0, 9.0]], [[-1.0, 2.0], [0.0, 8.0]]])
    assert pointwise_mean_width(bounds).tolist() == [2.0, 6.0]
    assert mean_width(bounds) == 4.0


@law_of_metrics
@given(seeds, st.floats(0.01, 100))
def test_stretched_intervals_have_the_width_and_keep_centres_and_shares(seed, width):
    bounds = np.sort(np.random.default_rng(seed).normal(size=(4, 3, 2)), axis=-1)
    stretched = stretched_to_mean_width(bounds, width)
    # Bounds of order one and of order `width` are rounded.
    error = 1e-13 * (1 + width)
    assert mean_width(stretched) == pytest.approx(width, rel=0, abs=error)
    assert stretched.mean(axis=-1) == pytest.approx(bounds.mean(axis=-1), rel=0, abs=error)
    shares = np.diff(stretched) / width
    assert shares == pytest.approx(np.diff(bounds) / mean_width(bounds), rel=0, abs=error / width)


@pytest.mark.parametrize("bound", [1.0, np.inf], ids=["zero", "infinite"])
def test_intervals_without_a_usable_width_are_refused(bound):
    with pytest.raises(ValueError, match=r"positive and finite one, got (0\.0|inf)\. Leave"):
        stretched_to_mean_width(np.array([[[1.0, bound]]]), 1.0)


def test_methods_take_the_first_ones_mean_width():
    methods = {"narrow": intervals((0, 2)), "wide": intervals((10, 20))}
    equal = at_equal_mean_width(methods)
    assert equal["narrow"].tolist() == [[[0.0, 2.0]]]
    assert equal["wide"].tolist() == [[[14.0, 16.0]]]


def test_methods_take_a_given_mean_width():
    equal = at_equal_mean_width({"one": intervals((0, 2)), "two": intervals((10, 20))}, 4.0)
    assert equal["one"].tolist() == [[[-1.0, 3.0]]]
    assert equal["two"].tolist() == [[[13.0, 17.0]]]


def test_a_method_that_is_only_wider_covers_the_same_at_equal_width():
    rng = np.random.default_rng(3)
    truth, centre = np.zeros(30), rng.normal(size=(50, 30))
    # Widths in powers of two: stretching them rounds nothing but the centres.
    narrow, wide = (np.stack([centre - w, centre + w], axis=-1) for w in (0.5, 2.0))
    assert np.mean(cicf(truth, wide)) > np.mean(cicf(truth, narrow)) + 0.3
    coverage = cicf_at_equal_mean_width(truth, {"narrow": narrow, "wide": wide})
    assert coverage["wide"].tolist() == coverage["narrow"].tolist() == cicf(truth, narrow).tolist()


def test_a_method_whose_width_is_where_it_is_needed_covers_more_at_equal_width():
    rng = np.random.default_rng(4)
    noise = np.array([0.1] * 10 + [10.0] * 10)
    centre = noise * rng.normal(size=(200, 20))
    fitting, flat = (np.stack([centre - w, centre + w], -1) for w in (noise, np.full(20, 1.0)))
    coverage = cicf_at_equal_mean_width(np.zeros(20), {"fitting": fitting, "flat": flat})
    # One sd everywhere holds 68 %. A flat width of 5.05 holds all of one half, 39 % of the other.
    assert brier_score(coverage["fitting"], 0.68) < brier_score(coverage["flat"], 0.68) / 10


# --- bias


def test_pointwise_bias_by_hand():
    # Errors 1, 3 and -1, 1: means 2 and 0, sample sds sqrt(2), divided by sqrt(2).
    found = pointwise_bias(np.array([1.0, 10.0]), np.array([[2.0, 9.0], [4.0, 11.0]]))
    assert found.bias.tolist() == [2.0, 0.0]
    assert found.standard_error == pytest.approx([1.0, 1.0], rel=1e-14)
    assert found.ratio_to_std == pytest.approx([np.sqrt(2), 0.0], rel=1e-14)


@law_of_metrics
@given(seeds, st.floats(-10, 10))
def test_a_constant_error_moves_the_bias_and_nothing_else(seed, shift):
    rng = np.random.default_rng(seed)
    truth, predictions = rng.normal(size=3), rng.normal(size=(8, 3))
    before, after = pointwise_bias(truth, predictions), pointwise_bias(truth, predictions + shift)
    assert after.bias == pytest.approx(before.bias + shift, rel=0, abs=1e-13)
    assert after.standard_error == pytest.approx(before.standard_error, rel=1e-11)


def test_bias_lies_within_its_standard_errors():
    n_simulations, n_rows = 400, 500
    rng = np.random.default_rng(5)
    predictions = rng.normal(0.5, 2.0, (n_simulations, n_rows))
    found = pointwise_bias(np.zeros(n_rows), predictions)
    # t with 399 degrees of freedom, nearly standard normal: so is the mean of its squares near 1.
    z = (found.bias - 0.5) / found.standard_error
    assert np.mean(z**2) == pytest.approx(1, abs=4 * np.sqrt(2 / n_rows) + 2 / n_simulations)


def test_bias_of_predictions_that_never_vary_is_infinitely_many_deviations():
    found = pointwise_bias(np.array([0.0, 1.0]), np.ones((3, 2)))
    assert found.ratio_to_std[0] == np.inf
    assert np.isnan(found.ratio_to_std[1])


def test_bias_needs_two_simulations():
    with pytest.raises(ValueError, match=r"At least two simulations .* got 1\. Pass an array of"):
        pointwise_bias(np.zeros(2), np.zeros((1, 2)))


# --- scores

# Rows from nearly normal to nearly t; targets from the centre to far out.
TARGETS = np.array([0.0, 0.3, -2.0, 10.0, 100.0])


def test_crps_of_a_normal_law_is_the_closed_form():
    law = TPlusNormalLaw.normal(np.arange(5.0), np.array([0.1, 1.0, 2.0, 3.0, 10.0]))
    found = crps_of_normal_mixture(TARGETS, *law.normal_mixture())
    expected = scoringrules.crps_normal(TARGETS, law.location, law.normal_scale)
    assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("degrees", [2, 4, 9, 49])
def test_crps_of_a_t_law_is_the_closed_form(degrees):
    law = TPlusNormalLaw.t(np.arange(5.0), np.array([0.1, 1.0, 2.0, 3.0, 10.0]), degrees)
    found = crps_of_normal_mixture(TARGETS, *law.normal_mixture())
    expected = scoringrules.crps_t(TARGETS, degrees, law.location, law.t_scale)
    # The probability of a t law is right to 1.1e-12 (tests/uncertainty/test_t_plus_normal.py).
    assert found == pytest.approx(expected, rel=1.2e-12)


def crps_by_integration(cdf, y):
    """The squared distance of a symmetric law's distribution from the target's step."""
    below = [(-np.inf, min(-50.0, y - 1)), (min(-50.0, y - 1), y)]
    above = [(y, max(50.0, y + 1)), (max(50.0, y + 1), np.inf)]
    how = {"epsabs": 1e-13, "epsrel": 1e-13, "limit": 500}
    # Above the target 1 - F(x), which is F(-x).
    return sum(integrate.quad(lambda x: cdf(x) ** 2, *ends, **how)[0] for ends in below) + sum(
        integrate.quad(lambda x: cdf(-x) ** 2, *ends, **how)[0] for ends in above
    )


@pytest.mark.parametrize("y", [0.0, 1.0, 20.0])
def test_crps_of_a_cauchy_law_is_finite_although_its_mean_is_not(y):
    law = TPlusNormalLaw.t(np.zeros(1), np.ones(1), 1)
    found = crps_of_normal_mixture(np.array([y]), *law.normal_mixture())[0]
    # The integrals are right to 1e-13 each, four of them.
    assert found == pytest.approx(crps_by_integration(stats.cauchy.cdf, y), rel=1e-12)


@pytest.mark.parametrize("y", [0.0, 2.0, 15.0])
@pytest.mark.parametrize("degrees", [2, 4, 49])
@pytest.mark.parametrize("t_scale", [0.1, 1.0, 5.0])
def test_crps_of_scaled_t_plus_normal_is_the_integral_of_its_definition(degrees, t_scale, y):
    law = TPlusNormalLaw(np.zeros(1), np.array([t_scale]), np.ones(1), degrees)
    found = crps_of_normal_mixture(np.array([y]), *law.normal_mixture())[0]
    expected = crps_by_integration(lambda x: law.cdf(np.array(x))[0], y)
    # The distribution is right to 1.1e-12, over a range of some ten.
    assert found == pytest.approx(expected, rel=0, abs=2e-11)


def test_crps_of_many_rows_is_that_of_each(monkeypatch):
    law = TPlusNormalLaw(np.zeros(5), np.ones(5), np.arange(1.0, 6.0), 4)
    mixture = law.normal_mixture()
    whole = crps_of_normal_mixture(TARGETS, *mixture)
    monkeypatch.setattr(observed, "_PAIRS_PER_BLOCK", 2 * mixture.weights.size**2)  # two rows
    assert crps_of_normal_mixture(TARGETS, *mixture) == pytest.approx(whole, rel=1e-13)


def test_crps_of_components_with_means_of_their_own():
    # Two far spikes at +-1, target 0: E|X - y| = 1 less half of E|X - X'| = 1/2 * 2 / 2.
    means, scales = np.array([[-1.0, 1.0]]), np.full((1, 2), 1e-9)
    found = crps_of_normal_mixture(np.zeros(1), means, scales, np.full(2, 0.5))
    assert found == pytest.approx([0.5], abs=1e-8)


def test_crps_refuses_a_law_without_width():
    with pytest.raises(
        ValueError, match=r"must be positive, got 0\.0\. The score of a law without"
    ):
        crps_of_normal_mixture(np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))


def test_log_score_of_a_normal_law_is_that_of_scoringrules():
    law = TPlusNormalLaw.normal(np.arange(4.0), np.array([0.5, 1.0, 2.0, 3.0]))
    expected = scoringrules.logs_normal(TARGETS[:4], law.location, law.normal_scale)
    assert log_score(law.log_density(TARGETS[:4])) == pytest.approx(expected, rel=1e-12)


def test_log_score_is_finite_where_the_density_is_too_small_for_a_number():
    law = TPlusNormalLaw.normal(np.zeros(1), np.ones(1))
    # 100 deviations: 100^2 / 2 and log sqrt(2 pi).
    score = log_score(law.log_density(np.array(100.0)))[0]
    assert score == pytest.approx(5000 + np.log(2 * np.pi) / 2, rel=1e-15)


def test_interval_score_by_hand():
    # Width 2; beyond by 0, 1 and 3, times 2 / 0.2.
    bounds = np.array([[0.0, 2.0]] * 3)
    found = interval_score(np.array([1.0, -1.0, 5.0]), bounds, 0.8)
    assert found == pytest.approx([2.0, 12.0, 32.0], rel=1e-14)


@law_of_metrics
@given(st.floats(0.05, 0.95), st.floats(0.5, 2).filter(lambda factor: abs(factor - 1) > 0.05))
def test_interval_score_prefers_the_true_quantiles(level, factor):
    # The mean over equally probable targets, which is the expected score up to their spacing.
    y = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    half_width = stats.norm.ppf((1 + level) / 2)
    best, other = (
        interval_score(y, np.tile([-w, w], (1000, 1)), level).mean()
        for w in (half_width, factor * half_width)
    )
    assert best < other + 1e-4 * half_width


@law_of_metrics
@given(seeds, st.lists(st.floats(0.01, 0.99), min_size=1, max_size=4))
def test_pinball_loss_is_on_average_that_of_scikit_learn(seed, probabilities):
    rng = np.random.default_rng(seed)
    y, quantiles = rng.normal(size=6), rng.normal(size=(6, len(probabilities)))
    found = pinball_loss(y, quantiles, np.array(probabilities)).mean(axis=0)
    expected = [mean_pinball_loss(y, quantiles[:, k], alpha=p) for k, p in enumerate(probabilities)]
    assert found == pytest.approx(expected, rel=1e-12)


def test_calibration_curve_by_hand():
    # Rows have quantiles of their own; a target on its quantile counts as below.
    y, quantiles = np.array([0.0, 1.0, 5.0, 2.0]), np.array([[0, 1], [0, 2], [4, 4], [3, 5]])
    curve = calibration_curve(y, quantiles.astype(float), np.array([0.5, 0.9]))
    assert curve.probabilities.tolist() == [0.5, 0.9]
    assert curve.shares.tolist() == [0.5, 0.75]
    assert curve.standard_error == pytest.approx([0.25, 0.15], rel=1e-14)


def test_a_true_law_lies_on_the_diagonal_within_its_standard_errors():
    n_rows, probabilities = 4000, np.array([0.05, 0.3, 0.5, 0.9])
    law = TPlusNormalLaw(np.arange(n_rows) / 10, np.ones(n_rows), np.full(n_rows, 2.0), 4)
    y = law.sample(np.random.default_rng(6), 1)[0]
    quantiles = np.stack([law.quantile(p) for p in probabilities], axis=-1)
    curve = calibration_curve(y, quantiles, probabilities)
    assert np.all(np.abs(curve.shares - probabilities) < 4 * curve.standard_error)
    assert np.all(curve.standard_error < 0.01)


def test_scoringrules_is_imported_only_when_a_score_is_asked_for():
    code = "import confide, confide.metrics, sys; print('scoringrules' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
