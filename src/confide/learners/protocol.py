"""What Algorithm 1 of the paper asks of a learner: start, train from a state, predict."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from confide.learners.data import TrainingData
from confide.randomness import MemberKeys

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of member-epochs just finished, possibly from a worker thread."""

State = TypeVar("State")


@runtime_checkable
class Learner(Protocol[State]):
    """An ensemble of learners that are trained and asked all at once.

    A state is a value: a pytree whose arrays all have a leading `member` axis. It holds all that
    training needs to go on (weights *and* optimiser state), so keeping a snapshot is an
    assignment, and training never changes the state it was given.
    """

    def init(self, keys: MemberKeys, data: TrainingData) -> State:
        """Untrained members, as many as there are keys, each from its own."""
        ...

    def train(
        self,
        keys: MemberKeys,
        state: State,
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        epochs: int,
        *,
        progress: Progress | None = None,
    ) -> State:
        """The members trained on for some epochs, each on its own row of `targets`.

        With the same keys, training for a + b epochs equals training for a and then for b.
        """
        ...

    def predict(
        self, state: State, X: Float[Array | np.ndarray, "row feature"]
    ) -> tuple[Float[np.ndarray, "member row"], Float[np.ndarray, "member row"]]:
        """Each member's mean and (aleatoric) variance for each row."""
        ...


@runtime_checkable
class RestartingLearner(Learner[State], Protocol[State]):
    """A learner that can also forget its optimiser: only the published variant needs it."""

    def with_fresh_optimiser(self, state: State) -> State:
        """The same weights with an optimiser that has not taken a step."""
        ...
