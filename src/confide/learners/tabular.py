"""A network for tables, with what recent tabular networks have in common.

From RealMLP (Holzmüller, Grinsztajn and Steinwart 2024): smooth clipping of the inputs, a learnt
scale for each of them, the neural-tangent parametrisation, and dropout. From
MLP-PLR (Gorishniy, Rubachev and Babenko 2022): periodic features of every input, here at fixed
frequencies. `benchmarks/recipes.py` compares it with the paper's network.
"""

import itertools
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Float32, PRNGKeyArray, UInt32

from confide.learners.network import Dense, Network

# Inputs are standardised by quantiles: most lie within 3, and none gets beyond it.
CLIP = 3.0
# Waves of the periodic features for a step of one in an input. A table of very many columns has
# fewer of them, or none: it would take long, and has inputs enough.
FREQUENCIES, MOST_INPUTS = (0.15, 0.3, 0.6, 1.2), 2000
# Of a smooth function, the waves above this have no say.
MOST_OF_SMOOTH = 0.3
# What a feature of two values is multiplied with. It has one weight where others have nine, and as
# all of them move at one rate, its effect would be learnt more slowly. Of 1, 3 and 6, this was the
# best on loans, whose interest is nearly a function of categories; four other tables did not tell.
OF_TWO_VALUES = 6.0
# How much faster than a weight a scale is trained, and how much slower a bias. Adam's steps do not
# depend on a parameter's unit, so the unit decides how fast it moves.
SCALE_UNIT, BIAS_UNIT = 6.0, 0.1


class TabularPerceptron(eqx.Module):
    """Weights in units in which all of them are trained at one rate."""

    scale: Float[Array, " input"]
    hidden: tuple[Dense, ...]
    head: Dense

    @classmethod
    def init(
        cls, key: PRNGKeyArray, n_inputs: int, hidden_layer_sizes: tuple[int, ...]
    ) -> "TabularPerceptron":
        """Normal weights; the head is zero, so that training starts from the mean of the target."""
        sizes = (n_inputs, *hidden_layer_sizes)
        shapes = [(n_out, n_in + 1) for n_in, n_out in itertools.pairwise(sizes)]
        ends = np.cumsum([n_out * n_in for n_out, n_in in shapes])
        draws = jax.random.normal(key, (int(ends[-1]),))
        kernels = (
            draw.reshape(shape)
            for shape, draw in zip(shapes, jnp.split(draws, ends[:-1]), strict=True)
        )
        hidden = tuple(Dense(k[:, :-1], 0.5 / BIAS_UNIT * k[:, -1]) for k in kernels)
        head = Dense(jnp.zeros((1, sizes[-1])), jnp.zeros(1))
        return cls(jnp.zeros(n_inputs), hidden, head)


