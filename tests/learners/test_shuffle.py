"""The order of the rows: a permutation, and a random one."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide.learners.shuffle import grid, permutation, round_keys


@functools.partial(jax.jit, static_argnames=("n_positions",))
def _orders(keys, epochs, n_rows, sides, n_positions):
    def order(key, epoch):
        keys_order = round_keys(key, epoch, at_most=n_positions)
        return permutation(keys_order, n_rows, sides, jnp.arange(n_positions))

    return jax.vmap(order)(keys, epochs)


def orders(
    n_rows: int, n_positions: int, n_draws: int, seed: int = 0, over: str = "members"
) -> np.ndarray:
    """Many orders of the same rows: of as many members, or epochs of one member."""
    if over == "members":
        keys, epochs = words(seed, n_draws), np.zeros(n_draws, np.int32)
    else:
        keys, epochs = np.tile(words(seed, 1), (n_draws, 1)), np.arange(n_draws, dtype=np.int32)
    return np.asarray(_orders(keys, epochs, jnp.int32(n_rows), grid(n_rows), n_positions))


def words(seed: int, n: int) -> np.ndarray:
    """Keys for many members, without the pains of making each by itself."""
    return np.random.default_rng(seed).integers(0, 2**32, (n, 2), dtype=np.uint32)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(n_rows=st.integers(1, 700), seed=st.integers(0, 2**31 - 1))
def test_every_row_comes_once(n_rows, seed):
    order = orders(n_rows, 704, 1, seed)[0]
    assert sorted(order[:n_rows]) == list(range(n_rows))


@pytest.mark.parametrize("n_rows", [65_536, 999_983])
def test_every_row_of_a_long_table_comes_once(n_rows):
    order = orders(n_rows, n_rows, 1)[0]
    assert np.array_equal(np.sort(order), np.arange(n_rows))


def test_padding_positions_hold_valid_rows():
    order = orders(5, 704, 1)[0]
    assert order.min() >= 0
    assert order.max() < 5


@pytest.mark.parametrize("over", ["members", "epochs"])
@pytest.mark.parametrize("n_rows", [2, 3, 4, 5])
def test_whole_orders_of_few_rows_are_uniform(n_rows, over):
    drawn = orders(n_rows, 64, 120_000, over=over)[:, :n_rows]
    codes = drawn @ (n_rows ** np.arange(n_rows))
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == math.factorial(n_rows)
    assert stats.chisquare(counts).pvalue > 1e-4  # one false alarm in ten thousand seeds


@pytest.mark.parametrize(("n_rows", "n_positions"), [(33, 64), (20, 160), (33, 160), (50, 160)])
@pytest.mark.parametrize("positions", [(0, 1), (0, -1)])
@pytest.mark.parametrize("over", ["members", "epochs"])
def test_pairs_of_rows_are_uniform(n_rows, n_positions, positions, over):
    # 160 positions are more than FEW: the shorter cipher is tested too.
    drawn = orders(n_rows, n_positions, 100_000, over=over)[:, :n_rows]
    first, second = (drawn[:, p] for p in positions)
    counts = np.bincount(first * n_rows + second, minlength=n_rows**2).reshape(n_rows, n_rows)
    assert np.all(np.diag(counts) == 0)
    off_diagonal = counts[~np.eye(n_rows, dtype=bool)]
    assert stats.chisquare(off_diagonal).pvalue > 1e-4


def test_an_order_may_be_asked_for_in_pieces():
    whole = orders(404, 416, 1)[0]
    keys = round_keys(jnp.asarray(words(0, 1)[0]), jnp.int32(0), at_most=416)
    piece = permutation(keys, jnp.int32(404), grid(404), jnp.arange(300, 416))
    np.testing.assert_array_equal(piece, whole[300:])


@pytest.mark.parametrize("over", ["members", "epochs"])
def test_orders_of_different_members_and_epochs_are_unrelated(over):
    drawn = orders(404, 416, 200, over=over)[:, :404]
    same_place = (drawn[1:] == drawn[:-1]).sum(axis=1)
    # Matches of two random orders are Poisson(1): the mean of 199 has standard error 1 / sqrt(199).
    assert abs(same_place.mean() - 1) < 4 / np.sqrt(199)


@settings(derandomize=True, deadline=None)
@given(n_rows=st.integers(1, 3_000_000))
def test_a_grid_holds_all_rows_with_few_to_spare(n_rows):
    n_left, n_right = (int(side) for side in grid(n_rows))
    assert n_left * n_right >= n_rows
    assert n_right <= n_left <= 1.5 * (math.isqrt(n_rows) + 1)
    assert n_left * n_right - n_rows <= math.isqrt(n_rows) + 1
