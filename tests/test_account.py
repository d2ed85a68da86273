"""What a calibration tells of itself, and what it warns of."""

import re

import numpy as np
import pytest

from confide.honest import Account, Resemblance
from confide.simulate import Candidate


def test_resemblance_compares_residuals():
    generator = np.random.default_rng(0)
    real, alike = generator.normal(size=400), generator.normal(size=(10, 400))
    found = Resemblance.of("smooth", real, alike)
    assert (found.kind, found.n_simulations) == ("smooth", 10)
    assert found.ratio == pytest.approx(np.sqrt(np.mean(alike**2) / np.mean(real**2)))
    assert found.p_value > 0.01
    assert not found.is_doubtful
    noisier = Resemblance.of("smooth", real, 2 * alike)
    assert noisier.ratio == pytest.approx(2 * found.ratio)
    assert noisier.is_doubtful
    assert noisier.p_value < 1e-6


def account(biased=0.0, ratio=1.0, p_value=0.5):
    return Account(
        (Candidate("smooth", 1.0, 0.0, kept=True),),
        (Resemblance("smooth", 20, ratio, 0.1, p_value),),
        100,
        {0.8: (0.9, 1.5, 2.5)},
        0.16,
        biased,
    )


@pytest.mark.parametrize(
    ("doubt", "words"),
    [
        ({}, None),
        ({"biased": 0.1}, None),
        ({"biased": 0.11}, "At 11 % of the rows the networks' systematic error"),
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
    assert Account.from_json(account(**doubt).to_json()) == account(**doubt)


def test_an_account_in_words():
    warning = (
        "Warning: At 20 % of the rows the networks' systematic error exceeds chance, and what the "
        "method claims, on the simulated twin: no narrow confidence interval is honest there, and "
        "more members do not help. Longer training, other networks or more rows may."
    )
    assert str(account(biased=0.2)) == (
        "Calibrated on smooth (20 simulations, residuals 1 times the data's).\n"
        "80 % confidence intervals are 1.5 times as wide as the method's own (at nine of ten rows "
        "0.9 to 2.5 times).\n"
        "A row's factor is known to about 16 %. At 20 % of 100 rows the systematic error exceeds "
        f"chance.\n{warning}"
    )
