"""What ensembles of boosted trees share, whichever library grows the trees."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt32

from confide.checks import is_number
from confide.errors import nearest
from confide.extras import require
from confide.learners.blocks import Worker, available_cores, run_in_blocks, slices
from confide.learners.data import TrainingData
from confide.learners.likelihood import Likelihood, SquaredError
from confide.learners.protocol import Learner, Plan
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import MemberKeys

# Rounds between two calls of `progress`: a bar that is drawn every round would cost more than it.
ROUNDS_PER_REPORT = 20
# No deeper tree comes out of a model file: far above what is grown, far below what a stack bears.
DEEPEST = 10_000

# Parameters that are decided elsewhere, in the words of both libraries, with where.
_SEED = "Pass `random_state` to the estimator."
_ROUNDS = "Pass `max_epochs` to the estimator: an epoch is a round."
_THREADS = "Pass `n_jobs` to the estimator: members train side by side, each in one thread."
_TREES = "Trees are grown by gradient boosting on histograms, on the processor."
_ALWAYS = "It is always the squared error; the noise is learnt from rows that are left out."
_START = "Targets are standardised, and training starts from 0."
_WEIGHTS = "Pass `sample_weight` to `fit`."
CONTROLLED: Mapping[str, str] = (
    dict.fromkeys(("seed", "random_state", "random_seed", "seed_per_iteration"), _SEED)
    | dict.fromkeys(("bagging_seed", "feature_fraction_seed", "extra_seed"), _SEED)
    | dict.fromkeys(("n_estimators", "num_boost_round", "num_round", "num_iterations"), _ROUNDS)
    | dict.fromkeys(("num_trees", "n_iter", "max_iter", "early_stopping_rounds"), _ROUNDS)
    | dict.fromkeys(("early_stopping_round", "num_parallel_tree"), _ROUNDS)
    | dict.fromkeys(("nthread", "n_jobs", "num_threads", "num_thread", "nthreads"), _THREADS)
    | dict.fromkeys(("booster", "boosting", "boosting_type", "tree_method", "updater"), _TREES)
    | dict.fromkeys(("process_type", "device", "device_type", "tree_learner"), _TREES)
    | dict.fromkeys(("data_sample_strategy", "linear_tree", "bagging_freq"), _TREES)
    | dict.fromkeys(("objective", "application", "loss", "metric", "eval_metric"), _ALWAYS)
    | dict.fromkeys(("base_score", "boost_from_average", "init_score"), _START)
    | dict.fromkeys(("weight", "sample_weight", "scale_pos_weight", "weight_column"), _WEIGHTS)
)


@dataclass(frozen=True)
class BoostedTrees(Learner[tuple[Any, ...]]):
    """Ensembles of boosted trees: an epoch is a round, which adds one tree to a member.

    A state holds a model for each member. A model is never changed once it is in a state: training
    goes on with a copy. All chance comes from the member's key and the number of the round, so that
    training in stretches grows the same trees as training in one go, to the last bit.

    Trees predict a mean alone. Members differ by the rows that they sample, and by the columns
    where parameters say so.

    Attributes:
        parameters: of the library, in its own words; they override `defaults`.
        n_threads: threads that train members side by side, or None for one per core. Results do
            not depend on it.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_threads: int | None = None
    likelihood: Likelihood = field(default=SquaredError(), init=False, repr=False)

    library: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]]
    # Every parameter that may be set, with its other names. Others stay out: some make a library
    # read files or open connections, and the parameters may come from a stranger's model file.
    names: ClassVar[Mapping[str, tuple[str, ...]]]
    # Shares of rows and columns, in (0, 1].
    shares: ClassVar[Collection[str]]

    def __post_init__(self) -> None:
        """Refuses parameters that cannot be meant, and a library that is not there."""
        require(self.library, "boosting")
        for share in self.shares:
            value = self.settings.get(share, 1)
            if not (is_number(value) and 0 < value <= 1):
                raise ValueError(f"`{share}` must lie in (0, 1], got {value!r}. It is a share.")

    @property
    def settings(self) -> dict[str, Any]:
        """The defaults, and what the user says otherwise, by the libraries' main names."""
        return {**self.defaults, **_by_main_names(self.library, self.parameters, self.names)}

    def init(self, keys: MemberKeys, data: TrainingData) -> tuple[Any, ...]:
        """Members without trees, which predict zero."""
        del data
        return (None,) * len(keys)

    def train(
        self,
        keys: MemberKeys,
        state: tuple[Any, ...],
        data: TrainingData,
        targets: Float[np.ndarray, "member row"],
        plan: Plan,
        *,
        progress: Progress | None = None,
    ) -> tuple[Any, ...]:
        """The members with as many more trees as the plan has epochs."""
        if plan.epochs == 0:
            return state

        def train_block(worker: Worker, members: slice) -> list[Any]:
            table = self._table(data)  # binned once for all members of the block
            return [
                self._boosted(
                    table,
                    state[i],
                    keys[i],
                    _weight_of(data, i),
                    np.asarray(targets[i, : data.n_rows], np.float32),
                    _rounds(plan, worker, progress),
                )
                for i in range(len(keys))[members]
            ]

        return tuple(self._over_members(train_block, len(keys)))

    def predict(
        self, state: tuple[Any, ...], X: Float[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, "member row 1"]:
        """Each member's mean for each row."""
        if np.isnan(X).any():
            raise ValueError("Boosted trees must be asked about numbers, and some inputs are NaN.")
        inputs = np.asarray(X, np.float32)

        def predict_block(worker: Worker, members: slice) -> list[np.ndarray]:
            del worker
            return [
                np.zeros(len(inputs)) if model is None else self._predicted(model, inputs)
                for model in state[members]
            ]

        outputs = np.stack(self._over_members(predict_block, len(state)))
        if not np.isfinite(outputs).all():
            raise ValueError("A boosted tree predicts what is not a finite number.")
        return outputs[..., None]

    def take(self, state: tuple[Any, ...], members: Int[np.ndarray, " taken"]) -> tuple[Any, ...]:
        """Some of the members, in that order."""
        return tuple(state[i] for i in members)

    def to_arrays(self, state: tuple[Any, ...]) -> Arrays:
        """Each member's model in the library's own text format, of which nothing can run."""
        texts = (self._text(model).encode("ascii") for model in state)
        return {str(i): np.frombuffer(text, np.uint8) for i, text in enumerate(texts)}

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> tuple[Any, ...]:
        """Members from a model file; the library never sees a text that is not a checked one."""
        if len(arrays) != n_members:
            raise ValueError(f"there are {len(arrays)} models for {n_members} members")
        return tuple(self._model(_ascii(arrays, str(i)), n_features) for i in range(n_members))

    def _over_members(self, work: Any, n_members: int) -> list[Any]:
        """The results for all members, in their order; each thread has its share of them."""
        n_workers = min(n_members, self.n_threads or available_cores())
        blocks = list(slices(n_members, -(-n_members // max(n_workers, 1))))
        return [each for block in run_in_blocks(work, blocks, self.n_threads) for each in block]

    @abstractmethod
    def _table(self, data: TrainingData) -> Any:
        """The rows as the library wants them; used by one thread."""

    @abstractmethod
    def _boosted(
        self,
        table: Any,
        model: Any,
        key: UInt32[np.ndarray, "2"],
        weight: Float32[np.ndarray, " row"],
        y: Float32[np.ndarray, " row"],
        rounds: Iterable[int],
    ) -> Any:
        """A new model: the old one with one more tree for each round.

        Args:
            table: the rows, of which this member's are those with a weight.
            model: the member so far; None without trees.
            key: of the member.
            weight: of the rows.
            y: the member's targets.
            rounds: their numbers, counted from the first round of all.
        """

    @abstractmethod
    def _predicted(
        self, model: Any, X: Float32[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, " row"]:
        """A model's mean for each row."""

    @abstractmethod
    def _text(self, model: Any) -> str:
        """The model in the library's own format, with what predicting needs and nothing more."""

    @abstractmethod
    def _model(self, text: str, n_features: int) -> Any:
        """The model of a text that a stranger may have written."""


def check_children(
    children: Int[np.ndarray, "2 node"], is_leaf: Bool[np.ndarray, "2 node"], n_nodes: int
) -> None:
    """Refuses nodes that do not form one tree, each after its parent and none too deep.

    Args:
        children: the two nodes below each node that splits, or below all of them.
        is_leaf: where a child is none of these nodes.
        n_nodes: that there are in all; the first is the root.
    """
    own = np.broadcast_to(np.arange(children.shape[1]), children.shape)
    below, above = children[~is_leaf], own[~is_leaf]
    if not (np.all(below > above) and np.array_equal(np.sort(below), np.arange(1, n_nodes))):
        raise ValueError("the nodes of a tree are out of order, missing or shared")
    if n_nodes <= DEEPEST:
        return
    depth = np.zeros(n_nodes, int)
    for parent, child in sorted(zip(above.tolist(), below.tolist(), strict=True)):
        depth[child] = depth[parent] + 1
    if depth.max() > DEEPEST:
        raise ValueError(f"a tree is deeper than {DEEPEST}")


def _by_main_names(
    library: str, parameters: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The user's parameters, each by its main name."""
    main = {alias: name for name, aliases in names.items() for alias in (name, *aliases)}
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in CONTROLLED:
            raise ValueError(
                f"`learner_parameters` cannot set {name!r} of {library}. {CONTROLLED[name]}"
            )
        if name not in main:
            raise ValueError(
                f"`learner_parameters` must be parameters of {library}'s trees: "
                f"{', '.join(names)}; got {name!r}. {nearest(name, main)}".rstrip()
            )
        if main[name] in found:
            raise ValueError(
                f"`learner_parameters` sets {main[name]!r} of {library} twice, by two of its "
                "names. Leave one out."
            )
        found[main[name]] = value
    return found


def _weight_of(data: TrainingData, member: int) -> Float32[np.ndarray, " row"]:
    """What each row weighs for a member: a row that it sees twice counts twice."""
    weight = data.weight[: data.n_rows]
    if data.member_rows is None:
        return weight
    counts = np.bincount(data.rows_of(member), minlength=data.n_rows)
    return weight * counts.astype(np.float32)


def _rounds(plan: Plan, worker: Worker, progress: Progress | None) -> Iterator[int]:
    """The numbers of the rounds to come; on the way, progress is told and stops are obeyed."""
    end, reported = plan.done + plan.epochs, plan.done
    for number in range(plan.done, end):
        worker.check_stop()
        yield number
        finished = number + 1
        if progress is not None and (finished - reported == ROUNDS_PER_REPORT or finished == end):
            progress(finished - reported)
            reported = finished


def _ascii(arrays: Arrays, name: str) -> str:
    size = arrays[name].size if name in arrays else 0
    return checked_array(arrays, name, (size,), np.uint8).tobytes().decode("ascii")
