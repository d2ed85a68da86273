"""Simulated data sets of an experiment: the split, the truth and the seeds that its cells share."""

import functools
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float64
from sklearn.model_selection import train_test_split

from confide.datasets import load
from confide.randomness import key_from
from confide.simulate import NOISE_LAWS, TWINS, Truth

# The published split: a fifth of the rows are held out, the same in every simulation.
TEST_SIZE, SPLIT_SEED = 0.2, 1
# Draws the rows that are used of a set that is too long for an experiment.
ROWS_SEED = 1


@dataclass(frozen=True)
class Twin:
    """A real data set's inputs, and a truth fitted to it (Algorithm 3 or 4 of the paper)."""

    X_train: Float[np.ndarray, "row feature"]
    X_test: Float[np.ndarray, "test_row feature"]
    real_targets: Float64[np.ndarray, " row"]
    truth: Truth

    def targets(self, seeds: Iterable[int]) -> Float64[np.ndarray, "simulation row"]:
        """New training targets for each seed."""
        return np.array([self.truth.draw(key_from(seed), self.X_train) for seed in seeds])


@functools.lru_cache(maxsize=2)  # cells come set by set, and forests of long sets take a while
def twin_of(
    name: str,
    *,
    truth: str = "random_forest",
    noise: str = "gaussian",
    test_size: float = TEST_SIZE,
    n_rows: int | None = None,
) -> Twin:
    """The twin of a benchmark set, split as in the published runs.

    Args:
        name: of the set.
        truth: what is fitted to it, see `confide.simulate.TWINS`.
        noise: the law of the noise.
        test_size: share or number of rows that are held out.
        n_rows: use only so many rows, drawn at random and the same each time; None uses all. The
            truth is that of the whole set.

    Returns:
        The inputs of both parts, the real targets and the truth.
    """
    data = load(name).without_constant_columns()
    rows = np.arange(len(data.y))
    if n_rows is not None:
        rows = np.random.default_rng(ROWS_SEED).permutation(rows)[:n_rows]
    X_train, X_test, y_train, _ = train_test_split(
        data.X[rows], data.y[rows], test_size=test_size, random_state=SPLIT_SEED
    )
    fitted = TWINS[truth](data.X, data.y, noise=NOISE_LAWS[noise])
    return Twin(X_train, X_test, y_train, fitted)


@functools.cache
def n_rows_of(name: str) -> tuple[int, int]:
    """Training rows and test rows of a set."""
    n = len(load(name).y)
    n_test = int(np.ceil(TEST_SIZE * n))
    return n - n_test, n_test


def seeds_of(settings: Mapping[str, Any], purpose: str) -> list[int]:
    """A seed for each simulation of a cell: the same in every cell that simulates the same data.

    Simulations of different sets, and seeds for different purposes, have nothing in common.
    """
    first, stop = settings["simulations"]
    path = [zlib.crc32(f"{settings['set']} {purpose}".encode()), settings["seed"]]
    return [
        int(np.random.SeedSequence([*path, simulation]).generate_state(1)[0] >> 1)
        for simulation in range(first, stop)
    ]


def blocks_of(simulations: int, size: int) -> list[tuple[int, int]]:
    """Consecutive blocks of the simulations, one for each cell.

    Example:
        >>> blocks_of(5, 3)
        [(0, 3), (3, 5)]
    """
    return [(start, min(start + size, simulations)) for start in range(0, simulations, size)]
