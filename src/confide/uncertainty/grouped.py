"""Rows of several groups, each with a law of its own."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from confide.uncertainty.law import Bounds, Draws, Law, Numbers, Origin, Row, Values


@dataclass(frozen=True)
class GroupedLaw(Law):
    """A law for each group of rows.

    Attributes:
        laws: of each group, for all rows.
        group: the number of each row's group.
    """

    laws: tuple[Law, ...]
    group: Int[np.ndarray, " row"]

    @property
    def origin(self) -> Origin:
        """Where the laws come from, all from the same."""
        return self.laws[0].origin

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound."""
        return self._of_each(lambda law, _: law.interval(confidence_level))

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        return self._of_each(lambda law, _: law.quantile(probability))

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        values = np.broadcast_to(value, self.group.shape)
        return self._of_each(lambda law, rows: law.cdf(values[rows]))

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row)."""
        values = np.broadcast_to(value, self.group.shape)
        return self._of_each(lambda law, rows: law.log_density(values[rows]))

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        return self._of_each(lambda law, _: law.sample(generator, n_samples).T).T

    def take(self, rows: Numbers) -> "GroupedLaw":
        """The law of the rows with these numbers, in this order."""
        return GroupedLaw(tuple(law.take(rows) for law in self.laws), self.group[rows])

    def _of_each(self, answer: Callable[[Law, Numbers], np.ndarray]) -> np.ndarray:
        """What each row's law answers; a law without rows is not asked."""
        numbers = np.unique(self.group)
        rows = [np.flatnonzero(self.group == number) for number in numbers]
        if not rows:
            return answer(self.laws[0], self.group)
        parts = [
            answer(self.laws[number].take(own), own)
            for number, own in zip(numbers, rows, strict=True)
        ]
        return np.concatenate(parts)[np.argsort(np.concatenate(rows))]
