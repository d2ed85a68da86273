"""Quality-Driven Ensembles (Pearce et al. 2018): networks that output bounds, at one level."""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float64, Int, PRNGKeyArray
from scipy import special

from confide.errors import is_number
from confide.learners import Perceptron
from confide.methods.members import (
    SPREADS,
    FittedMembers,
    fit_members,
    from_arrays,
    in_row_blocks,
    member_epochs,
    to_arrays,
)
from confide.methods.settings import (
    LARGEST,
    NetworkSettings,
    require_choice,
    require_positive,
    require_several,
    require_whole,
)
from confide.prediction import Prediction
from confide.uncertainty import LevelLaw, ensemble_mean

__all__ = [
    "NAME",
    "Fitted",
    "Settings",
    "fit",
    "from_arrays",
    "member_epochs",
    "predict",
    "to_arrays",
]

NAME = "quality_driven_ensemble"

AS_PUBLISHED = {
    "coverage_penalty": 15.0,
    "initial_bound": 0.0,
    "captured_width": "soft",
    "spread": "population",
}
"""The settings of the code that the paper's tables were made with."""

# The inventors' guard against a batch in which nothing is captured.
FEW = 1e-3


class BoundsNetwork(Perceptron):
    """A network whose outputs are an upper and a lower bound."""

    def __call__(
        self, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """Lower and upper bound of rows that lie in the columns of X."""
        upper, lower = self.linear_outputs(X)
        return lower, upper


class QualityDrivenLoss(eqx.Module):
    r"""Narrow bounds that capture enough: their $\mathrm{Loss}_{QD}$.

    $\mathrm{MPIW}_{\mathrm{capt}} + \lambda \sqrt n \max(0, (1-\alpha) - \mathrm{PICP})^2$ for a
    batch of n rows: the mean width over the rows that are captured, and a penalty if the share that
    is captured falls short. The share is that of a soft indicator, a product of sigmoids with the
    given softening; the width is over rows captured for certain ("hard"), or weighted by the soft
    indicator. The factor of the penalty is that of the inventors' code (`DeepNetPI.py` of
    github.com/TeaPearce/Deep_Learning_Prediction_Intervals, commit 56e3e1f), which their values of
    lambda are for; their text has n / (alpha (1 - alpha)) in the place of sqrt(n). With that factor
    intervals on a sine with 400 rows came out 5.5 times as wide as the true ones, with this 2 to 3.
    """

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)
    captured_width: str = eqx.field(static=True)
    confidence_level: Float[Array | np.ndarray, ""]
    coverage_penalty: Float[Array | np.ndarray, ""]
    softening: Float[Array | np.ndarray, ""]
    initial_bound: Float[Array | np.ndarray, ""]

    def network(self, key: PRNGKeyArray, n_features: int) -> BoundsNetwork:
        """An untrained network, its bounds apart from the start."""
        network = BoundsNetwork.init(key, n_features, self.hidden_layer_sizes)
        bias = self.initial_bound * jnp.array([1.0, -1.0])
        return eqx.tree_at(lambda net: net.head.bias, network, bias)

    def loss(
        self,
        network: BoundsNetwork,
        key: PRNGKeyArray,
        X: Float[Array, "feature batch"],
        y: Float[Array, " batch"],
        weight: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """The loss of one batch; rows count as much as they weigh."""
        del key  # this network is not random
        lower, upper = network(X)
        soft = jax.nn.sigmoid(self.softening * (upper - y))
        soft *= jax.nn.sigmoid(self.softening * (y - lower))
        hard = jnp.where((lower <= y) & (y <= upper), 1.0, 0.0)
        captured = weight * (hard if self.captured_width == "hard" else soft)
        width = jnp.sum(captured * jnp.abs(upper - lower)) / (jnp.sum(captured) + FEW)
        share = jnp.sum(weight * soft) / jnp.sum(weight)
        shortfall = jnp.maximum(0.0, self.confidence_level - share)
        return width + self.coverage_penalty * jnp.sqrt(jnp.sum(weight > 0)) * shortfall**2

    def penalty(self, network: BoundsNetwork, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """None."""
        del network, n_rows
        return jnp.zeros(())

    def outputs(
        self, network: BoundsNetwork, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """The lower and the upper bound of each row."""
        return network(X)


@dataclass(frozen=True, kw_only=True)
class Settings(NetworkSettings):
    """Those of the networks, and of their loss; the defaults are the inventors'.

    Attributes:
        confidence_level: the one level that the networks are trained for.
        n_members: M, the number of networks.
        max_epochs: passes over the data; three times those of other ensembles, as in the paper.
        coverage_penalty: lambda, the price of capturing too few.
        softening: s, how sharp the soft indicator is.
        initial_bound: the bounds start at plus and minus this, in standard deviations of y.
        captured_width: rows whose width counts: captured for certain ("hard") or softly ("soft").
        spread: variance between members as of a "sample" (divisor M - 1) or a "population" (M).
    """

    confidence_level: float = 0.95
    n_members: int = 5
    max_epochs: int = 240
    coverage_penalty: float = 4.0
    softening: float = 160.0
    initial_bound: float = 3.0
    captured_width: Literal["hard", "soft"] = "hard"
    spread: Literal["sample", "population"] = "sample"

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_whole("n_members", self.n_members, "It is the number of networks; 5 is usual.")
        require_several(self.n_members, "a quality-driven ensemble")
        if not (is_number(self.confidence_level) and 0 < self.confidence_level < 1):
            raise ValueError(
                f"`confidence_level` must lie in (0, 1), got {self.confidence_level!r}. It is the "
                "one level that the networks are trained for: pass 0.95 for 95 %."
            )
        require_positive("coverage_penalty", self.coverage_penalty, "The inventors advise 4.")
        require_positive("softening", self.softening, "The inventors advise 160.")
        if not (is_number(self.initial_bound) and 0 <= self.initial_bound < LARGEST):
            raise ValueError(
                f"`initial_bound` must be a number that is not negative, got "
                f"{self.initial_bound!r}. The inventors advise 3."
            )
        require_choice("captured_width", self.captured_width, ("hard", "soft"))
        require_choice("spread", self.spread, ("sample", "population"))

    @property
    def n_networks(self) -> int:
        """All members."""
        return int(self.n_members)

    @property
    def objective(self) -> QualityDrivenLoss:
        """The loss with its numbers as run-time values."""
        numbers = (
            self.confidence_level, self.coverage_penalty, self.softening, self.initial_bound
        )  # fmt: skip
        return QualityDrivenLoss(
            self.layer_sizes, self.captured_width, *(np.asarray(n, np.float32) for n in numbers)
        )


Fitted = FittedMembers
fit = fit_members


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """The middle of the bounds, and the bounds, for each row.

    Each bound is the members' mean, moved outwards by their standard deviation times the normal
    quantile of the level. Members whose bounds cross make an interval of width zero.
    """
    standardiser, settings = fitted.standardiser, fitted.settings
    learner, level = settings.learner(), float(settings.confidence_level)
    spread_between = SPREADS[settings.spread]
    quantile = special.ndtri((1 + level) / 2)

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        bounds = learner.predict(fitted.members, standardiser.inputs(X_block))
        lower, upper = (
            ensemble_mean(bound) + side * quantile * np.sqrt(spread_between(bound))
            for side, bound in zip((-1, 1), bounds, strict=True)
        )
        return np.stack([(lower + upper) / 2, np.maximum(upper - lower, 0) / 2])

    middle, half_width = in_row_blocks(of_rows, X)
    middle = standardiser.y_mean + standardiser.y_scale * middle
    return Prediction(
        mean=middle,
        aleatoric_variance=None,
        epistemic_variance=None,
        prediction_law=LevelLaw(middle, standardiser.y_scale * half_width, level),
        confidence_law=None,
        classical_variance=None,
        optimisation_variance=None,
        n_members=settings.n_members,
        without_confidence=(
            "Quality-driven ensembles bound a new observation and say nothing of the true "
            "function: they have no confidence interval. Ask for kind='prediction', or use "
            "BootstrappedDeepEnsembleRegressor."
        ),
    )
