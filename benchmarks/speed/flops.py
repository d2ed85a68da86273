"""Floating-point operations: what training needs, and what the machine can do.

Only matrix products are counted, on the rows and members that were asked for. Padding,
activations, the optimiser, shuffling and the simulated targets are work too but are not credited,
so the share of the peak that follows is a lower bound of how busy the machine was.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

N_OUTPUTS = 2
"""Outputs of a member: a mean and a log standard deviation."""


def training_flops_per_row(n_features: int, hidden: tuple[int, ...]) -> int:
    """Operations of the matrix products of one forward and one backward pass over one row.

    A layer multiplies three times: its output, the gradient of its weights and the gradient of
    its inputs; nobody needs the last of the first layer. A multiplication with its addition
    counts as two.

    Example:
        >>> training_flops_per_row(3, ())  # 3 inputs, 2 outputs: 6 weights, each used twice
        24
        >>> training_flops_per_row(13, (40, 30, 20))
        13120
    """
    sizes = (n_features, *hidden, N_OUTPUTS)
    products = [n_in * n_out for n_in, n_out in itertools.pairwise(sizes)]
    return 2 * (3 * sum(products) - products[0])


def training_flops(
    n_rows: int, n_features: int, hidden: tuple[int, ...], *, n_members: int, trained_epochs: int
) -> int:
    """Operations of a whole fit; `trained_epochs` counts the repeated epochs too."""
    return n_members * trained_epochs * n_rows * training_flops_per_row(n_features, hidden)


def matrix_multiply_peak(size: int, repeats: int) -> dict[str, float]:
    """Best rate of a float32 product of two square matrices, in GFLOP/s, by library."""
    import jax

    matrix = np.random.default_rng(0).standard_normal((size, size), np.float32)
    on_device = jax.device_put(matrix)
    product = jax.jit(lambda a: a @ a)
    seconds = {
        "NumPy": _best_seconds(lambda: matrix @ matrix, repeats),
        "JAX": _best_seconds(lambda: product(on_device).block_until_ready(), repeats),
    }
    return {library: 2 * size**3 / best / 1e9 for library, best in seconds.items()}


def _best_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The shortest of some calls, after one that is not counted."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
