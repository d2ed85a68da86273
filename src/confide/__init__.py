"""confide: confident regression with neural networks.

A prediction with a confidence interval for the true function, a prediction interval for a new
observation, and a split of the uncertainty into noise, finite data and random training.
"""

from typing import TYPE_CHECKING, Any

from confide import forks  # noqa: F401 - watches for forks from now on
from confide.lazy import lazily
from confide.moved import renamed, still_found

if TYPE_CHECKING:
    from confide.compilation import enable_compilation_cache
    from confide.coverage import CoverageCheck, coverage_check
    from confide.diagnostics import Explanation, OverfittingCheck, overfitting_check
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
        ConfidenceRegressor,
        DeepEnsembleRegressor,
        NaiveBootstrapRegressor,
        Predictions,
        QualityDrivenEnsembleRegressor,
        load,
    )
    from confide.inspection import Effects, effects
    from confide.learners import TrainingDivergedError
    from confide.prediction import Prediction

    __version__: str

__all__ = [
    "BootstrappedDeepEnsembleRegressor",
    "BootstrappedEnsembleRegressor",
    "ConcreteDropoutRegressor",
    "ConfidenceRegressor",
    "CoverageCheck",
    "DeepEnsembleRegressor",
    "Effects",
    "Explanation",
    "LeftOutColumnWarning",
    "ModelFileError",
    "NaiveBootstrapRegressor",
    "NoSuchIntervalError",
    "OverfittingCheck",
    "Prediction",
    "Predictions",
    "QualityDrivenEnsembleRegressor",
    "TrainingDivergedError",
    "UnseenValueWarning",
    "__version__",
    "coverage_check",
    "effects",
    "enable_compilation_cache",
    "load",
    "overfitting_check",
]

_HOMES = {
    "compilation": ["enable_compilation_cache"],
    "diagnostics": ["Explanation", "OverfittingCheck", "overfitting_check"],
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
        "ConfidenceRegressor",
        "DeepEnsembleRegressor",
        "NaiveBootstrapRegressor",
        "Predictions",
        "QualityDrivenEnsembleRegressor",
        "load",
    ],
    "coverage": ["CoverageCheck", "coverage_check"],
    "inspection": ["Effects", "effects"],
    "learners": ["TrainingDivergedError"],
    "prediction": ["Prediction"],
}
# JAX and scikit-learn take seconds to import: `confide --help` need not wait for them.
_find = renamed(__name__, {"CoverageReport": "CoverageCheck"}, lazily(__name__, _HOMES))
still_found()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("confide")
    return _find(name)


def __dir__() -> list[str]:
    return __all__
