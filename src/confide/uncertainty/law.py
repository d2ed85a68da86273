"""What is asked of a law: where something unknown lies in each row, and how surely."""

from abc import abstractmethod
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int

from confide.errors import NoSuchIntervalError

Row = Float64[np.ndarray, " row"]
Bounds = Float64[np.ndarray, "row 2"]
Origin: TypeAlias = Literal["model", "held_out", "twins"]


class NormalMixture(NamedTuple):
    """Normal laws and their weights, which are the same for every row."""

    means: Float64[np.ndarray, "row 1"]
    scales: Float64[np.ndarray, "row component"]
    weights: Float64[np.ndarray, " component"]


@runtime_checkable  # for the type checker of the tests
class Law(Protocol):
    """The law of one unknown number for each row: the true function's value, or an observation.

    Any class with these members is a law, and nothing asks which class it is. A class that inherits
    from this one needs `quantile`, `cdf`, `log_density`, `sample` and `take`; the rest is there.
    What a law cannot answer it refuses with `NoSuchIntervalError`.
    """

    @property
    def origin(self) -> Origin:
        """Where it comes from.

        "model": it is the method's own. "held_out": it was calibrated on rows that were kept back.
        "twins": it was calibrated on simulated twins of the data.
        """
        return "model"

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The only levels that it has intervals for; None where it has every level."""
        return None

    @property
    def has_t_part(self) -> bool:
        """Whether it is a t law, or the sum of one and noise, as Algorithm 2 has it."""
        return False

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound, with that probability between them; they need no common centre.

        Unless a law says otherwise, it lies below and above them with the same probability.
        """
        tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
        return np.stack([self.quantile(tail) for tail in tails], axis=-1)

    @abstractmethod
    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""

    @abstractmethod
    def cdf(self, value: Float64[np.ndarray, "..."]) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""

    @abstractmethod
    def log_density(self, value: Float64[np.ndarray, "..."]) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row)."""

    def normal_mixture(self) -> NormalMixture:
        """The same law as a mixture of normal laws, whose CRPS has a closed form."""
        raise NoSuchIntervalError(
            f"{type(self).__name__} is no mixture of normal laws. Score its quantiles or its "
            "intervals."
        )

    @abstractmethod
    def sample(
        self, generator: np.random.Generator, n_samples: int
    ) -> Float64[np.ndarray, "sample row"]:
        """Independent draws, for each row."""

    @abstractmethod
    def take(self, rows: Int[np.ndarray, " some"]) -> "Law":
        """The law of the rows with these numbers, in this order."""
