"""confide: confident regression with neural networks.

A prediction with a confidence interval for the true function, a prediction interval for a new
observation, and a split of the uncertainty into noise, finite data and random training.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from confide.compilation import enable_compilation_cache
from confide.errors import (
    LeftOutColumnWarning,
    ModelFileError,
    NoSuchIntervalError,
    UnseenValueWarning,
)
from confide.estimators import (
    BootstrappedDeepEnsembleRegressor,
    ConcreteDropoutRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    QualityDrivenEnsembleRegressor,
    load,
)
from confide.learners import TrainingDivergedError
from confide.prediction import Prediction

if TYPE_CHECKING:
    from confide.laboratory import CoverageReport, coverage_check

__version__ = version("confide")

__all__ = [
    "BootstrappedDeepEnsembleRegressor",
    "ConcreteDropoutRegressor",
    "CoverageReport",
    "DeepEnsembleRegressor",
    "LeftOutColumnWarning",
    "ModelFileError",
    "NaiveBootstrapRegressor",
    "NoSuchIntervalError",
    "Prediction",
    "QualityDrivenEnsembleRegressor",
    "TrainingDivergedError",
    "UnseenValueWarning",
    "__version__",
    "coverage_check",
    "enable_compilation_cache",
    "load",
]


def __getattr__(name: str) -> Any:
    """The laboratory, imported when it is first asked for: it takes forests and searches along."""
    if name in {"CoverageReport", "coverage_check"}:
        from confide import laboratory

        return getattr(laboratory, name)
    raise AttributeError(f"module 'confide' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
