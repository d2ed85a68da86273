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

from confide.learners.shuffle import grid, permutation


@functools.partial(jax.jit, static_argnames=("n_positions", "n_draws"))
def _orders(key, n_rows, n_positions, n_draws):
    sides, positions = grid(n_rows, at_most=n_positions), jnp.arange(n_positions)
    keys = jax.random.split(key, n_draws)
    return jax.vmap(lambda key: permutation(key, n_rows, sides, positions))(keys)


def orders(n_rows: int, n_positions: int, n_draws: int, seed: int = 0) -> np.ndarray:
    """Many orders of the same rows, each from a key of its own."""
    return np.asarray(_orders(jax.random.key(seed), jnp.int32(n_rows), n_positions, n_draws))


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


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5])
def test_whole_orders_of_few_rows_are_uniform(n_rows):
    drawn = orders(n_rows, 64, 120_000)[:, :n_rows]
    codes = drawn @ (n_rows ** np.arange(n_rows))
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == math.factorial(n_rows)
    assert stats.chisquare(counts).pvalue > 1e-4  # one false alarm in ten thousand seeds


@pytest.mark.parametrize(("n_rows", "n_positions"), [(33, 64), (20, 160), (33, 160), (50, 160)])
@pytest.mark.parametrize("positions", [(0, 1), (0, -1)])
def test_pairs_of_rows_are_uniform(n_rows, n_positions, positions):
    # 160 positions are more than FEW: the shorter cipher is tested too.
    drawn = orders(n_rows, n_positions, 100_000)[:, :n_rows]
    first, second = (drawn[:, p] for p in positions)
    counts = np.bincount(first * n_rows + second, minlength=n_rows**2).reshape(n_rows, n_rows)
    assert np.all(np.diag(counts) == 0)
    off_diagonal = counts[~np.eye(n_rows, dtype=bool)]
    assert stats.chisquare(off_diagonal).pvalue > 1e-4


def test_an_order_may_be_asked_for_in_pieces():
    whole = orders(404, 416, 1)[0]
    key, n = jax.random.split(jax.random.key(0), 1)[0], jnp.int32(404)
    piece = permutation(key, n, grid(n, at_most=416), jnp.arange(300, 416))
    np.testing.assert_array_equal(piece, whole[300:])


def test_orders_of_different_keys_are_unrelated():
    drawn = orders(404, 416, 200)[:, :404]
    same_place = (drawn[1:] == drawn[:-1]).sum(axis=1)
    # Matches of two random orders are Poisson(1): the mean of 199 has standard error 1 / sqrt(199).
    assert abs(same_place.mean() - 1) < 4 / np.sqrt(199)
