"""What a law answers: where something unknown lies in each row, and how surely."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int

from confide.errors import NoSuchIntervalError

Row = Float64[np.ndarray, " row"]
Bounds = Float64[np.ndarray, "row 2"]
Values = Float64[np.ndarray, "..."]
Draws = Float64[np.ndarray, "sample row"]
Numbers = Int[np.ndarray, " some"]
Origin: TypeAlias = Literal["model", "held_out", "twins"]
# Of a distance: its largest power of two, and halvings that leave nothing between two floats.
_FARTHEST, _HALVINGS = 1000.0, 64


class NormalMixture(NamedTuple):
    """A mixture of normal laws for each row.

    Attributes:
        means: their common mean in each row.
        scales: their standard deviations in each row.
        weights: of the laws, the same for every row.
    """

    means: Float64[np.ndarray, "row 1"]
    scales: Float64[np.ndarray, "row component"]
    weights: Float64[np.ndarray, " component"]


@runtime_checkable  # for the type checker of the tests
class Law(Protocol):
    """The law of one unknown number for each row: the true function's value, or an observation.

    Any class with these members is a law: no code depends on which class it is. A class that
    inherits from this one needs `quantile`, `cdf`, `log_density`, `sample` and `take`; the rest is
    inherited. A law refuses with `NoSuchIntervalError` what it cannot answer.
    """

    @property
    def origin(self) -> Origin:
        """Where it comes from.

        "model": it is the method's own. "held_out": it was calibrated on held-out rows. "twins": it
        was calibrated on simulated twins of the data.
        """
        return "model"

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The levels that it has intervals for; None where it has them at every level."""
        return None

    @property
    def has_t_part(self) -> bool:
        """Whether it is a t law, or the sum of one and noise, as Algorithm 2 has it."""
        return False

    @property
    def support(self) -> tuple[float, float]:
        """What the unknown was said not to cross; infinite where nothing was said."""
        return -np.inf, np.inf

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound, with that probability between them; they need no common centre.

        Unless a law says otherwise, it lies below and above them with the same probability.
        """
        tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
        return np.stack([self.quantile(tail) for tail in tails], axis=-1)

    @abstractmethod
    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""

    def quantile_of_each(self, probabilities: Row) -> Row:
        """The same at a probability for each row."""
        centre, side = self.quantile(0.5), np.where(probabilities < 0.5, -1, 1)
        # Halved on a logarithmic scale, as nothing is known of the law's.
        near, far = np.full((2, len(centre)), [[-_FARTHEST], [_FARTHEST]])
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            is_short = side * (probabilities - self.cdf(centre + side * 2.0**middle)) > 0
            near, far = np.where(is_short, middle, near), np.where(is_short, far, middle)
        return centre + side * np.where(far < _FARTHEST, 2.0**far, np.inf)

    @abstractmethod
    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""

    @abstractmethod
    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row)."""

    def normal_mixture(self) -> NormalMixture:
        """The same law as a mixture of normal laws, whose CRPS has a closed form."""
        raise NoSuchIntervalError(
            f"{type(self).__name__} is not a mixture of normal laws. Score its quantiles or its "
            "intervals."
        )

    @abstractmethod
    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""

    @abstractmethod
    def take(self, rows: Numbers) -> "Law":
        """The law of the rows with these numbers, in this order."""


@dataclass(frozen=True)
class DerivedLaw(Law):
    """A law that is made from another, and named after it.

    Attributes:
        law: the other.
    """

    law: Law

    @property
    def origin(self) -> Origin:
        """Where the other comes from."""
        return self.law.origin

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The levels that the other has intervals for."""
        return self.law.levels

    @property
    def has_t_part(self) -> bool:
        """Whether the other has one."""
        return self.law.has_t_part


@dataclass(frozen=True)
class SymmetricLaw(Law):
    """A law whose intervals lie about `location`.

    Attributes:
        per_row: the names of the attributes that have a number for each row.
        location: its centre.
    """

    per_row: ClassVar[tuple[str, ...]]
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

    def take(self, rows: Numbers) -> "SymmetricLaw":
        """The law of the rows with these numbers, in this order."""
        return replace(self, **{name: getattr(self, name)[rows] for name in self.per_row})
