"""A fresh order of the rows for every epoch, without sorting.

`jax.random.permutation` sorts random keys, and XLA's sort on a CPU costs about as much as
training on the sorted rows (measured in `benchmarks/README.md`). A format-preserving cipher
gives the same thing elementwise: every position is sent through a keyed bijection of the grid
`{0..a-1} x {0..b-1}` with `a * b >= n`, and the few that land outside the first `n` cells are
sent through again until they land inside (Black and Rogaway 2002, generalised Feistel cipher
with cycle walking). The number of rows may be a run-time value.
"""

import math
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

# Enough rounds that pairs of rows are in a uniform order to within the sampling error of 4e5 draws;
# few rows need more for their whole order to be uniform (tests/learners/test_shuffle.py).
ROUNDS, ROUNDS_IF_FEW, FEW = 8, 24, 128
GOLDEN_RATIO = np.uint32(0x9E3779B9)
# Grid shapes to choose from: enough to find one with hardly a cell to spare.
CANDIDATES = 64

Cells: TypeAlias = tuple[UInt32[Array, " position"], UInt32[Array, " position"]]


class Grid(NamedTuple):
    """A near-square grid with at least as many cells as there are rows."""

    n_left: UInt32[Array | np.ndarray, ""]
    n_right: UInt32[Array | np.ndarray, ""]


def grid(n_rows: int) -> Grid:
    """The grid for a number of rows; made once, shared by all members and epochs.

    Among grids no longer than half again a square, the one with the fewest cells to spare: spare
    cells cost further rounds. (Much longer ones would mix poorly, one column not at all.)

    Example:
        >>> grid(404)
        Grid(n_left=array(27, dtype=uint32), n_right=array(15, dtype=uint32))
    """
    shortest = math.isqrt(n_rows - 1) + 1
    n_left = np.arange(shortest, shortest + min(CANDIDATES, shortest // 2 + 1))
    n_right = -(-n_rows // n_left)
    mixes = (n_right > 1) | (n_rows <= 2)
    best = np.argmin(np.where(mixes, n_left * n_right, n_rows * n_rows + 1))
    return Grid(np.asarray(n_left[best], np.uint32), np.asarray(n_right[best], np.uint32))


def round_keys(
    key: UInt32[Array, "2"], epoch: Int[Array, ""], at_most: int
) -> UInt32[Array, " round"]:
    """The cipher's keys for one epoch of one member with at most so many rows.

    A hash of the member's key and the epoch: for a shuffle as good as a random generator, which
    would take longer to compile than the rest of the cipher.
    """
    n_rounds = ROUNDS_IF_FEW if at_most <= FEW else ROUNDS
    stream = _scramble(key[0] + epoch.astype(jnp.uint32)) ^ key[1]
    return _scramble(stream + jnp.arange(n_rounds, dtype=jnp.uint32) * GOLDEN_RATIO)


def permutation(
    keys: UInt32[Array, " round"],
    n_rows: Int[Array, ""],
    sides: Grid,
    positions: Int[Array, " position"],
) -> Int[Array, " position"]:
    """The rows at some positions of a random order of the rows 0 to `n_rows` - 1.

    The order is the keys': positions may be asked for piece by piece. One past the last row gets
    a row too, which row does not matter.
    """
    n = n_rows.astype(jnp.uint32)
    position = jnp.minimum(positions.astype(jnp.uint32), n - 1)

    def encipher(cell: Cells) -> Cells:
        left, right = cell
        for i in range(0, len(keys), 2):
            left = _add_modulo(left, _mix(right, keys[i]), sides.n_left)
            right = _add_modulo(right, _mix(left, keys[i + 1]), sides.n_right)
        return left, right

    def walk(state: tuple[Cells, Bool[Array, " position"]]) -> tuple[Cells, Array]:
        """One step of those that are still outside."""
        cell, outside = state
        left, right = (
            jnp.where(outside, new, old) for new, old in zip(encipher(cell), cell, strict=True)
        )
        return (left, right), left * sides.n_right + right >= n

    # The first pass is a step of the walk that everyone takes: one copy of the cipher to compile.
    start = (position // sides.n_right, position % sides.n_right)
    everyone = jnp.ones_like(position, dtype=bool)
    (left, right), _ = jax.lax.while_loop(lambda s: jnp.any(s[1]), walk, (start, everyone))
    return (left * sides.n_right + right).astype(jnp.int32)


def _mix(value: UInt32[Array, " position"], key: UInt32[Array, ""]) -> UInt32[Array, " position"]:
    """A keyed 16-bit hash: multiply, fold, multiply (golden ratio; MurmurHash3's constant)."""
    h = (value + key) * GOLDEN_RATIO
    h = (h ^ (h >> 15)) * jnp.uint32(0x85EBCA6B)
    return h >> 16


def _scramble(value: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """A bijection of 32-bit words that leaves no pattern: MurmurHash3's finaliser."""
    h = (value ^ (value >> 16)) * jnp.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * jnp.uint32(0xC2B2AE35)
    return h ^ (h >> 16)


def _add_modulo(
    value: UInt32[Array, " position"],
    hashed: UInt32[Array, " position"],
    modulus: UInt32[Array | np.ndarray, ""],
) -> UInt32[Array, " position"]:
    """Adds a 16-bit hash scaled to 0..modulus-1 (multiply and shift: no slow division)."""
    total = value + ((hashed * modulus) >> 16)
    return jnp.where(total >= modulus, total - modulus, total)
