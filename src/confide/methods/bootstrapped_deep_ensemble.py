"""Bootstrapped Deep Ensembles (Sluijterman, Cator and Heskes): Algorithms 1 and 2 of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.arrays import Arrays, checked_array
from confide.bootstrap import Bootstrap, BootstrappedEnsemble, Keys, bootstrapped_ensemble
from confide.errors import is_number
from confide.learners import MemberState, Progress
from confide.methods.members import in_row_blocks, member_state, parameters_of, prepared
from confide.methods.settings import (
    EnsembleSettings,
    require_choice,
    require_several,
    require_whole,
)
from confide.prediction import Prediction
from confide.standardise import Standardiser
from confide.uncertainty import (
    aleatoric_variance,
    bootstrapped_confidence_law,
    bootstrapped_prediction_law,
    classical_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

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
class Fitted:
    """A trained bootstrapped ensemble."""

    settings: Settings
    standardiser: Standardiser
    ensemble: BootstrappedEnsemble[MemberState]


def member_epochs(settings: Settings) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    repeated = settings.n_retrains * settings.bootstrap.repeated_epochs
    return settings.n_members * (settings.max_epochs + repeated)


def fit(
    keys: Sequence[PRNGKeyArray],
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    settings: Settings,
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    members_per_block: int | None = None,
    progress: Progress | None = None,
) -> list[Fitted]:
    """Trains the members, and retrains them on targets simulated from themselves."""
    n_members = settings.n_members
    standardisers, data, member_targets = prepared(X, targets, n_members, sample_weight)
    ensembles = bootstrapped_ensemble(
        Keys.from_keys(keys, n_members),
        settings.learner(members_per_block),
        data,
        member_targets,
        settings.bootstrap,
        progress=progress,
    )
    return [
        Fitted(settings, standardiser, ensembles.part(slice(j * n_members, (j + 1) * n_members)))
        for j, standardiser in enumerate(standardisers)
    ]


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean, both laws and the three variances for each row."""
    standardiser, n_members = fitted.standardiser, fitted.settings.n_members

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        means, variances, retrained = _answers(fitted, X_block)
        return np.stack(
            [
                ensemble_mean(means),
                aleatoric_variance(variances),
                classical_variance(means, retrained),
                optimisation_variance(means),
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
    means, _, retrained = _answers(fitted, X)
    location, scale = fitted.standardiser.y_mean, fitted.standardiser.y_scale
    before, after = (location + scale * each.astype(np.float64) for each in (means, retrained))
    return before, after


def _answers(
    fitted: Fitted, X: Float[np.ndarray, "row feature"]
) -> tuple[
    Float[np.ndarray, "member row"],
    Float[np.ndarray, "member row"],
    Float[np.ndarray, "retraining member row"],
]:
    """Means and variances of the members, and means of the retrained, on the scale of training."""
    inputs = fitted.standardiser.inputs(X)
    learner, ensemble = fitted.settings.learner(), fitted.ensemble
    means, variances = learner.predict(ensemble.members, inputs)
    outputs, _ = learner.predict(ensemble.retrained, inputs)
    retrained = ensemble.location[:, None] + ensemble.scale[:, None] * outputs
    return means, variances, retrained.reshape(-1, *means.shape)


def to_arrays(fitted: Fitted) -> Arrays:
    """What a model file keeps beside the settings."""
    ensemble = fitted.ensemble
    return {
        **fitted.standardiser.to_arrays(),
        "members": parameters_of(ensemble.members),
        "retrained": parameters_of(ensemble.retrained),
        "retrained_location": ensemble.location,
        "retrained_scale": ensemble.scale,
    }


def from_arrays(arrays: Arrays, settings: Settings, n_features: int) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    learner, n_members = settings.learner(), settings.n_members
    n_retrained = n_members * settings.n_retrains
    scale = checked_array(arrays, "retrained_scale", (n_retrained,), np.float64)
    if not np.all(scale > 0):
        raise ValueError("scales must be positive")
    return Fitted(
        settings,
        Standardiser.from_arrays(arrays, n_features),
        BootstrappedEnsemble(
            members=member_state(arrays, "members", n_members, learner, n_features),
            retrained=member_state(arrays, "retrained", n_retrained, learner, n_features),
            location=checked_array(arrays, "retrained_location", (n_retrained,), np.float64),
            scale=scale,
        ),
    )
