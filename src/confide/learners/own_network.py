"""A network of the user's own, in JAX: any Equinox module or Flax NNX module."""

import hashlib
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import partial_eval
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from confide.learners.network import Network, partitioned
from confide.randomness import as_key

Make: TypeAlias = Callable[[PRNGKeyArray, int], Any]
"""From a key and the number of features to a module that maps one row to its outputs."""

WEIGHTS = (jnp.float32, jnp.float64)
ONE_ROW_AT_A_TIME = "The network sees one row at a time, so use LayerNorm in place of BatchNorm."


@dataclass(frozen=True)
class Made:
    """What a factory made when it was asked: changing it later changes no fitted model.

    Compiled programs are kept for a network. Two networks share them if their fingerprints are
    equal, whichever function made them.

    Attributes:
        make: the factory.
        n_features: the number of features that it was asked for.
        init: from a key to a module, recorded: the factory is not called again.
        asks_with_key: whether the module wants a key where nothing is random.
        fingerprint: of all that the network computes.
    """

    make: Make = field(compare=False)
    n_features: int = field(compare=False)
    init: Callable[[PRNGKeyArray], Any] = field(compare=False)
    asks_with_key: bool = field(compare=False)
    fingerprint: str

    def __reduce__(self) -> tuple[Any, ...]:
        """A recording cannot be pickled; the factory, which can, is asked again."""
        return _remade, (self.make, self.n_features)

    def __deepcopy__(self, memo: Any) -> "Made":
        """It never changes."""
        return self


class OwnNetwork(Network):
    """A network that the user's factory makes: a module that maps one row to its outputs."""

    made: Made = eqx.field(static=True)

    def init(self, key: PRNGKeyArray, n_features: int) -> Any:
        """What the factory made."""
        del n_features
        return self.made.init(key)

    def raw(
        self, module: Any, X: Float[Array, "feature row"], key: PRNGKeyArray | None
    ) -> Float[Array, "output row"]:
        """The module's numbers, row by row; each row of a batch has a key of its own."""
        rows = X.T
        keys = None if key is None else jax.random.split(key, len(rows))
        asks_with_key = self.made.asks_with_key
        outputs = jax.vmap(lambda row, own: _one_row(module, row, own, asks_with_key))(rows, keys)
        return outputs.reshape(len(rows), -1).T


class FlaxModule(eqx.Module):
    """A Flax NNX module in parts, as an Equinox module that takes a key.

    Its streams of random numbers are seeded anew for every row.
    """

    parameters: PyTree
    arrays: PyTree
    graph: Any = eqx.field(static=True)
    streams: Any = eqx.field(static=True)
    """The structure of its streams of random numbers, and which of their parts are keys."""
    inference: bool = False

    @classmethod
    def split(cls, module: Any) -> "FlaxModule":
        """The module in parts."""
        from flax import nnx

        for _, node in nnx.iter_graph(module):
            if isinstance(node, nnx.Module):
                for name, value in list(vars(node).items()):
                    if isinstance(value, jax.Array):  # Flax takes a traced one for a constant
                        setattr(node, name, nnx.data(value))
        graph, *states = nnx.split(module, nnx.Param, nnx.RngState, nnx.Variable, ...)
        parameters, streams, variables, arrays = states
        if jax.tree.leaves(variables):
            raise ValueError(
                "A Flax network may hold parameters, arrays and random streams, but this one has "
                f"other variables too: {list(variables)}. {ONE_ROW_AT_A_TIME}"
            )
        leaves, structure = jax.tree.flatten(streams)
        return cls(parameters, arrays, graph, (structure, tuple(map(_is_key, leaves))))

    def __call__(self, row: Float[Array, " feature"], *, key: PRNGKeyArray | None = None) -> Any:
        """The module's numbers, in evaluation mode for predictions."""
        from flax import nnx

        structure, are_keys = self.streams
        seed = jax.random.key(0) if key is None else key
        leaves = [
            jax.random.fold_in(seed, i) if is_key else jnp.zeros((), jnp.uint32)
            for i, is_key in enumerate(are_keys)
        ]
        streams, arrays = jax.tree.unflatten(structure, leaves), jax.lax.stop_gradient(self.arrays)
        module = nnx.merge(self.graph, self.parameters, streams, arrays)
        module.eval() if self.inference else module.train()
        return module(row)


def own_network(make: Make, n_features: int) -> tuple[OwnNetwork, int]:
    """The network that a factory makes now, and its number of outputs, tried on one row.

    Nothing is computed or compiled for it: JAX only traces the network.

    Args:
        make: the user's factory.
        n_features: the number of features.
    """
    key, row = as_key(np.zeros(2, np.uint32)), jax.ShapeDtypeStruct((n_features,), jnp.float32)
    try:
        init = eqx.filter_closure_convert(lambda key: _module_of(make(key, n_features)), key)
    except Exception as error:
        error.add_note("This was `network`, called as make(key, n_features).")
        raise
    shapes = eqx.filter_eval_shape(init, key)
    _check_weights(shapes)
    try:
        asks_with_key = _asks_with_key(shapes, row, key)
        trace = jax.make_jaxpr(_all_of(init, asks_with_key), return_shape=True)
        program, (trained, predicted, *_) = trace(key, row)
    except Exception as error:
        _explain(error, n_features)
        raise
    if trained.shape not in {(), (1,), (2,)} or predicted.shape != trained.shape:
        came = " and ".join(str(shape) for shape in {trained.shape, predicted.shape})
        raise ValueError(
            "`network` must map one row to a mean, or to a mean and a log standard deviation: its "
            f"outputs must have shape (), (1,) or (2,), got {came} for one "
            f"row of {n_features} features. Give its last layer one or two outputs."
        )
    fingerprint = _fingerprint(program, jax.tree.structure(shapes))
    made = Made(make, n_features, init, asks_with_key, fingerprint)
    return OwnNetwork(made), 2 if trained.shape == (2,) else 1


