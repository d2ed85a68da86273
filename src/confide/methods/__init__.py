"""Methods of interval regression, one file each, all with the same doors.

A method is a module with `NAME`, `Settings` (a frozen dataclass that checks its values), `Fitted`
(an immutable value), `learner`, `member_epochs`, `fit` (one data set for each key, all with the
same inputs, trained side by side), `predict` (a `Prediction`; `predict.mean` is its mean alone),
`to_arrays` and `from_arrays`. It may have `MEAN_FITS`, a faster way to its mean alone.
`docs/guides/add_a_method.md` has their arguments.
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
    FALLBACK,
    EpochChoice,
    candidates_for,
    choose_epochs,
    epochs_within,
    refuse_auto_epochs_without_law,
    search_epochs,
)
from confide.methods.further_rows import FurtherRows
from confide.methods.held_out import Choice, choice_epochs, choose_strength, held_out_epochs
from confide.methods.members import AUTO
from confide.methods.predictor import mean_of
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
    "Choice",
    "EpochChoice",
    "FurtherRows",
    "bootstrapped_deep_ensemble",
    "candidates_for",
    "choice_epochs",
    "choose_epochs",
    "choose_strength",
    "concrete_dropout",
    "deep_ensemble",
    "epochs_within",
    "fit_batches",
    "held_out_epochs",
    "mean_of",
    "naive_bootstrap",
    "quality_driven_ensemble",
    "refuse_auto_epochs_without_law",
    "search_epochs",
]
