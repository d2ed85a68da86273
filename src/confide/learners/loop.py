"""The one training loop: one member, a run-time number of epochs, any network and likelihood.

Everything that varies from call to call (rows, epochs, learning rate, penalties) is a run-time
value, so a single compiled program serves the snapshot, the continuation and the retraining, and
refits with other settings.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree, UInt32

from confide.learners.likelihood import Likelihood
from confide.learners.network import Network, partitioned
from confide.learners.shuffle import Grid, permutation, round_keys
from confide.randomness import as_key


class MemberState(NamedTuple):
    """All that training one member needs to go on. Ensembles add a leading `member` axis.

    It holds arrays alone, whatever the user's network or optimiser looks like. The weights are one
    vector: Adam then is a few long loops instead of many short ones.

    Attributes:
        parameters: the trained weights.
        fixed: the network's arrays that are not trained, such as indices; none for most.
        optimiser: the optimiser's arrays.
        epoch: how many epochs are done.
        loss: mean loss over the batches of the last epoch.
        failed_step: the first step whose loss was not finite, or -1.
    """

    parameters: Float[Array, " parameter"]
    fixed: tuple[Array, ...]
    optimiser: tuple[Array, ...]
    epoch: Int[Array, ""]
    loss: Float[Array, ""]
    failed_step: Int[Array, ""]


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
    first: Any = None  # Int[Array, ""], of X, where the members of a block have rows of their own


class Opened(NamedTuple):
    """A network whose static parts are known: how vectors of weights become modules."""

    unravel: Callable[[Float[Array, " parameter"]], PyTree]
    n_parameters: int
    fixed: PyTree
    """Shapes of the arrays that are not trained: those that are not floating-point numbers."""
    static: PyTree

    def module(self, parameters: Float[Array, " parameter"], fixed: Sequence[Array] = ()) -> Any:
        """The module with these weights."""
        others = jax.tree.unflatten(jax.tree.structure(self.fixed), fixed)
        return eqx.combine(self.unravel(parameters), others, self.static)


class Optimiser(NamedTuple):
    """An optax transformation, and what it is applied to.

    Our own Adam sees the weights as one vector; one of the user's sees the module, because it may
    treat layers differently, and the loss.
    """

    transformation: optax.GradientTransformation
    sees_module: bool = False

    def init(self, of: Opened, parameters: Float[Array, " parameter"]) -> optax.OptState:
        """Its state before the first step."""
        state = self.transformation.init(of.unravel(parameters) if self.sees_module else parameters)
        if any(jnp.issubdtype(x.dtype, jax.dtypes.prng_key) for x in jax.tree.leaves(state)):
            raise ValueError(
                "`optimiser` must not draw random numbers, but yours keeps a key in its state: all "
                "members would draw the same. Pass one such as optax.adamw(1e-3)."
            )
        return state

    def update(
        self,
        of: Opened,
        loss: Callable[[Float[Array, " parameter"]], Float[Array, ""]],
        value: Float[Array, ""],
        gradient: Float[Array, " parameter"],
        state: MemberState,
    ) -> tuple[Float[Array, " parameter"], optax.OptState]:
        """The direction of a step, and its state after it."""
        structure = jax.tree.structure(jax.eval_shape(lambda v: self.init(of, v), gradient))
        before = jax.tree.unflatten(structure, state.optimiser)
        if not self.sees_module:
            return self.transformation.update(gradient, before, state.parameters)
        gradients, weights = (of.unravel(vector) for vector in (gradient, state.parameters))
        updates, after = optax.with_extra_args_support(self.transformation).update(
            gradients,
            before,
            weights,
            value=value,
            grad=gradients,
            value_fn=lambda weights: loss(ravel_pytree(weights)[0]),
        )
        return ravel_pytree(updates)[0], after


class OneCycle(eqx.Module):
    """A learning rate that rises for a tenth of the training and then falls to zero.

    Its place is read off the plan: the share of all steps that is done.
    """

    peak: Float[Array | np.ndarray, ""]

    def at(self, done: Float[Array, ""]) -> Float[Array, ""]:
        """The rate where that share of the training is done."""
        return jnp.asarray(self.peak) * jnp.minimum(done / 0.1, (1 - done) / 0.9)


class Training(eqx.Module):
    """How a member is trained.

    Attributes:
        network: how it is made and asked.
        likelihood: what it is trained with.
        learning_rate: what the optimiser's direction is multiplied with before it is taken off: a
            number, a function of the number of steps taken so far, or `OneCycle` over all of them.
        optimiser: which direction a step takes.
        batch_size: rows in a step.
        stretch: rows whose order is held at once, so that a long table costs no memory for it.
    """

    network: Network
    likelihood: Likelihood
    learning_rate: Any
    optimiser: Optimiser = eqx.field(static=True)
    batch_size: int = eqx.field(static=True)
    stretch: int = eqx.field(static=True)

    def batches_per_stretch(self, n_padded: int) -> int:
        """Steps of a stretch of a table that is padded to so many rows."""
        of_table = -(-n_padded // self.batch_size)
        return min(of_table, max(1, self.stretch // self.batch_size))


def opened(network: Network, n_features: int) -> Opened:
    """The network for so many features."""
    shapes = eqx.filter_eval_shape(network.init, as_key(np.zeros(2)), n_features)
    weights, fixed, static = partitioned(shapes)
    template = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), weights)
    n_parameters = sum(leaf.size for leaf in jax.tree.leaves(weights))
    return Opened(ravel_pytree(template)[1], n_parameters, fixed, static)


def fresh_state(
    of: Opened, optimiser: Optimiser, parameters: Float[Array, " parameter"], fixed: Any
) -> MemberState:
    """A member with the given weights and an optimiser that has not taken a step."""
    return MemberState(
        parameters=parameters,
        fixed=fixed,
        optimiser=tuple(jax.tree.leaves(optimiser.init(of, parameters))),
        epoch=jnp.zeros((), jnp.int32),
        loss=jnp.zeros(()),
        failed_step=jnp.full((), -1, jnp.int32),
    )


def train_member(
    training: Training,
    key: UInt32[Array, "2"],
    state: MemberState,
    rows: MemberRows,
    epochs: Int[Array, ""],
    total: Int[Array, ""],
) -> MemberState:
    """One member trained on for some epochs of a total, each over all rows in a fresh order.

    The order of epoch e comes from the key and e alone, so stopping and going on changes nothing.
    The last, partial batch of an epoch is kept.
    """
    batch_size, n_padded = training.batch_size, rows.X.shape[0]
    n_batches = (rows.n_rows + batch_size - 1) // batch_size
    batches_per_stretch = training.batches_per_stretch(n_padded)
    n_stretches = (n_batches + batches_per_stretch - 1) // batches_per_stretch
    one_step = _step_on(training, rows, total)

    def one_epoch(_: Int[Array, ""], state: MemberState) -> MemberState:
        keys_order = round_keys(key, state.epoch, at_most=n_padded)
        key_loss = jax.random.fold_in(as_key(key), state.epoch)

        def one_stretch(stretch: Int[Array, ""], state: MemberState) -> MemberState:
            first = stretch * batches_per_stretch
            positions = first * batch_size + jnp.arange(batches_per_stretch * batch_size)
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


def visited_rows(
    n_padded: int,
    key: UInt32[Array, "2"],
    epoch: Int[Array, ""],
    n_rows: Int[Array, ""],
    sides: Grid,
    positions: Int[Array, " position"],
) -> Int[Array, " position"]:
    """The rows that `train_member` visits at some positions of an epoch.

    Args:
        n_padded: rows of the table with its padding.
        key: of the member.
        epoch: how many epochs are done.
        n_rows: rows of the table.
        sides: of the shuffle.
        positions: in the order of the epoch.
    """
    return permutation(round_keys(key, epoch, at_most=n_padded), n_rows, sides, positions)


def train_stretch(
    training: Training,
    key: UInt32[Array, "2"],
    state: MemberState,
    rows: MemberRows,
    stretch: Int[Array, ""],
    total: Int[Array, ""],
) -> MemberState:
    """One stretch of an epoch of `train_member`; all of them in turn make up the epoch.

    Of `rows`, it has those of the stretch alone, in the order in which they are visited, and
    `rows.seen` just counts them: were they sliced, XLA would round otherwise.
    """
    batch_size = training.batch_size
    n_batches = (rows.n_rows + batch_size - 1) // batch_size
    first = stretch * (rows.y.shape[0] // batch_size)
    n_here = jnp.minimum(rows.y.shape[0] // batch_size, n_batches - first)
    key_loss = jax.random.fold_in(as_key(key), state.epoch)
    one_step = _step_on(training, rows, total)

    def step_of_stretch(i: Int[Array, ""], state: MemberState) -> MemberState:
        index = jax.lax.dynamic_slice(rows.seen, (i * batch_size,), (batch_size,))
        return one_step(key_loss, first + i, index, state)

    state = state._replace(loss=jnp.where(stretch == 0, 0.0, state.loss))
    state = jax.lax.fori_loop(0, n_here, step_of_stretch, state)
    is_last = first + n_here == n_batches
    return state._replace(
        epoch=state.epoch + is_last, loss=jnp.where(is_last, state.loss / n_batches, state.loss)
    )


def _step_on(training: Training, rows: MemberRows, total: Int[Array, ""]) -> Callable[..., Any]:
    """One step of a member: from the key of its loss, its number, its rows and the state."""
    network, rate, batch_size = training.network, training.learning_rate, training.batch_size
    of, in_batch = opened(network, rows.X.shape[1]), jnp.arange(batch_size)
    n_batches = (rows.n_rows + batch_size - 1) // batch_size
    # The waves of a tabular network are a third of a step's work. Those of a long table would fill
    # the memory.
    table, inputs = rows.X, network.inputs
    if len(rows.X) <= training.stretch:
        table, inputs = network.inputs(rows.X.T).T, lambda X: X

    def one_step(
        key_loss: PRNGKeyArray,
        step: Int[Array, ""],
        index: Int[Array, " batch"],
        state: MemberState,
    ) -> MemberState:
        real = step * batch_size + in_batch < rows.n_rows
        at = (index if rows.first is None else rows.first + index, index, index)
        X, y, weight = (
            array.at[own].get(mode="promise_in_bounds")
            for array, own in zip((table, rows.y, rows.weight), at, strict=True)
        )
        weight = jnp.where(real, weight, 0.0)

        def penalised_loss(
            parameters: Float[Array, " parameter"],
        ) -> tuple[Float[Array, ""], Float[Array, ""]]:
            module = of.module(parameters, state.fixed)
            key_step = jax.random.fold_in(key_loss, step)
            loss = training.likelihood.loss(network.raw(module, inputs(X.T), key_step), y, weight)
            return loss + network.penalty(module, rows.n_rows), loss

        # Our Adam does not look at the penalised loss: the penalty's value is then never computed.
        differentiate = jax.value_and_grad(penalised_loss, has_aux=True)
        (penalised, loss), gradient = differentiate(state.parameters)
        direction, optimiser_state = training.optimiser.update(
            of, lambda vector: penalised_loss(vector)[0], penalised, gradient, state
        )
        so_far = state.epoch * n_batches + step
        if isinstance(rate, OneCycle):
            step_size = rate.at(so_far / (total * n_batches))
        else:
            step_size = rate(so_far) if callable(rate) else rate
        failed_now = jnp.where(jnp.isfinite(loss), -1, so_far)
        return state._replace(
            parameters=state.parameters - step_size * direction,
            optimiser=tuple(jax.tree.leaves(optimiser_state)),
            loss=state.loss + loss,
            failed_step=jnp.where(state.failed_step >= 0, state.failed_step, failed_now),
        )

    return one_step
