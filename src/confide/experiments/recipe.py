"""The paper's recipe: every argument of its five methods spelled out (Section 4.2).

Experiments make their estimators here, so that no new default of an estimator changes them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from confide.estimators import ESTIMATORS, IntervalRegressor
from confide.learners import PAPER

_TRAINING = {name: PAPER[name] for name in ("hidden_layer_sizes", "batch_size", "learning_rate")}
_ENSEMBLE = {**PAPER, "n_members": 5, "max_epochs": 80}
_LONGER = {**_TRAINING, "max_epochs": 240}

RECIPE: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "BootstrappedDeepEnsembleRegressor": {
            **_ENSEMBLE,
            "retrain_fraction": 0.3,
            "n_retrains": 1,
            "retrain_optimiser": "restored",
            "retrain_targets": "original_scale",
        },
        "DeepEnsembleRegressor": _ENSEMBLE,
        "NaiveBootstrapRegressor": {**_ENSEMBLE, "spread": "sample"},
        "ConcreteDropoutRegressor": {
            **_LONGER,
            "n_passes": 200,
            "prior_length_scale": 1e-4,
            "regulariser": "concrete",
        },
        "QualityDrivenEnsembleRegressor": {
            **_LONGER,
            "confidence_level": 0.95,
            "n_members": 5,
            "coverage_penalty": 4.0,
            "softening": 160.0,
            "initial_bound": 3.0,
            "captured_width": "hard",
            "spread": "sample",
        },
    }
)


def paper_estimator(name: str, **changes: Any) -> IntervalRegressor:
    """An estimator with the paper's arguments, but for those that an experiment changes."""
    return ESTIMATORS[name](**{**RECIPE.get(name, {}), **changes})
