"""The default learner: networks in JAX, trained in blocks of members that fill the cores."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import numpy as np
import optax
from jaxtyping import Array, Float, Int, UInt32

from confide.learners.blocks import Worker, padded_block, run_in_blocks, slices
from confide.learners.data import TrainingData, padded
from confide.learners.errors import TrainingDivergedError
from confide.learners.loop import (
    MemberRows,
    MemberState,
    fresh_state,
    init_member,
    n_parameters,
    train_member,
    unravel,
)
from confide.learners.objective import Objective
from confide.learners.protocol import Progress
from confide.learners.shuffle import grid
from confide.randomness import MemberKeys

# The most members in one `vmap`: the largest block tried, and the fastest (benchmarks/README.md).
MOST_MEMBERS_PER_BLOCK = 8
# Rows in one call of the networks, fixed so that a row's numbers do not depend on its neighbours.
ROWS_PER_BLOCK = 1024
# Steps in one call of the compiled loop, about a quarter of a second: how long Ctrl-C may take.
STEPS_PER_CALL = 6000
# One thread of ours per core runs one block; XLA's own threads would only get in its way.
COMPILER_OPTIONS = {"xla_cpu_multi_thread_eigen": False}


def balanced_block(n_members: int) -> int:
    """The block size for an ensemble: two blocks at least, so that two cores have work.

    It depends on the number of members alone, not on the machine.

    Example:
        >>> [balanced_block(n) for n in (1, 2, 5, 10, 64)]
        [1, 1, 3, 5, 8]
    """
    return min(MOST_MEMBERS_PER_BLOCK, -(-n_members // 2))


@functools.cache
def adam() -> optax.GradientTransformation:
    """Adam's direction with the published settings; the loop applies the learning rate."""
    return optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-7)


@dataclass(frozen=True)
class NetworkEnsemble:
    """Members with one objective and independent randomness (the Learner protocol).

    Attributes:
        objective: network and loss.
        learning_rate: step size of the optimiser.
        batch_size: rows in a step.
        n_threads: threads that train blocks side by side, or None for one per core. Results do not
            depend on it.
        optimiser: direction of a step, before the learning rate.
        members_per_block: members in one `vmap`. XLA rounds differently for different shapes and
            training amplifies it, so short blocks are padded: a member's numbers then do not
            depend on who trains beside it.
    """

    objective: Objective
    learning_rate: float = 1e-3
    batch_size: int = 32
    n_threads: int | None = None
    optimiser: optax.GradientTransformation = field(default_factory=adam)
    members_per_block: int = MOST_MEMBERS_PER_BLOCK

    def init(self, keys: MemberKeys, data: TrainingData) -> MemberState:
        """Untrained members, each from its own key."""

        def init_block(worker: Worker, members: slice) -> MemberState:
            block = worker.put(padded_block(keys, members, self.members_per_block))
            return _init_block(self.objective, self.optimiser, data.X.shape[1], block)

        return self._over_members(init_block, len(keys))

    def train(
        self,
        keys: MemberKeys,
        state: MemberState,
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        epochs: int,
        *,
        progress: Progress | None = None,
    ) -> MemberState:
        """All members trained on; raises `TrainingDivergedError` when a loss is not finite."""
        n_batches = -(-data.n_rows // self.batch_size)
        epochs_per_call = max(1, STEPS_PER_CALL // n_batches)
        batch_size = min(self.batch_size, data.X.shape[0])
        learning_rate = np.float32(self.learning_rate)

        def train_block(worker: Worker, members: slice) -> MemberState:
            keys_here, block = worker.put(
                padded_block((keys, state), members, self.members_per_block)
            )
            rows = worker.put(self._rows(data, targets, members))
            for done in range(0, epochs, epochs_per_call):
                n_epochs = min(epochs_per_call, epochs - done)
                block = jax.block_until_ready(
                    _train_block(
                        self.objective,
                        self.optimiser,
                        batch_size,
                        learning_rate,
                        keys_here,
                        block,
                        rows,
                        np.int32(n_epochs),
                    )
                )
                _refuse_divergence(block, members, n_batches)
                worker.check_stop()
                if progress is not None:
                    progress(n_epochs * (members.stop - members.start))
            return block

        return self._over_members(train_block, len(targets))

    def predict(
        self, state: MemberState, X: Float[Array | np.ndarray, "row feature"]
    ) -> tuple[Float[np.ndarray, "member row"], Float[np.ndarray, "member row"]]:
        """Each member's mean and variance for each row, in row blocks of one shape."""
        n_members = len(state.parameters)
        mean = np.empty((n_members, len(X)), np.float32)
        variance = np.empty_like(mean)
        blocks = list(slices(n_members, self.members_per_block))
        parameters = [
            padded_block(state.parameters, members, self.members_per_block) for members in blocks
        ]

        def predict_rows(worker: Worker, rows: slice) -> None:
            block = np.zeros((ROWS_PER_BLOCK, X.shape[1]), np.float32)
            n_here = rows.stop - rows.start
            block[:n_here] = X[rows]
            for members, block_parameters in zip(blocks, parameters, strict=True):
                outputs = _predict_block(self.objective, *worker.put((block_parameters, block)))
                for out, computed in zip((mean, variance), outputs, strict=True):
                    # NumPy slices freely; JAX would compile a program for every length.
                    here = np.asarray(computed)[: members.stop - members.start, :n_here]
                    out[members, rows] = here
            worker.check_stop()

        run_in_blocks(predict_rows, list(slices(len(X), ROWS_PER_BLOCK)), self.n_threads)
        return mean, variance

    def with_fresh_optimiser(self, state: MemberState) -> MemberState:
        """The same weights with an optimiser that has not taken a step."""
        return self.state_from(state.parameters)._replace(epoch=state.epoch)

    def state_from(self, parameters: Float[Array | np.ndarray, "member parameter"]) -> MemberState:
        """Members with the given weights that have not been trained on."""
        fresh = jax.vmap(lambda member: fresh_state(self.optimiser, member))(parameters)
        return jax.tree.map(np.asarray, fresh)

    def n_parameters(self, n_features: int) -> int:
        """The number of weights of one member."""
        return n_parameters(self.objective, n_features)

    def _over_members(
        self, work: Callable[[Worker, slice], MemberState], n_members: int
    ) -> MemberState:
        blocks = list(slices(n_members, self.members_per_block))
        states = run_in_blocks(work, blocks, self.n_threads)
        return jax.tree.map(
            lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves])[:n_members],
            *states,
        )

    def _rows(
        self, data: TrainingData, targets: Float[np.ndarray, "member row"], members: slice
    ) -> MemberRows:
        def block(array: np.ndarray | Array) -> np.ndarray | Array:
            return padded_block(array, members, self.members_per_block)

        return MemberRows(
            X=data.X,
            y=padded(np.asarray(block(targets), np.float32), axis=1),
            weight=data.weight,
            seen=None if data.member_rows is None else block(data.member_rows),
            n_rows=np.int32(data.n_rows),
            sides=grid(data.n_rows),
        )


