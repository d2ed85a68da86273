"""What the members of a block visit in a stretch of an epoch, read from disk."""

import functools
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array, Int, UInt32

from confide.learners.blocks import padded_block
from confide.learners.data import bucket
from confide.learners.loop import MemberRows, Training, visited_rows
from confide.learners.shuffle import Grid, grid
from confide.learners.stored import StoredData, StoredTargets
from confide.randomness import MemberKeys


@dataclass(frozen=True)
class Stretches:
    """All stretches of an epoch over rows on disk.

    Attributes:
        keys: of each member, which decide the order of its rows.
        data: the inputs.
        targets: of each member.
        training: how a member is trained.
    """

    keys: MemberKeys
    data: StoredData
    targets: StoredTargets
    training: Training

    @property
    def n_batches(self) -> int:
        """Steps of an epoch."""
        return -(-self.data.n_rows // self.training.batch_size)

    @property
    def n_stretches(self) -> int:
        """Stretches of an epoch."""
        return -(-self.n_batches // self._batches_per_stretch)

    @property
    def _batches_per_stretch(self) -> int:
        return self.training.batches_per_stretch(bucket(self.data.n_rows))

    def read(self, members: slice, n_padded: int, epoch: int, stretch: int) -> MemberRows:
        """The rows of one stretch, in the order in which each member visits them.

        Args:
            members: those of a block.
            n_padded: to how many members the block is padded.
            epoch: how many epochs are done.
            stretch: how many stretches of this epoch are done.
        """
        n_positions = self._batches_per_stretch * self.training.batch_size
        in_stretch = np.arange(n_positions, dtype=np.int32)
        n_rows, sides = np.int32(self.data.n_rows), grid(self.data.n_rows)
        positions = in_stretch + np.int32(stretch * n_positions)
        n_table, keys = bucket(self.data.n_rows), self.keys[members]
        order = np.asarray(
            _visited(n_table, *jax.device_put((keys, np.int32(epoch), n_rows, sides, positions)))
        )
        numbers = range(members.start, members.stop)
        X = np.stack([self.data.X.take(rows) for rows in order])
        y = np.stack([self.targets.take(i, rows) for i, rows in zip(numbers, order, strict=True)])
        X, y = padded_block((X, y), slice(0, len(X)), n_padded)
        # As one table, in which each member has its part: the loop then is the one for a table in
        # memory, and its numbers are the same to the last bit.
        return MemberRows(
            X=X.reshape(-1, X.shape[-1]),
            y=y,
            weight=np.ones(n_positions, np.float32),
            seen=in_stretch,
            n_rows=n_rows,
            sides=sides,
            first=np.arange(n_padded, dtype=np.int32) * np.int32(n_positions),
        )


@functools.partial(jax.jit, static_argnums=0)
def _visited(
    n_table: int,
    keys: UInt32[Array, "member 2"],
    epoch: Int[Array, ""],
    n_rows: Int[Array, ""],
    sides: Grid,
    positions: Int[Array, " position"],
) -> Int[Array, "member position"]:
    visited = functools.partial(visited_rows, n_table)
    in_axes = (0, None, None, None, None)
    return jax.vmap(visited, in_axes=in_axes)(keys, epoch, n_rows, sides, positions)
