"""Simulated truths: data whose true function and noise are known.

Read `truth.py` for what a truth is and `noise.py` for the laws its noise may have. A truth is a
formula (`analytic.py`), or fitted to a real data set (`random_forest.py`, `network.py`).
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
from confide.simulate.network import NetworkTruth
from confide.simulate.noise import (
    GAUSSIAN,
    NOISE_LAWS,
    CentredGamma,
    Gaussian,
    NoiseLaw,
    StudentT3,
)
from confide.simulate.random_forest import RandomForestTruth
from confide.simulate.truth import Truth
from confide.simulate.twins import TWINS

__all__ = [
    "ANALYTIC_TRUTHS",
    "GAUSSIAN",
    "NOISE_LAWS",
    "TWINS",
    "AnalyticTruth",
    "Borehole",
    "Branin",
    "CentredGamma",
    "Friedman1",
    "Friedman2",
    "Friedman3",
    "Gaussian",
    "Ishigami",
    "NetworkTruth",
    "NoiseLaw",
    "RandomForestTruth",
    "Sine",
    "StudentT3",
    "Truth",
]
