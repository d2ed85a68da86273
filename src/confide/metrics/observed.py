"""Predictions judged against observed targets: coverage, proper scores, calibration."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

Row = Float64[np.ndarray, " row"]
Probabilities = Float64[np.ndarray, " probability"]
Quantiles = Float64[np.ndarray, "row probability"]
Levels = Float64[np.ndarray, " level"]

# scoringrules would otherwise choose numba where it is installed, and round differently.
_BACKEND = "numpy"
# Pairs of components at once: bounds the memory to some tens of megabytes.
_PAIRS_PER_BLOCK = 2**20
# What a look at one model's prediction intervals asks for: even steps, and the levels in use.
COVERAGE_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# Of the bars about an observed share.
WILSON_LEVEL = 0.95


class ObservedCoverage(NamedTuple):
    """Nominal and observed coverage of prediction intervals, for each level.

    Attributes:
        confidence_levels: what the coverage should be.
        shares: the share of targets in their prediction interval.
        standard_error: that of a perfect method's share, with independent rows.
        lower: lower end of Wilson's 95 % confidence interval for the coverage behind the share.
        upper: its upper end.
    """

    confidence_levels: Levels
    shares: Levels
    standard_error: Levels
    lower: Levels
    upper: Levels


def observed_coverage(
    y: Row, intervals: Float64[np.ndarray, "row 2 level"], confidence_levels: Levels
) -> ObservedCoverage:
    """The share of targets in their prediction intervals, bounds included, for each level.

    Wilson's confidence interval, unlike share ± standard errors, stays inside 0 and 1 and has a
    width where all targets are held or none is. It takes rows as independent, and the shares at two
    levels are of the same rows: the points of a curve err together.

    Args:
        y: observed targets that took no part in the fit.
        intervals: as `predict_interval` returns them for several levels; bounds may be infinite.
        confidence_levels: those of `intervals`.

    Returns:
        The share for each level, with its confidence interval.

    Example:
        >>> bounds = np.array([[-1.0, 1.0]] * 4)[:, :, None]
        >>> seen = observed_coverage(np.array([0.0, 1.0, 2.0, 0.5]), bounds, np.array([0.9]))
        >>> seen.shares.tolist(), seen.lower.round(2).tolist(), seen.upper.round(2).tolist()
        ([0.75], [0.3], [0.95])
    """
    from scipy.stats import binomtest

    n_rows = len(y)
    if n_rows == 0:
        raise ValueError(
            "Coverage needs at least one row with an observed target, got none. Pass rows that "
            "were held out of the fit."
        )
    held = (intervals[:, 0] <= y[:, None]) & (y[:, None] <= intervals[:, 1])
    bars = [
        binomtest(int(k), n_rows).proportion_ci(WILSON_LEVEL, method="wilson")
        for k in held.sum(axis=0)
    ]
    lower, upper = np.array(bars, np.float64).reshape(-1, 2).T
    return ObservedCoverage(
        confidence_levels=confidence_levels,
        shares=np.asarray(np.mean(held, axis=0, dtype=np.float64)),
        standard_error=np.sqrt(confidence_levels * (1 - confidence_levels) / n_rows),
        lower=lower,
        upper=upper,
    )


# Proper scores, one number a row: smaller is better.


def crps_of_normal_mixture(
    y: Row,
    means: Float64[np.ndarray, "row #component"],
    scales: Float64[np.ndarray, "row component"],
    weights: Float64[np.ndarray, " component"],
) -> Row:
    """Continuous ranked probability score, in closed form for a mixture of normal laws.

    The laws of the paper are such mixtures: `crps_of_normal_mixture(y, *law.normal_mixture())`.

    Args:
        y: the observed target of each row.
        means: of the normal laws.
        scales: their standard deviations.
        weights: of the normal laws in the mixture.

    Returns:
        The score of each row.

    Example:
        >>> one = np.ones((1, 1))
        >>> crps_of_normal_mixture(np.zeros(1), 0 * one, one, np.ones(1)).round(4).tolist()
        [0.2337]
    """
    from scoringrules import crps_mixnorm

    if not np.all(scales > 0):
        raise ValueError(
            f"The scales of normal laws must be positive, got {np.min(scales)}. The score of a "
            "law without width is the distance |y - mean|."
        )
    n_rows, n_components = scales.shape
    means = np.broadcast_to(means, scales.shape)
    step = max(1, _PAIRS_PER_BLOCK // n_components**2)
    out = np.full(n_rows, np.nan)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        out[rows] = crps_mixnorm(y[rows], means[rows], scales[rows], weights, backend=_BACKEND)
    return out


def log_score(log_density: Row) -> Row:
    """Logarithmic score: minus the log density at the target, `law.log_density(y)`.

    Example:
        >>> log_score(np.array([-1.5])).tolist()
        [1.5]
    """
    return -log_density


def interval_score(y: Row, intervals: Float64[np.ndarray, "row 2"], confidence_level: float) -> Row:
    r"""Winkler's interval score: the width, plus $2/\alpha$ times how far outside the target is.

    Args:
        y: observed targets.
        intervals: the prediction interval of each row.
        confidence_level: the level of `intervals`.

    Returns:
        The score of each row; lower is better.

    Example:
        >>> interval_score(np.array([1.0, 5.0]), np.array([[0.0, 4.0], [0.0, 4.0]]), 0.5).tolist()
        [4.0, 8.0]
    """
    from scoringrules import interval_score as score

    alpha = 1 - confidence_level
    return np.asarray(score(y, intervals[:, 0], intervals[:, 1], alpha, backend=_BACKEND))


def pinball_loss(y: Row, quantiles: Quantiles, probabilities: Probabilities) -> Quantiles:
    """The loss that the true quantile minimises, for each row and probability.

    Args:
        y: observed targets.
        quantiles: the predicted quantiles of each row.
        probabilities: those of `quantiles`.

    Returns:
        The loss of each quantile; lower is better.

    Example:
        >>> pinball_loss(np.array([1.0]), np.array([[0.0, 3.0]]), np.array([0.25, 0.5])).tolist()
        [[0.25, 1.0]]
    """
    from scoringrules import quantile_score

    return np.asarray(quantile_score(y[:, None], quantiles, probabilities, backend=_BACKEND))


class CalibrationCurve(NamedTuple):
    """How often targets lie below predicted quantiles, beside how often they should.

    Attributes:
        probabilities: those of the quantiles.
        shares: the share of targets at or below each quantile.
        standard_error: that of a calibrated method's share, with independent rows.
    """

    probabilities: Probabilities
    shares: Probabilities
    standard_error: Probabilities


def calibration_curve(
    y: Row, quantiles: Quantiles, probabilities: Probabilities
) -> CalibrationCurve:
    """The share of targets at or below each predicted quantile.

    Args:
        y: observed targets that took no part in the fit.
        quantiles: the predicted quantiles of each row.
        probabilities: those of `quantiles`.

    Returns:
        The share for each probability.

    Example:
        >>> quantiles = np.array([[1.0, 2.0], [1.0, 2.0]])
        >>> calibration_curve(np.array([0.0, 2.0]), quantiles, np.array([0.5, 0.9])).shares.tolist()
        [0.5, 1.0]
    """
    shares = np.mean(y[:, None] <= quantiles, axis=0, dtype=np.float64)
    standard_error = np.sqrt(probabilities * (1 - probabilities) / len(y))
    return CalibrationCurve(probabilities, np.asarray(shares), standard_error)
