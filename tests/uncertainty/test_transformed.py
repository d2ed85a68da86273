"""Transformed targets: there and back, the mean and variance over noise, and the laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.preprocessing import PowerTransformer

from confide.uncertainty import BackTransformedLaw, BoundedLaw, TPlusNormalLaw, Transform

LOG, SQRT = Transform("log"), Transform("sqrt")
EACH = [LOG, SQRT, *(Transform("yeo-johnson", power) for power in (0.0, 0.3, 1.0, 1.6, 2.0))]
each = pytest.mark.parametrize("transform", EACH, ids=str)
positive = st.floats(1e-3, 1e3)


@each
@given(y=positive)
def test_there_and_back(transform, y):
    y = np.array([y, -y] if transform.name == "yeo-johnson" else [y])
    # A target of 1000 and a power of 0 keep 1e-16 * 1000 of a transformed 7.
    assert transform.back(transform.forward(y)) == pytest.approx(y, rel=1e-10)


@each
@given(y=positive)
def test_the_slope_is_the_derivative(transform, y):
    # Where a power of 2 grows as y^2, z is 5e5 and has a rounding of 1e-10, of steps of 1e-6 z.
    z = transform.forward(np.array([y]))
    step = 1e-6 * np.maximum(np.abs(z), 0.01)
    numeric = (transform.back(z + step) - transform.back(z - step)) / (2 * step)
    assert transform.slope(np.array([y])) == pytest.approx(numeric, rel=1e-4)


def test_the_power_of_yeo_and_johnson_is_that_of_scikit_learn():
    y = stats.gamma(5).rvs(500, random_state=0) - 2
    found = Transform.fitted("yeo-johnson", y)
    theirs = PowerTransformer(standardize=False).fit(y[:, None])
    assert found.power == pytest.approx(theirs.lambdas_[0], abs=1e-4)
    assert found.forward(y) == pytest.approx(theirs.transform(y[:, None])[:, 0], abs=1e-3)


def test_a_power_beyond_all_numbers_is_kept_at_the_edge():
    y = np.exp(np.exp(np.linspace(0, 2, 200)))
    assert Transform.fitted("yeo-johnson", y).power == 0.0
    assert Transform.fitted("yeo-johnson", -y).power == 2.0


def test_the_mean_and_variance_of_a_lognormal_target():
    mu, s = np.array([0.0, 1.0, -3.0]), np.array([0.1, 1.0, 2.0])
    mean = np.exp(mu + s**2 / 2)
    assert LOG.mean(mu, s) == pytest.approx(mean, rel=1e-12)
    assert LOG.variance(mu, s) == pytest.approx(np.expm1(s**2) * mean**2, rel=1e-6)
    assert LOG.slope_of_mean(mu, s) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("mu", [-0.5, 0.0, 0.4, 3.0])
@pytest.mark.parametrize("transform", EACH[1:], ids=str)
def test_mean_and_variance_are_integrals_over_the_noise(transform, mu):
    s = 0.7

    def expected(power, centre=0.0):
        def integrand(z):
            z = np.array([z])
            return ((transform.back(mu + s * z) - centre) ** power * stats.norm.pdf(z))[0]

        return integrate.quad(integrand, -12, 12, points=[-mu / s], epsabs=1e-12)[0]

    location, spread = np.array([mu]), np.array([s])
    mean = expected(1)
    # The square root has a kink at zero, where a rule of 40 nodes has three right digits.
    assert transform.mean(location, spread) == pytest.approx(mean, rel=5e-3, abs=5e-4)
    variance = transform.variance(location, spread)
    assert variance == pytest.approx(expected(2, mean), rel=5e-3, abs=5e-4)


@each
def test_the_location_of_a_mean_is_found_again(transform):
    mu, s = np.array([-0.2, 0.5, 2.0]), np.array([0.3, 0.0, 1.0])
    found = transform.location(transform.mean(mu, s), s)
    # Below zero a square root of no noise tells nothing, and there is none here.
    assert found == pytest.approx(mu, abs=1e-9)


def of_mean(transform):
    rows = 3
    law = TPlusNormalLaw.t(np.array([0.5, 1.0, 2.0]), np.full(rows, 0.2), 4)
    return BackTransformedLaw(law, transform, np.full(rows, 0.4), law.location, np.full(rows, 1.3))


def of_observation(transform):
    law = TPlusNormalLaw.normal(np.array([0.5, 1.0, 2.0]), np.array([0.2, 0.4, 0.8]))
    return BackTransformedLaw.of_observation(law, transform, 3)


@each
@pytest.mark.parametrize("make", [of_mean, of_observation])
def test_a_law_agrees_with_itself(transform, make):
    law = make(transform)
    for p in (0.02, 0.3, 0.5, 0.9):
        value = law.quantile(p)
        assert law.quantile_of_each(np.full(3, p)) == pytest.approx(value, rel=1e-9)
        if np.all(value > transform.lowest):
            assert law.cdf(value) == pytest.approx(np.full(3, p), abs=1e-9)
            step = 1e-5
            density = (law.cdf(value + step) - law.cdf(value - step)) / (2 * step)
            assert np.exp(law.log_density(value)) == pytest.approx(density, rel=1e-3)
    assert law.interval(0.9) == pytest.approx(
        np.stack([law.quantile(0.05), law.quantile(0.95)], axis=-1)
    )
    draws = law.sample(np.random.default_rng(0), 4000)
    assert np.mean(draws <= law.quantile(0.3), axis=0) == pytest.approx(0.3, abs=0.03)  # 4 errors
    assert law.take(np.array([2])).quantile(0.7).tolist() == law.quantile(0.7)[2:].tolist()
    assert (law.origin, law.levels, law.has_t_part) == ("model", None, make is of_mean)


def test_a_lognormal_law_by_its_formula():
    law = of_observation(LOG)
    expected = stats.lognorm([0.2, 0.4, 0.8], scale=np.exp([0.5, 1.0, 2.0]))
    assert pytest.approx(np.array(expected.interval(0.9))) == law.interval(0.9).T
    value = np.array([1.0, 2.0, 3.0])
    assert law.log_density(value) == pytest.approx(expected.logpdf(value))
    below = np.array([-1.0, 0.0, -5.0])
    assert law.cdf(below).tolist() == [0, 0, 0]
    assert law.log_density(below).tolist() == [-np.inf] * 3


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.floats(-100, 100),
    st.floats(0.01, 50),
    st.floats(0.001, 0.999),
    st.tuples(st.floats(-60, 0), st.floats(0.5, 60)),
)
def test_a_bounded_law_never_crosses_its_bounds(location, scale, p, ends):
    law = BoundedLaw(TPlusNormalLaw.normal(np.array([location]), np.array([scale])), *ends)
    drawn = law.sample(np.random.default_rng(0), 50)
    for value in (law.quantile(p), law.quantile_of_each(np.array([p])), law.interval(p), drawn):
        assert np.all((ends[0] <= value) & (value <= ends[1]))
    assert law.quantile_of_each(np.array([p])) == pytest.approx(law.quantile(p), abs=1e-6)
    assert law.cdf(np.array([ends[1]])).tolist() == [1]
    assert law.cdf(np.array([ends[0] - 1])).tolist() == [0]
    assert law.log_density(np.array([ends[0] - 1])).tolist() == [-np.inf]
    middle = np.array([0.25])
    assert law.log_density(middle).tolist() == law.law.log_density(middle).tolist()
    assert law.take(np.array([0, 0])).quantile(p).tolist() == [law.quantile(p)[0]] * 2
