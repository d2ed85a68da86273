r"""The exact law of scaled t plus normal noise, which Algorithm 2 of the paper samples from.

$Y = s\,T + \tau Z$ with $T \sim t(\nu)$ and $Z$ normal, independent. A t variable is a normal one
with a random variance, so given $V \sim \chi^2(\nu)$ the sum is normal with variance
$\tau^2 + s^2 \nu / V$ and
$P(|Y| \le q) = \mathbb E_V\,[\,2\Phi(q / \sqrt{\tau^2 + s^2 \nu / V}) - 1\,]$:
one smooth integral, exact at both ends (s = 0: normal; tau = 0: t). In $u = \log V$ the
integrand is analytic and dies off on both sides, so the trapezoidal rule converges geometrically.
"""

import functools
from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Float64
from scipy import special, stats
from scipy.interpolate import CubicSpline

from confide.uncertainty.law import Draws, NormalMixture, Numbers, Row, SymmetricLaw, Values

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
# Levels up to which SciPy's quantiles have lost digits.
_NEAR_MEDIAN = 0.01
_SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class TPlusNormalLaw(SymmetricLaw):
    r"""The law of $\mu + s\,T + \tau Z$, with $T \sim t(\nu)$ and $Z$ normal, for each row.

    With `t_scale` zero it is normal (Deep Ensembles' prediction interval), with `normal_scale` zero
    a scaled t (Theorem 3.3), with both the law that Algorithm 2 samples from.

    Attributes:
        location: its centre.
        t_scale: the scale s of the t part.
        normal_scale: the standard deviation of the normal part.
        degrees_of_freedom: of the t part.
    """

    per_row = ("location", "t_scale", "normal_scale")
    t_scale: Row
    normal_scale: Row
    degrees_of_freedom: int

    @classmethod
    def normal(cls, location: Row, scale: Row) -> "TPlusNormalLaw":
        """A normal law."""
        return cls(location, np.zeros_like(scale), scale, degrees_of_freedom=1)

    @classmethod
    def t(cls, location: Row, scale: Row, degrees_of_freedom: int) -> "TPlusNormalLaw":
        """A scaled t law.

        Args:
            location: its centre in each row.
            scale: what a t variable is multiplied by, in each row.
            degrees_of_freedom: of the t law.

        Returns:
            The law.
        """
        return cls(location, scale, np.zeros_like(scale), degrees_of_freedom)

    @property
    def has_t_part(self) -> bool:
        """Whether any row has one."""
        return bool(self.t_scale.any())

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the central interval with that probability.

        Newton's method. Twice the density falls with q, so the probability is concave: started at
        or below the root, Newton's steps climb to it and never pass it. The larger of the two
        parts' own quantiles lies below the root, since adding independent noise only widens a
        symmetric unimodal law (Anderson 1955).

        Example:
            >>> t_law = TPlusNormalLaw.t(np.zeros(1), np.ones(1), 4)
            >>> round(float(t_law.half_width(0.95)[0]), 3)  # the t table
            2.776
        """
        alone = self.own_half_widths(confidence_level)
        # Exact when one scale is zero and near otherwise, but on either side of the root.
        start = np.hypot(*alone)
        out = np.maximum(*alone)
        # Where one scale is zero the lower bound is the answer (and for both zero, zero).
        unsolved = np.flatnonzero((self.t_scale > 0) & (self.normal_scale > 0))
        if len(unsolved) > _ROWS_PER_BLOCK:
            spline = _solutions_by_angle(confidence_level, self.degrees_of_freedom)
            angle = np.arctan2(self.t_scale, self.normal_scale)
            start = np.hypot(self.t_scale, self.normal_scale) * spline(angle)
        for first in range(0, len(unsolved), _ROWS_PER_BLOCK):
            rows = unsolved[first : first + _ROWS_PER_BLOCK]
            law = cast("TPlusNormalLaw", self.take(rows))
            found = _newton(confidence_level, start[rows], law)
            # Rounding must not put the root below that bound; near the median, the bound has it.
            out[rows] = np.maximum(found, out[rows]) if confidence_level > _NEAR_MEDIAN else found
        return out

    def own_half_widths(self, confidence_level: float) -> tuple[Row, Row]:
        """The half-widths of the two parts, each as if it were alone."""
        p = (1 + confidence_level) / 2
        t = stats.t.ppf(p, self.degrees_of_freedom)
        return t * self.t_scale, stats.norm.ppf(p) * self.normal_scale

    def central_probability(self, q: Row) -> Row:
        """The probability of lying within q of the location; of the two scales one may be zero.

        Example:
            >>> normal_law = TPlusNormalLaw.normal(np.zeros(1), np.ones(1))
            >>> round(float(normal_law.central_probability(np.array([1.96]))[0]), 3)
            0.95
        """
        ratio, weight = _nodes(self.degrees_of_freedom)
        out = np.empty(len(q))
        for start in range(0, len(q), _ROWS_PER_BLOCK):
            rows = slice(start, start + _ROWS_PER_BLOCK)
            std = np.maximum(self._stds(ratio, rows), _SMALLEST)  # a law without width is a step
            out[rows] = special.erf(q[rows, None] / (np.sqrt(2) * std)) @ weight
        return np.minimum(out, 1.0)  # weights sum to one up to rounding

    def two_sided_density(self, q: Row) -> Row:
        """The derivative of `central_probability`: twice the density at q from the location."""
        ratio, weight = _nodes(self.degrees_of_freedom)
        std = self._stds(ratio)
        return (np.sqrt(2 / np.pi) * np.exp(-0.5 * (q[:, None] / std) ** 2) / std) @ weight

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        return (1 + np.sign(distance) * self.central_probability(np.abs(distance))) / 2

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row), however far.

        A law without width has no density: it is infinite at its location, and zero elsewhere.

        Example:
            >>> normal_law = TPlusNormalLaw.normal(np.zeros(1), np.ones(1))
            >>> normal_law.log_density(np.array([100.0])).round(3).tolist()  # -log(2 pi)/2 - 5000
            [-5000.919]
        """
        q = np.broadcast_to(value - self.location, self.location.shape)
        u, log_weight = _log_chi2(self.degrees_of_freedom, _SMALLEST_V)
        ratio = self.degrees_of_freedom * np.exp(-u)
        log_weight = log_weight - special.logsumexp(log_weight)
        out = np.where(q == 0, np.inf, -np.inf)
        wide = np.flatnonzero((self.t_scale > 0) | (self.normal_scale > 0))
        for first in range(0, len(wide), _ROWS_PER_BLOCK):
            rows = wide[first : first + _ROWS_PER_BLOCK]
            std = self._stds(ratio, rows)
            log_normal = -0.5 * (q[rows, None] / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
            out[rows] = special.logsumexp(log_normal + log_weight, axis=1)
        return out

    def normal_mixture(self) -> NormalMixture:
        """The law as a mixture of normal laws: a t variable is a normal of random variance."""
        if not self.has_t_part:
            return NormalMixture(self.location[:, None], self.normal_scale[:, None], np.ones(1))
        ratio, weight = _nodes(self.degrees_of_freedom)
        return NormalMixture(self.location[:, None], self._stds(ratio), weight)

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        shape = (n_samples, len(self.location))
        t = generator.standard_t(self.degrees_of_freedom, shape)
        noise = generator.standard_normal(shape)
        return self.location + self.t_scale * t + self.normal_scale * noise

    def _stds(
        self, ratio: Row, rows: slice | Numbers = slice(None)
    ) -> Float64[np.ndarray, "some node"]:
        r"""Standard deviations of the sum given $\nu / V$, for some rows."""
        return np.sqrt(self.normal_scale[rows, None] ** 2 + self.t_scale[rows, None] ** 2 * ratio)


def _newton(confidence_level: float, start: Row, law: TPlusNormalLaw) -> Row:
    # A little lower, because SciPy's quantiles near the median lose digits.
    lowest = np.maximum(*law.own_half_widths(confidence_level)) * (1 - 1e-3)
    q = start
    for _ in range(_MAX_ITERATIONS):
        missing = confidence_level - law.central_probability(q)
        # A start above the root may throw the first step far to the left: hence the maximum.
        new = np.maximum(q + missing / law.two_sided_density(q), lowest)
        converged = np.abs(new - q) <= _STEP_TOLERANCE * q
        q = new
        if converged.all():
            break
    return q


def _solutions_by_angle(confidence_level: float, degrees_of_freedom: int) -> CubicSpline:
    """Half-widths for scales (sin, cos) of an angle: up to a factor there are no others."""
    angle = np.linspace(0, np.pi / 2, _ROWS_PER_BLOCK)
    law = TPlusNormalLaw(np.zeros_like(angle), np.sin(angle), np.cos(angle), degrees_of_freedom)
    return CubicSpline(angle, law.half_width(confidence_level))


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
