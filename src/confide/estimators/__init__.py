"""The scikit-learn face: estimators, and the files they are kept in."""

from confide.estimators.base import EnsembleRegressor
from confide.estimators.files import load
from confide.estimators.regressors import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor

__all__ = [
    "BootstrappedDeepEnsembleRegressor",
    "DeepEnsembleRegressor",
    "EnsembleRegressor",
    "load",
]
