"""Bootstrapped Deep Ensembles (Sluijterman, Cator and Heskes): Algorithms 1 and 2 of the paper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.bootstrap import Bootstrap, bootstrapped_ensemble
from confide.checks import checked_field, require_choice, require_whole, require_within
from confide.learners import Learner
from confide.methods import members
from confide.methods.members import require_several
from confide.methods.predictor import Answers, FittedMembers, Predictor, Row, Table
from confide.persistence import Arrays, checked_array
from confide.prediction import Prediction
from confide.progress import Progress
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

NAME = "bootstrapped_deep_ensemble"

AS_PUBLISHED = {"retrain_optimiser": "fresh", "retrain_targets": "restandardised"}
"""The settings of the code that the paper's tables were made with, where it left the text."""


@dataclass(frozen=True, kw_only=True)
class Settings(members.EnsembleSettings):
    """Those of the networks, and how they are retrained (see `Bootstrap`).

    The paper's r is `retrain_fraction`, its B is `n_retrains`.
    """

    n_members: int = checked_field(5, require_several, "a bootstrapped ensemble")
    retrain_fraction: float = checked_field(
        0.3,
        require_within,
        "(0, 1]",
        "It is the share of the epochs that is repeated on simulated targets; pass a fraction such "
        "as 0.3.",
    )
    n_retrains: int = checked_field(
        1, require_whole, "It is the number of retrainings of a member."
    )
    retrain_optimiser: Literal["restored", "fresh"] = checked_field(
        "restored", require_choice, ("restored", "fresh")
    )
    retrain_targets: Literal["original_scale", "restandardised"] = checked_field(
        "original_scale", require_choice, ("original_scale", "restandardised")
    )

    def __post_init__(self) -> None:
        """Refuses values that make no sense, and too few epochs to repeat one."""
        super().__post_init__()
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


learner, MEAN_FITS = members.learner, members.MEAN_FITS


def member_epochs(settings: Settings, learner: Learner[Any]) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    repeated = settings.n_retrains * settings.bootstrap.repeated_epochs
    return members.member_epochs(settings, learner) + settings.n_members * repeated


def fit(
    keys: Sequence[PRNGKeyArray],
    X: Table,
    targets: Float64[np.ndarray, "set row"],
    settings: Settings,
    learner: Learner[Any],
    *,
    progress: Progress | None = None,
    **how: Any,
) -> list[Fitted]:
    """Trains the members, and retrains them on targets simulated from themselves.

    See `confide.methods.members.prepared` for the arguments.
    """
    if how.get("further") is not None and settings.retrain_targets == "restandardised":
        raise ValueError(
            "retrain_targets='restandardised' needs all targets in memory, and the table is "
            "larger. Leave it at 'original_scale'."
        )
    sets = members.prepared(keys, X, targets, settings, learner, progress=progress, **how)
    n_members, n_all = settings.n_members, len(sets.targets)
    known = [own for own in sets.residuals if own is not None]

    def variance_at(inputs: Table) -> Float[np.ndarray, "member row"]:
        return np.repeat([own.variance(inputs) for own in known], n_members, axis=0)

    ensembles = bootstrapped_ensemble(
        sets.keys,
        learner,
        sets.data,
        sets.targets,
        settings.bootstrap,
        noise_variance=variance_at if known else None,
        progress=progress,
    )
    fits = []
    for j, (standardiser, left_out) in enumerate(
        zip(sets.standardisers, sets.residuals, strict=True)
    ):
        own = ensembles.part(learner, slice(j * n_members, (j + 1) * n_members), n_all)
        retrained = own.retrained, own.location, own.scale
        fitted = Fitted(settings, learner, standardiser, own.members, None, *retrained)
        if left_out is not None:
            means = Answers.of(fitted, X).means
            classical = classical_variance(means, _retrained_means(fitted, X))
            noise = left_out.noise(classical, optimisation_variance(means), n_members)
            fitted = replace(fitted, noise=noise)
        fits.append(fitted)
    return fits


