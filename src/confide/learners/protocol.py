"""What Algorithm 1 of the paper asks of a learner: start, train from a state, predict."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from jaxtyping import Float, Int

from confide.learners.data import TrainingData
from confide.learners.likelihood import Likelihood
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import MemberKeys

State = TypeVar("State")


class Plan(NamedTuple):
    """The stretch of training at hand: the `epochs` that follow the first `done` of `total`.

    An epoch is the learner's own step: a pass over the data for networks, a round of boosting for
    trees. A learner whose steps change as training goes on (a falling learning rate) reads off the
    plan where it is, so that training in stretches equals training in one go.

    Attributes:
        total: epochs of the whole training.
        done: epochs that are finished.
        epochs: epochs to train now.
    """

    total: int
    done: int
    epochs: int


class Learner(ABC, Generic[State]):
    """An ensemble of learners that are trained and asked all at once.

    A state is a value: it holds all that training needs to go on (weights *and* optimiser state),
    so keeping a snapshot is an assignment, and training never changes the state it was given. What
    is inside is the learner's own business. Three methods make a learner; the others are written
    for a state that is a dictionary of arrays with a leading `member` axis.

    Inputs and targets are standardised: mean zero and standard deviation one.

    Attributes:
        likelihood: what the outputs of `predict` mean.
    """

    likelihood: Likelihood

    @abstractmethod
    def init(self, keys: MemberKeys, data: TrainingData) -> State:
        """Untrained members, as many as there are keys, each from its own."""

    @abstractmethod
    def train(
        self,
        keys: MemberKeys,
        state: State,
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        plan: Plan,
        *,
        progress: Progress | None = None,
    ) -> State:
        """The members trained on, each on its own row of targets.

        With the same keys, training for a + b epochs equals training for a and then for b.

        Args:
            keys: a key for each member; all chance in a member's training comes from its key.
            state: the members so far.
            data: the rows, see `TrainingData`.
            targets: a row of targets for each member.
            plan: how far training has come, and how far it goes now.
            progress: called with the number of member-epochs just finished.

        Returns:
            The members after these epochs.
        """

    @abstractmethod
    def predict(
        self, state: State, X: Float[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, "member row output"]:
        """Each member's outputs for each row, as the likelihood reads them."""

    def take(self, state: State, members: Int[np.ndarray, " taken"]) -> State:
        """Some of the members, in that order; one may be taken several times."""
        taken = {name: array[members] for name, array in self.to_arrays(state).items()}
        return cast("State", taken)

    def join(self, states: Sequence[State]) -> State:
        """The members of several states, one after the other."""
        parts = [self.to_arrays(state) for state in states]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return cast("State", joined)

    def to_arrays(self, state: State) -> Arrays:
        """What a model file keeps: all that predicting needs."""
        if not isinstance(state, dict):
            raise TypeError(
                f"The state of {type(self).__name__} must be a dictionary of arrays with a leading "
                f"member axis, got a {type(state).__name__}. For another kind of state write "
                "`take`, `join`, `to_arrays` and `from_arrays`."
            )
        return dict(state)

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> State:
        """Checks the arrays of a model file, and makes members of them that can predict.

        Args:
            arrays: what `to_arrays` returned.
            n_members: number of members.
            n_features: number of features.

        Returns:
            The members.
        """
        del n_features
        for name, array in arrays.items():
            checked_array(arrays, name, (n_members, *array.shape[1:]), array.dtype.type)
        return cast("State", dict(arrays))

    def checked_outputs(
        self, state: State, X: Float[np.ndarray, "row feature"], n_members: int
    ) -> Float[np.ndarray, "member row output"]:
        """What the members predict for rows of the training data, checked.

        Args:
            state: the trained members.
            X: rows of the training data.
            n_members: number of members.

        Returns:
            The outputs of `predict`.

        Raises:
            ValueError: the outputs have another shape than the likelihood needs, or are NaN.
        """
        outputs, name = np.asarray(self.predict(state, X)), f"{type(self).__name__}.predict"
        n_outputs = getattr(self.likelihood, "n_outputs", outputs.shape[-1])
        if outputs.shape != (shape := (n_members, len(X), n_outputs)):
            raise ValueError(
                f"{name} must return an array of shape (member, row, output), here {shape}, got "
                f"{outputs.shape}. {type(self.likelihood).__name__} reads {n_outputs} of them."
            )
        if np.isnan(outputs).any():
            raise ValueError(f"{name} must return numbers, got NaN for rows of the training data.")
        return outputs

    def with_fresh_optimiser(self, state: State, data: TrainingData) -> State:
        """The same members with an optimiser that has not taken a step.

        Only the published variant of the bootstrap asks for it.
        """
        del state, data
        raise ValueError(
            f"{type(self).__name__} has no optimiser that could be reset. Leave "
            "`retrain_optimiser` at 'restored'."
        )

    def steps_per_epoch(self, n_rows: int) -> int:
        """How many steps an epoch over so many rows is made of."""
        del n_rows
        return 1

    @property
    def needs_total(self) -> bool:
        """Whether all of `Plan.total` must be known at the first epoch."""
        return False

    @property
    def is_robust(self) -> bool:
        """Whether inputs are scaled by quantiles, and predictions kept near the targets."""
        return False

    @property
    def sees_parts(self) -> bool:
        """Whether members side by side may each see other rows: `TrainingData.seen_in_part`."""
        return False

    @property
    def reads_from_disk(self) -> bool:
        """Whether it trains on `StoredData`, which is larger than memory."""
        return False

    @property
    def strengths(self) -> "Sequence[Strength]":
        """The same learner with more and less regularisation, to choose from on held-out rows."""
        return ()

    @property
    def chosen(self) -> Mapping[str, Any]:
        """Arguments of an estimator that a choice has decided, by name."""
        return {}

    def slower(self) -> "Learner[State] | None":
        """The same at a tenth of its rate, for data on which it diverges; None if it has none."""
        return None

    def for_many(self) -> "Learner[State]":
        """The same learner, for the members of many data sets side by side."""
        return self

    @property
    def members_per_piece(self) -> int | None:
        """Members that other processes train together: an engine cuts at multiples of it.

        Members must have the same numbers, to the last bit, however many such pieces there are.
        None if that is not known: all members are then trained in this process.
        """
        return None

    @property
    def at_home(self) -> "Learner[State]":
        """The same learner without an engine, as a fitted method keeps it."""
        return self


class Strength(NamedTuple):
    """A learner that is more or less regularised.

    Attributes:
        learner: the learner.
        share: of the epochs for which it is trained.
    """

    learner: Learner[Any]
    share: float = 1.0


def require_learner(learner: Any) -> Learner[Any]:
    """The learner, if it is one."""
    if isinstance(learner, type):
        raise TypeError(
            f"`learner` must be a learner, not its class: pass {learner.__name__}() instead of "
            f"{learner.__name__}."
        )
    if not isinstance(learner, Learner):
        raise TypeError(
            f"`learner` must be a confide.learners.Learner, got {learner!r}. Subclass it and write "
            "`init`, `train` and `predict`."
        )
    if not isinstance(getattr(learner, "likelihood", None), Likelihood):
        raise TypeError(
            f"{type(learner).__name__} must say what its outputs mean: set `likelihood`, for "
            "example to confide.learners.SquaredError() for a mean alone."
        )
    return learner
