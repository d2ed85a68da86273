"""Laws of the noise: mean 0 and variance 1, so that a truth's own std is the noise's std."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy import special

from confide.named import Named

Values = Float64[np.ndarray, "*shape"]
Draws = Float64[np.ndarray, "..."]
Shape: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True)
class NoiseLaw(ABC):
    """A continuous law with mean 0 and variance 1."""

    name: ClassVar[str]

    @abstractmethod
    def sample(self, generator: np.random.Generator, shape: Shape) -> Draws:
        """Independent draws."""

    @abstractmethod
    def cdf(self, z: Values) -> Values:
        """The probability of lying at or below z."""

    def survival(self, z: Values) -> Values:
        """The probability of lying above z; laws with tails compute it with all digits."""
        return 1 - self.cdf(z)

    def interval_probability(self, lower: Values, upper: Values) -> Values:
        """The probability of lying in [lower, upper]; zero where the bounds are crossed.

        Example:
            >>> one = np.ones(1)
            >>> round(float(Gaussian().interval_probability(-1.96 * one, 1.96 * one)[0]), 3)
            0.95
        """
        # The cdf is near one in the right tail, where a difference of two would lose all digits.
        probability = np.where(
            lower > 0,
            self.survival(lower) - self.survival(upper),
            self.cdf(upper) - self.cdf(lower),
        )
        return np.maximum(probability, 0.0)


class Gaussian(NoiseLaw):
    """The normal law of Assumption 2.1 and of the paper's main experiments."""

    name: ClassVar[str] = "gaussian"

    def sample(self, generator: np.random.Generator, shape: Shape) -> Draws:
        """Independent draws."""
        return np.asarray(generator.standard_normal(shape))

    def cdf(self, z: Values) -> Values:
        """The probability of lying at or below z."""
        return np.asarray(special.ndtr(z))

    def survival(self, z: Values) -> Values:
        """The probability of lying above z."""
        return np.asarray(special.ndtr(-z))


class StudentT3(NoiseLaw):
    r"""Heavy tails: $\sqrt{1/3}\,T$ with $T \sim t(3)$ (`bench-different-noise`).

    The variance of t(3) is 3. Its third absolute moment is infinite.
    """

    name: ClassVar[str] = "t3"
    degrees_of_freedom: ClassVar[int] = 3
    scale: ClassVar[float] = np.sqrt(1 / 3)

    def sample(self, generator: np.random.Generator, shape: Shape) -> Draws:
        """Independent draws."""
        return np.asarray(self.scale * generator.standard_t(self.degrees_of_freedom, shape))

    def cdf(self, z: Values) -> Values:
        """The probability of lying at or below z."""
        return np.asarray(special.stdtr(self.degrees_of_freedom, z / self.scale))

    def survival(self, z: Values) -> Values:
        """The probability of lying above z."""
        return self.cdf(-z)


class CentredGamma(NoiseLaw):
    r"""Strong skewness: $G - 1/\sqrt{10}$, $G \sim \Gamma(1/10, \sqrt{10})$, from the same table.

    The arguments are shape and scale, so the mean of G is $1/\sqrt{10}$ and its variance 1. Half
    of the probability lies within 0.002 of the smallest value, $-1/\sqrt{10}$, and two per cent
    within 1e-16 of it: there a bound's last digit is visible in a probability.
    """

    name: ClassVar[str] = "gamma"
    shape: ClassVar[float] = 1 / 10
    scale: ClassVar[float] = np.sqrt(10)
    smallest: ClassVar[float] = -shape * scale

    def sample(self, generator: np.random.Generator, shape: Shape) -> Draws:
        """Independent draws."""
        return np.asarray(generator.gamma(self.shape, self.scale, shape) + self.smallest)

    def cdf(self, z: Values) -> Values:
        """The probability of lying at or below z."""
        return np.asarray(special.gammainc(self.shape, self._above_smallest(z)))

    def survival(self, z: Values) -> Values:
        """The probability of lying above z."""
        return np.asarray(special.gammaincc(self.shape, self._above_smallest(z)))

    def _above_smallest(self, z: Values) -> Values:
        """How far z lies above the smallest value, in scales."""
        return np.asarray(np.maximum(z - self.smallest, 0.0) / self.scale)


@dataclass(frozen=True)
class Residuals(NoiseLaw):
    """Noise drawn from residuals, so that heavy tails and skewness are the data's own.

    Attributes:
        sorted_values: standardised residuals, with mean 0 and variance 1.
    """

    name: ClassVar[str] = "residuals"
    sorted_values: Float64[np.ndarray, " residual"]

    @classmethod
    def of(cls, residuals: Float64[np.ndarray, " residual"]) -> "NoiseLaw":
        """Standardised residuals; the normal law where all residuals are zero."""
        centred = residuals - residuals.mean()
        scale = centred.std()
        return cls(np.sort(centred) / scale) if scale > 0 else GAUSSIAN

    def sample(self, generator: np.random.Generator, shape: Shape) -> Draws:
        """Independent draws."""
        return np.asarray(generator.choice(self.sorted_values, shape))

    def cdf(self, z: Values) -> Values:
        """The share of residuals at or below z."""
        n_below = np.searchsorted(self.sorted_values, z, side="right")
        return np.asarray(n_below / len(self.sorted_values))


GAUSSIAN = Gaussian()
NOISE_LAWS: Mapping[str, NoiseLaw] = Named(
    "noise law", {law.name: law for law in (GAUSSIAN, StudentT3(), CentredGamma())}
)
