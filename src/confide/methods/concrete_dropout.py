"""Concrete Dropout (Gal, Hron and Kendall 2017): one network, dropout rates learned with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float64, PRNGKeyArray, UInt32

from confide.bootstrap import Keys
from confide.checks import checked_field, require_choice, require_positive, require_whole
from confide.learners import (
    Learner,
    MemberState,
    as_key,
    dropout_networks,
    layer_sizes,
    slices,
    thinned,
)
from confide.methods import members
from confide.methods.predictor import FittedMembers, Predictor, Row, Table
from confide.persistence import Arrays, checked_array
from confide.prediction import Prediction
from confide.randomness import member_keys
from confide.uncertainty import (
    TPlusNormalLaw,
    aleatoric_variance,
    deep_ensemble_prediction_law,
    disagreement_variance,
    ensemble_mean,
)

NAME = "concrete_dropout"

AS_PUBLISHED = {"regulariser": "none"}
"""In the code that the paper's tables were made with, the penalty never reached the gradient."""

# A file that asks for more is a mistake, or was made to keep a reader busy. At the limit a row
# takes one or two seconds.
MOST_PASSES = 2_000
MOST_WEIGHTS = 10_000_000
# Weights of passes that are held at once, some ten megabytes with all that is made of them.
WEIGHTS_AT_ONCE = 2**20


@dataclass(frozen=True, kw_only=True)
class Settings(members.TrainingSettings):
    """Those of the network, with three times an ensemble's epochs as in the paper, and dropout's.

    The authors' l is `prior_length_scale`.
    """

    n_members: ClassVar[int] = 1
    max_epochs: int = checked_field(240, require_whole, "It is the number of passes over the data.")
    n_passes: int = checked_field(200, require_whole, "It is the number of random passes.")
    prior_length_scale: float = checked_field(1e-4, require_positive, "Pass for example 1e-4.")
    regulariser: Literal["concrete", "none"] = checked_field(
        "concrete", require_choice, ("concrete", "none")
    )

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        super().__post_init__()
        if not 2 <= self.n_passes <= MOST_PASSES:
            raise ValueError(
                f"`n_passes` must lie between 2 and {MOST_PASSES}, got {self.n_passes}: one pass "
                "has no spread, and too many would never end. Pass for example 200."
            )


def learner(
    settings: Settings, n_features: int, *, hidden_layer_sizes: Any, **training: Any
) -> Learner[Any]:
    """Networks with dropout; see `confide.learners.jax_networks` for the arguments."""
    sizes = layer_sizes(hidden_layer_sizes)
    n_weights = sum(n_in * n_out for n_in, n_out in pairwise((n_features, *sizes, 2)))
    if settings.n_passes * n_weights > MOST_WEIGHTS:
        raise ValueError(
            f"`n_passes` times the {n_weights} weights must be at most {MOST_WEIGHTS}, got "
            f"{settings.n_passes} passes: each row would take too many steps. Pass fewer "
            "`n_passes`, or smaller `hidden_layer_sizes`."
        )
    on = 0.0 if settings.regulariser == "none" else 1.0
    return dropout_networks(
        sizes,
        weight_strength=on * settings.prior_length_scale**2,
        entropy_strength=2 * on,
        **training,
    )


@dataclass(frozen=True)
class Fitted(FittedMembers):
    """A trained network, and the key of its passes."""

    pass_key: UInt32[np.ndarray, "2"]


member_epochs = members.member_epochs


def fit(
    keys: Sequence[PRNGKeyArray],
    X: Table,
    targets: Float64[np.ndarray, "set row"],
    settings: Settings,
    learner: Learner[Any],
    **how: Any,
) -> list[Fitted]:
    """Trains one network a data set; see `fit_members` for the arguments."""
    networks = members.fit_members(keys, X, targets, settings, learner, **how)
    pass_keys = Keys.from_keys(keys, 1).simulation
    return [
        Fitted(**vars(fitted), pass_key=pass_key)
        for fitted, pass_key in zip(networks, pass_keys, strict=True)
    ]


def random_passes(fitted: Fitted, n_features: int) -> Iterator[MemberState]:
    """The networks of the passes, some at a time: the same whenever the same fit is asked."""
    keys = member_keys(as_key(fitted.pass_key), fitted.settings.n_passes)
    at_once = max(1, WEIGHTS_AT_ONCE // fitted.members.parameters[0].size)
    for some in slices(len(keys), at_once):
        yield thinned(fitted.learner, fitted.members, keys[some], n_features)


def _numbers(fitted: Fitted, X: Table) -> Iterator[Row]:
    learner, inputs = fitted.learner.for_many(), fitted.standardiser.inputs(X)
    passes = random_passes(fitted, X.shape[1])
    outputs = np.concatenate([learner.predict(networks, inputs) for networks in passes])
    means, variances = outputs[..., 0], outputs[..., 1]
    yield ensemble_mean(means)
    yield aleatoric_variance(variances)
    yield disagreement_variance(means)


def _prediction(fitted: Fitted, mean: Row, noise: Row, spread: Row) -> Prediction:
    """Mean, both laws and the variances over random passes, for each row."""
    del fitted
    return Prediction(
        mean=mean,
        aleatoric_variance=noise,
        epistemic_variance=spread,
        prediction_law=deep_ensemble_prediction_law(mean, spread, noise),
        confidence_law=TPlusNormalLaw.normal(mean, np.sqrt(spread)),
        classical_variance=None,
        optimisation_variance=None,
        n_members=1,
    )


predict = Predictor(_numbers, _prediction)


def to_arrays(fitted: Fitted) -> Arrays:
    """What a model file keeps beside the settings."""
    return {**members.to_arrays(fitted), "pass_key": fitted.pass_key}


def from_arrays(
    arrays: Arrays, settings: Settings, learner: Learner[Any], n_features: int
) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    fitted = members.from_arrays(arrays, settings, learner, n_features)
    pass_key = checked_array(arrays, "pass_key", (2,), np.uint32)
    return Fitted(**vars(fitted), pass_key=pass_key)