@functools.partial(
    jax.jit, static_argnames=("optimiser", "n_features"), compiler_options=COMPILER_OPTIONS
)
def _init_block(
    objective: Objective,
    optimiser: optax.GradientTransformation,
    n_features: int,
    keys: UInt32[Array, "member 2"],
) -> MemberState:
    return jax.vmap(lambda key: init_member(objective, optimiser, key, n_features))(keys)


@functools.partial(
    jax.jit, static_argnames=("optimiser", "batch_size"), compiler_options=COMPILER_OPTIONS
)
def _train_block(
    objective: Objective,
    optimiser: optax.GradientTransformation,
    batch_size: int,
    learning_rate: Float[Array, ""],
    keys: UInt32[Array, "member 2"],
    state: MemberState,
    rows: MemberRows,
    epochs: Int[Array, ""],
) -> MemberState:
    def train(key: UInt32[Array, "2"], state: MemberState, rows: MemberRows) -> MemberState:
        return train_member(
            objective, optimiser, learning_rate, batch_size, key, state, rows, epochs
        )

    seen_axis = None if rows.seen is None else 0
    per_member = MemberRows(X=None, y=0, weight=None, seen=seen_axis, n_rows=None, sides=None)
    return jax.vmap(train, in_axes=(0, 0, per_member))(keys, state, rows)


@functools.partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def _predict_block(
    objective: Objective,
    parameters: Float[Array, "member parameter"],
    X: Float[Array, "row feature"],
) -> tuple[Float[Array, "member row"], Float[Array, "member row"]]:
    as_network = unravel(objective, X.shape[1])
    return jax.vmap(lambda member: objective.outputs(as_network(member), X.T))(parameters)


def _refuse_divergence(block: MemberState, members: slice, n_batches: int) -> None:
    failed = np.asarray(block.failed_step)
    # The last step's loss may have been finite and its weights not.
    finite = np.isfinite(np.asarray(block.parameters)).all(axis=1)
    ended = np.where(finite, -1, np.asarray(block.epoch) * n_batches - 1)
    failed = np.where(failed >= 0, failed, ended)[: members.stop - members.start]
    if np.any(failed >= 0):
        first = int(np.argmax(failed >= 0))
        step = int(failed[first])
        raise TrainingDivergedError(members.start + first, step // n_batches, step)
