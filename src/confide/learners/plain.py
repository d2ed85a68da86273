"""Trained networks as plain layers of arrays, for programs that know nothing of JAX."""

from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float32

from confide.learners.ensemble import NetworkEnsemble
from confide.learners.loop import opened
from confide.learners.network import Dense
from confide.learners.tabular import CLIP, TabularNetwork


@dataclass(frozen=True, eq=False)
class PlainNetworks:
    """Members that all have the same shape.

    An input z is clipped to c = z / hypot(1, z / clip), if there is a clip. The first layer sees
    all c, then for each frequency f the sines of 2 pi f c of those that have waves, then their
    cosines. A layer is activation(weight x + bias); the last one has no activation.

    Attributes:
        clip: where inputs are clipped, or None.
        frequencies: of the waves.
        waved: positions of the inputs that have waves.
        activation: of all layers but the last.
        layers: weights (member, out, in) and biases (member, out) of each layer.
    """

    clip: float | None
    frequencies: tuple[float, ...]
    waved: tuple[int, ...]
    activation: Literal["relu", "silu"]
    layers: tuple[tuple[Float32[np.ndarray, "..."], Float32[np.ndarray, "..."]], ...]


def plain_networks(learner: Any, state: Any, n_features: int) -> PlainNetworks | None:
    """The members of a fit as plain layers; None for networks that have no such form.

    Args:
        learner: what was trained.
        state: the trained members.
        n_features: the number of features.

    Returns:
        Their layers, or None.
    """
    if not isinstance(learner, NetworkEnsemble):
        return None
    network, of = learner.network, opened(learner.network, n_features)

    def layers_of(parameters: Any, fixed: Any) -> list[Dense] | None:
        return network.plain_layers(of.module(parameters, fixed), n_features)

    members = jax.vmap(layers_of)(jnp.asarray(state.parameters), state.fixed)
    if members is None:
        return None
    layers = tuple((np.asarray(layer.weight), np.asarray(layer.bias)) for layer in members)
    if isinstance(network, TabularNetwork):
        waves = network.frequencies(n_features), network.waved(n_features)
        return PlainNetworks(CLIP, *waves, "silu", layers)
    return PlainNetworks(None, (), (), "relu", layers)
