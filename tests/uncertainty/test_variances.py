"""The variances of Algorithms 1 and 2 on arrays small enough to check by hand, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confide.uncertainty import (
    aleatoric_variance,
    classical_variance,
    disagreement_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

EPS = np.finfo(np.float64).eps
OF_MEANS = (ensemble_mean, optimisation_variance, disagreement_variance)

outputs = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(1, 4)),
    elements=st.floats(-100, 100, allow_subnormal=False),
)
law = settings(derandomize=True, deadline=None, max_examples=50)


# Three members, two rows: by hand in every test below.
MEANS = np.array([[1.0, 10.0], [2.0, 10.0], [6.0, 40.0]])


def test_ensemble_mean_averages_over_members():
    assert ensemble_mean(MEANS).tolist() == [3.0, 20.0]


def test_aleatoric_variance_averages_variances_and_not_deviations():
    # Standard deviations 1 and 3: their mean squared would be 4.
    assert aleatoric_variance(np.array([[1.0], [9.0]])).tolist() == [5.0]


def test_optimisation_variance_is_the_sample_variance_between_members():
    # Deviations (-2, -1, 3) and (-10, -10, 20), divisor M - 1 = 2.
    assert optimisation_variance(MEANS).tolist() == [7.0, 300.0]


def test_disagreement_variance_has_divisor_m():
    # The same deviations, divisor M = 3.
    assert disagreement_variance(MEANS) == pytest.approx([14 / 3, 200.0], rel=4 * EPS)


def test_classical_variance_is_the_mean_squared_shift_of_retraining():
    shifts = np.array([[[1.0, 0.0], [-1.0, 3.0], [2.0, 0.0]]])
    assert classical_variance(MEANS, MEANS + shifts).tolist() == [2.0, 3.0]


def test_classical_variance_does_not_centre_the_shifts():
    # All members move by 5: the variance of the shifts would be 0.
    assert classical_variance(MEANS, MEANS[None] + 5).tolist() == [25.0, 25.0]


def test_classical_variance_averages_all_m_times_b_squared_shifts():
    members = np.array([[0.0], [10.0]])
    # Retraining 1 moves the members by 1 and 2, retraining 2 by 3 and 0, retraining 3 by 0 and -4.
    retrained = np.array([[[1.0], [12.0]], [[3.0], [10.0]], [[0.0], [6.0]]])
    assert classical_variance(members, retrained).tolist() == [(1 + 4 + 9 + 0 + 0 + 16) / 6]


def test_classical_variance_compares_each_member_with_itself():
    # Both retrained members came back to where they started; crosswise they would be 10 apart.
    members = np.array([[0.0], [10.0]])
    assert classical_variance(members, np.array([[[0.0], [10.0]]])).tolist() == [0.0]


def test_only_the_optimisation_part_of_the_epistemic_variance_shrinks_with_members():
    classical, optimisation = np.array([0.5, 2.0]), np.array([4.0, 8.0])
    assert epistemic_variance(classical, optimisation, 4).tolist() == [1.5, 4.0]


def test_means_of_single_precision_members_are_summed_in_double():
    # 2^24 + 1 is the first whole number that single precision cannot hold.
    members = np.array([[2.0**24], [1.0]], np.float32)
    assert ensemble_mean(members).tolist() == [2.0**23 + 0.5]


def test_shifts_of_single_precision_members_are_squared_in_double():
    # 4097^2 = 2^24 + 2^13 + 1 needs 25 bits, single precision has 24.
    members = np.zeros((1, 1), np.float32)
    assert classical_variance(members, members[None] + np.float32(4097)).tolist() == [4097.0**2]


@pytest.mark.parametrize(
    ("variance", "expected"), [(optimisation_variance, 2.0), (disagreement_variance, 1.0)]
)
def test_variance_between_members_survives_a_large_mean(variance, expected):
    # Squares near 1e16 are 2 apart in double precision: a difference of squares would be noise.
    assert variance(np.array([[1e8 - 1], [1e8 + 1]])).tolist() == [expected]


@law
@given(outputs)
def test_disagreement_is_the_difference_of_second_moment_and_squared_mean(means):
    # Eq. (1) as printed. Squares are at most 1e4, each rounded, summed and subtracted.
    as_printed = np.mean(means**2, axis=0) - np.mean(means, axis=0) ** 2
    assert disagreement_variance(means) == pytest.approx(as_printed, rel=0, abs=20 * EPS * 1e4)


@law
@given(outputs)
def test_disagreement_is_m_minus_one_over_m_of_the_optimisation_variance(means):
    ratio = (len(means) - 1) / len(means)
    assert disagreement_variance(means) == pytest.approx(
        ratio * optimisation_variance(means), rel=8 * EPS, abs=0
    )


@law
@given(outputs, st.randoms(use_true_random=False))
def test_order_of_members_is_irrelevant_to_what_they_say_together(means, random):
    order = random.sample(range(len(means)), len(means))
    # A sum of at most 8 terms below 1e2 (1e4 when squared) is rounded at most 8 times.
    for function in OF_MEANS:
        assert function(means[order]) == pytest.approx(function(means), rel=0, abs=20 * EPS * 1e4)


@law
@given(outputs, st.integers(1, 3))
def test_retrained_equal_to_original_gives_zero_classical_variance(means, n_retrains):
    retrained = np.stack([means] * n_retrains)
    assert np.all(classical_variance(means, retrained) == 0)


@law
@given(outputs)
def test_equal_members_show_no_optimisation_variance(means):
    equal = np.broadcast_to(means[:1], means.shape)
    # The mean of M equal numbers may be off by one rounding of a number below 1e2.
    assert np.all(optimisation_variance(equal) <= 2 * (4 * EPS * 1e2) ** 2)
