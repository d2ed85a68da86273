"""Simulated truths: data whose true function and noise are known.

Read `truth.py` for what a truth is and `noise.py` for the laws its noise may have. A truth is a
formula (`analytic.py`), or fitted to a real data set as in the paper (`fitted_truths.py`).
`twin_choice.py` finds the twin that calibration simulates from, which a model file can keep
(`fitted_twin.py`); its function is made of trees or smooth (`smooth.py`).
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
from confide.simulate.fitted_truths import (
    TWINS,
    GradientBoostingTruth,
    NetworkTruth,
    RandomForestTruth,
)
from confide.simulate.fitted_twin import OLD_KINDS, FittedTwin
from confide.simulate.noise import (
    GAUSSIAN,
    NOISE_LAWS,
    CentredGamma,
    Gaussian,
    NoiseLaw,
    Residuals,
    StudentT3,
)
from confide.simulate.truth import Truth
from confide.simulate.twin_choice import (
    CANDIDATES,
    FEWEST_ROWS,
    Candidate,
    fitted_twins,
    n_steps,
)

__all__ = [
    "ANALYTIC_TRUTHS",
    "CANDIDATES",
    "FEWEST_ROWS",
    "GAUSSIAN",
    "NOISE_LAWS",
    "OLD_KINDS",
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
