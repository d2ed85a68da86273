"""The naive bootstrap (Efron 1982; Heskes 1997 for networks): members on resampled rows."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from confide.checks import checked_field, require_choice
from confide.methods import bootstrapped_deep_ensemble, members
from confide.methods.members import require_several
from confide.methods.predictor import SPREADS, Answers, FittedMembers, Predictor, Row, Table
from confide.prediction import Prediction
from confide.randomness import MemberKeys, generator_from
from confide.uncertainty import aleatoric_variance, ensemble_mean

NAME = "naive_bootstrap"

AS_PUBLISHED = {"spread": "population"}
"""What the code that the paper's tables were made with had: a divisor of M.

It also trained on the data set's real targets instead of the simulated ones; that is the
experiment's doing, not the method's (see `results/README.md`).
"""


@dataclass(frozen=True, kw_only=True)
class Settings(members.EnsembleSettings):
    """Those of the networks, and how the members' spread is measured."""

    n_members: int = checked_field(5, require_several, "a bootstrap")
    spread: Literal["sample", "population"] = checked_field(
        "sample", require_choice, tuple(SPREADS)
    )


Fitted = FittedMembers
learner, member_epochs = members.learner, members.member_epochs


def resampled_rows(keys: MemberKeys, n_rows: int) -> Int[np.ndarray, "member row"]:
    """As many rows as there are, drawn with replacement for each member from its own key."""
    return np.stack([generator_from(key).integers(0, n_rows, n_rows, np.int32) for key in keys])


# Each member is trained on rows drawn with replacement.
fit = functools.partial(members.fit_members, resample=resampled_rows)
MEAN_FITS = members.MEAN_FITS._replace(fit=functools.partial(fit, with_noise=False))


def _numbers(fitted: Fitted, X: Table) -> Iterator[Row]:
    answers = Answers.of(fitted, X)
    yield ensemble_mean(answers.means)
    yield aleatoric_variance(answers.variances)
    yield SPREADS[fitted.settings.spread](answers.means)


def _prediction(fitted: Fitted, mean: Row, noise: Row, spread: Row) -> Prediction:
    """Mean and both laws for each row.

    The members' spread stands for all that makes a prediction vary, data and training together,
    and is not divided by their number: each member is one answer to one resampled data set. Its
    law is a scaled t with M - 1 degrees of freedom (Heskes 1997); a new observation adds the
    members' mean noise to it, as in Algorithm 2.
    """
    return bootstrapped_deep_ensemble.prediction_of(fitted, mean, noise, spread)


predict = Predictor(_numbers, _prediction)
to_arrays, from_arrays = members.to_arrays, members.from_arrays
validation_law = bootstrapped_deep_ensemble.validation_law
