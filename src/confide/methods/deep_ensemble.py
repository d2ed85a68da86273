"""Deep Ensembles (Lakshminarayanan et al. 2017): their mixture, and the law it implies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.arrays import Arrays
from confide.bootstrap import Keys, train_ensemble
from confide.learners import MemberState, Progress
from confide.methods.members import (
    in_row_blocks,
    member_state,
    members_of,
    parameters_of,
    prepared,
)
from confide.methods.settings import EnsembleSettings
from confide.prediction import Prediction
from confide.standardise import Standardiser
from confide.uncertainty import (
    aleatoric_variance,
    deep_ensemble_confidence_law,
    deep_ensemble_prediction_law,
    disagreement_variance,
    ensemble_mean,
    optimisation_variance,
)

NAME = "deep_ensemble"


@dataclass(frozen=True, kw_only=True)
class Settings(EnsembleSettings):
    """Deep Ensembles have no settings beyond those of their networks."""


@dataclass(frozen=True)
class Fitted:
    """A trained deep ensemble."""

    settings: Settings
    standardiser: Standardiser
    members: MemberState


def member_epochs(settings: Settings) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    return settings.n_members * settings.max_epochs


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
    """Trains the members."""
    n_members = settings.n_members
    standardisers, data, member_targets = prepared(X, targets, n_members, sample_weight)
    members = train_ensemble(
        Keys.from_keys(keys, n_members),
        settings.learner(members_per_block),
        data,
        member_targets,
        settings.max_epochs,
        progress=progress,
    )
    return [
        Fitted(settings, standardiser, members_of(members, j, n_members))
        for j, standardiser in enumerate(standardisers)
    ]


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean, both laws and the variances that a deep ensemble knows of, for each row."""
    standardiser, n_members = fitted.standardiser, fitted.settings.n_members
    learner = fitted.settings.learner()

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        means, variances = learner.predict(fitted.members, standardiser.inputs(X_block))
        parts = [ensemble_mean(means), aleatoric_variance(variances), disagreement_variance(means)]
        if n_members > 1:
            parts.append(optimisation_variance(means))
        return np.stack(parts)

    mean, *variances = in_row_blocks(of_rows, X)
    mean = standardiser.y_mean + standardiser.y_scale * mean
    aleatoric, disagreement, *optimisation = (v * standardiser.y_scale**2 for v in variances)
    several = n_members > 1
    return Prediction(
        mean=mean,
        aleatoric_variance=aleatoric,
        epistemic_variance=disagreement,
        prediction_law=deep_ensemble_prediction_law(mean, disagreement, aleatoric),
        confidence_law=deep_ensemble_confidence_law(mean, disagreement, n_members)
        if several
        else None,
        classical_variance=None,
        optimisation_variance=optimisation[0] if several else None,
        n_members=n_members,
    )


def to_arrays(fitted: Fitted) -> Arrays:
    """What a model file keeps beside the settings."""
    return {**fitted.standardiser.to_arrays(), "members": parameters_of(fitted.members)}


def from_arrays(arrays: Arrays, settings: Settings, n_features: int) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    return Fitted(
        settings,
        Standardiser.from_arrays(arrays, n_features),
        member_state(arrays, "members", settings.n_members, settings.learner(), n_features),
    )
