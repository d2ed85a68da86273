"""Coverage of each test input over many simulated data sets, and its distance from nominal."""

import numpy as np
from jaxtyping import Float64


def cicf(
    true_mean: Float64[np.ndarray, " row"], intervals: Float64[np.ndarray, "simulation row 2"]
) -> Float64[np.ndarray, " row"]:
    r"""Confidence interval coverage fraction, Eq. (4) (`CICF`).

    For each input, the share of simulated data sets whose interval holds the true function's
    value; strictly inside, as in the published code.

    Example:
        >>> cicf(np.array([1.0]), np.array([[[0.0, 2.0]], [[1.5, 2.0]]])).tolist()
        [0.5]
    """
    inside = (intervals[..., 0] < true_mean) & (true_mean < intervals[..., 1])
    return np.asarray(np.mean(inside, axis=0, dtype=np.float64))


def brier_score(coverage: Float64[np.ndarray, " row"], confidence_level: float) -> float:
    r"""Mean squared distance of the coverage from its level, Eq. (5) (`BS`).

    Example:
        >>> brier_score(np.array([0.5, 1.0]), 0.75)
        0.0625
    """
    return float(np.mean((coverage - confidence_level) ** 2))
