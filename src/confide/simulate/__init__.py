"""Simulated truths: data whose true function and noise are known.

Read `truth.py` for what a truth is and `noise.py` for the laws its noise may have. A truth is a
formula (`analytic.py`), or fitted to a real data set (`random_forest.py`, `network.py`,
`gradient_boosting.py`). `choice.py` finds the twin of a data set whose truth nobody knows, which a
model file can keep (`fitted_twin.py`).
"""

from confide.simulate.analytic import (
    ANALYTIC_TRUTHS,
    AnalyticTruth,
    Borehole,
    Branin,
    Friedman1,
    Friedman2,
    Friedman3,
    Ishigami,
    Sine,
)
from confide.simulate.candidates import CANDIDATES
from confide.simulate.choice import FEWEST_ROWS, Candidate, fitted_twins, n_steps
from confide.simulate.fitted_twin import FittedTwin
from confide.simulate.gradient_boosting import GradientBoostingTruth
from confide.simulate.network import NetworkTruth
from confide.simulate.noise import (
    GAUSSIAN,
    NOISE_LAWS,
    CentredGamma,
    Gaussian,
    NoiseLaw,
    Residuals,
    StudentT3,
)
from confide.simulate.random_forest import RandomForestTruth
from confide.simulate.truth import Truth
from confide.simulate.twins import TWINS

__all__ = [
    "ANALYTIC_TRUTHS",
    "CANDIDATES",
    "FEWEST_ROWS",
    "GAUSSIAN",
    "NOISE_LAWS",
    "TWINS",
    "AnalyticTruth",
    "Borehole",
    "Branin",
    "Candidate",
    "CentredGamma",
    "FittedTwin",
    "Friedman1",
    "Friedman2",
    "Friedman3",
    "Gaussian",
    "GradientBoostingTruth",
    "Ishigami",
    "NetworkTruth",
    "NoiseLaw",
    "RandomForestTruth",
    "Residuals",
    "Sine",
    "StudentT3",
    "Truth",
    "fitted_twins",
    "n_steps",
]
