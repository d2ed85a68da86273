"""confide: confident regression with neural networks.

A prediction with a confidence interval for the true function, a prediction interval for a new
observation, and a split of the uncertainty into noise, finite data and random training.
"""

from importlib.metadata import version

from confide.compilation import enable_compilation_cache
from confide.errors import ModelFileError, NoSuchIntervalError
from confide.estimators import (
    BootstrappedDeepEnsembleRegressor,
    ConcreteDropoutRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    QualityDrivenEnsembleRegressor,
    load,
)
from confide.laboratory import CoverageReport, coverage_check
from confide.learners import TrainingDivergedError
from confide.prediction import Prediction

__version__ = version("confide")

__all__ = [
    "BootstrappedDeepEnsembleRegressor",
    "ConcreteDropoutRegressor",
    "CoverageReport",
    "DeepEnsembleRegressor",
    "ModelFileError",
    "NaiveBootstrapRegressor",
    "NoSuchIntervalError",
    "Prediction",
    "QualityDrivenEnsembleRegressor",
    "TrainingDivergedError",
    "__version__",
    "coverage_check",
    "enable_compilation_cache",
    "load",
]
