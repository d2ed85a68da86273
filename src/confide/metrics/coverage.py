"""Coverage of each test input over many simulated data sets, and its distance from nominal."""

import numpy as np
from jaxtyping import Bool, Float64

# For each simulated data set and row: whether the interval holds its target, or how probably.
Held = Bool[np.ndarray, "simulation row"] | Float64[np.ndarray, "simulation row"]


def covered(
    true_mean: Float64[np.ndarray, " row"], intervals: Float64[np.ndarray, "simulation row 2"]
) -> Bool[np.ndarray, "simulation row"]:
    """Whether each interval holds the true function's value: strictly, as in the published code.

    Example:
        >>> covered(np.array([1.0]), np.array([[[0.0, 2.0]], [[1.5, 2.0]]])).tolist()
        [[True], [False]]
    """
    return (intervals[..., 0] < true_mean) & (true_mean < intervals[..., 1])


def cicf(
    true_mean: Float64[np.ndarray, " row"], intervals: Float64[np.ndarray, "simulation row 2"]
) -> Float64[np.ndarray, " row"]:
    r"""Confidence interval coverage fraction, Eq. (4) (`CICF`).

    For each input, the share of simulated data sets whose interval holds the true function's
    value.

    Example:
        >>> cicf(np.array([1.0]), np.array([[[0.0, 2.0]], [[1.5, 2.0]]])).tolist()
        [0.5]
    """
    return np.asarray(np.mean(covered(true_mean, intervals), axis=0, dtype=np.float64))


def picf(probabilities: Float64[np.ndarray, "simulation row"]) -> Float64[np.ndarray, " row"]:
    r"""Prediction interval coverage fraction, Eq. (6) (`PICFequation`).

    For each input, the mean over simulated data sets of the exact probability that the interval
    holds a new target. It comes from the true function and noise law; nothing is sampled.

    Example:
        >>> picf(np.array([[0.75], [0.25]])).tolist()
        [0.5]
    """
    return np.asarray(np.mean(probabilities, axis=0))


def brier_score(coverage: Float64[np.ndarray, " row"], confidence_level: float) -> float:
    r"""Mean squared distance of the coverage from its level, Eq. (5) (`BS`).

    Example:
        >>> brier_score(np.array([0.5, 1.0]), 0.75)
        0.0625
    """
    return float(np.mean((coverage - confidence_level) ** 2))


def brier_score_standard_error(held: Held, confidence_level: float) -> float:
    r"""Monte-Carlo standard error of the Brier score, by the delete-one jackknife.

    Rows share their simulated data sets and so err together: what is left out is a whole
    simulation, $\sqrt{\frac{S-1}{S} \sum_j (\mathrm{BS}_{-j} - \overline{\mathrm{BS}})^2}$, where
    $\mathrm{BS}_{-j}$ is the score without simulation j.

    It is too large, up to a factor of $\sqrt2$, where coverage is at its level in every row: the
    score then has no part that is linear in the coverage.

    Example:
        >>> brier_score_standard_error(np.array([[True], [False]]), 0.75)  # 1/16 and 9/16
        0.25
    """
    n_simulations = _n_simulations(held)
    coverage = np.mean(held, axis=0, dtype=np.float64)
    coverage_without = coverage + (coverage - held) / (n_simulations - 1)
    scores = np.mean((coverage_without - confidence_level) ** 2, axis=1)
    return float(np.sqrt((n_simulations - 1) * np.var(scores)))


def unbiased_brier_score(held: Held, confidence_level: float) -> float:
    r"""The Brier score that infinitely many simulations would give, estimated without bias.

    Chance adds the variance of each row's coverage to its squared distance from the level. This
    takes it off again, estimated by the sample variance over simulations divided by their number;
    for hits that is $c(1-c)/(S-1)$. A perfect interval has zero on average, so below zero is
    possible.

    Example:
        >>> unbiased_brier_score(np.array([[True], [False]]), 0.5)
        -0.25
    """
    chance = np.var(held, axis=0, ddof=1, dtype=np.float64) / _n_simulations(held)
    coverage = np.asarray(np.mean(held, axis=0, dtype=np.float64))
    return float(brier_score(coverage, confidence_level) - np.mean(chance))


def attainable_brier_score(confidence_level: float, n_simulations: int) -> float:
    r"""What a perfect confidence interval scores on average: $\alpha(1-\alpha)/n_{\mathrm{sim}}$.

    It is the variance of a share of independent hits. The probabilities behind a PICF vary less,
    so it is no floor for them.

    Example:
        >>> attainable_brier_score(0.5, 25)
        0.01
    """
    return confidence_level * (1 - confidence_level) / n_simulations


def _n_simulations(held: Held) -> int:
    if len(held) < 2:
        raise ValueError(
            f"At least two simulations are needed to see how they vary, got {len(held)}. Pass an "
            "array of shape (simulation, row)."
        )
    return len(held)
