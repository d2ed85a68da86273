"""Coverage of observed targets: by hand, by law, from a prediction, and its messages."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide import NoSuchIntervalError, Prediction
from confide.metrics import COVERAGE_LEVELS, observed_coverage
from confide.uncertainty import LevelLaw, TPlusNormalLaw


def predicted(law):
    """A prediction that knows the law of a new observation and nothing else."""
    return Prediction(
        mean=law.location,
        aleatoric_variance=None,
        epistemic_variance=None,
        prediction_law=law,
        confidence_law=None,
        classical_variance=None,
        optimisation_variance=None,
        n_members=1,
    )


def standard_normal(n_rows):
    return predicted(TPlusNormalLaw.normal(np.zeros(n_rows), np.ones(n_rows)))


def test_shares_and_standard_errors_by_hand():
    # Level 0.5: rows 0 and 1 are held, one of them on its bound; level 0.9: all are.
    bounds = np.array([[[0, -5], [1, 5]], [[0, -5], [2, 5]], [[0, -np.inf], [2, np.inf]]], float)
    found = observed_coverage(np.array([1.0, 0.5, -3.0]), bounds, np.array([0.5, 0.9]))
    assert found.confidence_levels.tolist() == [0.5, 0.9]
    assert found.shares.tolist() == [2 / 3, 1.0]
    assert found.standard_error == pytest.approx([np.sqrt(1 / 12), np.sqrt(0.03)], rel=1e-14)


@settings(max_examples=50)
@given(st.integers(1, 400), st.floats(0, 1))
def test_bars_end_where_a_score_test_begins_to_reject(n_rows, part):
    n_held = round(part * n_rows)
    y = np.repeat([0.0, 2.0], [n_held, n_rows - n_held])
    bounds = np.tile([[-1.0], [1.0]], (n_rows, 1, 1))
    found = observed_coverage(y, bounds, np.array([0.9]))
    share, z = n_held / n_rows, stats.norm.ppf(0.975)
    # At shares of 0 and 1 one end is there, up to rounding.
    assert -1e-15 <= found.lower[0] <= share + 1e-15
    assert share - 1e-15 <= found.upper[0] <= 1 + 1e-15
    # Wilson's ends solve (share - p)^2 = z^2 p (1 - p) / n.
    ends = np.concatenate([found.lower, found.upper])
    assert (share - ends) ** 2 == pytest.approx(z**2 * ends * (1 - ends) / n_rows, abs=1e-12)


def test_bars_have_a_width_where_every_target_is_held():
    found = observed_coverage(np.zeros(10), np.tile([[-1.0], [1.0]], (10, 1, 1)), np.array([0.9]))
    # (share - p)^2 = z^2 p (1 - p) / n at share 1: p = n / (n + z^2).
    assert found.lower == pytest.approx([10 / (10 + stats.norm.ppf(0.975) ** 2)], rel=1e-12)
    assert found.upper == pytest.approx([1.0], abs=1e-15)


def test_a_prediction_counts_its_own_prediction_intervals():
    # The 0.8 and 0.95 intervals reach to 1.28 and 1.96.
    y = [0.0, 1.2, -1.5, 3.0]
    found = standard_normal(4).observed_coverage(y, [0.8, 0.95])
    assert found.confidence_levels.tolist() == [0.8, 0.95]
    assert found.shares.tolist() == [0.5, 0.75]


def test_a_true_law_is_on_the_diagonal_within_its_standard_errors():
    n_rows = 4000
    law = TPlusNormalLaw(np.arange(n_rows) / 10, np.ones(n_rows), np.full(n_rows, 2.0), 4)
    found = predicted(law).observed_coverage(law.sample(np.random.default_rng(6), 1)[0])
    assert tuple(found.confidence_levels) == COVERAGE_LEVELS
    # 11 levels, each beyond 4 standard errors with probability 6e-5.
    assert np.all(np.abs(found.shares - COVERAGE_LEVELS) < 4 * found.standard_error)
    assert np.all((found.lower < found.shares) & (found.shares < found.upper))


def test_a_method_of_one_level_is_looked_at_there():
    law = LevelLaw(np.zeros(2), np.ones(2), 0.9)
    found = predicted(law).observed_coverage([0.5, 2.0])
    assert (found.confidence_levels.tolist(), found.shares.tolist()) == ([0.9], [0.5])


def test_a_method_of_one_level_refuses_others():
    law = LevelLaw(np.zeros(2), np.ones(2), 0.9)
    with pytest.raises(NoSuchIntervalError, match=r"trained for 90 % intervals .* Ask for 0\.9"):
        predicted(law).observed_coverage([0.5, 2.0], [0.8])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, 2.0],
        pd.Series([0.0, 1.0, 2.0], index=[2, 0, 1]),
        [[0.0], [1.0], [2.0]],
        np.array([0, 1, 2], object),
    ],
    ids=["list", "series of another index", "column", "objects"],
)
def test_targets_may_come_as(y):
    assert standard_normal(3).observed_coverage(y, [0.8]).shares.tolist() == [2 / 3]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, 1.0], r"one target for each of the 3 predicted rows, got shape \(2,\)\. Pass the"),
        ([0.0, np.nan, 1.0], r"finite numbers, got nan in row 1\. Drop rows without a target"),
        (["a", "b", "c"], r"y must be numbers: could not convert .* 'a'\. Pass the observed"),
        (np.array(["2026-01-01"] * 3, "M8[D]"), r"y must be numbers: .*date.*\. Pass the observed"),
    ],
    ids=["too few", "missing", "text", "dates"],
)
def test_targets_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        standard_normal(3).observed_coverage(y)


@pytest.mark.parametrize("levels", [[95], [0.9, 1.0]])
def test_levels_that_are_none_are_refused(levels):
    with pytest.raises(ValueError, match=r"`confidence_level` must lie in \(0, 1\), got"):
        standard_normal(3).observed_coverage([0.0, 1.0, 2.0], levels)


def test_a_list_without_levels_is_refused():
    with pytest.raises(ValueError, match=r"at least one level, got none\. Pass"):
        standard_normal(3).observed_coverage([0.0, 1.0, 2.0], [])


def test_coverage_needs_a_row():
    with pytest.raises(ValueError, match=r"at least one row .* got none\. Pass rows that were"):
        standard_normal(0).observed_coverage([])
