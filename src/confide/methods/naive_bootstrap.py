"""The naive bootstrap (Efron 1982; Heskes 1997 for networks): members on resampled rows."""

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Float64, Int

from confide.checks import require_choice
from confide.methods.bootstrapped_deep_ensemble import validation_law
from confide.methods.members import (
    SPREADS,
    FittedMembers,
    answers,
    fit_members,
    from_arrays,
    in_row_blocks,
    learner,
    member_epochs,
    to_arrays,
)
from confide.methods.settings import EnsembleSettings, require_several
from confide.prediction import Prediction
from confide.randomness import MemberKeys, generator_from
from confide.uncertainty import (
    aleatoric_variance,
    bootstrapped_confidence_law,
    bootstrapped_prediction_law,
    ensemble_mean,
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

NAME = "naive_bootstrap"

AS_PUBLISHED = {"spread": "population"}
"""What the code that the paper's tables were made with had: a divisor of M.

It also trained on the data set's real targets instead of the simulated ones; that is the
experiment's doing, not the method's (see `results/README.md`).
"""


@dataclass(frozen=True, kw_only=True)
class Settings(EnsembleSettings):
    """Those of the networks, and how the members' spread is measured.

    Attributes:
        spread: variance between members as of a "sample" (divisor M - 1) or a "population" (M).
    """

    spread: Literal["sample", "population"] = "sample"

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_several(self.n_members, "a bootstrap")
        require_choice("spread", self.spread, ("sample", "population"))


Fitted = FittedMembers


def resampled_rows(keys: MemberKeys, n_rows: int) -> Int[np.ndarray, "member row"]:
    """As many rows as there are, drawn with replacement for each member from its own key."""
    return np.stack([generator_from(key).integers(0, n_rows, n_rows, np.int32) for key in keys])


# Each member is trained on rows drawn with replacement.
fit = functools.partial(fit_members, resample=resampled_rows)


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean and both laws for each row.

    The members' spread stands for all that makes a prediction vary, data and training together,
    and is not divided by their number: each member is one answer to one resampled data set. Its
    law is a scaled t with M - 1 degrees of freedom (Heskes 1997); a new observation adds the
    members' mean noise to it, as in Algorithm 2.
    """
    standardiser, n_members = fitted.standardiser, fitted.settings.n_members
    spread_between = SPREADS[fitted.settings.spread]

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        means, variances = answers(fitted, X_block)
        return np.stack(
            [ensemble_mean(means), aleatoric_variance(variances), spread_between(means)]
        )

    mean, *variances = in_row_blocks(of_rows, X)
    mean = standardiser.y_mean + standardiser.y_scale * mean
    aleatoric, epistemic = (v * standardiser.y_scale**2 for v in variances)
    return Prediction(
        mean=mean,
        aleatoric_variance=aleatoric,
        epistemic_variance=epistemic,
        prediction_law=bootstrapped_prediction_law(mean, epistemic, aleatoric, n_members),
        confidence_law=bootstrapped_confidence_law(mean, epistemic, n_members),
        classical_variance=None,
        optimisation_variance=None,
        n_members=n_members,
    )
