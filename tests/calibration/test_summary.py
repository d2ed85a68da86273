"""What a calibration tells of itself, and what it warns of."""

import re
from dataclasses import replace

import numpy as np
import pytest

from confide.calibration import CalibrationSummary, Resemblance
from confide.diagnostics import Grade
from confide.simulate import Candidate

HOLD, SLIGHTLY_OFF, DO_NOT_HOLD = Grade


def test_resemblance_compares_residuals():
    generator = np.random.default_rng(0)
    real, alike = generator.normal(size=400), generator.normal(size=(10, 400))
    found = Resemblance.of("smooth", real, alike)
    assert (found.kind, found.n_simulations) == ("smooth", 10)
    assert found.ratio == pytest.approx(np.sqrt(np.mean(alike**2) / np.mean(real**2)))
    assert found.p_value > 0.01
    assert found.grade is HOLD
    noisier = Resemblance.of("smooth", real, 2 * alike)
    assert noisier.ratio == pytest.approx(2 * found.ratio)
    assert noisier.grade is DO_NOT_HOLD
    assert noisier.p_value < 1e-6


def account(biased=0.0, ratio=1.0, p_value=0.5):
    return CalibrationSummary(
        (Candidate("smooth", 1.0, 0.0, kept=True),),
        (Resemblance("smooth", 20, ratio, 0.1, p_value),),
        100,
        {0.8: (0.9, 1.5, 2.5)},
        biased,
    )


@pytest.mark.parametrize(
    ("doubt", "words"),
    [
        ({}, None),
        ({"biased": 0.1}, None),
        ({"biased": 0.11}, "At 11 % of the rows the model is too high, or too low, each time"),
        ({"ratio": 1.6, "p_value": 0.001}, "'smooth' does not resemble the data.*1.6 times"),
        ({"ratio": 0.5, "p_value": 0.001}, "0.5 times as large"),
        ({"ratio": 1.6}, None),  # by chance, perhaps
        ({"p_value": 0.001}, None),  # of the same size
    ],
)
def test_warnings_of_an_account(doubt, words):
    found = account(**doubt).warnings
    assert len(found) == (words is not None)
    assert words is None or re.search(words, found[0])
    assert CalibrationSummary.from_json(account(**doubt).to_json()) == account(**doubt)


def test_an_account_in_words():
    warning = (
        "Warning: At 20 % of the rows the model is too high, or too low, each time it learns a "
        "simulated table like yours, whose true function is known. Confidence intervals are "
        "shifted there to make up for it; predictions are not. More rows, longer training or "
        "another learner may help; more members do not."
    )
    assert str(account(biased=0.2)) == (
        "Calibrated on smooth (20 simulations, residuals 1 times the data's).\n"
        "80 % confidence intervals are 1.5 times as wide as before calibration (at nine of ten "
        "rows 0.9 to 2.5 times).\n"
        "At 20 % of 100 rows there is bias beyond chance: more than twice the error of the "
        f"interval's centre.\n{warning}"
    )


@pytest.mark.parametrize(
    ("doubt", "grade", "reason"),
    [
        ({}, HOLD, "are like those on your data"),
        ({"ratio": 1.5, "p_value": 0.05, "biased": 0.1}, HOLD, "are like those on your data"),
        ({"p_value": 0.011}, SLIGHTLY_OFF, "about as large on simulated twins .* another shape"),
        ({"p_value": 0.0099}, SLIGHTLY_OFF, "about as large on simulated twins .* another shape"),
        ({"ratio": 1.51}, SLIGHTLY_OFF, "another size on a twin .* too few rows to tell"),
        ({"ratio": 1.51, "p_value": 0.01}, SLIGHTLY_OFF, "too few rows to tell"),
        ({"biased": 0.11}, SLIGHTLY_OFF, "at 11 % of the rows the model is biased"),
        ({"p_value": 0.001, "biased": 0.2}, SLIGHTLY_OFF, "another shape, and at 20 % of the rows"),
        ({"ratio": 1.51, "p_value": 0.0099}, DO_NOT_HOLD, "on simulated twins differ from those"),
        ({"ratio": 0.66, "p_value": 0.0099, "biased": 0.2}, DO_NOT_HOLD, "widths may be wrong"),
    ],
)
def test_the_verdict_of_an_account(doubt, grade, reason):
    found = account(**doubt)
    assert found.grade is grade
    assert re.match(f"{grade.now.capitalize()}: [^:]*{reason}", found.verdict)
    # A verdict against them and a warning of an unlike twin go together.
    unlike = any("does not resemble" in each for each in found.warnings)
    assert unlike == (grade is DO_NOT_HOLD)


@pytest.mark.parametrize(
    ("ratio", "p_value", "size", "chance"),
    [
        (1.1, 0.17, "close", "may explain this (p-value about 0.17, not below 0.05)"),
        (1.1, 0.017, "close", "hardly explains this (p-value about 0.017, below 0.05)"),
        (2.0, 0.002, "not close", "does not explain this (p-value about 0.002, below 0.01)"),
    ],
)
def test_a_verdict_tells_what_it_rests_on(ratio, p_value, size, chance):
    assert account(ratio=ratio, p_value=p_value).verdict.endswith(
        "On the twin 'smooth', the model's residuals (observed minus predicted) are "
        f"{ratio:.2g} times as large as on your data, which is {size} (0.67 to 1.5 times counts as "
        "close). The shares of residuals below any value differ by at most 10 points. Chance "
        f"{chance}."
    )


def test_one_twin_unlike_the_data_is_enough_for_a_verdict_against():
    alike = account()
    both = replace(
        alike, resemblances=(*alike.resemblances, Resemblance("forest", 20, 3, 0.5, 0.0))
    )
    assert both.grade is DO_NOT_HOLD
    assert both.verdict.count("On the twin") == 2
    assert "'forest'" in both.verdict


def test_without_twins_nothing_speaks_for_them():
    empty = CalibrationSummary.empty()
    assert empty.grade is None
    assert empty.verdict.startswith("It is not known whether they hold: it is not known how well")
