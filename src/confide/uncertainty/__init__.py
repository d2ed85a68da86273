"""Variances and intervals from arrays, in the paper's terms; knows no network.

Read `variances.py` for the three sources of uncertainty, `law.py` for what every law answers,
`intervals.py` for what the paper says about the true function and about a new observation,
`t_plus_normal.py` for the exact quantiles, `pivots.py` for intervals of both kinds that are
calibrated on simulated data.
"""

from confide.moved import renamed
from confide.uncertainty.intervals import bootstrapped_confidence_law as bootstrapped_confidence_law
from confide.uncertainty.intervals import bootstrapped_prediction_law as bootstrapped_prediction_law
from confide.uncertainty.intervals import (
    deep_ensemble_confidence_law as deep_ensemble_confidence_law,
)
from confide.uncertainty.intervals import (
    deep_ensemble_prediction_law as deep_ensemble_prediction_law,
)
from confide.uncertainty.intervals import (
    monte_carlo_prediction_interval as monte_carlo_prediction_interval,
)
from confide.uncertainty.law import Law as Law
from confide.uncertainty.law import NormalMixture as NormalMixture
from confide.uncertainty.law import Origin as Origin
from confide.uncertainty.law import Row as Row
from confide.uncertainty.law import SymmetricLaw as SymmetricLaw
from confide.uncertainty.level_law import SAME_LEVEL as SAME_LEVEL
from confide.uncertainty.level_law import LevelLaw as LevelLaw
from confide.uncertainty.pivots import PivotLaw as PivotLaw
from confide.uncertainty.pivots import Simulated as Simulated
from confide.uncertainty.pivots import TwinErrors as TwinErrors
from confide.uncertainty.pivots import pooled_scores as pooled_scores
from confide.uncertainty.score_law import ScoreLaw as ScoreLaw
from confide.uncertainty.score_law import Scores as Scores
from confide.uncertainty.score_law import conformal_quantile as conformal_quantile
from confide.uncertainty.t_plus_normal import TPlusNormalLaw as TPlusNormalLaw
from confide.uncertainty.variances import aleatoric_variance as aleatoric_variance
from confide.uncertainty.variances import classical_variance as classical_variance
from confide.uncertainty.variances import disagreement_variance as disagreement_variance
from confide.uncertainty.variances import ensemble_mean as ensemble_mean
from confide.uncertainty.variances import epistemic_variance as epistemic_variance
from confide.uncertainty.variances import optimisation_variance as optimisation_variance

__getattr__ = renamed(__name__, {"SimulatedErrors": "TwinErrors"})
