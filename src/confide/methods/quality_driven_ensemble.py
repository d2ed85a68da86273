"""Quality-Driven Ensembles (Pearce et al. 2018): networks that output bounds, at one level."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy import special

from confide.checks import (
    checked_field,
    require_choice,
    require_not_negative,
    require_positive,
    require_whole,
    require_within,
)
from confide.learners import (
    Learner,
    Likelihood,
    Perceptron,
    PerceptronNetwork,
    jax_networks,
    layer_sizes,
)
from confide.methods import members
from confide.methods.members import require_several
from confide.methods.predictor import SPREADS, FittedMembers, Predictor, Row, Table
from confide.prediction import Prediction
from confide.uncertainty import LevelLaw, ensemble_mean

NAME = "quality_driven_ensemble"

AS_PUBLISHED = {
    "coverage_penalty": 15.0,
    "initial_bound": 0.0,
    "captured_width": "soft",
    "spread": "population",
}
"""The settings of the code that the paper's tables were made with."""

# The authors' guard against a batch in which nothing is captured.
FEW = 1e-3


class BoundsNetwork(PerceptronNetwork):
    """A perceptron whose outputs are an upper and a lower bound, apart from the start."""

    initial_bound: Float[Array | np.ndarray, ""]

    def init(self, key: PRNGKeyArray, n_features: int) -> Perceptron:
        """An untrained perceptron whose biases are the initial bounds."""
        network = super().init(key, n_features)
        bias = self.initial_bound * jnp.array([1.0, -1.0])
        return eqx.tree_at(lambda net: net.head.bias, network, bias)


class QualityDrivenLoss(Likelihood):
    r"""Narrow bounds that capture enough: their $\mathrm{Loss}_{QD}$.

    $\mathrm{MPIW}_{\mathrm{capt}} + \lambda \sqrt n \max(0, (1-\alpha) - \mathrm{PICP})^2$ for a
    batch of n rows: the mean width over the rows that are captured, and a penalty if the share that
    is captured falls short. The share is that of a soft indicator, a product of sigmoids with the
    given softening; the width is over rows captured for certain ("hard"), or weighted by the soft
    indicator. The factor of the penalty is that of the authors' code (`DeepNetPI.py` of
    github.com/TeaPearce/Deep_Learning_Prediction_Intervals, commit 56e3e1f), which their values of
    lambda are for; their text has n / (alpha (1 - alpha)) in the place of sqrt(n). With that factor
    intervals on a sine with 400 rows came out 5.5 times as wide as the true ones, with this 2 to 3.
    """

    n_outputs: ClassVar[int] = 2
    captured_width: str = eqx.field(static=True)
    confidence_level: Float[Array | np.ndarray, ""]
    coverage_penalty: Float[Array | np.ndarray, ""]
    softening: Float[Array | np.ndarray, ""]

    def loss(self, raw: Any, y: Any, weight: Any, xp: ModuleType = jnp) -> Any:
        """The loss of one batch; rows count as much as they weigh."""
        del xp  # these networks are in JAX alone
        upper, lower = raw
        soft = jax.nn.sigmoid(self.softening * (upper - y))
        soft *= jax.nn.sigmoid(self.softening * (y - lower))
        hard = jnp.where((lower <= y) & (y <= upper), 1.0, 0.0)
        captured = weight * (hard if self.captured_width == "hard" else soft)
        width = jnp.sum(captured * jnp.abs(upper - lower)) / (jnp.sum(captured) + FEW)
        share = jnp.sum(weight * soft) / jnp.sum(weight)
        shortfall = jnp.maximum(0.0, self.confidence_level - share)
        return width + self.coverage_penalty * jnp.sqrt(jnp.sum(weight > 0)) * shortfall**2

    def outputs(self, raw: Any, xp: ModuleType = jnp) -> tuple[Any, ...]:
        """Lower and upper bound."""
        del xp
        upper, lower = raw
        return lower, upper


@dataclass(frozen=True, kw_only=True)
class Settings(members.EnsembleSettings):
    """Those of the networks, with three times the epochs of other ensembles, and of their loss.

    The defaults are the authors': lambda is `coverage_penalty`, s is `softening`.
    """

    n_members: int = checked_field(5, require_several, "a quality-driven ensemble")
    confidence_level: float = checked_field(
        0.95,
        require_within,
        "(0, 1)",
        "It is the one level that the networks are trained for: pass 0.95 for 95 %.",
    )
    max_epochs: int = checked_field(240, require_whole, "It is the number of passes over the data.")
    coverage_penalty: float = checked_field(4.0, require_positive, "The authors advise 4.")
    softening: float = checked_field(160.0, require_positive, "The authors advise 160.")
    initial_bound: float = checked_field(3.0, require_not_negative, "The authors advise 3.")
    captured_width: Literal["hard", "soft"] = checked_field(
        "hard", require_choice, ("hard", "soft")
    )
    spread: Literal["sample", "population"] = checked_field(
        "sample", require_choice, tuple(SPREADS)
    )


def learner(
    settings: Settings, n_features: int, *, hidden_layer_sizes: Any, **training: Any
) -> Learner[Any]:
    """Networks with two bounds; see `confide.learners.jax_networks` for the arguments."""
    del n_features
    bound, *numbers = (
        np.asarray(number, np.float32)
        for number in (
            settings.initial_bound,
            settings.confidence_level,
            settings.coverage_penalty,
            settings.softening,
        )
    )
    return jax_networks(
        BoundsNetwork(layer_sizes(hidden_layer_sizes), bound),
        QualityDrivenLoss(settings.captured_width, *numbers),
        settings.n_members,
        **training,
    )


Fitted = FittedMembers
member_epochs, fit = members.member_epochs, members.fit_members
to_arrays, from_arrays = members.to_arrays, members.from_arrays


def _numbers(fitted: Fitted, X: Table) -> Iterator[Row]:
    """The middle of the bounds and half their distance, from all members.

    Each bound is the members' mean, moved outwards by their standard deviation times the normal
    quantile of the level. Members whose bounds cross make an interval of width zero.
    """
    quantile = special.ndtri((1 + float(fitted.settings.confidence_level)) / 2)
    bounds = fitted.learner.predict(fitted.members, fitted.standardiser.inputs(X))
    lower, upper = (
        ensemble_mean(bound) + side * quantile * np.sqrt(SPREADS[fitted.settings.spread](bound))
        for side, bound in zip((-1, 1), np.moveaxis(bounds, -1, 0), strict=True)
    )
    yield (lower + upper) / 2
    yield np.maximum(upper - lower, 0) / 2


def _prediction(fitted: Fitted, middle: Row, half_width: Row) -> Prediction:
    """The middle of the bounds, and the bounds, for each row."""
    return Prediction(
        mean=middle,
        aleatoric_variance=None,
        epistemic_variance=None,
        prediction_law=LevelLaw(middle, half_width, float(fitted.settings.confidence_level)),
        confidence_law=None,
        classical_variance=None,
        optimisation_variance=None,
        n_members=fitted.settings.n_members,
        without_confidence=(
            "Quality-driven ensembles bound a new observation and say nothing of the true "
            "function: they have no confidence interval. Ask for kind='prediction', or use "
            "BootstrappedDeepEnsembleRegressor."
        ),
    )


predict = Predictor(_numbers, _prediction, power=1)
