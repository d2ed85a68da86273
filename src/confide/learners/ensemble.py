"""The default learner: networks in JAX, trained in blocks of members that fill the cores."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Float32, Int, UInt32

from confide.checks import require_positive, require_whole
from confide.learners.blocks import Worker, padded_block, run_in_blocks, slices
from confide.learners.data import TrainingData, bucket, padded
from confide.learners.errors import TrainingDivergedError
from confide.learners.likelihood import Likelihood
from confide.learners.loop import (
    MemberRows,
    MemberState,
    OneCycle,
    Optimiser,
    Training,
    fresh_state,
    opened,
    train_member,
    train_stretch,
)
from confide.learners.network import Network, partitioned
from confide.learners.protocol import Learner, Plan, Strength
from confide.learners.shuffle import grid
from confide.learners.stored import StoredData, StoredTargets
from confide.learners.stretches import Stretches
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import MemberKeys, as_key

# The paper's (Section 4.2).
LEARNING_RATE = 1e-3
# The most members in one `vmap`: the largest block tried, and the fastest (benchmarks/README.md).
MOST_MEMBERS_PER_BLOCK = 8
# Rows in one call of the networks, fixed so that their outputs for a row do not depend on its
# neighbours; means over members may, by the rounding of a sum.
ROWS_PER_BLOCK = 1024
# One thread of ours per core runs one block; XLA's own threads would only get in its way.
COMPILER_OPTIONS = {"xla_cpu_multi_thread_eigen": False}


def refuse_learning_rate_beside(optimiser: Any, learning_rate: Any) -> None:
    """An optimiser of the user's own has its learning rate."""
    if optimiser is not None and learning_rate != LEARNING_RATE:
        raise ValueError(
            "`learning_rate` is for the built-in Adam, and `optimiser` was passed too. Give the "
            "optimiser its learning rate, and leave `learning_rate` alone."
        )


