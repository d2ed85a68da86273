"""Deep Ensembles (Lakshminarayanan et al. 2017): their mixture, and the law it implies."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64

from confide.methods.members import (
    FittedMembers,
    answers,
    fit_members,
    from_arrays,
    in_row_blocks,
    learner,
    member_epochs,
    to_arrays,
)
from confide.methods.settings import EnsembleSettings
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

NAME = "deep_ensemble"


@dataclass(frozen=True, kw_only=True)
class Settings(EnsembleSettings):
    """Deep Ensembles have no settings beyond those of their networks."""


Fitted = FittedMembers
fit = fit_members


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean, both laws and the variances that a deep ensemble knows of, for each row."""
    standardiser, n_members = fitted.standardiser, fitted.settings.n_members

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        means, variances = answers(fitted, X_block)
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


def validation_law(
    means: Float[np.ndarray, "member row"], variances: Float[np.ndarray, "member row"]
) -> Law:
    """The law of held-out rows while the number of epochs is chosen."""
    mean, noise = ensemble_mean(means), aleatoric_variance(variances)
    return deep_ensemble_prediction_law(mean, disagreement_variance(means), noise)
