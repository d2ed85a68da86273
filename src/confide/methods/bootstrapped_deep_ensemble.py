"""Bootstrapped Deep Ensembles (Sluijterman, Cator and Heskes): Algorithms 1 and 2 of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.bootstrap import Bootstrap, BootstrappedEnsemble, Keys, bootstrapped_ensemble
from confide.checks import require_choice, require_whole
from confide.errors import is_number
from confide.learners import Learner
from confide.methods import members
from confide.methods.members import (
    FittedMembers,
    answers,
    in_row_blocks,
    kept,
    learn_noise,
    learner,
    noise_from,
    prepared,
    restored,
)
from confide.methods.noise import variance_at
from confide.methods.settings import EnsembleSettings, require_several
from confide.persistence import Arrays, checked_array
from confide.prediction import Prediction
from confide.progress import Progress
from confide.standardise import Standardiser
from confide.trees import Trees
from confide.uncertainty import (
    Law,
    aleatoric_variance,
    bootstrapped_confidence_law,
    bootstrapped_prediction_law,
    classical_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

__all__ = [
    "NAME",
    "Fitted",
    "Settings",
    "fit",
    "from_arrays",
    "learner",
    "member_epochs",
    "predict",
    "to_arrays",
    "validation_law",
]

NAME = "bootstrapped_deep_ensemble"

AS_PUBLISHED = {"retrain_optimiser": "fresh", "retrain_targets": "restandardised"}
"""The settings of the code that the paper's tables were made with, where it left the text."""


@dataclass(frozen=True, kw_only=True)
class Settings(EnsembleSettings):
    """Those of the networks, and how they are retrained (see `Bootstrap`).

    Attributes:
        retrain_fraction: r, the share of the epochs that is repeated.
        n_retrains: B, retrainings of each member.
        retrain_optimiser: "restored" as it was at the snapshot, or "fresh".
        retrain_targets: simulated targets on their "original_scale", or "restandardised".
    """

    retrain_fraction: float = 0.3
    n_retrains: int = 1
    retrain_optimiser: Literal["restored", "fresh"] = "restored"
    retrain_targets: Literal["original_scale", "restandardised"] = "original_scale"

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_several(self.n_members, "a bootstrapped ensemble")
        if not (is_number(self.retrain_fraction) and 0 < self.retrain_fraction <= 1):
            raise ValueError(
                f"`retrain_fraction` must lie in (0, 1], got {self.retrain_fraction!r}. It is the "
                "share of the epochs that is repeated on simulated targets; pass a fraction such "
                "as 0.3."
            )
        require_whole("n_retrains", self.n_retrains, "It is the number of retrainings of a member.")
        require_choice("retrain_optimiser", self.retrain_optimiser, ("restored", "fresh"))
        require_choice(
            "retrain_targets", self.retrain_targets, ("original_scale", "restandardised")
        )
        if self.bootstrap.repeated_epochs == 0:
            raise ValueError(
                f"At least one epoch must be repeated, but retrain_fraction="
                f"{self.retrain_fraction!r} of max_epochs={self.max_epochs} rounds to none. Raise "
                "one of the two."
            )

    @property
    def bootstrap(self) -> Bootstrap:
        """The part that Algorithm 1 asks for."""
        return Bootstrap(
            epochs=self.max_epochs,
            retrain_fraction=self.retrain_fraction,
            n_retrains=self.n_retrains,
            optimiser=self.retrain_optimiser,
            targets=self.retrain_targets,
        )


@dataclass(frozen=True)
class Fitted(FittedMembers):
    """A trained bootstrapped ensemble.

    Attributes:
        retrained: the members retrained on targets simulated from themselves; retraining b of
            member i is entry b * M + i.
        location: a retrained member predicts this plus `scale` times its output.
        scale: see there.
    """

    retrained: Any
    location: Float64[np.ndarray, " retrained"]
    scale: Float64[np.ndarray, " retrained"]


def member_epochs(settings: Settings, learner: Learner[Any]) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    repeated = settings.n_retrains * settings.bootstrap.repeated_epochs
    return members.member_epochs(settings, learner) + settings.n_members * repeated


