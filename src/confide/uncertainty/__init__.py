"""Variances and intervals from arrays, in the paper's terms; knows no network.

Read `paper.py` for the paper's three sources of uncertainty and its intervals, `law.py` for what
every law answers, `t_plus_normal.py` for the exact quantiles of the paper's law,
`density_free.py` for laws that have intervals and no density, `containing.py` for laws whose
intervals contain those of another, `transformed.py` for targets that were transformed,
`bounded.py` for those that have bounds, `grouped.py` for rows of several groups, `pivots.py` for
intervals that are calibrated on simulated data.
"""

from confide.moved import renamed
from confide.uncertainty.bounded import BoundedLaw as BoundedLaw
from confide.uncertainty.containing import ContainingLaw as ContainingLaw
from confide.uncertainty.density_free import SAME_LEVEL as SAME_LEVEL
from confide.uncertainty.density_free import LevelLaw as LevelLaw
from confide.uncertainty.density_free import ScoreLaw as ScoreLaw
from confide.uncertainty.density_free import Scores as Scores
from confide.uncertainty.density_free import SignedScoreLaw as SignedScoreLaw
from confide.uncertainty.density_free import conformal_quantile as conformal_quantile
from confide.uncertainty.grouped import GroupedLaw as GroupedLaw
from confide.uncertainty.law import DerivedLaw as DerivedLaw
from confide.uncertainty.law import Law as Law
from confide.uncertainty.law import NormalMixture as NormalMixture
from confide.uncertainty.law import Origin as Origin
from confide.uncertainty.law import Row as Row
from confide.uncertainty.law import SymmetricLaw as SymmetricLaw
from confide.uncertainty.paper import aleatoric_variance as aleatoric_variance
from confide.uncertainty.paper import bootstrapped_confidence_law as bootstrapped_confidence_law
from confide.uncertainty.paper import bootstrapped_prediction_law as bootstrapped_prediction_law
from confide.uncertainty.paper import classical_variance as classical_variance
from confide.uncertainty.paper import deep_ensemble_confidence_law as deep_ensemble_confidence_law
from confide.uncertainty.paper import deep_ensemble_prediction_law as deep_ensemble_prediction_law
from confide.uncertainty.paper import disagreement_variance as disagreement_variance
from confide.uncertainty.paper import ensemble_mean as ensemble_mean
from confide.uncertainty.paper import epistemic_variance as epistemic_variance
from confide.uncertainty.paper import (
    monte_carlo_prediction_interval as monte_carlo_prediction_interval,
)
from confide.uncertainty.paper import optimisation_variance as optimisation_variance
from confide.uncertainty.pivots import PivotLaw as PivotLaw
from confide.uncertainty.pivots import TwinErrors as TwinErrors
from confide.uncertainty.t_plus_normal import TPlusNormalLaw as TPlusNormalLaw
from confide.uncertainty.transformed import NOISE_NODES as NOISE_NODES
from confide.uncertainty.transformed import NOISE_WEIGHTS as NOISE_WEIGHTS
from confide.uncertainty.transformed import TRANSFORMS as TRANSFORMS
from confide.uncertainty.transformed import BackTransformedLaw as BackTransformedLaw
from confide.uncertainty.transformed import Transform as Transform
from confide.uncertainty.transformed import TransformName as TransformName
from confide.uncertainty.unbounded import VAST as VAST
from confide.uncertainty.unbounded import PartlyUnboundedLaw as PartlyUnboundedLaw

__getattr__ = renamed(__name__, {"SimulatedErrors": "TwinErrors"})
