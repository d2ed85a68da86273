"""One rule says whether intervals hold: chance, the size of a difference, and both together."""

import pytest
from scipy import stats

from confide.diagnostics import LARGE, WITHIN, Grade, graded, graded_coverage

HOLD, SLIGHTLY_OFF, DO_NOT_HOLD = Grade


@pytest.mark.parametrize(
    ("p_value", "is_large", "grade"),
    [
        (0.05, True, HOLD),
        (0.049, False, SLIGHTLY_OFF),
        (0.011, False, SLIGHTLY_OFF),
        (0.011, True, SLIGHTLY_OFF),
        (0.0099, False, SLIGHTLY_OFF),
        (0.0099, True, DO_NOT_HOLD),
    ],
)
def test_intervals_fail_only_by_a_large_difference_beyond_chance(p_value, is_large, grade):
    assert graded(p_value, is_large=is_large) is grade


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_coverage_is_graded_by_its_standard_error_and_the_odds_of_lying_outside(level):
    odds = LARGE * (1 - level) / level
    limit = 1 / (1 + odds)  # half as many again outside
    sure = (level - limit) / stats.norm.isf(0.004)
    assert graded_coverage(limit - 1e-9, level, sure) is DO_NOT_HOLD
    assert graded_coverage(limit + 1e-9, level, sure) is SLIGHTLY_OFF
    # The same coverage of few rows.
    assert graded_coverage(limit - 1e-9, level, (level - limit) / 2.3) is SLIGHTLY_OFF
    assert graded_coverage(limit - 1e-9, level, (level - limit) / 1.9) is HOLD


def test_coverage_holds_within_the_expected_range():
    assert stats.norm.cdf(WITHIN) == pytest.approx(0.975)
    for sign in (-1, 1):
        assert graded_coverage(0.9 + sign * 0.999 * WITHIN * 0.01, 0.9, 0.01) is HOLD
        assert graded_coverage(0.9 + sign * 1.001 * WITHIN * 0.01, 0.9, 0.01) is SLIGHTLY_OFF


def test_wide_intervals_contain_what_was_promised():
    assert graded_coverage(1.0, 0.9, 0.001) is SLIGHTLY_OFF


def test_the_worst_grade_is_the_largest_and_has_words():
    assert max(Grade) is DO_NOT_HOLD
    assert [grade.now for grade in Grade] == [
        "they hold",
        "they are slightly off",
        "they do not hold",
    ]
    assert [grade.before for grade in Grade] == [
        "they held",
        "they were slightly off",
        "they did not hold",
    ]


@pytest.mark.parametrize("error", [0.0, -1.0, float("nan")])
def test_a_standard_error_that_cannot_be_is_refused(error):
    with pytest.raises(ValueError, match=r"must be above 0, got .*\. Pass that of exact intervals"):
        graded_coverage(0.9, 0.9, error)
