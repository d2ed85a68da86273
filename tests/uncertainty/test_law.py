"""Laws of a row, the paper's laws built from variances, and Algorithm 2's sampling of them."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide import NoSuchIntervalError
from confide.calibration import ConformalLaw
from confide.randomness import generator_from
from confide.uncertainty import (
    LevelLaw,
    PivotLaw,
    TPlusNormalLaw,
    aleatoric_variance,
    bootstrapped_confidence_law,
    bootstrapped_prediction_law,
    deep_ensemble_confidence_law,
    deep_ensemble_prediction_law,
    disagreement_variance,
    ensemble_mean,
    monte_carlo_prediction_interval,
    t_plus_normal,
)

# Rows from pure normal to pure t.
MIXED = TPlusNormalLaw(
    location=np.array([0.0, -3.0, 10.0, 1e3, 5.0]),
    t_scale=np.array([0.0, 0.1, 1.0, 10.0, 2.0]),
    normal_scale=np.array([1.0, 1.0, 1.0, 1.0, 0.0]),
    degrees_of_freedom=4,
)
# Every law of confide, under where it comes from and the levels that it has.
LAWS = {
    ("model", None): MIXED,
    ("model", (0.9,)): LevelLaw(np.arange(5.0), np.arange(1.0, 6.0), 0.9),
    ("held_out", None): ConformalLaw(np.arange(5.0), np.arange(1.0, 6.0), np.arange(40.0)),
    ("twins", None): PivotLaw(np.arange(5.0), np.arange(1.0, 6.0), np.arange(40.0)),
}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: type(law).__name__)
# One standard normal deviation: the level whose normal half-width is 1.
ONE_SIGMA = 2 * stats.norm.cdf(1) - 1


def test_normal_law_has_scipys_quantiles():
    law = TPlusNormalLaw.normal(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    expected = stats.norm.ppf(0.9, [1, 2], [3, 4])
    # The level 2p - 1 is rounded, which the tail's density turns into a few more ulps.
    assert law.quantile(0.9) == pytest.approx(expected, rel=1e-14)


def test_t_law_has_scipys_quantiles():
    law = TPlusNormalLaw.t(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 4)
    assert law.quantile(0.1) == pytest.approx(stats.t.ppf(0.1, 4, [1, 2], [3, 4]), rel=1e-14)


def test_median_is_the_location():
    assert MIXED.quantile(0.5).tolist() == MIXED.location.tolist()


@pytest.mark.parametrize("probability", [0.01, 0.2, 0.4])
def test_quantiles_lie_as_far_below_the_median_as_above(probability):
    below = MIXED.location - MIXED.quantile(probability)
    above = MIXED.quantile(1 - probability) - MIXED.location
    # 1 - p is rounded, and so are locations of 1e3.
    assert np.all(below > 0)
    assert below == pytest.approx(above, rel=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    probability=st.floats(1e-6, 1 - 1e-6),
    t_scale=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    degrees=st.sampled_from([1, 2, 4, 6, 49]),
)
def test_cdf_of_a_quantile_is_its_probability(probability, t_scale, degrees):
    law = TPlusNormalLaw(np.array([2.0]), np.array([t_scale]), np.array([1.0]), degrees)
    # Quadrature and SciPy's quantiles agree to 1e-13. Locations of 2 are rounded at 4e-16.
    found = law.cdf(law.quantile(probability))[0]
    assert found == pytest.approx(probability, rel=0, abs=1e-12)


def test_cdf_of_one_number_is_taken_for_every_row():
    assert MIXED.cdf(np.array(4.0)).tolist() == MIXED.cdf(np.full(5, 4.0)).tolist()


def test_cdf_of_many_rows_is_that_of_each(monkeypatch):
    value = MIXED.location + np.array([-2.0, -1.0, 0.5, 1.0, 30.0])
    whole = MIXED.cdf(value)
    monkeypatch.setattr(t_plus_normal, "_ROWS_PER_BLOCK", 2)  # five rows, the last block short
    # A matrix product may sum in another order when it has fewer rows.
    assert MIXED.cdf(value) == pytest.approx(whole, rel=0, abs=1e-15)


def test_cdf_at_the_location_is_one_half():
    assert MIXED.cdf(MIXED.location).tolist() == [0.5] * 5


def test_cdf_rises_with_its_value():
    values = np.linspace(-20, 20, 41)
    cdf = np.array([MIXED.cdf(MIXED.location + v) for v in values])
    # Far out in a normal tail it is flat: 1e-15 is the rounding of a sum of weights.
    assert np.all(np.diff(cdf, axis=0) >= -1e-15)
    assert np.all(np.diff(cdf[15:26], axis=0) > 0)


def test_cdf_is_a_probability_however_far_out():
    ends = np.array([-1e9, 1e9])
    for degrees in range(1, 60):
        cdf = TPlusNormalLaw(np.zeros(2), np.ones(2), np.ones(2), degrees).cdf(ends)
        assert np.all((cdf >= 0) & (cdf <= 1)), degrees


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.5, 0.9, 0.99])
def test_draws_lie_below_a_quantile_as_often_as_it_says(probability):
    n = 100_000
    draws = MIXED.sample(np.random.default_rng(3), n)
    # A count of independent events: its share has standard error sqrt(p (1 - p) / n).
    error = np.sqrt(probability * (1 - probability) / n)
    below = np.mean(draws <= MIXED.quantile(probability), axis=0)
    assert below == pytest.approx(np.full(5, probability), rel=0, abs=4.5 * error)


def test_draws_have_a_row_for_each_sample_and_a_column_for_each_row():
    assert MIXED.sample(np.random.default_rng(0), 7).shape == (7, 5)


def test_draws_of_different_rows_are_independent():
    n = 40_000
    law = TPlusNormalLaw.t(np.zeros(2), np.ones(2), 4)
    positive = law.sample(np.random.default_rng(4), n) > 0
    # Both positive with probability 1/4, whose standard error is sqrt(3/16/n).
    assert np.mean(positive.all(axis=1)) == pytest.approx(0.25, abs=4 * np.sqrt(3 / 16 / n))


def test_confidence_law_of_two_bootstrapped_members_is_a_cauchy_law():
    # Half of a Cauchy law lies within one scale, sqrt(9) here.
    law = bootstrapped_confidence_law(np.array([1.0]), np.array([9.0]), 2)
    assert law.half_width(0.5)[0] == pytest.approx(3.0, rel=1e-14)


def test_confidence_law_of_five_bootstrapped_members_follows_the_t_table():
    # Eq. (3): t(4) at 97.5 % is 2.776 in every table, times sqrt(0.25).
    law = bootstrapped_confidence_law(np.array([1.0]), np.array([0.25]), 5)
    assert law.half_width(0.95)[0] == pytest.approx(2.776 / 2, abs=5e-4 / 2)


def test_prediction_law_of_a_bootstrapped_ensemble_adds_normal_noise_to_its_confidence_law():
    # Both parts at once have no table: sampled as written in Algorithm 2, lines 3 to 5.
    rng, n = np.random.default_rng(5), 200_000
    t = rng.standard_t(5 - 1, n)
    y = rng.normal(1.0 + t * np.sqrt(4.0), np.sqrt(9.0))
    law = bootstrapped_prediction_law(np.array([1.0]), np.array([4.0]), np.array([9.0]), 5)
    inside = np.mean(np.abs(y - 1.0) <= law.half_width(0.8)[0])
    assert inside == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / n))


def test_confidence_law_of_a_deep_ensemble_follows_the_t_table():
    law = deep_ensemble_confidence_law(np.array([1.0]), np.array([0.25]), 5)
    assert law.half_width(0.95)[0] == pytest.approx(2.776 / 2, abs=5e-4 / 2)


def test_prediction_law_of_a_deep_ensemble_is_normal_with_both_variances():
    law = deep_ensemble_prediction_law(np.array([1.0]), np.array([9.0]), np.array([16.0]))
    assert law.half_width(ONE_SIGMA)[0] == pytest.approx(5.0, rel=1e-14)


def test_prediction_law_of_a_deep_ensemble_has_the_variance_of_its_mixture():
    # Eq. (1) against the mixture's variance, integrated numerically over its density.
    means, variances = np.array([[-1.0], [0.5], [4.0]]), np.array([[0.5], [2.0], [1.0]])
    y = np.linspace(-30, 30, 20_001)
    density = stats.norm.pdf(y, means, np.sqrt(variances)).mean(axis=0) * (y[1] - y[0])
    mixture_mean = np.sum(density * y)
    mixture_std = np.sqrt(np.sum(density * (y - mixture_mean) ** 2))
    law = deep_ensemble_prediction_law(
        ensemble_mean(means), disagreement_variance(means), aleatoric_variance(variances)
    )
    # A smooth density that vanishes at both ends: such a sum is exact to rounding.
    assert law.location[0] == pytest.approx(mixture_mean, rel=1e-12)
    assert law.half_width(ONE_SIGMA)[0] == pytest.approx(mixture_std, rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_algorithm_2_agrees_with_the_exact_interval(level):
    n, tail = 100_000, (1 - level) / 2
    bounds = monte_carlo_prediction_interval(generator_from(jax.random.key(6)), MIXED, level, n)
    found = np.stack([MIXED.cdf(bounds[:, 0]), MIXED.cdf(bounds[:, 1])], axis=-1)
    # An empirical p-quantile has standard error sqrt(p (1 - p) / n) / density. The cdf multiplies
    # it by the density, which leaves the sd of the Beta law of an order statistic.
    error = np.sqrt(tail * (1 - tail) / n)
    assert found == pytest.approx(np.tile([tail, 1 - tail], (5, 1)), rel=0, abs=4.5 * error)


def test_algorithm_2_takes_ten_thousand_draws_as_published():
    law = TPlusNormalLaw.normal(np.zeros(1000), np.ones(1000))
    upper = monte_carlo_prediction_interval(generator_from(jax.random.key(7)), law, 0.8)[:, 1]
    expected = np.sqrt(0.1 * 0.9 / 10_000) / stats.norm.pdf(stats.norm.ppf(0.9))
    # The sd of 1000 near-normal bounds is itself known to 1 / sqrt(2000).
    assert np.std(upper) == pytest.approx(expected, rel=4 / np.sqrt(2000))


def test_algorithm_2_uses_one_draw_of_t_for_all_rows():
    law = TPlusNormalLaw.t(np.array([0.0, 5.0, -2.0]), np.array([1.0, 3.0, 0.5]), 4)
    bounds = monte_carlo_prediction_interval(generator_from(jax.random.key(8)), law, 0.9, 1000)
    standardised = (bounds - law.location[:, None]) / law.t_scale[:, None]
    # The same draws, so equal up to rounding; own draws would differ by about 0.1.
    assert standardised == pytest.approx(np.tile(standardised[0], (3, 1)), rel=1e-13)


def test_algorithm_2_draws_the_noise_of_each_row_anew():
    law = TPlusNormalLaw.normal(np.zeros(2), np.ones(2))
    first, second = monte_carlo_prediction_interval(
        generator_from(jax.random.key(9)), law, 0.9, 1000
    )
    assert np.all(first != second)


def test_algorithm_2_repeats_itself_for_the_same_key():
    first, again, other = (
        monte_carlo_prediction_interval(generator_from(jax.random.key(seed)), MIXED, 0.9, 100)
        for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist()
    assert np.all(first != other)


def test_algorithm_2_answers_no_rows_with_no_bounds():
    empty = TPlusNormalLaw.normal(np.zeros(0), np.zeros(0))
    assert monte_carlo_prediction_interval(generator_from(jax.random.key(0)), empty, 0.9).shape == (
        0,
        2,
    )


def test_cdf_of_a_law_without_width_is_a_step():
    law = TPlusNormalLaw(np.full(3, 2.0), np.zeros(3), np.zeros(3), 4)
    # The weights of the mixture sum to one up to rounding.
    np.testing.assert_allclose(law.cdf(np.array([1.0, 2.0, 3.0])), [0.0, 0.5, 1.0], atol=1e-15)


def test_log_density_is_that_of_the_laws_derivative():
    value, step = MIXED.location + np.array([-1.0, 0.5, 2.0, 5.0, -3.0]), 1e-4
    slope = (MIXED.cdf(value + step) - MIXED.cdf(value - step)) / (2 * step)
    # A central difference errs by step^2 / 6 times curvatures of order one, and by 1e-13 / step.
    assert np.exp(MIXED.log_density(value)) == pytest.approx(slope, rel=1e-6)


def test_log_density_of_one_number_is_taken_for_every_row():
    found = MIXED.log_density(np.array(4.0))
    assert found.tolist() == MIXED.log_density(np.full(5, 4.0)).tolist()


def test_normal_mixture_has_the_laws_location_and_distribution():
    means, scales, weights = MIXED.normal_mixture()
    value = MIXED.location + np.array([-1.0, 0.5, 2.0, 5.0, -3.0])
    found = stats.norm.cdf(value[:, None], means, scales) @ weights
    assert means[:, 0].tolist() == MIXED.location.tolist()
    assert found == pytest.approx(MIXED.cdf(value), rel=0, abs=1e-12)


@pytest.mark.parametrize(("known", "law"), LAWS.items())
def test_a_law_says_where_it_comes_from_and_which_levels_it_has(known, law):
    assert (law.origin, law.levels) == known


@each_law
def test_bounds_lie_half_a_width_from_the_location(law):
    half_width = law.half_width(0.9)
    lower, upper = law.interval(0.9).T
    assert lower.tolist() == (law.location - half_width).tolist()
    assert upper.tolist() == (law.location + half_width).tolist()
    # The level 2p - 1 is rounded.
    assert law.quantile(0.05) == pytest.approx(lower, rel=1e-14)
    assert law.quantile(0.95) == pytest.approx(upper, rel=1e-14)


@each_law
def test_the_law_of_some_rows_has_their_intervals_in_their_order(law):
    rows = np.array([4, 0, 4])
    some = law.take(rows)
    assert some.interval(0.9).tolist() == law.interval(0.9)[rows].tolist()
    assert (some.origin, some.levels) == (law.origin, law.levels)


def test_only_a_t_part_that_is_not_zero_counts():
    assert MIXED.has_t_part
    assert not MIXED.take(np.array([0])).has_t_part
    assert not LAWS["twins", None].has_t_part


def test_a_law_of_one_level_has_no_density():
    law = LAWS["model", (0.9,)]
    for ask in (law.normal_mixture, lambda: law.log_density(np.zeros(5))):
        with pytest.raises(NoSuchIntervalError, match="has no distribution"):
            ask()


def test_the_median_is_the_centre_even_on_an_infinite_scale():
    law = PivotLaw(np.array([1.0, 2.0]), np.array([1.0, np.inf]), np.arange(1.0, 5.0))
    assert law.quantile(0.5).tolist() == [1.0, 2.0]