def _remade(make: Make, n_features: int) -> Made:
    return own_network(make, n_features)[0].made


def _one_row(
    module: Any, row: Float[Array, " feature"], key: PRNGKeyArray | None, asks_with_key: bool
) -> Float[Array, "..."]:
    """The module's numbers for one row; without a key, dropout and the like rest."""
    if key is None:
        module = eqx.nn.inference_mode(module)
        key = jax.random.key(0) if asks_with_key else None
    return jnp.asarray(module(row, key=key) if _takes_key(module) else module(row))


def _takes_key(module: Any) -> bool:
    return "key" in inspect.signature(type(module).__call__).parameters


def _all_of(init: Callable[[PRNGKeyArray], Any], asks_with_key: bool) -> Callable[..., Any]:
    """All that is computed with a network: initial weights, both kinds of outputs, gradients."""

    def compute(key: PRNGKeyArray, row: Float[Array, " feature"]) -> tuple[Any, ...]:
        module = init(key)
        weights, *rest = partitioned(module)
        outputs, gradient = jax.vjp(
            lambda weights: _one_row(eqx.combine(weights, *rest), row, key, asks_with_key), weights
        )
        predicted = _one_row(module, row, None, asks_with_key)
        arrays = eqx.filter(module, eqx.is_array)
        return outputs, predicted, *jax.tree.leaves((gradient(jnp.ones_like(outputs)), arrays))

    return compute


def _asks_with_key(shapes: Any, row: Any, key: PRNGKeyArray) -> bool:
    """Whether the module needs a key even in predictions, where its random layers rest."""
    try:
        eqx.filter_eval_shape(_one_row, shapes, row, key=None, asks_with_key=False)
    except Exception:
        if not _takes_key(shapes):
            raise
    else:
        return False
    *arrays, static = partitioned(shapes)

    def predict(key: PRNGKeyArray, row: Any, arrays: Any) -> Any:
        return eqx.nn.inference_mode(eqx.combine(*arrays, static))(row, key=key)

    program = jax.make_jaxpr(predict)(key, row, arrays).jaxpr
    _, is_used = partial_eval.dce_jaxpr(program, [True] * len(program.outvars))
    if is_used[0]:
        raise ValueError(
            "`network` must not be random in predictions, but its outputs depend on the key in "
            "`eqx.nn.inference_mode` too. Use layers such as eqx.nn.Dropout, or take `key=None` "
            "and draw nothing where it is None."
        )
    return True


def _fingerprint(program: Any, structure: Any) -> str:
    text = f"{program}{structure}"
    if "callback" not in str(program):  # otherwise a program shows all that its functions do
        text = re.sub(r"0x[0-9a-f]+", "", text)
    digest = hashlib.sha256(text.encode())
    for constant in program.consts:
        array = jax.random.key_data(constant) if _is_key(constant) else constant
        digest.update(np.asarray(array).tobytes())
    return digest.hexdigest()


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _module_of(made: Any) -> eqx.Module:
    """What a factory returned, as an Equinox module."""
    nnx = sys.modules.get("flax.nnx")  # whoever made such a module has imported it
    if nnx is not None and isinstance(made, nnx.Module):
        return FlaxModule.split(made)
    with_state = (eqx.nn.State, eqx.nn.StateIndex)
    parts = jax.tree.leaves(made, is_leaf=lambda part: isinstance(part, with_state))
    if any(isinstance(part, with_state) for part in parts):
        raise ValueError(
            "An Equinox network may not have layers with a state (eqx.nn.State). "
            f"{ONE_ROW_AT_A_TIME}"
        )
    if not isinstance(made, eqx.Module):
        came = "None" if made is None else f"an object of type {type(made).__name__}"
        raise TypeError(
            "`network` must be a function make(key, n_features) that returns an Equinox or a Flax "
            f"NNX module, but it returned {came}. For PyTorch, write make(n_features)."
        )
    return made


def _check_weights(shapes: PyTree) -> None:
    weights = jax.tree.leaves(partitioned(shapes)[0])
    if not weights:
        raise ValueError("`network` must have weights to train, but the module has none.")
    for leaf in weights:
        if leaf.dtype not in WEIGHTS:
            raise ValueError(
                f"The weights of `network` must be float32, got {leaf.dtype}. Cast them inside the "
                "module where it should compute in another precision."
            )


def _explain(error: Exception, n_features: int) -> None:
    """Says what the trial was; raises a plainer error for random layers without a key."""
    if re.search(r"requires a key|no `rngs` argument", str(error)):
        raise ValueError(
            "`network` has random layers that got no key. An Equinox module must take it in "
            "`__call__(self, x, *, key=None)` and hand it on; a Flax module is made with "
            f"`nnx.Rngs(key)`. The layer said: {error}"
        ) from error
    error.add_note(
        f"This was `network`, tried on one row of {n_features} features: confide gives it one row "
        "at a time, a vector, not a batch."
    )
