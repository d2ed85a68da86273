"""Concrete Dropout (Gal, Hron and Kendall 2017): one network, dropout rates learned with it."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Float32, Float64, Int, PRNGKeyArray, UInt32

from confide.arrays import Arrays, checked_array
from confide.bootstrap import Keys
from confide.learners import MOST_MEMBERS_PER_BLOCK, Progress, as_key, unravel
from confide.methods import members
from confide.methods.members import (
    FittedMembers,
    fit_members,
    in_row_blocks,
    member_epochs,
    parameters_of,
)
from confide.methods.settings import (
    NetworkSettings,
    require_choice,
    require_positive,
    require_whole,
)
from confide.prediction import Prediction
from confide.randomness import member_keys
from confide.uncertainty import (
    aleatoric_variance,
    deep_ensemble_prediction_law,
    disagreement_variance,
    ensemble_mean,
)
from confide.uncertainty.t_plus_normal_law import TPlusNormalLaw

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

NAME = "concrete_dropout"

AS_PUBLISHED = {"regulariser": "none"}
"""In the code that the paper's tables were made with, the penalty never reached the gradient."""

# The inventors' settings: how hard the relaxed masks are, and where every rate starts.
TEMPERATURE, INITIAL_RATE = 0.1, 0.1
TINY = 1e-7
# A file that asks for more is a mistake, or was made to keep a reader busy.
MOST_PASSES = 100_000


