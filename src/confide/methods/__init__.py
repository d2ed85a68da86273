"""Methods of interval regression, one file each, all with the same doors.

A method is a module with `NAME`, `Settings` (a frozen dataclass that refuses nonsense), `Fitted`
(an immutable value), `member_epochs(settings)`, `fit(keys, X, targets, settings)` (one data set for
each key, all with the same inputs, trained side by side), `predict(fitted, X)`, `to_arrays(fitted)`
and `from_arrays(arrays, settings, n_features)`, in that order.
"""

from confide.methods import (
    bootstrapped_deep_ensemble,
    concrete_dropout,
    deep_ensemble,
    naive_bootstrap,
    quality_driven_ensemble,
)
from confide.methods.batches import fit_batches
from confide.methods.epochs import (
    AUTO,
    FALLBACK,
    EpochChoice,
    choose_epochs,
    is_auto,
    refuse_auto_epochs_without_likelihood,
    search_epochs,
)
from confide.named import Named

REGISTRY = Named(
    "method",
    {
        method.NAME: method
        for method in (
            bootstrapped_deep_ensemble,
            deep_ensemble,
            naive_bootstrap,
            concrete_dropout,
            quality_driven_ensemble,
        )
    },
)

__all__ = [
    "AUTO",
    "FALLBACK",
    "REGISTRY",
    "EpochChoice",
    "bootstrapped_deep_ensemble",
    "choose_epochs",
    "concrete_dropout",
    "deep_ensemble",
    "fit_batches",
    "is_auto",
    "naive_bootstrap",
    "quality_driven_ensemble",
    "refuse_auto_epochs_without_likelihood",
    "search_epochs",
]
