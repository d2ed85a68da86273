"""Errors on simulated twins: what they make of an interval, by hand and by law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.uncertainty import PivotLaw, TwinErrors

law = settings(derandomize=True, deadline=None, max_examples=60)


def test_the_error_is_told_in_units_of_what_was_claimed():
    found = TwinErrors(bias=np.zeros(3), error=np.array([1.0, 3, 0]), claimed=np.array([2.0, 1, 1]))
    assert found.factor.tolist() == [0.5, 3, 0]


def test_a_method_that_claims_certainty_has_a_finite_factor_only_where_it_is_right():
    with np.errstate(over="ignore"):
        found = TwinErrors(np.zeros(2), np.array([0.0, 1e3]), claimed=np.zeros(2)).factor
    assert found.tolist() == [0, np.inf]


@pytest.mark.parametrize(
    ("bias", "error", "biased"),
    [
        (2.1, 1.0, True),
        (-2.1, 1.0, True),  # in either direction
        (2.0, 1.0, False),  # by chance
        (0.0, 0.0, False),
        (0.1, 0.0, True),
    ],
)
def test_rows_are_biased_by_more_than_twice_the_error_of_the_centre(bias, error, biased):
    found = TwinErrors(np.array([bias]), np.array([error]), 0.1 * np.ones(1))
    assert found.is_biased.tolist() == [biased]


def test_a_half_width_is_the_rows_error_times_the_scores_quantile():
    found = PivotLaw(np.array([0.0, 10]), np.array([1.0, 3]), np.arange(1.0, 10.0))
    # Of nine scores, the ninth is the quantile at 9 / (9 + 1), the fifth that at one half.
    assert found.half_width(0.9).tolist() == [9, 27]
    assert found.interval(0.5).tolist() == [[-5, 5], [-5, 25]]
    assert found.origin == "twins"


@law
@given(
    st.lists(st.floats(0, 100), min_size=3, max_size=30),
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
)
@pytest.mark.filterwarnings("ignore:Confidence intervals at")
def test_an_interval_of_a_higher_level_contains_one_of_a_lower(scores, one, other):
    found = PivotLaw(np.zeros(1), np.ones(1), np.sort(scores))
    assert found.half_width(min(one, other)) <= found.half_width(max(one, other))


def test_a_level_beyond_the_scores_is_infinite_and_says_why():
    found = PivotLaw(np.zeros(2), np.ones(2), np.arange(1.0, 10.0))
    message = r"95 %, calibrated on simulated twins, are infinite.*the 9 simulated errors"
    with pytest.warns(UserWarning, match=message):
        assert found.half_width(0.95).tolist() == [np.inf, np.inf]