class TabularNetwork(Network):
    """A perceptron of periodic features that predicts a mean.

    Attributes:
        hidden_layer_sizes: units of each hidden layer.
        dropout: the share of hidden units that is dropped in a step of training.
        smooth: one where the high frequencies have no say, else zero.
        indicators: positions of features with two values. They have no waves: those would be
            straight lines through the two values, as the feature is itself.
    """

    # Faster to forget large gradients than usual (b2), as RealMLP does.
    adam: ClassVar[optax.GradientTransformation] = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.scale_by_adam(b1=0.9, b2=0.95, eps=1e-8),
        optax.add_decayed_weights(0.02),
    )

    is_robust: ClassVar[bool] = True

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)
    dropout: Float[Array | np.ndarray, ""]
    smooth: Float[Array | np.ndarray, ""]
    indicators: tuple[int, ...] = eqx.field(static=True, default=())

    @classmethod
    def of(
        cls,
        sizes: tuple[int, ...],
        dropout: float,
        smooth: bool,
        indicators: tuple[int, ...] = (),
    ) -> "TabularNetwork":
        """From plain values; see the attributes.

        Dropout and smoothness are run-time values of one compiled program.
        """
        regularised = np.asarray(dropout, np.float32), np.asarray(smooth, np.float32)
        return cls(sizes, *regularised, indicators)

    @property
    def chosen(self) -> dict[str, Any]:
        """How much it is regularised."""
        return {"dropout": round(float(self.dropout), 6), "smooth": bool(self.smooth)}

    def init(self, key: PRNGKeyArray, n_features: int) -> TabularPerceptron:
        """Untrained weights."""
        n_inputs = n_features + 2 * len(self.frequencies(n_features)) * len(self.waved(n_features))
        return TabularPerceptron.init(key, n_inputs, self.hidden_layer_sizes)

    def waved(self, n_features: int) -> tuple[int, ...]:
        """Positions of the features that have waves."""
        without = frozenset(self.indicators)
        return tuple(i for i in range(n_features) if i not in without)

    def frequencies(self, n_features: int) -> tuple[float, ...]:
        """Those of the waves of so many features."""
        return frequencies(n_features, len(self.waved(n_features)))

    def inputs(self, X: Float[Array, "feature row"]) -> Float[Array, "input row"]:
        """The features and waves of them."""
        return periodic_features(X, self.smooth, self.waved(len(X)))

    def raw(
        self, module: TabularPerceptron, X: Float[Array, "input row"], key: PRNGKeyArray | None
    ) -> Float[Array, "1 row"]:
        """The mean."""
        X = X * (1 + SCALE_UNIT * module.scale[:, None])
        n_layers = len(module.hidden)
        keys = None if key is None else jax.random.bits(key, (n_layers,), jnp.uint32)
        for i, layer in enumerate(module.hidden):
            X = jax.nn.silu(_in_units(layer)(X))
            if keys is not None:
                kept = hashed_mask(keys[i], X.shape, self.dropout)
                X = jnp.where(kept, X / (1 - self.dropout), 0.0)
        return _in_units(module.head)(X)

    def plain_layers(self, module: TabularPerceptron, n_features: int) -> list[Dense]:
        """The layers as they are applied to clipped inputs and their waves; scales are in them."""
        first, *others = (_in_units(layer) for layer in (*module.hidden, module.head))
        heights = [_height(f, self.smooth) for f in self.frequencies(n_features) for _ in "sc"]
        of_waves = np.repeat(np.asarray(heights, np.float32), len(self.waved(n_features)))
        scale = 1 + SCALE_UNIT * module.scale
        scale *= np.concatenate([_heights(n_features, self.waved(n_features)), of_waves])
        return [Dense(first.weight * scale, first.bias), *others]


def frequencies(n_features: int, n_waved: int) -> tuple[float, ...]:
    """Those that the waves have, where so many of the features have waves.

    Example:
        >>> [len(frequencies(n, n)) for n in (10, 222, 300, 1000)]
        [4, 4, 2, 0]
        >>> len(frequencies(1000, 20))
        4
    """
    return FREQUENCIES[: max(0, (MOST_INPUTS - n_features) // (2 * max(1, n_waved)))]


def periodic_features(
    X: Float[Array, "feature row"],
    smooth: Float[Array | np.ndarray, ""],
    waved: tuple[int, ...],
) -> Float[Array, "input row"]:
    """Inputs, clipped smoothly, with waves of them: rough functions are then learnt as fast.

    Args:
        X: the features.
        smooth: one where the high frequencies have no say, else zero.
        waved: positions of the features that have waves.
    """
    X = X / jnp.hypot(1.0, X / CLIP)  # no square that could overflow
    own, waves = X, []
    if len(waved) < len(X):
        own, X = X[np.asarray(waved, np.int32)], X * _heights(len(X), waved)[:, None]
    for frequency in frequencies(len(X), len(waved)):
        height = _height(frequency, smooth)
        waves += [height * wave(2 * np.pi * frequency * own) for wave in (jnp.sin, jnp.cos)]
    return jnp.concatenate([X, *waves])


def _heights(n_features: int, waved: tuple[int, ...]) -> Float32[np.ndarray, " feature"]:
    """What the features themselves are multiplied with."""
    heights = np.full(n_features, OF_TWO_VALUES, np.float32)
    heights[list(waved)] = 1.0
    return heights


def _height(frequency: float, smooth: Float[Array | np.ndarray, ""]) -> Any:
    return 1.0 if frequency <= MOST_OF_SMOOTH else 1 - smooth


def hashed_mask(
    key: UInt32[Array, ""], shape: tuple[int, ...], rate: Float[Array | np.ndarray, ""]
) -> Bool[Array, "..."]:
    """True but for a share `rate`, by a hash of the place: a tenth of the time of JAX's draws."""
    h = jax.lax.iota(jnp.uint32, int(np.prod(shape))) * jnp.uint32(0x9E3779B1) ^ key
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> shift)) * jnp.uint32(factor)
    threshold = (rate * np.float32(2**32 - 256)).astype(jnp.uint32)
    return ((h ^ (h >> 16)) >= threshold).reshape(shape)


def _in_units(layer: Dense) -> Dense:
    """The layer as it is applied: the neural-tangent parametrisation, and slow biases."""
    return Dense(layer.weight / np.sqrt(layer.weight.shape[1]), BIAS_UNIT * layer.bias)
