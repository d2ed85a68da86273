r"""The exact law of scaled t plus normal noise, which Algorithm 2 of the paper samples from.

$Y = s\,T + \tau Z$ with $T \sim t(\nu)$ and $Z$ normal, independent. A t variable is a normal one
with a random variance, so given $V \sim \chi^2(\nu)$ the sum is normal with variance
$\tau^2 + s^2 \nu / V$ and
$P(|Y| \le q) = \mathbb E_V\,[\,2\Phi(q / \sqrt{\tau^2 + s^2 \nu / V}) - 1\,]$:
one smooth integral, exact at both ends (s = 0: normal; tau = 0: t). In $u = \log V$ the
integrand is analytic and dies off on both sides, so the trapezoidal rule converges geometrically.
"""

import functools

import numpy as np
from jaxtyping import Float64
from scipy import special, stats
from scipy.interpolate import CubicSpline

Row = Float64[np.ndarray, " row"]

# The rule's error falls like exp(-pi^2 / step) where chi^2 is wide and like that of a Gaussian
# where it is narrow; with these it is below 1e-13 (tests/uncertainty/test_t_plus_normal.py halves
# the step).
_STEP, _STEP_IN_STDS = 0.25, 0.45
_NEGLIGIBLE = 1e-17
# Far out only the rarest V count: with nodes from here on the density has twelve right digits up
# to a million scales.
_SMALLEST_V = 1e-26
# Rows solved at once: bounds the memory of rows x nodes to a few megabytes. With more rows than
# this, a spline through this many solutions gives each a starting point with six right digits.
_ROWS_PER_BLOCK = 4096
# Newton's last step doubles the right digits, so a step this small leaves an error near 1e-14.
_STEP_TOLERANCE = 1e-7
_MAX_ITERATIONS = 100
_SMALLEST = np.finfo(np.float64).tiny


@functools.lru_cache(maxsize=64)
def _nodes(degrees_of_freedom: int) -> tuple[Row, Row]:
    r"""$\nu / V$ at the nodes, and the weights, of the expectation over $V \sim \chi^2(\nu)$."""
    u, log_weight = _log_chi2(degrees_of_freedom, stats.chi2.ppf(_NEGLIGIBLE, degrees_of_freedom))
    weight = np.exp(log_weight)
    return degrees_of_freedom * np.exp(-u), weight / weight.sum()


def _log_chi2(degrees_of_freedom: int, smallest: float) -> tuple[Row, Row]:
    r"""Nodes in $u = \log V$ from the smallest V on, and the log density of u at them."""
    std_of_log = np.sqrt(special.polygamma(1, degrees_of_freedom / 2))
    step = min(_STEP, _STEP_IN_STDS * std_of_log)
    upper = np.log(stats.chi2.isf(_NEGLIGIBLE, degrees_of_freedom))
    u = np.arange(np.log(smallest), upper + step, step)
    return u, stats.chi2.logpdf(np.exp(u), degrees_of_freedom) + u


