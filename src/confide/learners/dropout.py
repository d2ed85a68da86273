"""Networks of Concrete Dropout (Gal, Hron and Kendall 2017): units drop out at rates learned."""

import functools
import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from confide.learners.likelihood import Likelihood
from confide.learners.loop import MemberState, opened
from confide.learners.network import Dense, Network
from confide.randomness import MemberKeys, as_key

# The authors' settings: how hard the relaxed masks are, and where every rate starts.
TEMPERATURE, INITIAL_RATE = 0.1, 0.1
TINY = 1e-7


class DroppedDense(Dense):
    """An affine map whose inputs are dropped at a rate that is learned."""

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


class DroppedPerceptron(eqx.Module):
    """A ReLU network with a head for the mean and one for the log variance."""

    hidden: tuple[DroppedDense, ...]
    mean: DroppedDense
    log_variance: DroppedDense

    @property
    def layers(self) -> tuple[DroppedDense, ...]:
        """All that drop."""
        return (*self.hidden, self.mean, self.log_variance)

    def masks(self, key: PRNGKeyArray, *n_rows: int) -> list[Float[Array, "in *row"]]:
        """For the inputs of each layer, one mask for all rows or one for each."""
        keys = jax.random.split(key, len(self.layers))
        return [
            layer.mask(k, (layer.weight.shape[1], *n_rows))
            for layer, k in zip(self.layers, keys, strict=True)
        ]

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


class DropoutNetwork(Network):
    r"""A perceptron with dropout, and the authors' regulariser.

    For each layer with kernel W, K inputs and rate p, with N training rows and prior length scale
    l: $\frac{l^2}{N} \frac{\lVert W\rVert^2}{1-p} - \frac2N K\, H(p)$, where H is the entropy of a
    Bernoulli law (their Eqs. (3) and (4), doubled as the likelihood is). It is what keeps the rates
    from zero.
    """

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)
    weight_strength: Float[Array | np.ndarray, ""]
    entropy_strength: Float[Array | np.ndarray, ""]

    def init(self, key: PRNGKeyArray, n_features: int) -> DroppedPerceptron:
        """An untrained perceptron."""
        sizes = (n_features, *self.hidden_layer_sizes)
        shapes = [*itertools.pairwise(sizes), (sizes[-1], 1), (sizes[-1], 1)]
        keys = jax.random.split(key, len(shapes))
        *hidden, mean, log_variance = (
            DroppedDense.init(k, *shape) for k, shape in zip(keys, shapes, strict=True)
        )
        return DroppedPerceptron(tuple(hidden), mean, log_variance)

    def raw(
        self, module: DroppedPerceptron, X: Float[Array, "feature row"], key: PRNGKeyArray | None
    ) -> Any:
        """Mean and log variance; in training every row has masks of its own."""
        if key is None:
            return module(X)
        return module(X, module.masks(key, X.shape[1]))

    def plain_layers(self, module: DroppedPerceptron, n_features: int) -> list[Dense]:
        """Its layers when nothing is dropped, both heads as one."""
        del n_features
        heads = module.layers[-2:]
        weight, bias = (
            jnp.concatenate([getattr(head, name) for head in heads]) for name in ("weight", "bias")
        )
        return [*module.hidden, Dense(weight, bias)]

    def penalty(self, module: DroppedPerceptron, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """The regulariser of all layers."""
        total = jnp.zeros(())
        for layer in module.layers:
            p, n_inputs = layer.rate, layer.weight.shape[1]
            # In logits, so that a rate near 0 or 1 costs no digits and no infinities.
            log_p, log_rest = (jax.nn.log_sigmoid(s * layer.rate_logit) for s in (1, -1))
            negative_entropy = p * log_p + (1 - p) * log_rest
            total += self.weight_strength * jnp.sum(layer.weight**2) / (1 - p)
            total += self.entropy_strength * n_inputs * negative_entropy
        return total / n_rows


class DropoutLikelihood(Likelihood):
    """Twice the negative log-likelihood of a normal law, whose raw numbers have a log variance."""

    n_outputs: ClassVar[int] = 2

    def loss(self, raw: Any, y: Any, weight: Any, xp: ModuleType = jnp) -> Any:
        """Weighted mean over the batch."""
        mean, log_variance = raw
        losses = xp.exp(-log_variance) * (y - mean) ** 2 + log_variance
        return xp.sum(weight * losses) / xp.sum(weight > 0)

    def outputs(self, raw: Any, xp: ModuleType = jnp) -> tuple[Any, ...]:
        """Mean and variance."""
        mean, log_variance = raw
        return mean, xp.exp(log_variance)


def thinned(learner: Any, state: MemberState, keys: MemberKeys, n_features: int) -> MemberState:
    """The first member once for each key, its units dropped at random, the same for all rows.

    At each row these networks have the law that masks of its own would give, and a row's numbers do
    not depend on its neighbours.

    Args:
        learner: networks with dropout.
        state: of which the first member is thinned.
        keys: of the networks to make.
        n_features: the number of features.

    Returns:
        As many members as there are keys.
    """
    passes = _thinned(learner.network, n_features, state.parameters[0], keys)
    return learner.state_from(np.asarray(passes), n_features)


@functools.partial(jax.jit, static_argnames=("n_features",))
def _thinned(
    network: Network,
    n_features: int,
    parameters: Float[Array, " parameter"],
    keys: UInt32[Array, "pass 2"],
) -> Float[Array, "pass parameter"]:
    of = opened(network, n_features)
    module = of.module(parameters)

    def one(key: UInt32[Array, "2"]) -> Float[Array, " parameter"]:
        masks = module.masks(as_key(key))
        weights = [layer.weight * mask for layer, mask in zip(module.layers, masks, strict=True)]
        thinned = eqx.tree_at(lambda net: [layer.weight for layer in net.layers], module, weights)
        return ravel_pytree(thinned)[0]

    return jax.vmap(one)(keys)
