"""Settings that every ensemble of networks shares; nonsense is refused when they are built."""

import numbers
from dataclasses import dataclass

import numpy as np

from confide.errors import is_number, nearest
from confide.learners import GaussianLikelihood, NetworkEnsemble, balanced_block

# The networks' numbers are float32.
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, kw_only=True)
class EnsembleSettings:
    """Networks and their training; the defaults are the paper's (Section 4.2).

    Attributes:
        n_members: M, the number of networks.
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data.
        batch_size: rows in a step.
        learning_rate: Adam's step size.
        l2_penalty: strength of the penalty on the hidden kernels, or None for 1 / N.
        n_jobs: threads, or None for one per core; results do not depend on it.
    """

    n_members: int = 5
    hidden_layer_sizes: tuple[int, ...] = (40, 30, 20)
    max_epochs: int = 80
    batch_size: int = 32
    learning_rate: float = 1e-3
    l2_penalty: float | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        require_whole("n_members", self.n_members, "It is the number of networks; 5 is usual.")
        for size in self.hidden_layer_sizes:
            require_whole("hidden_layer_sizes", size, "Pass the units of each layer, as (40, 30).")
        require_whole("max_epochs", self.max_epochs, "It is the number of passes over the data.")
        require_whole("batch_size", self.batch_size, "It is the number of rows in a step.")
        if not (is_number(self.learning_rate) and 0 < self.learning_rate < LARGEST):
            raise ValueError(
                f"`learning_rate` must be a positive number, got {self.learning_rate!r}. "
                "Pass for example 1e-3."
            )
        if self.l2_penalty is not None and not (
            is_number(self.l2_penalty) and 0 <= self.l2_penalty < LARGEST
        ):
            raise ValueError(
                f"`l2_penalty` must be a number that is not negative, or None, got "
                f"{self.l2_penalty!r}. Pass None for the paper's 1 / N, or 0 for no penalty."
            )
        if self.n_jobs is not None and self.n_jobs != -1:
            require_whole("n_jobs", self.n_jobs, "It is a number of threads; None uses all cores.")

    def learner(self, members_per_block: int | None = None) -> NetworkEnsemble:
        """The learner that these settings describe; by default for one ensemble by itself."""
        penalty = -1.0 if self.l2_penalty is None else self.l2_penalty
        sizes = tuple(int(size) for size in self.hidden_layer_sizes)
        return NetworkEnsemble(
            objective=GaussianLikelihood(sizes, np.asarray(penalty, np.float32)),
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
            n_threads=None if self.n_jobs == -1 else self.n_jobs,
            members_per_block=members_per_block or balanced_block(int(self.n_members)),
        )


def require_whole(name: str, value: object, advice: str) -> None:
    """Refuses all but a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, got {value!r}. {advice}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuses all but the listed words."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {choices}, got {value!r}. {nearest(value, choices)}"
        )
