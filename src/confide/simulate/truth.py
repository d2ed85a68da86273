"""What a truth is: a function, the size of its noise, and the noise's law."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.randomness import generator_from
from confide.simulate.noise import GAUSSIAN, NoiseLaw

Table = Float[np.ndarray, "row feature"]
Row = Float64[np.ndarray, " row"]
Bound = Float64[np.ndarray, "*simulation row"]


@dataclass(frozen=True)
class Truth(ABC):
    r"""The law of a target: $y = f(x) + \sigma(x)\,\varepsilon$.

    A subclass says what $f$ and $\sigma$ are.

    Attributes:
        noise: the law of $\varepsilon$, with mean 0 and variance 1.
    """

    noise: NoiseLaw = field(default=GAUSSIAN, kw_only=True)

    @abstractmethod
    def mean(self, X: Table) -> Row:
        """The true function."""

    @abstractmethod
    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""

    def draw(self, key: PRNGKeyArray, X: Table) -> Row:
        """New targets."""
        std = self._checked_std(X)
        return self.mean(X) + std * self.noise.sample(generator_from(key), len(X))

    def interval_probability(self, X: Table, lower: Bound, upper: Bound) -> Bound:
        """The exact probability that a new target lies in [lower, upper], for each row.

        Averaged over simulated data sets it is the PICF, Eq. (6) (`PICFequation`). If the lower
        bound is above the upper one, it is zero. A row without noise is a point mass: it lies in
        the interval, bounds included, or it does not.

        Args:
            X: the rows.
            lower: a bound for each row; there may be an axis of simulations before that of rows.
            upper: the other bound, in the same shape.

        Returns:
            The probability for each row, and for each simulation if there are several.
        """
        mean, std = self.mean(X), self._checked_std(X)
        divisor = np.where(std > 0, std, 1.0)
        noisy = self.noise.interval_probability((lower - mean) / divisor, (upper - mean) / divisor)
        return np.where(std > 0, noisy, (lower <= mean) & (mean <= upper))

    def _checked_std(self, X: Table) -> Row:
        std = self.std(X)
        wrong = ~(np.isfinite(std) & (std >= 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"The standard deviation of {type(self).__name__} must be finite and not negative, "
                f"got {std[row]:g} at row {row}. Pass inputs from the range that this truth is for."
            )
        return std
