"""The scikit-learn face: estimators, and the files they are kept in."""

from confide.estimators.base import IntervalRegressor
from confide.estimators.files import load
from confide.estimators.own_parts import in_words
from confide.estimators.regressors import (
    ESTIMATORS,
    BootstrappedDeepEnsembleRegressor,
    BootstrappedEnsembleRegressor,
    ConcreteDropoutRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    QualityDrivenEnsembleRegressor,
    register,
)
from confide.estimators.training_rows import TrainingRows
from confide.estimators.validation import checked_training_data
from confide.moved import renamed

__all__ = [
    "ESTIMATORS",
    "BootstrappedDeepEnsembleRegressor",
    "BootstrappedEnsembleRegressor",
    "ConcreteDropoutRegressor",
    "DeepEnsembleRegressor",
    "IntervalRegressor",
    "NaiveBootstrapRegressor",
    "QualityDrivenEnsembleRegressor",
    "TrainingRows",
    "checked_training_data",
    "in_words",
    "load",
    "register",
]

__getattr__ = renamed(
    __name__, {"EnsembleRegressor": "IntervalRegressor", "TrainingTable": "TrainingRows"}
)
