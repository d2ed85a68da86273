"""A learner whose members are trained elsewhere: in other processes, or on other machines."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
from jaxtyping import Float, Int

from confide.budget import of_worker
from confide.engines import Engine, InProcess
from confide.learners.blocks import slices
from confide.learners.data import TrainingData
from confide.learners.errors import TrainingDivergedError
from confide.learners.likelihood import Likelihood
from confide.learners.protocol import Learner, Plan, State, Strength
from confide.learners.stored import StoredData
from confide.persistence import Arrays
from confide.progress import Progress
from confide.randomness import MemberKeys


def spread(learner: Learner[Any], engine: Engine) -> Learner[Any]:
    """The learner with its members trained by the engine; this process needs none."""
    return learner if isinstance(engine, InProcess) else Spread(learner, engine)


class Members(NamedTuple):
    """Some of the members that are trained, with all that is their own.

    Attributes:
        start: the number of the first.
        keys: of each.
        state: of all of them so far.
        targets: of each.
        member_rows: which rows each sees, or None for all rows.
    """

    start: int
    keys: MemberKeys
    state: Any
    targets: Float[np.ndarray, "member row"]
    member_rows: Int[np.ndarray, "member padded"] | None


@dataclass(frozen=True)
class Spread(Learner[State]):
    """Trains members in pieces that an engine hands out; all else is done as by the learner itself.

    A member has the key, the state and the targets that it would have had at home, and its numbers
    do not depend on who trains beside it. So the result is the same to the last bit.

    Attributes:
        learner: what is trained.
        engine: where.
    """

    learner: Learner[State]
    engine: Engine

    def train(
        self,
        keys: MemberKeys,
        state: State,
        data: Any,
        targets: Any,
        plan: Plan,
        *,
        progress: Progress | None = None,
    ) -> State:
        """The members trained on, each piece of them by a call of the engine."""
        size = self.learner.members_per_piece
        at_home = isinstance(data, StoredData) or plan.epochs == 0  # files are of this machine
        if at_home or size is None or len(targets) <= size:
            return self.learner.train(keys, state, data, targets, plan, progress=progress)

        def piece(members: slice) -> Members:
            seen = None if data.member_rows is None else data.member_rows[members]
            own = self.learner.take(state, np.arange(members.start, members.stop))
            return Members(members.start, keys[members], own, targets[members], seen)

        pieces = list(slices(len(targets), size))
        common = (self._content, data.X, data.weight, data.n_rows, plan)
        memory = of_worker(data.X.shape, size)
        trained = []
        for members, own in zip(
            pieces, self.engine.map(_trained, map(piece, pieces), common, memory=memory),
            strict=True,
        ):  # fmt: skip
            trained.append(own)
            if progress is not None:
                progress(plan.epochs * (members.stop - members.start))
        return self.learner.join(trained)

    @functools.cached_property
    def _content(self) -> bytes:
        """The learner for other processes: functions of the user's own are part of it."""
        return cloudpickle.dumps(self.learner)

    @property
    def likelihood(self) -> Likelihood:  # type: ignore[override]
        """As the learner's."""
        return self.learner.likelihood

    def init(self, keys: MemberKeys, data: TrainingData) -> State:
        """Untrained members; they take no time worth sending them around."""
        return self.learner.init(keys, data)

    def predict(
        self, state: State, X: Float[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, "member row output"]:
        """Each member's outputs for each row."""
        return self.learner.predict(state, X)

    def checked_outputs(
        self, state: State, X: Float[np.ndarray, "row feature"], n_members: int
    ) -> Float[np.ndarray, "member row output"]:
        """The same, if it can be read."""
        return self.learner.checked_outputs(state, X, n_members)

    def take(self, state: State, members: Int[np.ndarray, " taken"]) -> State:
        """Some of the members."""
        return self.learner.take(state, members)

    def join(self, states: Sequence[State]) -> State:
        """The members of several states, one after the other."""
        return self.learner.join(states)

    def to_arrays(self, state: State) -> Arrays:
        """What a model file keeps."""
        return self.learner.to_arrays(state)

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> State:
        """Members from a model file's arrays."""
        return self.learner.from_arrays(arrays, n_members, n_features)

    def with_fresh_optimiser(self, state: State, data: TrainingData) -> State:
        """The same members with an optimiser that has not taken a step."""
        return self.learner.with_fresh_optimiser(state, data)

    def steps_per_epoch(self, n_rows: int) -> int:
        """As the learner's."""
        return self.learner.steps_per_epoch(n_rows)

    @property
    def needs_total(self) -> bool:
        """As the learner says."""
        return self.learner.needs_total

    @property
    def is_robust(self) -> bool:
        """As the learner says."""
        return self.learner.is_robust

    @property
    def sees_parts(self) -> bool:
        """As the learner says."""
        return self.learner.sees_parts

    @property
    def reads_from_disk(self) -> bool:
        """As the learner says."""
        return self.learner.reads_from_disk

    @property
    def strengths(self) -> Sequence[Strength]:
        """The learner's, each spread too."""
        return [Strength(Spread(one, self.engine), share) for one, share in self.learner.strengths]

    @property
    def chosen(self) -> Mapping[str, Any]:
        """As the learner says."""
        return self.learner.chosen

    def slower(self) -> "Learner[State] | None":
        """The slower learner, spread too."""
        slower = self.learner.slower()
        return None if slower is None else Spread(slower, self.engine)

    def for_many(self) -> "Learner[State]":
        """The same for many data sets, spread too."""
        return Spread(self.learner.for_many(), self.engine)

    @property
    def members_per_piece(self) -> int | None:
        """As the learner says."""
        return self.learner.members_per_piece

    @property
    def at_home(self) -> Learner[State]:
        """The learner itself."""
        return self.learner


def _trained(
    members: Members,
    content: bytes,
    X: np.ndarray,
    weight: np.ndarray,
    n_rows: int,
    plan: Plan,
) -> Any:
    """Some of the members trained on, in the process that this is."""
    data = TrainingData(X, weight, n_rows, members.member_rows)
    learner = _learner_of(content)
    try:
        return learner.train(members.keys, members.state, data, members.targets, plan)
    except TrainingDivergedError as error:
        first = members.start + error.member
        raise TrainingDivergedError(first, error.epoch, error.step) from None


@functools.lru_cache(maxsize=16)
def _learner_of(content: bytes) -> Learner[Any]:
    """One object for the same learner, so that JAX finds what it has compiled for it."""
    return cloudpickle.loads(content)
