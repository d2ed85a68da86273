"""Variances and intervals from arrays, in the paper's terms; knows no network.

Read `variances.py` for the three sources of uncertainty, `law.py` for what every law answers,
`intervals.py` for what the paper says about the true function and about a new observation,
`t_plus_normal.py` for the exact quantiles, `pivots.py` for intervals of both kinds that are
calibrated on simulated data.
"""

from confide.moved import renamed
from confide.uncertainty.intervals import (
    bootstrapped_confidence_law,
    bootstrapped_prediction_law,
    deep_ensemble_confidence_law,
    deep_ensemble_prediction_law,
    monte_carlo_prediction_interval,
)
from confide.uncertainty.law import Law, NormalMixture, Origin, Row
from confide.uncertainty.level_law import SAME_LEVEL, LevelLaw
from confide.uncertainty.pivots import PivotLaw, Simulated, TwinErrors, pooled_scores
from confide.uncertainty.score_law import ScoreLaw, Scores, conformal_quantile
from confide.uncertainty.symmetric_law import SymmetricLaw
from confide.uncertainty.t_plus_normal_law import TPlusNormalLaw
from confide.uncertainty.variances import (
    aleatoric_variance,
    classical_variance,
    disagreement_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

__all__ = [
    "SAME_LEVEL",
    "Law",
    "LevelLaw",
    "NormalMixture",
    "Origin",
    "PivotLaw",
    "Row",
    "ScoreLaw",
    "Scores",
    "Simulated",
    "SymmetricLaw",
    "TPlusNormalLaw",
    "TwinErrors",
    "aleatoric_variance",
    "bootstrapped_confidence_law",
    "bootstrapped_prediction_law",
    "classical_variance",
    "conformal_quantile",
    "deep_ensemble_confidence_law",
    "deep_ensemble_prediction_law",
    "disagreement_variance",
    "ensemble_mean",
    "epistemic_variance",
    "monte_carlo_prediction_interval",
    "optimisation_variance",
    "pooled_scores",
]

__getattr__ = renamed(__name__, {"SimulatedErrors": "TwinErrors"})
