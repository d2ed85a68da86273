"""The one training loop: one member, a run-time number of epochs, any objective.

Everything that varies from call to call (rows, epochs, learning rate, penalties) is a run-time
value, so a single compiled program serves the snapshot, the continuation and the retraining, and
refits with other settings.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree, UInt32

from confide.learners.objective import Objective
from confide.learners.shuffle import permutation, round_keys
from confide.randomness import IMPLEMENTATION

# Rows whose order is held at once, so that a long table costs no memory for it.
STRETCH = 16_384


class MemberState(NamedTuple):
    """All that training one member needs to go on. Ensembles add a leading `member` axis.

    The weights are one vector: Adam then is a few long loops instead of many short ones.
    """

    parameters: Float[Array, " parameter"]
    optimiser: optax.OptState
    epoch: Int[Array, ""]
    loss: Float[Array, ""]
    """Mean loss over the batches of the last epoch."""
    failed_step: Int[Array, ""]
    """The first step whose loss was not finite, or -1."""


class MemberRows(NamedTuple):
    """What one member trains on; rows from `n_rows` on are padding.

    Fields are typed Any because the same tuple also carries `vmap`'s axes and a block's arrays.
    """

    X: Any  # Float[Array, "padded feature"]
    y: Any  # Float[Array, " padded"]
    weight: Any  # Float[Array, " padded"]
    seen: Any  # Int[Array, " padded"], which rows in which order, or None for all
    n_rows: Any  # Int[Array, ""]
    sides: Any  # Grid, of the shuffle


def init_member(
    objective: Objective,
    optimiser: optax.GradientTransformation,
    key: UInt32[Array, "2"],
    n_features: int,
) -> MemberState:
    """One untrained member."""
    parameters, _ = ravel_pytree(objective.network(as_key(key), n_features))
    return fresh_state(optimiser, parameters)


def fresh_state(
    optimiser: optax.GradientTransformation, parameters: Float[Array, " parameter"]
) -> MemberState:
    """A member with the given weights and an optimiser that has not taken a step."""
    return MemberState(
        parameters=parameters,
        optimiser=optimiser.init(parameters),
        epoch=jnp.zeros((), jnp.int32),
        loss=jnp.zeros(()),
        failed_step=jnp.full((), -1, jnp.int32),
    )


def train_member(
    objective: Objective,
    optimiser: optax.GradientTransformation,
    learning_rate: Float[Array, ""],
    batch_size: int,
    key: UInt32[Array, "2"],
    state: MemberState,
    rows: MemberRows,
    epochs: Int[Array, ""],
) -> MemberState:
    """One member trained on for some epochs, each over all rows in a fresh order.

    The order of epoch e comes from the key and e alone, so stopping and going on changes nothing.
    The last, partial batch of an epoch is kept.
    """
    as_network = unravel(objective, rows.X.shape[1])
    n_batches = (rows.n_rows + batch_size - 1) // batch_size
    batches_per_stretch = min(-(-rows.X.shape[0] // batch_size), max(1, STRETCH // batch_size))
    n_stretches = (n_batches + batches_per_stretch - 1) // batches_per_stretch
    in_stretch = jnp.arange(batches_per_stretch * batch_size)
    in_batch = jnp.arange(batch_size)

    def one_step(
        key_loss: PRNGKeyArray,
        step: Int[Array, ""],
        index: Int[Array, " batch"],
        state: MemberState,
    ) -> MemberState:
        real = step * batch_size + in_batch < rows.n_rows
        X, y, weight = (
            array.at[index].get(mode="promise_in_bounds") for array in (rows.X, rows.y, rows.weight)
        )
        weight = jnp.where(real, weight, 0.0)

        def penalised_loss(
            parameters: Float[Array, " parameter"],
        ) -> tuple[Float[Array, ""], Float[Array, ""]]:
            network = as_network(parameters)
            key_step = jax.random.fold_in(key_loss, step)
            loss = objective.loss(network, key_step, X.T, y, weight)
            return loss + objective.penalty(network, rows.n_rows), loss

        # Only the bare loss is kept: the penalty's value is then never computed.
        gradient, loss = jax.grad(penalised_loss, has_aux=True)(state.parameters)
        updates, optimiser_state = optimiser.update(gradient, state.optimiser, state.parameters)
        failed_now = jnp.where(jnp.isfinite(loss), -1, state.epoch * n_batches + step)
        return state._replace(
            parameters=state.parameters - learning_rate * updates,
            optimiser=optimiser_state,
            loss=state.loss + loss,
            failed_step=jnp.where(state.failed_step >= 0, state.failed_step, failed_now),
        )

    def one_epoch(_: Int[Array, ""], state: MemberState) -> MemberState:
        keys_order = round_keys(key, state.epoch, at_most=rows.X.shape[0])
        key_loss = jax.random.fold_in(as_key(key), state.epoch)

        def one_stretch(stretch: Int[Array, ""], state: MemberState) -> MemberState:
            first = stretch * batches_per_stretch
            positions = first * batch_size + in_stretch
            order = permutation(keys_order, rows.n_rows, rows.sides, positions)
            if rows.seen is not None:
                order = rows.seen[order]

            def step_of_stretch(i: Int[Array, ""], state: MemberState) -> MemberState:
                index = jax.lax.dynamic_slice(order, (i * batch_size,), (batch_size,))
                return one_step(key_loss, first + i, index, state)

            n_here = jnp.minimum(batches_per_stretch, n_batches - first)
            return jax.lax.fori_loop(0, n_here, step_of_stretch, state)

        state = state._replace(loss=jnp.zeros_like(state.loss))
        state = jax.lax.fori_loop(0, n_stretches, one_stretch, state)
        return state._replace(epoch=state.epoch + 1, loss=state.loss / n_batches)

    return jax.lax.fori_loop(0, epochs, one_epoch, state)


def unravel(
    objective: Objective, n_features: int
) -> Callable[[Float[Array, " parameter"]], PyTree]:
    """The function from a vector of weights to the network."""
    shapes = _shapes(objective, n_features)
    template = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return ravel_pytree(template)[1]


def n_parameters(objective: Objective, n_features: int) -> int:
    """The number of weights of one member."""
    return sum(leaf.size for leaf in jax.tree.leaves(_shapes(objective, n_features)))


def as_key(words: UInt32[Array | np.ndarray, "2"]) -> PRNGKeyArray:
    """The key that two words stand for."""
    return jax.random.wrap_key_data(jnp.asarray(words), impl=IMPLEMENTATION)


def _shapes(objective: Objective, n_features: int) -> PyTree:
    return jax.eval_shape(lambda: objective.network(jax.random.key(0), n_features))
