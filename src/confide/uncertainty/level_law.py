"""The law of a method that has prediction intervals at one level, and no distribution."""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from confide.errors import NoSuchIntervalError
from confide.uncertainty.law import DensityFreeLaw, Numbers, Row, Values

# Levels are compared as they are meant: 0.7 + 0.1 is 0.8.
SAME_LEVEL = 1e-9


@dataclass(frozen=True)
class LevelLaw(DensityFreeLaw):
    """An interval for each row at one level: a law with one answer.

    Attributes:
        location: the middle of the interval.
        half_width_at_level: half its width.
        confidence_level: the level it was made for.
    """

    half_width_at_level: Row
    confidence_level: float

    @property
    def levels(self) -> tuple[float]:
        """The one that it was made for."""
        return (self.confidence_level,)

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the interval, if that is its level."""
        if abs(confidence_level - self.confidence_level) > SAME_LEVEL:
            raise NoSuchIntervalError(
                f"This method was trained for {100 * self.confidence_level:g} % intervals and has "
                f"no others, got confidence_level={confidence_level:g}. Ask for "
                f"{self.confidence_level:g}, or fit anew with "
                f"confidence_level={confidence_level:g}."
            )
        return self.half_width_at_level

    def cdf(self, value: Values) -> NoReturn:
        """Refuses: one interval is not a distribution."""
        del value
        raise NoSuchIntervalError(self._no_density)

    def sample(self, generator: np.random.Generator, n_samples: int) -> NoReturn:
        """Refuses: one interval is not a distribution."""
        del generator, n_samples
        raise NoSuchIntervalError(self._no_density)

    def take(self, rows: Numbers) -> "LevelLaw":
        """The intervals of the rows with these numbers, in this order."""
        return replace(
            self,
            location=self.location[rows],
            half_width_at_level=self.half_width_at_level[rows],
        )

    @property
    def _no_density(self) -> str:
        return (
            f"This method bounds a new observation at {100 * self.confidence_level:g} % and has no "
            "distribution of it. Ask for its prediction interval at that level."
        )
