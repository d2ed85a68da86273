"""Deep Ensembles (Lakshminarayanan et al. 2017): their mixture, and the law it implies."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from confide.methods import members
from confide.methods.predictor import Answers, FittedMembers, Predictor, Row, Table
from confide.prediction import Prediction
from confide.uncertainty import (
    Law,
    aleatoric_variance,
    deep_ensemble_confidence_law,
    deep_ensemble_prediction_law,
    disagreement_variance,
    ensemble_mean,
    optimisation_variance,
)

NAME = "deep_ensemble"


@dataclass(frozen=True, kw_only=True)
class Settings(members.EnsembleSettings):
    """Deep Ensembles have no settings beyond those of their networks."""


Fitted = FittedMembers
learner, member_epochs, fit = members.learner, members.member_epochs, members.fit_members
to_arrays, from_arrays = members.to_arrays, members.from_arrays
MEAN_FITS = members.MEAN_FITS


def _numbers(fitted: Fitted, X: Table) -> Iterator[Row]:
    answers = Answers.of(fitted, X)
    yield ensemble_mean(answers.means)
    yield aleatoric_variance(answers.variances)
    yield disagreement_variance(answers.means)
    if fitted.settings.n_members > 1:
        yield optimisation_variance(answers.means)


def _prediction(
    fitted: Fitted, mean: Row, noise: Row, disagreement: Row, optimisation: Row | None = None
) -> Prediction:
    """Mean, both laws and the variances that a deep ensemble knows of, for each row."""
    n_members, several = fitted.settings.n_members, optimisation is not None
    law = deep_ensemble_confidence_law(mean, disagreement, n_members) if several else None
    if fitted.noise is None:
        prediction_law: Law = deep_ensemble_prediction_law(mean, disagreement, noise)
    else:
        prediction_law = fitted.noise.prediction_law(mean, disagreement, noise, n_members)
    return Prediction(
        mean=mean,
        aleatoric_variance=noise,
        epistemic_variance=disagreement,
        prediction_law=prediction_law,
        confidence_law=law,
        classical_variance=None,
        optimisation_variance=optimisation,
        n_members=n_members,
    )


predict = Predictor(_numbers, _prediction)


def validation_law(
    means: Float[np.ndarray, "member row"], variances: Float[np.ndarray, "member row"]
) -> Law:
    """The law of held-out rows while the number of epochs is chosen."""
    mean, noise = ensemble_mean(means), aleatoric_variance(variances)
    return deep_ensemble_prediction_law(mean, disagreement_variance(means), noise)
