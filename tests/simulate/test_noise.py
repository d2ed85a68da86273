"""Noise laws: mean 0, variance 1, exact probabilities, and draws that follow them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from confide.simulate import NOISE_LAWS

LAWS = list(NOISE_LAWS.values())
REFERENCES = {
    "gaussian": stats.norm(),
    "t3": stats.t(3, scale=np.sqrt(1 / 3)),
    "gamma": stats.gamma(1 / 10, loc=-1 / np.sqrt(10), scale=np.sqrt(10)),
}
each_law = pytest.mark.parametrize("law", LAWS, ids=list(NOISE_LAWS))


def one(value):
    return np.array([value], np.float64)


def above(law, z):
    """P(Z > z)."""
    return float(law.interval_probability(one(z), one(np.inf))[0])


def below(law, z):
    """P(Z < -z)."""
    return float(law.interval_probability(one(-np.inf), one(-z))[0])


def integral(function):
    # Cut where the gamma law ends and where the bulk ends, so that each piece is smooth.
    cuts = [0, 1 / np.sqrt(10), 3, np.inf]
    pieces = [
        integrate.quad(function, a, b, epsabs=1e-10, epsrel=1e-10, limit=200)[0]
        for a, b in itertools.pairwise(cuts)
    ]
    return sum(pieces)


@each_law
def test_mean_is_zero(law):
    # E Z is the area above the cdf right of zero less the area below it left of zero. Three
    # pieces of each, integrated to 1e-10.
    mean = integral(lambda z: above(law, z)) - integral(lambda z: below(law, z))
    assert mean == pytest.approx(0, abs=1e-9)


@each_law
def test_variance_is_one(law):
    # E Z^2 is the integral of 2 z P(|Z| > z): no sampling, since the t law has no fourth moment.
    variance = integral(lambda z: 2 * z * (above(law, z) + below(law, z)))
    assert variance == pytest.approx(1, abs=1e-9)


@each_law
def test_cdf_and_survival_are_scipys(law):
    z = np.array([-np.inf, -30, -5, -1, -0.31, -0.1, 0, 0.1, 1, 5, 30, np.inf])
    reference = REFERENCES[law.name]
    # Two implementations of one function, to a few hundred ulps; 1e-300 and less is no matter.
    assert law.cdf(z) == pytest.approx(reference.cdf(z), rel=1e-13, abs=1e-300)
    assert law.survival(z) == pytest.approx(reference.sf(z), rel=1e-13, abs=1e-300)


def test_half_of_a_symmetric_law_lies_below_zero():
    assert [NOISE_LAWS[name].cdf(one(0))[0] for name in ("gaussian", "t3")] == [0.5, 0.5]


def test_t_law_follows_the_t_table():
    # t(3) at 97.5 % is 3.182 in every table; its density there is 0.02.
    z = one(3.182 * np.sqrt(1 / 3))
    assert NOISE_LAWS["t3"].cdf(z)[0] == pytest.approx(0.975, abs=5e-4 * 0.02)


@each_law
@pytest.mark.parametrize(("lower", "upper"), [(5.0, 6.0), (8.0, 9.0), (30.0, np.inf)])
def test_probability_in_the_right_tail_keeps_its_digits(law, lower, upper):
    reference = REFERENCES[law.name]
    expected = reference.sf(lower) - reference.sf(upper)
    found = law.interval_probability(one(lower), one(upper))[0]
    # The cdf would leave an absolute error of 1e-16 on numbers down to 1e-197. The difference at
    # most doubles a relative error of 1e-13, or multiplies it by 5 for the t law's slow decay.
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["gaussian", "t3"])
def test_both_tails_of_a_symmetric_law_are_alike(name):
    lower, upper = np.array([0.5, 5.0, 20.0]), np.array([1.0, 6.0, np.inf])
    right = NOISE_LAWS[name].interval_probability(lower, upper)
    left = NOISE_LAWS[name].interval_probability(-upper, -lower)
    assert right == pytest.approx(left, rel=1e-15, abs=0)


def test_gamma_law_has_nothing_below_its_smallest_value():
    smallest = one(-1 / np.sqrt(10))
    assert NOISE_LAWS["gamma"].cdf(smallest - 1e-12)[0] == 0
    assert NOISE_LAWS["gamma"].interval_probability(smallest - 1, smallest - 1e-12)[0] == 0


@each_law
@pytest.mark.parametrize(("lower", "upper"), [(1.0, -1.0), (3.0, 2.0), (-2.0, -3.0)])
def test_crossed_bounds_hold_nothing(law, lower, upper):
    assert law.interval_probability(one(lower), one(upper))[0] == 0


@each_law
@pytest.mark.parametrize(("lower", "upper"), [(-0.3, 0.2), (-1.0, 1.0), (0.5, 3.0), (-9.0, -0.2)])
def test_probability_is_the_share_of_draws_inside(law, lower, upper):
    n = 40_000
    draws = law.sample(np.random.default_rng(1), n)
    share = np.mean((draws >= lower) & (draws <= upper))
    p = law.interval_probability(one(lower), one(upper))[0]
    assert 0.01 < p < 0.99
    assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n))


@each_law
def test_draws_follow_the_cdf(law):
    n = 20_000
    draws = np.sort(law.sample(np.random.default_rng(2), n))
    # Within 1e-9 of its end the gamma law is steeper than floats are dense: 2 % of its draws are
    # that end itself. The step function is compared with the cdf from there on.
    seen = draws > -1 / np.sqrt(10) + 1e-9
    cdf, rank = law.cdf(draws[seen]), np.arange(1, n + 1)[seen]
    distance = max(np.max(rank / n - cdf), np.max(cdf - (rank - 1) / n))
    # Kolmogorov's statistic exceeds 2.23 / sqrt(n) once in 10,000 samples.
    assert distance < 2.23 / np.sqrt(n)


@each_law
@pytest.mark.parametrize("shape", [7, (2, 3)])
def test_draws_have_the_shape_asked_for(law, shape):
    assert law.sample(np.random.default_rng(0), shape).shape == np.empty(shape).shape


@each_law
def test_draws_are_distinct_and_come_from_the_generator(law):
    first, again = (law.sample(np.random.default_rng(3), 20) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert len(np.unique(first)) > 10  # of the gamma law's, two or so are its end


bounds = st.floats(-50, 50)


@given(st.sampled_from(LAWS), st.lists(bounds, min_size=3, max_size=3).map(sorted))
def test_probabilities_of_adjacent_intervals_add_up(law, cuts):
    a, b, c = map(one, cuts)
    parts = law.interval_probability(a, b) + law.interval_probability(b, c)
    # Six values of a cdf or survival function. SciPy holds each to about 1e-14.
    assert law.interval_probability(a, c) == pytest.approx(parts, rel=0, abs=1e-13)


@given(st.sampled_from(LAWS), bounds, bounds)
def test_what_lies_outside_is_what_is_missing_inside(law, first, second):
    lower, upper = sorted((first, second))
    inside = law.interval_probability(one(lower), one(upper))[0]
    assert 0 <= inside <= 1
    outside = law.cdf(one(lower))[0] + law.survival(one(upper))[0]
    assert inside == pytest.approx(1 - outside, rel=0, abs=1e-13)


def test_bounds_of_any_shape_are_judged_one_by_one():
    law = NOISE_LAWS["t3"]
    lower = np.array([[-1.0, 0.5, 3.0], [-2.0, -0.5, -np.inf]])
    upper = np.array([[1.0, 0.7, 9.0], [-1.0, 2.5, np.inf]])
    together = law.interval_probability(lower, upper)
    apart = [
        law.interval_probability(one(low), one(high))[0]
        for low, high in zip(lower.ravel(), upper.ravel(), strict=True)
    ]
    assert together.ravel().tolist() == apart


def test_laws_are_known_by_their_names():
    assert {name: law.name for name, law in NOISE_LAWS.items()} == {
        "gaussian": "gaussian",
        "t3": "t3",
        "gamma": "gamma",
    }


def test_a_mistyped_law_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="no noise law 'gausian'; there are") as error:
        NOISE_LAWS["gausian"]
    assert str(error.value).endswith("Did you mean 'gaussian'?")


def test_a_name_like_no_other_is_answered_with_the_list():
    with pytest.raises(ValueError, match="no noise law 'x'") as error:
        NOISE_LAWS["x"]
    assert str(error.value).endswith("there are ('gaussian', 't3', 'gamma').")