def central_probability(q: Row, t_scale: Row, normal_scale: Row, degrees_of_freedom: int) -> Row:
    r"""$P(|sT + \tau Z| \le q)$; of the two scales one may be zero.

    Example:
        >>> one, zero = np.ones(1), np.zeros(1)
        >>> round(float(central_probability(1.96 * one, zero, one, 4)[0]), 3)  # the normal law
        0.95
    """
    ratio, weight = _nodes(degrees_of_freedom)
    out = np.empty(len(q))
    for start in range(0, len(q), _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        std = np.sqrt(normal_scale[rows, None] ** 2 + t_scale[rows, None] ** 2 * ratio)
        std = np.maximum(std, _SMALLEST)  # a law without width is a step
        out[rows] = special.erf(q[rows, None] / (np.sqrt(2) * std)) @ weight
    return np.minimum(out, 1.0)  # weights sum to one up to rounding


def _density(q: Row, t_scale: Row, normal_scale: Row, degrees_of_freedom: int) -> Row:
    """The derivative of `central_probability`: twice the density at q."""
    ratio, weight = _nodes(degrees_of_freedom)
    std = np.sqrt(normal_scale[:, None] ** 2 + t_scale[:, None] ** 2 * ratio)
    return (np.sqrt(2 / np.pi) * np.exp(-0.5 * (q[:, None] / std) ** 2) / std) @ weight


def log_density(q: Row, t_scale: Row, normal_scale: Row, degrees_of_freedom: int) -> Row:
    r"""The logarithm of the density of $sT + \tau Z$ at q, however far out.

    A law without width has no density: it is infinite at zero, and zero elsewhere.

    Example:
        >>> one, zero = np.ones(1), np.zeros(1)
        >>> log_density(100 * one, zero, one, 4).round(3).tolist()  # normal: -log(2 pi)/2 - 100^2/2
        [-5000.919]
    """
    u, log_weight = _log_chi2(degrees_of_freedom, _SMALLEST_V)
    ratio, log_weight = degrees_of_freedom * np.exp(-u), log_weight - special.logsumexp(log_weight)
    out = np.where(q == 0, np.inf, -np.inf)
    wide = np.flatnonzero((t_scale > 0) | (normal_scale > 0))
    for first in range(0, len(wide), _ROWS_PER_BLOCK):
        rows = wide[first : first + _ROWS_PER_BLOCK]
        std = np.sqrt(normal_scale[rows, None] ** 2 + t_scale[rows, None] ** 2 * ratio)
        log_normal = -0.5 * (q[rows, None] / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
        out[rows] = special.logsumexp(log_normal + log_weight, axis=1)
    return out


def normal_mixture(
    t_scale: Row, normal_scale: Row, degrees_of_freedom: int
) -> tuple[Float64[np.ndarray, "row component"], Float64[np.ndarray, " component"]]:
    r"""Standard deviations and weights of normal laws whose mixture is the law of $sT + \tau Z$.

    Example:
        >>> scales, weights = normal_mixture(np.zeros(1), np.ones(1), 4)
        >>> scales.tolist(), weights.tolist()
        ([[1.0]], [1.0])
    """
    if not np.any(t_scale):
        return normal_scale[:, None], np.ones(1)
    ratio, weight = _nodes(degrees_of_freedom)
    return np.sqrt(normal_scale[:, None] ** 2 + t_scale[:, None] ** 2 * ratio), weight


def half_width(
    confidence_level: float, t_scale: Row, normal_scale: Row, degrees_of_freedom: int
) -> Row:
    r"""The q with $P(|sT + \tau Z| \le q)$ equal to the level, for each row.

    Newton's method. Twice the density falls with q, so the probability is concave: started at or
    below the root, Newton's steps climb to it and never pass it. The larger of the two laws' own
    quantiles lies below the root, since adding independent noise only widens a symmetric
    unimodal law (Anderson 1955).

    Example:
        >>> one, zero = np.ones(1), np.zeros(1)
        >>> round(float(half_width(0.95, one, zero, 4)[0]), 3)  # the t table
        2.776
    """
    alone = _own_half_widths(confidence_level, t_scale, normal_scale, degrees_of_freedom)
    # Exact when one scale is zero and near otherwise, but on either side of the root.
    start = np.hypot(*alone)
    out = np.maximum(*alone)
    # Where one scale is zero the lower bound is the answer (and for both zero, zero).
    unsolved = np.flatnonzero((t_scale > 0) & (normal_scale > 0))
    if len(unsolved) > _ROWS_PER_BLOCK:
        spline = _solutions_by_angle(confidence_level, degrees_of_freedom)
        start = np.hypot(t_scale, normal_scale) * spline(np.arctan2(t_scale, normal_scale))
    for first in range(0, len(unsolved), _ROWS_PER_BLOCK):
        rows = unsolved[first : first + _ROWS_PER_BLOCK]
        out[rows] = _newton(
            confidence_level, start[rows], t_scale[rows], normal_scale[rows], degrees_of_freedom
        )
    return out


def _own_half_widths(
    confidence_level: float, t_scale: Row, normal_scale: Row, degrees_of_freedom: int
) -> tuple[Row, Row]:
    """The half-widths of the two parts, each as if it were alone."""
    p = (1 + confidence_level) / 2
    return stats.t.ppf(p, degrees_of_freedom) * t_scale, stats.norm.ppf(p) * normal_scale


def _newton(
    confidence_level: float, start: Row, t_scale: Row, normal_scale: Row, degrees_of_freedom: int
) -> Row:
    law = (t_scale, normal_scale, degrees_of_freedom)
    # A little lower, because SciPy's quantiles near the median lose digits.
    lowest = np.maximum(*_own_half_widths(confidence_level, *law)) * (1 - 1e-3)
    q = start
    for _ in range(_MAX_ITERATIONS):
        missing = confidence_level - central_probability(q, *law)
        # A start above the root may throw the first step far to the left: hence the maximum.
        new = np.maximum(q + missing / _density(q, *law), lowest)
        converged = np.abs(new - q) <= _STEP_TOLERANCE * q
        q = new
        if converged.all():
            break
    return q


def _solutions_by_angle(confidence_level: float, degrees_of_freedom: int) -> CubicSpline:
    """Half-widths for scales (sin, cos) of an angle: up to a factor there are no others."""
    angle = np.linspace(0, np.pi / 2, _ROWS_PER_BLOCK)
    solutions = half_width(confidence_level, np.sin(angle), np.cos(angle), degrees_of_freedom)
    return CubicSpline(angle, solutions)
