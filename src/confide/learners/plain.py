"""Trained networks as plain layers of arrays, for programs that know nothing of JAX."""

from dataclasses import dataclass
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float32

from confide.learners.ensemble import NetworkEnsemble
from confide.learners.loop import opened
from confide.learners.network import Dense, PaperNetwork
from confide.learners.tabular import CLIP, TabularNetwork, frequencies, plain_layers


@dataclass(frozen=True, eq=False)
class PlainNetworks:
    """Members that all have the same shape.

    An input z is clipped to c = z / hypot(1, z / clip), if there is a clip. The first layer sees
    all c, then for each frequency f the sines of all 2 pi f c, then their cosines. A layer is
    activation(weight x + bias); the last one has no activation.

    Attributes:
        clip: where inputs are clipped, or None.
        frequencies: of the waves of each input.
        activation: of all layers but the last.
        layers: weights (member, out, in) and biases (member, out) of each layer.
    """

    clip: float | None
    frequencies: tuple[float, ...]
    activation: Literal["relu", "silu"]
    layers: tuple[tuple[Float32[np.ndarray, "..."], Float32[np.ndarray, "..."]], ...]


def plain_networks(learner: Any, state: Any, n_features: int) -> PlainNetworks | None:
    """The members of a fit as plain layers; None for networks that have no such form.

    Args:
        learner: what was trained.
        state: the trained members.
        n_features: the number of features.
    """
    network = learner.network if isinstance(learner, NetworkEnsemble) else None
    of = None if network is None else opened(network, n_features)
    if of is None or not isinstance(network, PaperNetwork | TabularNetwork):
        return None
    modules = [of.module(parameters, ()) for parameters in jnp.asarray(state.parameters)]
    if isinstance(network, PaperNetwork):
        layers = _stacked([[*module.hidden, module.head] for module in modules])
        return PlainNetworks(None, (), "relu", layers)
    layers = _stacked([plain_layers(module, network.smooth, n_features) for module in modules])
    return PlainNetworks(CLIP, frequencies(n_features), "silu", layers)


def _stacked(members: list[list[Dense]]) -> Any:
    return tuple(
        tuple(
            np.stack([np.asarray(getattr(d, name)) for d in layer]) for name in ("weight", "bias")
        )
        for layer in zip(*members, strict=True)
    )
