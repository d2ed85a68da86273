"""How often observed targets lie in their prediction intervals, beside how often they should."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

Levels = Float64[np.ndarray, " level"]

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
    y: Float64[np.ndarray, " row"],
    intervals: Float64[np.ndarray, "row 2 level"],
    confidence_levels: Levels,
) -> ObservedCoverage:
    """The share of targets in their prediction intervals, bounds included, for each level.

    Wilson's confidence interval, unlike share ± standard errors, stays inside 0 and 1 and has a
    width where all targets are held or none is. It takes rows as independent, and the shares at two
    levels are of the same rows: the points of a curve err together.

    Args:
        y: observed targets that took no part in the fit.
        intervals: as `predict_interval` returns them for several levels; bounds may be infinite.
        confidence_levels: those of `intervals`.

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
