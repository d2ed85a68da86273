"""A law of what cannot lie beyond certain bounds."""

from dataclasses import dataclass, replace

import numpy as np

from confide.uncertainty.law import Bounds, DerivedLaw, Draws, Numbers, Row, Values


@dataclass(frozen=True)
class BoundedLaw(DerivedLaw):
    """A law that has at a bound all that another has beyond it.

    Attributes:
        law: the other.
        lower: nothing lies below; may be infinite.
        upper: nothing lies above; may be infinite.
    """

    lower: float
    upper: float

    @property
    def support(self) -> tuple[float, float]:
        """Both bounds."""
        return self.lower, self.upper

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound."""
        return np.clip(self.law.interval(confidence_level), self.lower, self.upper)

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        return np.clip(self.law.quantile(probability), self.lower, self.upper)

    def quantile_of_each(self, probabilities: Row) -> Row:
        """The same at a probability for each row."""
        return np.clip(self.law.quantile_of_each(probabilities), self.lower, self.upper)

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        inside = np.where(value < self.lower, 0.0, self.law.cdf(value))
        return np.where(value >= self.upper, 1.0, inside)

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density; what lies at a bound by itself is left out."""
        outside = (value < self.lower) | (value > self.upper)
        return np.where(outside, -np.inf, self.law.log_density(value))

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        return np.clip(self.law.sample(generator, n_samples), self.lower, self.upper)

    def take(self, rows: Numbers) -> "BoundedLaw":
        """The law of the rows with these numbers, in this order."""
        return replace(self, law=self.law.take(rows))
