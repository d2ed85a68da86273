"""The one training loop: one member, a run-time number of epochs, any objective.

Everything that varies from call to call (rows, epochs, learning rate, penalties) is a run-time
value, so a single compiled program serves the snapshot, the continuation and the retraining, and
refits with other settings.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from confide.learners.objective import Objective
from confide.learners.shuffle import grid, permutation


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


def init_member(
    objective: Objective,
    optimiser: optax.GradientTransformation,
    key: PRNGKeyArray,
    n_features: int,
) -> MemberState:
    """One untrained member."""
    parameters, _ = ravel_pytree(objective.network(key, n_features))
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
    key: PRNGKeyArray,
    state: MemberState,
    rows: MemberRows,
    epochs: Int[Array, ""],
) -> MemberState:
    """One member trained on for some epochs, each over all rows in a fresh order.

    The order of epoch e comes from the key and e alone, so stopping and going on changes nothing.
    The last, partial batch of an epoch is kept.
    """
    as_network = unravel(objective, rows.X.shape[1])
    n_padded_batches = -(-rows.X.shape[0] // batch_size)
    n_batches = (rows.n_rows + batch_size - 1) // batch_size
    cells = grid(rows.n_rows, n_padded_batches * batch_size)
    in_batch = jnp.arange(batch_size)

    def one_epoch(_: Int[Array, ""], state: MemberState) -> MemberState:
        key_order, key_loss = jax.random.split(jax.random.fold_in(key, state.epoch))
        order = permutation(key_order, rows.n_rows, cells)

        def one_step(step: Int[Array, ""], carry: MemberState) -> MemberState:
            start = step * batch_size
            index = jax.lax.dynamic_slice(order, (start,), (batch_size,))
            if rows.seen is not None:
                index = rows.seen[index]
            X, y, weight = (
                array.at[index].get(mode="promise_in_bounds")
                for array in (rows.X, rows.y, rows.weight)
            )
            weight = jnp.where(start + in_batch < rows.n_rows, weight, 0.0)

            def penalised_loss(
                parameters: Float[Array, " parameter"],
            ) -> tuple[Float[Array, ""], Float[Array, ""]]:
                network = as_network(parameters)
                key_step = jax.random.fold_in(key_loss, step)
                loss = objective.loss(network, key_step, X.T, y, weight)
                return loss + objective.penalty(network, rows.n_rows), loss

            # Only the bare loss is kept: the penalty's value is then never computed.
            gradient, loss = jax.grad(penalised_loss, has_aux=True)(carry.parameters)
            updates, optimiser_state = optimiser.update(gradient, carry.optimiser, carry.parameters)
            failed_now = jnp.where(jnp.isfinite(loss), -1, carry.epoch * n_batches + step)
            return carry._replace(
                parameters=carry.parameters - learning_rate * updates,
                optimiser=optimiser_state,
                loss=carry.loss + loss,
                failed_step=jnp.where(carry.failed_step >= 0, carry.failed_step, failed_now),
            )

        state = state._replace(loss=jnp.zeros_like(state.loss))
        state = jax.lax.fori_loop(0, n_batches, one_step, state)
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


def _shapes(objective: Objective, n_features: int) -> PyTree:
    return jax.eval_shape(lambda: objective.network(jax.random.key(0), n_features))
