"""Laws that are symmetric about a centre: half a width is all that their intervals need."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from confide.uncertainty.law import Bounds, Law, Row


@dataclass(frozen=True)
class SymmetricLaw(Law):
    """A law whose intervals lie about `location`.

    Attributes:
        location: its centre.
    """

    location: Row

    @abstractmethod
    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the central interval with that probability."""

    def interval(self, confidence_level: float) -> Bounds:
        """The central interval with that probability."""
        half_width = self.half_width(confidence_level)
        return np.stack([self.location - half_width, self.location + half_width], axis=-1)

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        lower, upper = self.interval(abs(2 * probability - 1)).T
        return lower if probability < 0.5 else upper
