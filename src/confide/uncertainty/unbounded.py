"""Rows of which nothing is known: their bounds are infinite, those of the others as they were."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool

from confide.uncertainty.law import Bounds, DerivedLaw, Draws, NormalMixture, Numbers, Row, Values

# The variance of a row of which nothing is known: finite, so that shares and sums stay numbers.
VAST = 1e200


@dataclass(frozen=True)
class PartlyUnboundedLaw(DerivedLaw):
    """A law with infinite bounds at some rows.

    Attributes:
        law: of the other rows.
        is_unbounded: whether each row is one of those.
        location: of each row; that of the others is not used.
    """

    is_unbounded: Bool[np.ndarray, " row"]
    location: Row

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound."""
        infinite = np.array([-np.inf, np.inf])
        return np.where(self.is_unbounded[:, None], infinite, self.law.interval(confidence_level))

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        sign = np.sign(probability - 0.5)
        beyond = self.location if sign == 0 else np.full_like(self.location, sign * np.inf)
        return np.where(self.is_unbounded, beyond, self.law.quantile(probability))

    def cdf(self, value: Values) -> Row:
        """One half for every value: each side of it is as wide."""
        return np.where(self.is_unbounded, 0.5, self.law.cdf(value))

    def log_density(self, value: Values) -> Row:
        """The density is zero everywhere."""
        return np.where(self.is_unbounded, -np.inf, self.law.log_density(value))

    def normal_mixture(self) -> NormalMixture:
        """The mixture of the other rows, and one with vast scales for the unbounded rows."""
        means, scales, weights = self.law.normal_mixture()
        rows = self.is_unbounded[:, None]
        means = np.where(rows, self.location[:, None], means)
        return NormalMixture(means, np.where(rows, np.sqrt(VAST), scales), weights)

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws: infinitely far to either side."""
        drawn = self.law.sample(generator, n_samples)
        sides = generator.choice([-np.inf, np.inf], drawn.shape)
        return np.where(self.is_unbounded, sides, drawn)

    def take(self, rows: Numbers) -> "PartlyUnboundedLaw":
        """The law of the rows with these numbers, in this order."""
        some = self.is_unbounded[rows], self.location[rows]
        return replace(self, law=self.law.take(rows), is_unbounded=some[0], location=some[1])