def fit(
    keys: Sequence[PRNGKeyArray],
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    settings: Settings,
    learner: Learner[Any],
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    progress: Progress | None = None,
) -> list[Fitted]:
    """Trains the members, and retrains them on targets simulated from themselves.

    Args:
        keys: one for each data set.
        X: the inputs of all.
        targets: of each data set.
        settings: of the method.
        learner: what is trained.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.
    """
    n_members = settings.n_members
    of_members = Keys.from_keys(keys, n_members)
    sets = prepared(X, targets, sample_weight)
    noise = learn_noise(of_members, learner, sets, settings, progress)
    ensembles = bootstrapped_ensemble(
        of_members,
        learner,
        sets.data,
        sets.of_members(n_members),
        settings.bootstrap,
        noise_variance=variance_at(noise, sets.data.inputs, n_members),
        progress=progress,
    )
    n_all = len(keys) * n_members
    parts = (
        ensembles.part(learner, slice(first, first + n_members), n_all)
        for first in range(0, n_all, n_members)
    )
    return [
        _fitted(settings, learner, standardiser, part, own_noise)
        for standardiser, part, own_noise in zip(sets.standardisers, parts, noise, strict=True)
    ]


def _fitted(
    settings: Settings,
    learner: Learner[Any],
    standardiser: Standardiser,
    ensemble: BootstrappedEnsemble[Any],
    noise: Trees | None,
) -> Fitted:
    return Fitted(
        settings,
        learner,
        standardiser,
        ensemble.members,
        noise,
        ensemble.retrained,
        ensemble.location,
        ensemble.scale,
    )


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean, both laws and the three variances for each row."""
    standardiser, n_members = fitted.standardiser, fitted.settings.n_members

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        of_members = answers(fitted, X_block)
        return np.stack(
            [
                ensemble_mean(of_members.means),
                aleatoric_variance(of_members.variances),
                classical_variance(of_members.means, _retrained_means(fitted, X_block)),
                optimisation_variance(of_members.means),
            ]
        )

    # Variances are formed in units of the standardised target, where a large mean costs no digits.
    mean, *variances = in_row_blocks(of_rows, X)
    mean = standardiser.y_mean + standardiser.y_scale * mean
    aleatoric, classical, optimisation = (v * standardiser.y_scale**2 for v in variances)
    epistemic = epistemic_variance(classical, optimisation, n_members)
    return Prediction(
        mean=mean,
        aleatoric_variance=aleatoric,
        epistemic_variance=epistemic,
        prediction_law=bootstrapped_prediction_law(mean, epistemic, aleatoric, n_members),
        confidence_law=bootstrapped_confidence_law(mean, epistemic, n_members),
        classical_variance=classical,
        optimisation_variance=optimisation,
        n_members=n_members,
    )


def member_means(
    fitted: Fitted, X: Float[np.ndarray, "row feature"]
) -> tuple[Float64[np.ndarray, "member row"], Float64[np.ndarray, "retraining member row"]]:
    """What each member predicts, before and after each retraining."""
    means, retrained = answers(fitted, X).means, _retrained_means(fitted, X)
    location, scale = fitted.standardiser.y_mean, fitted.standardiser.y_scale
    before, after = (location + scale * each.astype(np.float64) for each in (means, retrained))
    return before, after


def _retrained_means(
    fitted: Fitted, X: Float[np.ndarray, "row feature"]
) -> Float[np.ndarray, "retraining member row"]:
    """What retrained members predict, in units of the members' own training."""
    learner = fitted.learner
    outputs = learner.predict(fitted.retrained, fitted.standardiser.inputs(X))
    means = fitted.location[:, None] + fitted.scale[:, None] * learner.likelihood.mean(outputs)
    return means.reshape(-1, fitted.settings.n_members, len(X))


def validation_law(
    means: Float[np.ndarray, "member row"], variances: Float[np.ndarray, "member row"]
) -> Law:
    """The law of held-out rows while the number of epochs is chosen.

    The members' spread stands for what the bootstrap will estimate. Its law, a t with few degrees
    of freedom, bears longer training than a deep ensemble's normal law.
    """
    mean, noise = ensemble_mean(means), aleatoric_variance(variances)
    return bootstrapped_prediction_law(mean, optimisation_variance(means), noise, len(means))


def to_arrays(fitted: Fitted) -> Arrays:
    """What a model file keeps beside the settings."""
    return {
        **members.to_arrays(fitted),
        **kept("retrained", fitted.learner, fitted.retrained),
        "retrained_location": fitted.location,
        "retrained_scale": fitted.scale,
    }


def from_arrays(
    arrays: Arrays, settings: Settings, learner: Learner[Any], n_features: int
) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    n_members = settings.n_members
    n_retrained = n_members * settings.n_retrains
    location, scale = (
        checked_array(arrays, name, (n_retrained,), np.float64)
        for name in ("retrained_location", "retrained_scale")
    )
    if not np.all(scale > 0):
        raise ValueError("scales must be positive")
    return Fitted(
        settings,
        learner,
        Standardiser.from_arrays(arrays, n_features),
        restored(arrays, "members", n_members, learner, n_features),
        noise_from(arrays, learner, n_features),
        restored(arrays, "retrained", n_retrained, learner, n_features),
        location,
        scale,
    )
