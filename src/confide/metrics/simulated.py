"""Intervals and predictions of each test input, judged over many simulated data sets."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

Row = Float64[np.ndarray, " row"]
PerSimulation = Float64[np.ndarray, "simulation row"]
Intervals = Float64[np.ndarray, "simulation row 2"]
# For each simulated data set and row: whether the interval holds its target, or how probably.
Held = Bool[np.ndarray, "simulation row"] | PerSimulation


# Coverage.


def covered(true_mean: Row, intervals: Intervals) -> Bool[np.ndarray, "simulation row"]:
    """Whether each interval holds the true function's value: strictly, as in the published code.

    Example:
        >>> covered(np.array([1.0]), np.array([[[0.0, 2.0]], [[1.5, 2.0]]])).tolist()
        [[True], [False]]
    """
    return (intervals[..., 0] < true_mean) & (true_mean < intervals[..., 1])


def cicf(true_mean: Row, intervals: Intervals) -> Row:
    r"""Confidence interval coverage fraction, Eq. (4) (`CICF`).

    For each input, the share of simulated data sets whose interval holds the true function's
    value.

    Example:
        >>> cicf(np.array([1.0]), np.array([[[0.0, 2.0]], [[1.5, 2.0]]])).tolist()
        [0.5]
    """
    return np.asarray(np.mean(covered(true_mean, intervals), axis=0, dtype=np.float64))


def picf(probabilities: PerSimulation) -> Row:
    r"""Prediction interval coverage fraction, Eq. (6) (`PICFequation`).

    For each input, the mean over simulated data sets of the exact probability that the interval
    holds a new target. It comes from the true function and noise law; nothing is sampled.

    Example:
        >>> picf(np.array([[0.75], [0.25]])).tolist()
        [0.5]
    """
    return np.asarray(np.mean(probabilities, axis=0))


def brier_score(coverage: Row, confidence_level: float) -> float:
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
    n_simulations = _at_least_two(held)
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
    chance = np.var(held, axis=0, ddof=1, dtype=np.float64) / _at_least_two(held)
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


# Width, and coverage at equal width: is a method better, or only wider?


def pointwise_mean_width(intervals: Intervals) -> Row:
    """Mean width over simulated data sets, for each input.

    Example:
        >>> pointwise_mean_width(np.array([[[0.0, 2.0]], [[0.0, 4.0]]])).tolist()
        [3.0]
    """
    return np.asarray(np.mean(intervals[..., 1] - intervals[..., 0], axis=0))


def mean_width(intervals: Intervals) -> float:
    """Mean width over simulated data sets and inputs.

    Example:
        >>> mean_width(np.array([[[0.0, 2.0], [0.0, 4.0]]]))
        3.0
    """
    return float(np.mean(pointwise_mean_width(intervals)))


def stretched_to_mean_width(intervals: Intervals, width: float) -> Intervals:
    """All intervals stretched about their own centres by one factor, to the given mean width.

    Example:
        >>> stretched_to_mean_width(np.array([[[0.0, 2.0], [0.0, 4.0]]]), 6.0).tolist()
        [[[-1.0, 3.0], [-2.0, 6.0]]]
    """
    before = mean_width(intervals)
    if not (before > 0 and np.isfinite(before)):
        raise ValueError(
            f"Intervals can be stretched to a mean width only from a positive and finite one, got "
            f"{before}. Leave this method out."
        )
    centre = np.mean(intervals, axis=-1, keepdims=True)
    return centre + (intervals - centre) * (width / before)


def at_equal_mean_width(
    intervals: Mapping[str, Intervals], width: float | None = None
) -> dict[str, Intervals]:
    """Each method's intervals stretched to one mean width: `width`, or else the first method's."""
    if width is None:
        width = mean_width(next(iter(intervals.values())))
    return {name: stretched_to_mean_width(own, width) for name, own in intervals.items()}


def cicf_at_equal_mean_width(
    true_mean: Row, intervals: Mapping[str, Intervals], width: float | None = None
) -> dict[str, Row]:
    """Each method's CICF, Eq. (4), once all have the same mean width.

    A difference that remains is due to where the intervals lie and which inputs are given the
    width, not to how wide they are on the whole.

    Args:
        true_mean: the true function at each input.
        intervals: the confidence intervals of each method, by its name.
        width: the mean width, or None for that of the first method.

    Returns:
        The CICF at each input, by the name of the method.

    Example:
        >>> one, ten = np.array([[[0.5, 1.5]]]), np.array([[[2.0, 12.0]]])
        >>> coverage = cicf_at_equal_mean_width(np.array([3.0]), {"one": one, "ten": ten})
        >>> {name: share.tolist() for name, share in coverage.items()}
        {'one': [0.0], 'ten': [0.0]}
    """
    equal = at_equal_mean_width(intervals, width)
    return {name: cicf(true_mean, own) for name, own in equal.items()}


# Bias.


class PointwiseBias(NamedTuple):
    """The bias of each input's predictions, and how large it is.

    Attributes:
        bias: mean over simulated data sets of prediction minus truth.
        standard_error: of `bias`, from the number of simulations.
        ratio_to_std: `bias` in standard deviations of one prediction. Confidence intervals count
            on zero; it is infinite (or, without bias, not a number) where predictions never vary.
    """

    bias: Row
    standard_error: Row
    ratio_to_std: Row


def pointwise_bias(true_mean: Row, predictions: PerSimulation) -> PointwiseBias:
    """How far predictions lie from the true function's value on average, for each input.

    Example:
        >>> bias = pointwise_bias(np.array([1.0]), np.array([[2.0], [4.0]]))
        >>> [float(part[0].round(3)) for part in bias]
        [2.0, 1.0, 1.414]
    """
    n_simulations = _at_least_two(predictions)
    # Before averaging: a truth of 1e6 would otherwise cost the small differences their digits.
    errors = predictions - true_mean
    bias, std = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return PointwiseBias(bias, std / np.sqrt(n_simulations), bias / std)


def _at_least_two(simulations: Held) -> int:
    """Their number."""
    if len(simulations) < 2:
        raise ValueError(
            f"At least two simulations are needed to see how they vary, got {len(simulations)}. "
            "Pass an array of shape (simulation, row)."
        )
    return len(simulations)
