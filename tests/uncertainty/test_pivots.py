"""Studentised errors of simulated fits: what they make of an interval, by hand and by law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from confide.uncertainty import PivotLaw, Simulated, pooled_scores

law = settings(derandomize=True, deadline=None, max_examples=60)
tables = arrays(np.float64, (4, 3), elements=st.floats(-10, 10))


def simulated(errors, claimed=1.0, claimed_total=2.0, noise=0.0):
    errors = np.asarray(errors, float)
    full = np.full_like(errors, 1.0)
    return Simulated(errors, claimed * full, claimed_total * full, noise * full)


def test_factor_and_bias_of_three_simulations_by_hand():
    found = simulated([[1.0], [2.0], [3.0]], claimed=2.0, noise=4.0).summary()
    # Studentised: 1/2, 1, 3/2; squares 1/4, 1, 9/4 with mean 7/6 and variance 49/48.
    assert found.factor == pytest.approx(np.sqrt(7 / 6))
    assert found.factor_error == pytest.approx(np.sqrt(49 / 48 / 3) / 2 / (7 / 6), rel=1e-2)
    assert found.bias.tolist() == [2]
    # Of a squared mean of 4, chance is one in three.
    assert found.systematic == pytest.approx(np.sqrt(4 - 1 / 3))
    assert found.spread.tolist() == [1]
    assert found.claimed.tolist() == [2]
    # With noise of variance 16, in units of 2: (1 + 16) / 4, (4 + 16) / 4, (9 + 16) / 4.
    assert found.prediction_factor == pytest.approx(np.sqrt(62 / 12))
    assert found.n_simulations == 3


def test_error_of_the_factor_is_that_of_a_root_of_a_mean():
    errors = np.random.default_rng(0).normal(size=(20, 4000))
    found = simulated(errors).summary()
    # The scatter of the factor over independent rows is what its error says, root mean squared;
    # the root of the mean of 20 squares is a little curved.
    claimed = np.sqrt(np.mean((found.factor_error * found.factor) ** 2))
    assert claimed == pytest.approx(found.factor.std(), rel=0.1)
    assert np.median(found.factor_error) == pytest.approx(1 / np.sqrt(2 * 20), rel=0.1)


def test_a_shift_takes_off_a_share_of_what_the_other_simulations_show():
    found = simulated([[1.0], [2.0], [6.0]])
    # Means of the others are 4, 3.5, 1.5; half of them leaves -1, 1/4, 21/4.
    left = np.array([[-1], [0.25], [5.25]])
    assert found.summary(0.5).factor == pytest.approx(np.sqrt(np.mean(left**2)))
    assert found.confidence_scores(0.5).tolist() == pooled_scores(left).tolist()
    # The bias that is told is that before the shift.
    assert found.summary(0.5).bias.tolist() == [3]


def test_scores_of_new_observations_by_hand():
    found = simulated([[1.0], [2.0], [6.0]], noise=3.0)
    # Halved left-overs -1, 1/4, 21/4 less noise of 3 times 4, in units of 2; what is expected of
    # their squares does not depend on the noise that was drawn.
    left = np.array([-1, 0.25, 5.25])
    expected = (left**2 + 9) / 4
    others = np.sqrt((expected.sum() - expected) / 2)
    scores = np.sort(np.abs(left - 12) / 2 / others)
    assert found.prediction_scores(np.full((3, 1), 4.0), 0.5) == pytest.approx(scores)


def test_scores_of_new_observations_have_the_law_of_the_noise():
    generator = np.random.default_rng(2)
    errors, drawn = np.zeros((10, 20_000)), generator.normal(size=(10, 20_000))
    scores = simulated(errors, noise=5.0).prediction_scores(drawn)
    # Without errors a score is the noise itself: no chance in what it is measured by.
    share = np.mean(scores <= stats.norm.ppf(0.975))
    assert share == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 200_000))


def test_a_full_shift_removes_a_constant_error():
    assert simulated(np.full((5, 2), 3.0)).summary(1.0).factor.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("errors", "claimed", "biased"),
    [
        ([3.0, 3.1, 2.9], 1.0, True),  # far from zero, in chance and in claims
        ([3.0, 3.1, 2.9], 4.0, False),  # within what the method claims
        ([-3.0, 3.1, 2.9], 1.0, False),  # mostly chance
        ([0.0, 0.0, 0.0], 1.0, False),
    ],
)
def test_rows_are_biased_beyond_chance_and_beyond_claims(errors, claimed, biased):
    found = simulated(np.array(errors)[:, None], claimed=claimed).summary()
    assert found.is_biased.tolist() == [biased]


def test_bias_of_opposite_signs_in_two_truths_is_bias():
    errors = np.array([[3.0], [-3.0], [3.2], [-3.2], [2.8], [-2.8]])
    one = np.ones_like(errors)
    found = Simulated(errors, one, one, one, n_truths=2).summary()
    assert found.bias == pytest.approx(0)
    assert found.spread == pytest.approx(0.2)
    assert found.systematic == pytest.approx(np.sqrt(9 - 0.04 / 3))
    assert found.is_biased.tolist() == [True]


def test_scores_compare_each_simulation_with_the_others_of_its_row():
    # Row 0: others' squares average 25/2, 5, 17/2 (of 1, 4, 3); row 1 has none but zeros.
    studentised = np.array([[1.0, 0.0], [-4.0, 0.0], [3.0, 0.0]])
    expected = sorted([1 / np.sqrt(12.5), 4 / np.sqrt(5), 3 / np.sqrt(8.5), 0, 0, 0])
    assert pooled_scores(studentised).tolist() == pytest.approx(expected)


def test_scores_of_normal_errors_follow_student_whatever_the_rows_scales():
    generator = np.random.default_rng(1)
    n, scales = 8, generator.uniform(0.1, 10, 20_000)
    scores = pooled_scores(scales * generator.normal(size=(n, len(scales))))
    # A normal error over the root mean square of n - 1 others is Student's with as many degrees.
    for level in (0.5, 0.8, 0.95):
        share = np.mean(scores <= stats.t(n - 1).ppf((1 + level) / 2))
        # Rows are independent, scores of a row at most fully dependent: n times the variance.
        assert share == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / len(scales)))


@law
@given(tables, st.floats(0.01, 100))
def test_scores_do_not_depend_on_units(table, unit):
    assert pooled_scores(unit * table) == pytest.approx(pooled_scores(table), rel=1e-9)


@law
@given(
    st.lists(st.floats(0, 100), min_size=3, max_size=30),
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
)
@pytest.mark.filterwarnings("ignore:Intervals at")
def test_an_interval_of_a_higher_level_contains_one_of_a_lower(scores, one, other):
    found = PivotLaw(np.zeros(1), np.ones(1), np.sort(scores))
    assert found.half_width(min(one, other)) <= found.half_width(max(one, other))


def test_a_level_beyond_the_scores_is_infinite_and_says_why():
    found = PivotLaw(np.zeros(2), np.ones(2), np.arange(1.0, 10.0))
    assert found.half_width(0.9).tolist() == [9, 9]
    with pytest.warns(UserWarning, match=r"95 %, calibrated on a simulated twin.*the 9 simulated"):
        assert found.half_width(0.95).tolist() == [np.inf, np.inf]
