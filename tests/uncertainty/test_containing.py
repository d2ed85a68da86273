"""A law that contains another: of pivots, of t laws, and of a law that is not symmetric."""

import numpy as np
import pytest
from scipy import stats

from confide import NoSuchIntervalError
from confide.uncertainty import ContainingLaw, LevelLaw, PivotLaw, TPlusNormalLaw

SCORES = np.arange(1.0, 200.0) / 10
# Of the second row, the contained law has another centre.
PIVOTS = ContainingLaw(
    PivotLaw(np.zeros(2), np.ones(2), np.arange(1.0, 100.0)),
    PivotLaw(np.array([0.0, 3.0]), np.array([2.0, 1.0]), SCORES),
)
# As noise that is learnt: nearly normal, about a true function with heavy tails.
TAILS = ContainingLaw(
    TPlusNormalLaw.t(np.array([1.0, 1.0]), np.array([1.5, 20.0]), 50),
    TPlusNormalLaw.t(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 4),
)
each_law = pytest.mark.parametrize("law", [PIVOTS, TAILS], ids=["pivots", "tails"])


@each_law
@pytest.mark.parametrize("level", [0.01, 0.3, 0.8, 0.95, 0.985])
def test_it_has_the_wider_intervals(law, level):
    own, inner, found = (each.interval(level) for each in (law.law, law.contained, law))
    assert found[:, 0].tolist() == np.minimum(own, inner)[:, 0].tolist()
    assert found[:, 1].tolist() == np.maximum(own, inner)[:, 1].tolist()
    assert np.all(law.cdf(found[:, 1]) >= (1 + level) / 2 - 1e-9)
    assert np.all(law.cdf(found[:, 1] - 1e-6) <= (1 + level) / 2 + 0.01)
    for side, tail in enumerate([(1 - level) / 2, (1 + level) / 2]):
        assert law.quantile(tail) == pytest.approx(found[:, side])


@each_law
@pytest.mark.parametrize("level", [0.8, 0.98])
def test_it_draws_as_it_bounds(law, level):
    draws = law.sample(np.random.default_rng(0), 20_000)
    lower, upper = law.interval(level).T
    # Four standard errors, and a share of 1 / 100 between two scores.
    assert np.mean((lower <= draws) & (draws <= upper), axis=0) == pytest.approx(level, abs=0.022)
    assert law.quantile(0.5).tolist() == law.law.location.tolist()
    second = law.take(np.array([1]))
    assert second.interval(level).tolist() == law.interval(level)[1:].tolist()


def test_draws_beyond_all_scores_are_infinite():
    few = PivotLaw(np.zeros(1), np.full(1, 9.0), np.arange(1.0, 10.0))
    draws = ContainingLaw(TPlusNormalLaw.normal(np.zeros(1), np.ones(1)), few).sample(
        np.random.default_rng(0), 4000
    )
    assert np.mean(np.isinf(draws)) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 4000))


def test_the_density_is_that_of_the_law_that_decides():
    near, far, farther = (np.full(2, 1.0 + distance) for distance in (0.5, 7.0, 1e4))
    own, other = TAILS.law.log_density, TAILS.contained.log_density
    assert TAILS.log_density(near).tolist() == own(near).tolist()
    # The second row is so wide that the other law decides nowhere near.
    assert TAILS.log_density(far).tolist() == [other(far)[0], own(far)[1]]
    assert TAILS.log_density(farther).tolist() == other(farther).tolist()
    # It integrates to one.
    x = np.concatenate([-np.geomspace(1e-3, 1e5, 4000)[::-1], np.geomspace(1e-3, 1e5, 4000)])
    first = TAILS.take(np.zeros(len(x), int))
    assert np.trapezoid(np.exp(first.log_density(1.0 + x)), x) == pytest.approx(1, abs=1e-3)


def test_between_two_medians_half_lies_on_each_side_and_the_density_is_its_own():
    apart = ContainingLaw(
        TPlusNormalLaw.normal(np.zeros(1), np.ones(1)),
        TPlusNormalLaw.normal(np.full(1, 3.0), np.ones(1)),
    )
    values = np.array([-1.0, 0.5, 2.0, 4.0])
    law = apart.take(np.zeros(4, int))
    assert law.cdf(values) == pytest.approx([stats.norm.cdf(-1), 0.5, 0.5, stats.norm.cdf(1)])
    assert law.log_density(values) == pytest.approx(stats.norm.logpdf([-1.0, 0.5, 2.0, 1.0]))
    draws = apart.sample(np.random.default_rng(0), 4000)
    assert not np.any((draws > 0) & (draws < 3))


@pytest.mark.slow
def test_the_score_is_near_that_of_the_law_by_itself():
    """Of a law that is wider above 95 % alone."""
    levels = (np.arange(4000) + 0.5) / 4000
    quantiles = np.array([TAILS.quantile(level) for level in levels])[:, 0]
    y = 1.0 + 1.5  # the CRPS is twice the mean of the quantile losses
    crps = 2 * np.mean((quantiles - y) * ((quantiles >= y) - levels))
    own = np.array([TAILS.law.quantile(level) for level in levels])[:, 0]
    assert crps == pytest.approx(2 * np.mean((own - y) * ((own >= y) - levels)), rel=5e-3)
    mixture, by_itself = TAILS.normal_mixture(), TAILS.law.normal_mixture()
    assert mixture.scales.tolist() == by_itself.scales.tolist()


def test_what_the_other_law_has_no_interval_for_is_as_it_was():
    other = LevelLaw(np.zeros(1), np.full(1, 9.0), 0.9)
    law = ContainingLaw(TPlusNormalLaw.normal(np.zeros(1), np.ones(1)), other)
    assert law.interval(0.9).tolist() == [[-9, 9]]
    assert law.interval(0.8).tolist() == law.law.interval(0.8).tolist()
    with pytest.raises(NoSuchIntervalError):
        law.contained.interval(0.8)


def test_it_is_named_after_the_law_by_itself():
    assert (PIVOTS.origin, TAILS.origin, TAILS.levels) == ("twins", "model", None)
    assert TAILS.has_t_part
    assert not PIVOTS.has_t_part