def balanced_block(n_members: int, n_accelerators: int = 0) -> int:
    """The block size for an ensemble: two blocks at least, so that two cores have work.

    It depends on the number of members alone, not on the machine, unless that has accelerators,
    which round otherwise anyway: each of them has one block, because it is faster with more
    members side by side.

    Example:
        >>> [balanced_block(n) for n in (1, 2, 5, 10, 64)]
        [1, 1, 3, 5, 8]
        >>> [balanced_block(n, n_accelerators=2) for n in (1, 5, 64)]
        [1, 3, 32]
    """
    if n_accelerators:
        return -(-n_members // n_accelerators)
    return min(MOST_MEMBERS_PER_BLOCK, -(-n_members // 2))


def accelerators() -> int:
    """How many devices other than the CPU JAX has found."""
    return sum(device.platform != "cpu" for device in jax.local_devices())


class NetworkStrength(NamedTuple):
    """A network that is more or less regularised.

    Attributes:
        network: the network.
        share: of the epochs that it is trained for.
        further: those to try next if it is the best so far.
    """

    network: Network
    share: float
    further: tuple["NetworkStrength", ...] = ()


@dataclass(frozen=True)
class NetworkEnsemble(Learner[MemberState]):
    """Networks in JAX: one network and likelihood, and independent randomness for each member.

    Attributes:
        network: how members are made and asked.
        likelihood: what they are trained with, and what their outputs mean.
        learning_rate: Adam's step size, an optax schedule of it, or `OneCycle`.
        batch_size: rows in a step.
        n_threads: threads that train blocks side by side, or None for one per core. Results do not
            depend on it.
        optimiser: an optax transformation, with a learning rate of its own, or None for Adam.
        members_per_block: members in one `vmap`. XLA rounds differently for different shapes and
            training amplifies it, so short blocks are padded: a member's numbers then do not
            depend on who trains beside it.
        steps_per_call: steps in one call of the compiled loop, about a quarter of a second: how
            long Ctrl-C may take.
        stretch: rows whose order is held at once, so that a long table costs no memory for it.
        network_strengths: networks to choose from on rows that are held out, if there is a choice.
    """

    network: Network
    likelihood: Likelihood
    learning_rate: float | optax.Schedule | OneCycle = LEARNING_RATE
    batch_size: int = 32
    n_threads: int | None = None
    optimiser: optax.GradientTransformation | None = None
    members_per_block: int = MOST_MEMBERS_PER_BLOCK
    steps_per_call: int = 6000
    stretch: int = 16_384
    network_strengths: tuple[NetworkStrength, ...] = ()

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        require_whole("batch_size", self.batch_size, "It is the number of rows in a step.")
        if not (callable(self.learning_rate) or isinstance(self.learning_rate, OneCycle)):
            require_positive("learning_rate", self.learning_rate, "Pass for example 1e-3.")
        if not isinstance(self.optimiser, optax.GradientTransformation | None):
            raise TypeError(
                f"`optimiser` must be an optax transformation, such as optax.adamw(1e-3), got "
                f"{self.optimiser!r}."
            )
        refuse_learning_rate_beside(self.optimiser, self.learning_rate)

    def init(self, keys: MemberKeys, data: TrainingData | StoredData) -> MemberState:
        """Untrained members, each from its own key."""

        def init_block(worker: Worker, members: slice) -> MemberState:
            block = padded_block(keys, members, self.members_per_block)
            network, block = worker.put((self.network, block))
            return _init_block(network, self._optimiser, data.X.shape[1], block)

        return self._over_members(init_block, len(keys))

    def train(
        self,
        keys: MemberKeys,
        state: MemberState,
        data: TrainingData | StoredData,
        targets: Any,
        plan: Plan,
        *,
        progress: Progress | None = None,
    ) -> MemberState:
        """All members trained on; raises `TrainingDivergedError` when a loss is not finite."""
        if isinstance(data, StoredData):
            return self._trained_from_disk(keys, state, data, targets, plan, progress)
        n_batches = self.steps_per_epoch(data.n_rows)
        epochs_per_call = max(1, self.steps_per_call // n_batches)
        starts = range(0, plan.epochs, epochs_per_call)
        calls = [min(epochs_per_call, plan.epochs - done) for done in starts]
        lengths = {n_epochs: np.int32(n_epochs) for n_epochs in calls}
        training = self._training(len(data.X))

        def train_block(worker: Worker, members: slice) -> MemberState:
            keys_here, block, y, seen = padded_block(
                (keys, state, targets, data.member_rows), members, self.members_per_block
            )
            rows = MemberRows(
                X=data.X,
                y=padded(np.asarray(y, np.float32), axis=1, to=len(data.X)),
                weight=data.weight,
                seen=seen,
                n_rows=np.int32(data.n_rows),
                sides=grid(data.n_rows),
            )
            here, keys_here, block, rows = worker.put((training, keys_here, block, rows))
            total, of_calls = worker.put((np.int32(plan.total), lengths))
            for n_epochs in calls:
                block = jax.block_until_ready(
                    _train_block(here, keys_here, block, rows, of_calls[n_epochs], total)
                )
                _refuse_divergence(block, members, n_batches)
                worker.check_stop()
                if progress is not None:
                    progress(n_epochs * (members.stop - members.start))
            return block

        return self._over_members(train_block, len(targets))

    def _trained_from_disk(
        self,
        keys: MemberKeys,
        state: MemberState,
        data: StoredData,
        targets: StoredTargets,
        plan: Plan,
        progress: Progress | None,
    ) -> MemberState:
        """The same from rows on disk, which come a stretch at a time."""
        stretches = Stretches(keys, data, targets, self._training(bucket(data.n_rows)))
        n_stretches = stretches.n_stretches

        def train_block(worker: Worker, members: slice) -> MemberState:
            size = self.members_per_block
            keys_here, block = padded_block((keys, state), members, size)
            how = worker.put((stretches.training, keys_here))
            block, total = worker.put((block, np.int32(plan.total)))
            for epoch, stretch in np.ndindex(plan.epochs, n_stretches):
                rows = stretches.read(members, size, plan.done + epoch, stretch)
                rows, number = worker.put((rows, np.int32(stretch)))
                block = jax.block_until_ready(_train_stretch(*how, block, rows, number, total))
                _refuse_divergence(block, members, stretches.n_batches)
                worker.check_stop()
                if progress is not None:
                    progress(Fraction(members.stop - members.start, n_stretches))
            return block

        return self._over_members(train_block, len(targets))

    def _training(self, n_padded: int) -> Training:
        """How a member is trained on a table that is padded to so many rows."""
        # The loop takes steps off; optax's own transformations are to be added.
        rate = self.learning_rate if self.optimiser is None else -1.0
        if callable(rate):
            rate = jax.tree_util.Partial(rate)
        elif not isinstance(rate, OneCycle):
            rate = np.float32(rate)
        return Training(
            self.network,
            self.likelihood,
            rate,
            self._optimiser,
            batch_size=min(self.batch_size, n_padded),
            stretch=self.stretch,
        )

    def predict(
        self, state: MemberState, X: Float[np.ndarray, "row feature"]
    ) -> Float32[np.ndarray, "member row output"]:
        """Each member's outputs for each row, in row blocks of one shape."""
        n_members = len(state.parameters)
        # Outputs lie apart in memory: each is then as fast to work with as if it were alone.
        outputs = np.empty((self.likelihood.n_outputs, n_members, len(X)), np.float32)
        blocks = list(slices(n_members, self.members_per_block))
        members_of = [
            padded_block((state.parameters, state.fixed), members, self.members_per_block)
            for members in blocks
        ]

        @functools.cache
        def on_device(device: jax.Device) -> Any:
            """The members, taken to a device once for all rows."""
            return jax.device_put((self.network, self.likelihood, members_of), device)

        def predict_rows(worker: Worker, rows: slice) -> None:
            network, likelihood, there = on_device(worker.device)
            block = np.zeros((ROWS_PER_BLOCK, X.shape[1]), np.float32)
            n_here = rows.stop - rows.start
            block[:n_here] = X[rows]
            block = worker.put(block)
            for members, own in zip(blocks, there, strict=True):
                computed = _predict_block(network, likelihood, *own, block)
                for out, of_block in zip(outputs, computed, strict=True):
                    # NumPy slices freely; JAX would compile a program for every length.
                    here = np.asarray(of_block)[: members.stop - members.start, :n_here]
                    out[members, rows] = here
            worker.check_stop()

        run_in_blocks(predict_rows, list(slices(len(X), ROWS_PER_BLOCK)), self.n_threads)
        return np.moveaxis(outputs, 0, -1)

    def take(self, state: MemberState, members: Int[np.ndarray, " taken"]) -> MemberState:
        """Some of the members."""
        return jax.tree.map(lambda leaf: leaf[members], state)

    def join(self, states: Sequence[MemberState]) -> MemberState:
        """The members of several states, one after the other."""
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *states)

    def to_arrays(self, state: MemberState) -> Arrays:
        """The weights, and what else the networks hold: all that predicting needs."""
        fixed = {f"fixed.{i}": array for i, array in enumerate(state.fixed)}
        return jax.tree.map(np.asarray, {"weights": state.parameters, **fixed})

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> MemberState:
        """Members with saved weights, and an optimiser that has not taken a step."""
        of = opened(self.network, n_features)
        fixed = (
            checked_array(arrays, f"fixed.{i}", (n_members, *array.shape), array.dtype.type)
            for i, array in enumerate(jax.tree.leaves(of.fixed))
        )
        parameters = checked_array(arrays, "weights", (n_members, of.n_parameters), np.float32)
        return self.state_from(parameters, n_features, tuple(fixed))

    def with_fresh_optimiser(self, state: MemberState, data: TrainingData) -> MemberState:
        """The same weights with an optimiser that has not taken a step."""
        fresh = self.state_from(state.parameters, data.X.shape[1], state.fixed)
        return fresh._replace(epoch=state.epoch)

    def steps_per_epoch(self, n_rows: int) -> int:
        """One for each batch."""
        return -(-n_rows // self.batch_size)

    @property
    def needs_total(self) -> bool:
        """A cycle is laid over all epochs."""
        return isinstance(self.learning_rate, OneCycle)

    @property
    def is_robust(self) -> bool:
        """As the network is."""
        return self.network.is_robust

    @property
    def sees_parts(self) -> bool:
        """Rows are looked up for each member."""
        return True

    @property
    def reads_from_disk(self) -> bool:
        """A stretch at a time."""
        return True

    @property
    def strengths(self) -> Sequence[Strength]:
        """One for each of the networks to choose from."""
        return [
            Strength(replace(self, network=network, network_strengths=further), share)
            for network, share, further in self.network_strengths
        ]

    @property
    def chosen(self) -> dict[str, Any]:
        """As the network says."""
        return self.network.chosen

    def slower(self) -> "NetworkEnsemble | None":
        """With a tenth of the learning rate, where that is a number."""
        rate = self.learning_rate
        if isinstance(rate, OneCycle):
            return replace(self, learning_rate=OneCycle(np.asarray(rate.peak / 10)))
        if self.optimiser is not None or callable(rate):
            return None
        return replace(self, learning_rate=rate / 10)

    @property
    def members_per_piece(self) -> int:
        """A block: one core's work."""
        return self.members_per_block

    def for_many(self) -> "NetworkEnsemble":
        """In the largest blocks."""
        return replace(self, members_per_block=MOST_MEMBERS_PER_BLOCK)

    def state_from(
        self,
        parameters: Float[Array | np.ndarray, "member parameter"],
        n_features: int,
        fixed: tuple[Array | np.ndarray, ...] = (),
    ) -> MemberState:
        """Members with the given weights, and an optimiser that has not taken a step.

        Args:
            parameters: the weights of each member.
            n_features: number of features.
            fixed: the other arrays of each member's network.

        Returns:
            The members.
        """
        of = opened(self.network, n_features)
        fresh = jax.vmap(functools.partial(fresh_state, of, self._optimiser))
        return jax.tree.map(np.asarray, fresh(jax.numpy.asarray(parameters), fixed))

    @property
    def _optimiser(self) -> Optimiser:
        own = self.optimiser is not None
        return Optimiser(self.optimiser or self.network.adam, sees_module=own)

    def _over_members(
        self, work: Callable[[Worker, slice], MemberState], n_members: int
    ) -> MemberState:
        blocks = list(slices(n_members, self.members_per_block))
        states = run_in_blocks(work, blocks, self.n_threads)
        return jax.tree.map(
            lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves])[:n_members],
            *states,
        )


@functools.partial(
    jax.jit, static_argnames=("optimiser", "n_features"), compiler_options=COMPILER_OPTIONS
)
def _init_block(
    network: Network, optimiser: Optimiser, n_features: int, keys: UInt32[Array, "member 2"]
) -> MemberState:
    of = opened(network, n_features)

    def init(key: UInt32[Array, "2"]) -> MemberState:
        weights, fixed, _ = partitioned(network.init(as_key(key), n_features))
        vector = ravel_pytree(weights)[0]
        return fresh_state(of, optimiser, vector, tuple(jax.tree.leaves(fixed)))

    return jax.vmap(init)(keys)


@functools.partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def _train_block(
    training: Training,
    keys: UInt32[Array, "member 2"],
    state: MemberState,
    rows: MemberRows,
    epochs: Int[Array, ""],
    total: Int[Array, ""],
) -> MemberState:
    seen_axis = None if rows.seen is None else 0
    per_member = MemberRows(X=None, y=0, weight=None, seen=seen_axis, n_rows=None, sides=None)
    train = functools.partial(train_member, training)
    return jax.vmap(train, in_axes=(0, 0, per_member, None, None))(keys, state, rows, epochs, total)


@functools.partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def _train_stretch(
    training: Training,
    keys: UInt32[Array, "member 2"],
    state: MemberState,
    rows: MemberRows,
    stretch: Int[Array, ""],
    total: Int[Array, ""],
) -> MemberState:
    per_member = MemberRows(X=None, y=0, weight=None, seen=None, n_rows=None, sides=None, first=0)
    train = functools.partial(train_stretch, training)
    in_axes = (0, 0, per_member, None, None)
    return jax.vmap(train, in_axes=in_axes)(keys, state, rows, stretch, total)


@functools.partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def _predict_block(
    network: Network,
    likelihood: Likelihood,
    parameters: Float[Array, "member parameter"],
    fixed: tuple[Array, ...],
    X: Float[Array, "row feature"],
) -> tuple[Float[Array, "member row"], ...]:
    of, inputs = opened(network, X.shape[1]), network.inputs(X.T)

    def predict(
        parameters: Float[Array, " parameter"], fixed: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        return likelihood.outputs(network.raw(of.module(parameters, fixed), inputs, None))

    return jax.vmap(predict)(parameters, fixed)


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
