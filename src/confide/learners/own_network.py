"""A network of the user's own, in JAX: any Equinox module or Flax NNX module."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from confide.learners.network import Network

Make: TypeAlias = Callable[[PRNGKeyArray, int], Any]
"""From a key and the number of features to a module that maps one row to its outputs."""


class OwnNetwork(Network):
    """A network that the user's factory makes: a module that maps one row to its outputs.

    Attributes:
        make: the factory.
    """

    make: Make = eqx.field(static=True)

    def raw(
        self, module: Any, X: Float[Array, "feature row"], key: PRNGKeyArray | None
    ) -> Float[Array, "output row"]:
        """The module's numbers, row by row; each row of a batch has a key of its own."""
        rows = X.T
        if key is None:
            outputs = jax.vmap(lambda row: self.one_row(module, row, None))(rows)
        else:
            keys = jax.random.split(key, len(rows))
            outputs = jax.vmap(lambda row, own: self.one_row(module, row, own))(rows, keys)
        return outputs.reshape(len(rows), -1).T

    def one_row(
        self, module: Any, row: Float[Array, " feature"], key: PRNGKeyArray | None
    ) -> Float[Array, "..."]:
        """The module's numbers for one row; without a key, nothing in it is random."""
        raise NotImplementedError


class EquinoxNetwork(OwnNetwork):
    """An Equinox module; one whose `__call__` takes a `key` is given one in training."""

    def init(self, key: PRNGKeyArray, n_features: int) -> Any:
        """What the factory makes."""
        return self.make(key, n_features)

    def one_row(
        self, module: Any, row: Float[Array, " feature"], key: PRNGKeyArray | None
    ) -> Float[Array, "..."]:
        """Dropout and the like rest where there is no key."""
        takes_key = "key" in inspect.signature(type(module).__call__).parameters
        asked = eqx.nn.inference_mode(module) if key is None else module
        return jnp.asarray(asked(row, key=key) if takes_key else asked(row))


class _NnxParts(eqx.Module):
    """A Flax NNX module in parts: its parameters, and the rest, which is static."""

    parameters: PyTree
    graph: Any = eqx.field(static=True)
    streams: Any = eqx.field(static=True)
    """The structure of its streams of random numbers, and which of their parts are keys."""


class NnxNetwork(OwnNetwork):
    """A Flax NNX module; its streams of random numbers are seeded anew for every row."""

    def init(self, key: PRNGKeyArray, n_features: int) -> Any:
        """What the factory makes, in parts."""
        from flax import nnx

        made = self.make(key, n_features)
        graph, *states = nnx.split(made, nnx.Param, nnx.RngState, ...)
        parameters, streams, others = states
        if jax.tree.leaves(others):
            raise ValueError(
                "A Flax network may hold parameters and random streams, but this one has other "
                f"variables too: {list(others)}. Members see one row at a time, so use LayerNorm "
                "in place of BatchNorm."
            )
        leaves, structure = jax.tree.flatten(streams)
        is_key = tuple(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in leaves)
        return _NnxParts(parameters, graph, (structure, is_key))

    def one_row(
        self, module: _NnxParts, row: Float[Array, " feature"], key: PRNGKeyArray | None
    ) -> Float[Array, "..."]:
        """In evaluation mode where there is no key."""
        from flax import nnx

        structure, is_key = module.streams
        seed = jax.random.key(0) if key is None else key
        leaves = [
            jax.random.fold_in(seed, i) if of_key else jnp.zeros((), jnp.uint32)
            for i, of_key in enumerate(is_key)
        ]
        whole = nnx.merge(module.graph, module.parameters, jax.tree.unflatten(structure, leaves))
        whole.eval() if key is None else whole.train()
        return jnp.asarray(whole(row))


def own_network(make: Make, n_features: int) -> tuple[OwnNetwork, int]:
    """The network that a factory makes, and its number of outputs, tried on one row.

    Args:
        make: the user's factory.
        n_features: the number of features.
    """
    network = _kind_of(make(jax.random.key(0), n_features))(make)
    shapes = {_shape_of_outputs(network, n_features, training) for training in (True, False)}
    if not shapes <= {(), (1,), (2,)} or len(shapes) > 1:
        raise ValueError(
            "`network` must map one row to a mean, or to a mean and a log standard deviation: its "
            f"outputs must have shape (), (1,) or (2,), got {' and '.join(map(str, shapes))} for "
            f"one row of {n_features} features. Give its last layer one or two outputs."
        )
    return network, 2 if shapes == {(2,)} else 1


def _kind_of(made: Any) -> type[OwnNetwork]:
    nnx = sys.modules.get("flax.nnx")  # whoever made such a module has imported it
    if nnx is not None and isinstance(made, nnx.Module):
        return NnxNetwork
    if isinstance(made, eqx.Module):
        return EquinoxNetwork
    raise TypeError(
        "`network` must be a function make(key, n_features) that returns an Equinox or a Flax NNX "
        f"module, but it returned {_said(made)}. For PyTorch, write make(n_features)."
    )


def _said(made: Any) -> str:
    return "None" if made is None else f"an object of type {type(made).__name__}"


def _shape_of_outputs(network: OwnNetwork, n_features: int, training: bool) -> tuple[int, ...]:
    """The shape of what the module says of one row, in training or when predicting."""

    def ask(row: Float[Array, " feature"], key: PRNGKeyArray) -> Float[Array, "..."]:
        module = network.init(jax.random.key(0), n_features)
        return network.one_row(module, row, key if training else None)

    row = jax.ShapeDtypeStruct((n_features,), jnp.float32)
    try:
        return jax.eval_shape(ask, row, jax.random.key(0)).shape
    except Exception as error:
        if re.search(r"requires a key|no `rngs` argument", str(error)):
            raise ValueError(
                "`network` has random layers that got no key. An Equinox module must take it in "
                "`__call__(self, x, *, key=None)` and hand it on; a Flax module is made with "
                f"`nnx.Rngs(key)`. The layer said: {error}"
            ) from error
        error.add_note(
            f"This was `network`, tried on one row of {n_features} features: confide gives it one "
            "row at a time, a vector, not a batch."
        )
        raise