class DroppedDense(eqx.Module):
    """An affine map whose inputs are dropped at a rate that is learned."""

    weight: Float[Array, "out in"]
    bias: Float[Array, " out"]
    rate_logit: Float[Array, ""]

    @classmethod
    def init(cls, key: PRNGKeyArray, n_in: int, n_out: int) -> "DroppedDense":
        """Glorot-uniform kernel, zero bias, the initial rate."""
        limit = np.sqrt(6 / (n_in + n_out))
        weight = jax.random.uniform(key, (n_out, n_in), minval=-limit, maxval=limit)
        return cls(weight, jnp.zeros(n_out), jnp.log(INITIAL_RATE / (1 - INITIAL_RATE)))

    @property
    def rate(self) -> Float[Array, ""]:
        """The share of inputs that is dropped, p."""
        return jax.nn.sigmoid(self.rate_logit)

    def mask(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """A relaxed mask (the concrete law, their Eq. (5)), scaled so that its mean is about 1."""
        uniform = jax.random.uniform(key, shape, minval=TINY, maxval=1 - TINY)
        logit = self.rate_logit + jnp.log(uniform) - jnp.log1p(-uniform)
        return (1 - jax.nn.sigmoid(logit / TEMPERATURE)) / (1 - self.rate)

    def __call__(self, X: Float[Array, "in row"]) -> Float[Array, "out row"]:
        """Weights times X plus bias, nothing dropped."""
        return self.weight @ X + self.bias[:, None]


class DroppedNetwork(eqx.Module):
    """A ReLU network with a head for the mean and one for the log variance."""

    hidden: tuple[DroppedDense, ...]
    mean: DroppedDense
    log_variance: DroppedDense

    @property
    def layers(self) -> tuple[DroppedDense, ...]:
        """All that drop."""
        return (*self.hidden, self.mean, self.log_variance)

    def __call__(
        self, X: Float[Array, "feature row"], masks: Sequence[Float[Array, "..."]] | None = None
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """Mean and log variance, the layers' inputs multiplied by the masks."""
        factors: Sequence[float | Array] = [1.0] * len(self.layers) if masks is None else masks
        for layer, factor in zip(self.hidden, factors, strict=False):
            X = jax.nn.relu(layer(X * factor))
        mean, log_variance = (
            head(X * factor)[0] for head, factor in zip(self.layers[-2:], factors[-2:], strict=True)
        )
        return mean, log_variance


class ConcreteDropoutLoss(eqx.Module):
    r"""Twice the negative log-likelihood, and the inventors' regulariser.

    For each layer with kernel W, K inputs and rate p, with N training rows and prior length scale
    l: $\frac{l^2}{N} \frac{\lVert W\rVert^2}{1-p} - \frac2N K\, H(p)$, where H is the entropy of a
    Bernoulli law (their Eqs. (3) and (4), doubled as the likelihood is). It is what keeps the rates
    from zero.
    """

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)
    weight_strength: Float[Array | np.ndarray, ""]
    entropy_strength: Float[Array | np.ndarray, ""]

    def network(self, key: PRNGKeyArray, n_features: int) -> DroppedNetwork:
        """An untrained network."""
        sizes = (n_features, *self.hidden_layer_sizes)
        shapes = [*itertools.pairwise(sizes), (sizes[-1], 1), (sizes[-1], 1)]
        keys = jax.random.split(key, len(shapes))
        *hidden, mean, log_variance = (
            DroppedDense.init(k, *shape) for k, shape in zip(keys, shapes, strict=True)
        )
        return DroppedNetwork(tuple(hidden), mean, log_variance)

    def loss(
        self,
        network: DroppedNetwork,
        key: PRNGKeyArray,
        X: Float[Array, "feature batch"],
        y: Float[Array, " batch"],
        weight: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Weighted mean over the batch, every row with masks of its own."""
        keys = jax.random.split(key, len(network.layers))
        shapes = [(layer.weight.shape[1], len(y)) for layer in network.layers]
        masks = [
            layer.mask(k, shape)
            for layer, k, shape in zip(network.layers, keys, shapes, strict=True)
        ]
        mean, log_variance = network(X, masks)
        each = jnp.exp(-log_variance) * (y - mean) ** 2 + log_variance
        return jnp.sum(weight * each) / jnp.sum(weight > 0)

    def penalty(self, network: DroppedNetwork, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """The regulariser of all layers."""
        total = jnp.zeros(())
        for layer in network.layers:
            p, n_inputs = layer.rate, layer.weight.shape[1]
            # In logits, so that a rate near 0 or 1 costs no digits and no infinities.
            log_p, log_rest = (jax.nn.log_sigmoid(s * layer.rate_logit) for s in (1, -1))
            negative_entropy = p * log_p + (1 - p) * log_rest
            total += self.weight_strength * jnp.sum(layer.weight**2) / (1 - p)
            total += self.entropy_strength * n_inputs * negative_entropy
        return total / n_rows

    def outputs(
        self, network: DroppedNetwork, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """Mean and variance of a network that is already thinned."""
        mean, log_variance = network(X)
        return mean, jnp.exp(log_variance)


@dataclass(frozen=True, kw_only=True)
class Settings(NetworkSettings):
    """Those of the network, and of its dropout.

    Attributes:
        max_epochs: passes over the data; three times an ensemble's, as in the paper.
        n_passes: networks thinned at random that make a prediction.
        prior_length_scale: l, of the prior on the weights.
        regulariser: the inventors' ("concrete"), or "none".
    """

    max_epochs: int = 240
    n_passes: int = 200
    prior_length_scale: float = 1e-4
    regulariser: Literal["concrete", "none"] = "concrete"

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_whole("n_passes", self.n_passes, "It is the number of random passes.")
        require_positive("prior_length_scale", self.prior_length_scale, "Pass for example 1e-4.")
        require_choice("regulariser", self.regulariser, ("concrete", "none"))
        if not 2 <= self.n_passes <= MOST_PASSES:
            raise ValueError(
                f"`n_passes` must lie between 2 and {MOST_PASSES}, got {self.n_passes}: one pass "
                "has no spread, and that many would never end. Pass for example 200."
            )

    @property
    def n_networks(self) -> int:
        """One."""
        return 1

    @property
    def objective(self) -> ConcreteDropoutLoss:
        """The loss with its strengths as run-time values."""
        on = 0.0 if self.regulariser == "none" else 1.0
        weight = np.asarray(on * self.prior_length_scale**2, np.float32)
        return ConcreteDropoutLoss(self.layer_sizes, weight, np.asarray(2 * on, np.float32))


@dataclass(frozen=True)
class Fitted(FittedMembers):
    """A trained network, and the key of its passes."""

    pass_key: UInt32[np.ndarray, "2"]


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
    """Trains one network a data set."""
    networks = fit_members(
        keys,
        X,
        targets,
        settings,
        sample_weight=sample_weight,
        members_per_block=members_per_block,
        progress=progress,
    )
    pass_keys = Keys.from_keys(keys, 1).simulation
    return [
        Fitted(settings, fitted.standardiser, fitted.members, pass_key)
        for fitted, pass_key in zip(networks, pass_keys, strict=True)
    ]


def thinned_networks(fitted: Fitted, n_features: int) -> Float32[np.ndarray, "pass parameter"]:
    """The weights of the networks of all passes.

    One pass is one network thinned at random, the same for all rows: at each row the passes have
    the law that masks of its own would give, and a row's numbers do not depend on its neighbours.
    """
    keys = member_keys(as_key(fitted.pass_key), fitted.settings.n_passes)
    parameters = parameters_of(fitted.members)[0]
    return np.asarray(_thinned(fitted.settings.objective, n_features, parameters, keys))


@functools.partial(jax.jit, static_argnames=("n_features",))
def _thinned(
    objective: ConcreteDropoutLoss,
    n_features: int,
    parameters: Float[Array, " parameter"],
    keys: UInt32[Array, "pass 2"],
) -> Float[Array, "pass parameter"]:
    network = unravel(objective, n_features)(parameters)

    def one(key: UInt32[Array, "2"]) -> Float[Array, " parameter"]:
        layer_keys = jax.random.split(as_key(key), len(network.layers))
        masks = [
            layer.mask(k, (layer.weight.shape[1],))
            for layer, k in zip(network.layers, layer_keys, strict=True)
        ]
        weights = [layer.weight * mask for layer, mask in zip(network.layers, masks, strict=True)]
        thinned = eqx.tree_at(lambda net: [layer.weight for layer in net.layers], network, weights)
        return ravel_pytree(thinned)[0]

    return jax.vmap(one)(keys)


def predict(fitted: Fitted, X: Float[np.ndarray, "row feature"]) -> Prediction:
    """Mean, both laws and the variances over random passes, for each row."""
    standardiser = fitted.standardiser
    learner = fitted.settings.learner(MOST_MEMBERS_PER_BLOCK)
    passes = learner.state_from(thinned_networks(fitted, X.shape[1]))

    def of_rows(X_block: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "part row"]:
        means, variances = learner.predict(passes, standardiser.inputs(X_block))
        parts = [ensemble_mean(means), aleatoric_variance(variances), disagreement_variance(means)]
        return np.stack(parts)

    mean, *variances = in_row_blocks(of_rows, X)
    mean = standardiser.y_mean + standardiser.y_scale * mean
    aleatoric, epistemic = (v * standardiser.y_scale**2 for v in variances)
    return Prediction(
        mean=mean,
        aleatoric_variance=aleatoric,
        epistemic_variance=epistemic,
        prediction_law=deep_ensemble_prediction_law(mean, epistemic, aleatoric),
        confidence_law=TPlusNormalLaw.normal(mean, np.sqrt(epistemic)),
        classical_variance=None,
        optimisation_variance=None,
        n_members=1,
    )


def to_arrays(fitted: Fitted) -> Arrays:
    """What a model file keeps beside the settings."""
    return {**members.to_arrays(fitted), "pass_key": fitted.pass_key}


def from_arrays(arrays: Arrays, settings: Settings, n_features: int) -> Fitted:
    """A fitted method from a model file's arrays, checked."""
    fitted = members.from_arrays(arrays, settings, n_features)
    pass_key = checked_array(arrays, "pass_key", (2,), np.uint32)
    return Fitted(settings, fitted.standardiser, fitted.members, pass_key)
