"""Settings that every ensemble of networks shares; nonsense is refused when they are built."""

import numbers
from dataclasses import dataclass

import numpy as np

from confide.errors import is_number, nearest
from confide.learners import (
    GaussianLikelihood,
    NetworkEnsemble,
    Objective,
    balanced_block,
)

# The networks' numbers are float32.
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Networks and their training; the defaults are the paper's (Section 4.2).

    Attributes:
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data.
        batch_size: rows in a step.
        learning_rate: Adam's step size.
        n_jobs: threads, or None for one per core; results do not depend on it.
    """

    hidden_layer_sizes: tuple[int, ...] = (40, 30, 20)
    max_epochs: int = 80
    batch_size: int = 32
    learning_rate: float = 1e-3
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        for size in self.hidden_layer_sizes:
            require_whole("hidden_layer_sizes", size, "Pass the units of each layer, as (40, 30).")
        require_whole("max_epochs", self.max_epochs, "It is the number of passes over the data.")
        require_whole("batch_size", self.batch_size, "It is the number of rows in a step.")
        require_positive("learning_rate", self.learning_rate, "Pass for example 1e-3.")
        if self.n_jobs is not None and self.n_jobs != -1:
            require_whole("n_jobs", self.n_jobs, "It is a number of threads; None uses all cores.")

    @property
    def n_networks(self) -> int:
        """How many networks one fit trains side by side."""
        raise NotImplementedError

    @property
    def objective(self) -> Objective:
        """The network and its loss."""
        raise NotImplementedError

    @property
    def layer_sizes(self) -> tuple[int, ...]:
        """The hidden layers' sizes as plain integers: compiled programs are told apart by them."""
        return tuple(int(size) for size in self.hidden_layer_sizes)

    def learner(self, members_per_block: int | None = None) -> NetworkEnsemble:
        """The learner that these settings describe; by default for one data set by itself."""
        return NetworkEnsemble(
            objective=self.objective,
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
            n_threads=None if self.n_jobs == -1 else self.n_jobs,
            members_per_block=members_per_block or balanced_block(self.n_networks),
        )


@dataclass(frozen=True, kw_only=True)
class EnsembleSettings(NetworkSettings):
    """Several networks, each trained by maximum likelihood.

    Attributes:
        n_members: M, the number of networks.
        l2_penalty: strength of the penalty on the hidden kernels, or None for 1 / N.
    """

    n_members: int = 5
    l2_penalty: float | None = None

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_whole("n_members", self.n_members, "It is the number of networks; 5 is usual.")
        if self.l2_penalty is not None and not (
            is_number(self.l2_penalty) and 0 <= self.l2_penalty < LARGEST
        ):
            raise ValueError(
                f"`l2_penalty` must be a number that is not negative, or None, got "
                f"{self.l2_penalty!r}. Pass None for the paper's 1 / N, or 0 for no penalty."
            )

    @property
    def n_networks(self) -> int:
        """All members."""
        return int(self.n_members)

    @property
    def objective(self) -> Objective:
        """Mean and variance by maximum likelihood."""
        penalty = -1.0 if self.l2_penalty is None else self.l2_penalty
        return GaussianLikelihood(self.layer_sizes, np.asarray(penalty, np.float32))


def require_whole(name: str, value: object, advice: str) -> None:
    """Refuses all but a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, got {value!r}. {advice}")


def require_several(n_members: int, what: str) -> None:
    """Refuses a single member where only several have a spread."""
    if n_members < 2:
        raise ValueError(
            f"`n_members` must be at least 2 for {what}, got {n_members}: one network cannot show "
            "how far random training moves it. Pass n_members=5, or use "
            "DeepEnsembleRegressor(n_members=1) for one plain network."
        )


def require_positive(name: str, value: object, advice: str) -> None:
    """Refuses all but a positive number that float32 can hold."""
    if not (is_number(value) and 0 < value < LARGEST):
        raise ValueError(f"`{name}` must be a positive number, got {value!r}. {advice}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuses all but the listed words."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {choices}, got {value!r}. {nearest(value, choices)}"
        )