def _numbers(fitted: Any, X: Table) -> Iterator[Row]:
    """Those of a `Fitted`; of members alone there is the first."""
    answers = Answers.of(fitted, X)
    yield ensemble_mean(answers.means)
    yield aleatoric_variance(answers.variances)
    net = 1.0 if fitted.noise is None else fitted.noise.net
    yield net * classical_variance(answers.means, _retrained_means(fitted, X))
    yield optimisation_variance(answers.means)


def _prediction(
    fitted: Fitted, mean: Row, noise: Row, classical: Row, optimisation: Row
) -> Prediction:
    """Mean, both laws and the three variances for each row."""
    epistemic = epistemic_variance(classical, optimisation, fitted.settings.n_members)
    parts = {"classical_variance": classical, "optimisation_variance": optimisation}
    return prediction_of(fitted, mean, noise, epistemic, **parts)


def prediction_of(
    fitted: FittedMembers,
    mean: Row,
    noise: Row,
    epistemic: Row,
    *,
    classical_variance: Row | None = None,
    optimisation_variance: Row | None = None,
) -> Prediction:
    """Mean and both laws for each row: a scaled t, and for a new observation noise beside it.

    Args:
        fitted: members with or without noise that was learnt from rows left out.
        mean: the prediction.
        noise: the variance of the noise.
        epistemic: the variance of the prediction.
        classical_variance: the part of it that is due to finite data, if it is known.
        optimisation_variance: the part that is due to random training, for one member.

    Returns:
        The prediction.
    """
    n_members = fitted.settings.n_members
    if fitted.noise is None:
        law: Law = bootstrapped_prediction_law(mean, epistemic, noise, n_members)
    else:
        law = fitted.noise.prediction_law(mean, epistemic, noise, n_members)
    return Prediction(
        mean=mean,
        aleatoric_variance=noise,
        epistemic_variance=epistemic,
        prediction_law=law,
        confidence_law=bootstrapped_confidence_law(mean, epistemic, n_members),
        classical_variance=classical_variance,
        optimisation_variance=optimisation_variance,
        n_members=n_members,
    )


predict = Predictor(_numbers, _prediction)


def member_means(
    fitted: Fitted, X: Table
) -> tuple[Float64[np.ndarray, "member row"], Float64[np.ndarray, "retraining member row"]]:
    """What each member predicts, before and after each retraining."""
    location, scale = fitted.standardiser.y_mean, fitted.standardiser.y_scale
    before, after = Answers.of(fitted, X).means, _retrained_means(fitted, X)
    return location + scale * before.astype(np.float64), location + scale * after.astype(np.float64)


def _retrained_means(fitted: Fitted, X: Table) -> Float[np.ndarray, "retraining member row"]:
    """What retrained members predict, in units of the members' own training."""
    learner = fitted.learner
    outputs = learner.predict(fitted.retrained, fitted.standardiser.inputs(X))
    means = fitted.location[:, None] + fitted.scale[:, None] * learner.likelihood.mean(outputs)
    means = fitted.standardiser.within_reach(means)
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
        **members.kept("retrained", fitted.learner, fitted.retrained),
        "retrained_location": fitted.location,
        "retrained_scale": fitted.scale,
    }


def from_arrays(
    arrays: Arrays, settings: Settings, learner: Learner[Any], n_features: int
) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    n_retrained = settings.n_members * settings.n_retrains
    location, scale = (
        checked_array(arrays, name, (n_retrained,), np.float64)
        for name in ("retrained_location", "retrained_scale")
    )
    if not np.all(scale > 0):
        raise ValueError("scales must be positive")
    fitted = members.from_arrays(arrays, settings, learner, n_features)
    retrained = members.restored(arrays, "retrained", n_retrained, learner, n_features)
    return Fitted(**vars(fitted), retrained=retrained, location=location, scale=scale)
