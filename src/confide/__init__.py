"""confide: confident regression with neural networks.

A prediction with a confidence interval for the true function, a prediction interval for a new
observation, and a split of the uncertainty into noise, finite data and random training.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confide.compilation import enable_compilation_cache
    from confide.errors import (
        LeftOutColumnWarning,
        ModelFileError,
        NoSuchIntervalError,
        UnseenValueWarning,
    )
    from confide.estimators import (
        BootstrappedDeepEnsembleRegressor,
        BootstrappedEnsembleRegressor,
        ConcreteDropoutRegressor,
        DeepEnsembleRegressor,
        NaiveBootstrapRegressor,
        QualityDrivenEnsembleRegressor,
        load,
    )
    from confide.explanation import Explanation
    from confide.laboratory import CoverageReport, coverage_check
    from confide.learners import TrainingDivergedError
    from confide.overfitting import OverfittingCheck, overfitting_check
    from confide.prediction import Prediction

    __version__: str

__all__ = [
    "BootstrappedDeepEnsembleRegressor",
    "BootstrappedEnsembleRegressor",
    "ConcreteDropoutRegressor",
    "CoverageReport",
    "DeepEnsembleRegressor",
    "Explanation",
    "LeftOutColumnWarning",
    "ModelFileError",
    "NaiveBootstrapRegressor",
    "NoSuchIntervalError",
    "OverfittingCheck",
    "Prediction",
    "QualityDrivenEnsembleRegressor",
    "TrainingDivergedError",
    "UnseenValueWarning",
    "__version__",
    "coverage_check",
    "enable_compilation_cache",
    "load",
    "overfitting_check",
]

_HOMES = {
    "compilation": ["enable_compilation_cache"],
    "errors": [
        "LeftOutColumnWarning",
        "ModelFileError",
        "NoSuchIntervalError",
        "UnseenValueWarning",
    ],
    "estimators": [
        "BootstrappedDeepEnsembleRegressor",
        "BootstrappedEnsembleRegressor",
        "ConcreteDropoutRegressor",
        "DeepEnsembleRegressor",
        "NaiveBootstrapRegressor",
        "QualityDrivenEnsembleRegressor",
        "load",
    ],
    "explanation": ["Explanation"],
    "laboratory": ["CoverageReport", "coverage_check"],
    "learners": ["TrainingDivergedError"],
    "overfitting": ["OverfittingCheck", "overfitting_check"],
    "prediction": ["Prediction"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Each name is imported when it is first asked for, so that `confide --help` need not wait.

    JAX and scikit-learn take seconds.
    """
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("confide")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(f"confide.{_HOME_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
