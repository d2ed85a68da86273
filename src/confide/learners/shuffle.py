"""A fresh order of the rows for every epoch, without sorting.

`jax.random.permutation` sorts random keys, and XLA's sort on a CPU costs about as much as
training on the sorted rows (measured in `benchmarks/README.md`). A format-preserving cipher
gives the same thing elementwise: every position is sent through a keyed bijection of the grid
`{0..a-1} x {0..b-1}` with `a * b >= n`, and the few that land outside the first `n` cells are
sent through again until they land inside (Black and Rogaway 2002, generalised Feistel cipher
with cycle walking). The number of rows may be a run-time value.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray, UInt32

# Enough rounds that pairs of rows are in a uniform order to within the sampling error of 4e5 draws;
# a small grid needs more for its whole order to be uniform (tests/test_shuffle.py).
ROUNDS, ROUNDS_IF_SMALL, SMALL = 8, 24, 128
# Grid shapes to choose from: enough to find one with hardly a cell to spare.
CANDIDATES = 64


class Grid(NamedTuple):
    """Positions 0, 1, ... as cells of the smallest near-square grid that holds `n` of them."""

    n_left: UInt32[Array, ""]
    n_right: UInt32[Array, ""]
    left: UInt32[Array, " position"]
    right: UInt32[Array, " position"]


def grid(n_rows: Int[Array, ""], n_positions: int) -> Grid:
    """The cells of positions 0 to `n_positions` - 1; made once, shared by all epochs.

    Among grids no longer than half again a square, the one with the fewest cells to spare: spare
    cells cost further rounds. (Much longer ones would mix poorly, one column not at all.)
    """
    n = n_rows.astype(jnp.uint32)
    # Rounding of the float root is harmless: only n_left * n_right >= n matters.
    shortest = jnp.ceil(jnp.sqrt(n.astype(jnp.float32))).astype(jnp.uint32)
    longer = jnp.arange(CANDIDATES, dtype=jnp.uint32)
    n_left = shortest + longer
    n_right = (n + n_left - 1) // n_left
    mixes = (longer <= shortest // 2) & ((n_right > 1) | (n <= 2))
    spare = jnp.where(mixes, n_left * n_right - n, jnp.uint32(0xFFFFFFFF))
    best = jnp.argmin(spare)
    n_left, n_right = n_left[best], n_right[best]
    # Positions past the last row would lie outside the grid; they are padding, any cell will do.
    position = jnp.minimum(jnp.arange(n_positions, dtype=jnp.uint32), n - 1)
    return Grid(n_left, n_right, position // n_right, position % n_right)


def permutation(key: PRNGKeyArray, n_rows: Int[Array, ""], cells: Grid) -> Int[Array, " position"]:
    """A random order of the rows 0 to `n_rows` - 1; entries past `n_rows` are valid but unused."""
    rounds = ROUNDS_IF_SMALL if cells.left.size <= SMALL else ROUNDS
    round_keys = jax.random.bits(key, (rounds,), jnp.uint32)
    n = n_rows.astype(jnp.uint32)

    def encipher(
        left: UInt32[Array, " position"], right: UInt32[Array, " position"]
    ) -> tuple[UInt32[Array, " position"], UInt32[Array, " position"]]:
        for i in range(0, rounds, 2):
            left = _add_modulo(left, _mix(right, round_keys[i]), cells.n_left)
            right = _add_modulo(right, _mix(left, round_keys[i + 1]), cells.n_right)
        return left, right

    def outside(
        cell: tuple[UInt32[Array, " position"], UInt32[Array, " position"]],
    ) -> Array:
        return cell[0] * cells.n_right + cell[1] >= n

    def walk(
        cell: tuple[UInt32[Array, " position"], UInt32[Array, " position"]],
    ) -> tuple[UInt32[Array, " position"], UInt32[Array, " position"]]:
        again, left, right = outside(cell), *encipher(*cell)
        return jnp.where(again, left, cell[0]), jnp.where(again, right, cell[1])

    left, right = jax.lax.while_loop(
        lambda cell: jnp.any(outside(cell)), walk, encipher(cells.left, cells.right)
    )
    return (left * cells.n_right + right).astype(jnp.int32)


def _mix(value: UInt32[Array, " position"], key: UInt32[Array, ""]) -> UInt32[Array, " position"]:
    """A keyed 16-bit hash: multiply, fold, multiply (golden ratio; MurmurHash3's constant)."""
    h = (value + key) * jnp.uint32(0x9E3779B9)
    h = (h ^ (h >> 15)) * jnp.uint32(0x85EBCA6B)
    return h >> 16


def _add_modulo(
    value: UInt32[Array, " position"],
    hashed: UInt32[Array, " position"],
    modulus: UInt32[Array, ""],
) -> UInt32[Array, " position"]:
    """Adds a 16-bit hash scaled to 0..modulus-1 (multiply and shift: no slow division)."""
    total = value + ((hashed * modulus) >> 16)
    return jnp.where(total >= modulus, total - modulus, total)
