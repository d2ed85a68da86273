"""A law whose intervals contain those of another: of a new observation and the true function."""

from dataclasses import dataclass

import numpy as np

from confide.errors import NoSuchIntervalError
from confide.uncertainty.density_free import SAME_LEVEL
from confide.uncertainty.law import (
    Bounds,
    DerivedLaw,
    Draws,
    Law,
    NormalMixture,
    Numbers,
    Row,
    Values,
)

# Nearer to zero or one, probabilities do not tell two tails apart.
_TAIL = 5e-10


@dataclass(frozen=True)
class ContainingLaw(DerivedLaw):
    """A law that is made wider where its intervals would not contain those of another.

    So a new observation is never bounded more tightly than the true function at the same level,
    though the two laws may have come about by different means. Each bound is moved by itself, and
    the median is the law's own.

    Attributes:
        law: as it would be by itself.
        contained: the other law.
    """

    contained: Law

    def interval(self, confidence_level: float) -> Bounds:
        """The interval from the lower of both lower bounds to the higher of both upper bounds."""
        own = self.law.interval(confidence_level)
        if confidence_level < SAME_LEVEL:  # the median
            return own
        try:
            other = self.contained.interval(confidence_level)
        except NoSuchIntervalError:
            return own
        return np.stack([np.minimum(own, other)[:, 0], np.maximum(own, other)[:, 1]], axis=-1)

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        lower, upper = self.interval(abs(2 * probability - 1)).T
        return lower if probability < 0.5 else upper

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        both = self.law.cdf(value), self.contained.cdf(value)
        return np.clip(0.5, np.minimum(*both), np.maximum(*both))

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row).

        It is that of the law which bounds the value; between the two medians, the law's own.
        """
        own, other = self.law.cdf(value), self.contained.cdf(value)
        of_law, of_contained = self.law.log_density(value), self.contained.log_density(value)
        is_moved = np.where(other < 0.5, own < other, (own > other) & (other > 0.5))
        # Where both are all but sure, the heavier tail has the larger density.
        is_far = np.maximum(np.minimum(own, 1 - own), np.minimum(other, 1 - other)) < _TAIL
        decided = np.where(is_moved, of_contained, of_law)
        return np.where(is_far, np.maximum(of_law, of_contained), decided)

    def normal_mixture(self) -> NormalMixture:
        """The mixture of the law by itself, for a CRPS that leaves out what was made wider."""
        return self.law.normal_mixture()

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        drawn = self.law.sample(generator, n_samples)
        rows = np.tile(np.arange(drawn.shape[1]), n_samples)
        return self.take(rows).widened(drawn.ravel()).reshape(drawn.shape)

    def take(self, rows: Numbers) -> "ContainingLaw":
        """The law of the rows with these numbers, in this order."""
        return ContainingLaw(self.law.take(rows), self.contained.take(rows))

    def widened(self, drawn: Row) -> Row:
        """Draws of the law by itself, moved out to where the other law has as much within."""
        own, moved = self.law.cdf(drawn), drawn.copy()
        side = np.where(own < 0.5, -1, 1)
        short = np.flatnonzero(side * (own - self.contained.cdf(drawn)) > 0)
        moved[short] = self.contained.take(short).quantile_of_each(own[short])
        return moved
