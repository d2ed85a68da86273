"""What ensembles of boosted trees share, whichever library grows the trees."""

import ast
import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt32

from confide.checks import is_number
from confide.cores import available_cores
from confide.errors import nearest
from confide.extras import require
from confide.learners.blocks import Worker, run_in_blocks, slices
from confide.learners.data import TrainingData
from confide.learners.likelihood import Likelihood, SquaredError
from confide.learners.protocol import Learner, Plan
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import MemberKeys

# Rounds between two calls of `progress`: drawing a bar every round would cost more than the round.
ROUNDS_PER_REPORT = 20
# The deepest tree of a model file: far above what is grown, far below what a stack can hold.
DEEPEST = 10_000

# Parameters of both libraries that are set elsewhere, with the place.
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
_COLUMNS = "A column of categories is several columns for the trees, one for each category."


class Stretch(NamedTuple):
    """What a member is trained on next; a row that is not the member's has weight zero."""

    key: UInt32[np.ndarray, "2"]
    weight: Float32[np.ndarray, " row"]
    y: Float32[np.ndarray, " row"]
    rounds: Iterator[int]
    """Their numbers, counted from the first round of all."""


@dataclass(frozen=True)
class BoostedTrees(Learner[tuple[Any, ...]]):
    """Ensembles of boosted trees: an epoch is a round, which adds one tree to a member.

    A state holds a model for each member, or None for one without trees. Training goes on with a
    copy of a model and never changes it. All chance comes from the member's key and the number of
    the round, so training in stretches grows the trees of one go, to the last bit.

    Trees predict a mean alone. Members differ by the rows that they sample, and by the columns if
    parameters say so.

    Attributes:
        parameters: of the library, by its own names; they override `defaults`.
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
        """Refuses wrong parameters, and a library that is not installed."""
        require(self.library, "boosting")
        for share in self.shares:
            value = self.settings.get(share, 1)
            if not (is_number(value) and 0 < value <= 1):
                raise ValueError(f"`{share}` must lie in (0, 1], got {value!r}. It is a share.")

    @property
    def settings(self) -> dict[str, Any]:
        """The user's parameters and the other defaults, by the library's main names."""
        return {**self.defaults, **_by_main_names(self.library, self.parameters, self.names)}

    def init(self, keys: MemberKeys, data: TrainingData) -> tuple[Any, ...]:
        """Members without trees, which predict zero."""
        _check_constraints(self.settings, data.X.shape[1])
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

        def stretch(i: int, worker: Worker) -> Stretch:
            y = np.asarray(targets[i, : data.n_rows], np.float32)
            return Stretch(keys[i], _weight_of(data, i), y, _rounds(plan, worker, progress))

        def train_block(worker: Worker, members: slice) -> list[Any]:
            numbers = range(len(keys))[members]
            with _plain_errors(self.library, self.parameters):
                table = self._table(data.inputs)  # binned once for all members of the block
                return [self._boosted(table, state[i], stretch(i, worker)) for i in numbers]

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
            raise ValueError("A boosted tree predicts numbers that are not finite.")
        return outputs[..., None]

    def take(self, state: tuple[Any, ...], members: Int[np.ndarray, " taken"]) -> tuple[Any, ...]:
        """Some of the members, in that order."""
        return tuple(state[i] for i in members)

    def join(self, states: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """The members of several states, one after the other."""
        return tuple(chain(*states))

    @property
    def members_per_piece(self) -> int:
        """Each member is trained by itself."""
        return 1

    def to_arrays(self, state: tuple[Any, ...]) -> Arrays:
        """Each member's model in the library's own text format, which cannot run anything."""
        contents = (((), 0) if model is None else self._content(model) for model in state)
        texts = (self._text(*content).encode("ascii") for content in contents)
        return {str(i): np.frombuffer(text, np.uint8) for i, text in enumerate(texts)}

    def from_arrays(self, arrays: Arrays, n_members: int, n_features: int) -> tuple[Any, ...]:
        """Members from a model file."""
        if len(arrays) != n_members:
            raise ValueError(f"there are {len(arrays)} models for {n_members} members")
        texts = (_ascii(arrays, str(i)) for i in range(n_members))
        return tuple(self._checked_model(text, n_features) for text in texts)

    def _checked_model(self, text: str, n_features: int) -> Any:
        """The model of a text that a stranger may have written."""
        trees = self._checked_trees(text, n_features)
        # The library never sees a text that we would not have written, to the letter.
        if text != self._text(trees, n_features if trees else 0):
            raise ValueError("a model holds more than trees, or other trees than it says")
        return self._model(trees, n_features) if trees else None

    def _over_members(self, work: Any, n_members: int) -> list[Any]:
        """The results for all members, in their order; each thread has its share of them."""
        n_workers = min(n_members, self.n_threads or available_cores())
        blocks = list(slices(n_members, -(-n_members // max(n_workers, 1))))
        results = run_in_blocks(work, blocks, self.n_threads)
        return [of_member for of_block in results for of_member in of_block]

    @abstractmethod
    def _table(self, X: Float32[np.ndarray, "row feature"]) -> Any:
        """The rows as the library wants them; used by one thread."""

    @abstractmethod
    def _boosted(self, table: Any, model: Any, stretch: Stretch) -> Any:
        """A new model: the old one, or None, with one more tree for each round."""

    @abstractmethod
    def _predicted(
        self, model: Any, X: Float32[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, " row"]:
        """A model's mean for each row."""

    @abstractmethod
    def _content(self, model: Any) -> tuple[Sequence[Any], int]:
        """A model's trees, as far as predictions need them, and its number of features."""

    @abstractmethod
    def _text(self, trees: Sequence[Any], n_features: int) -> str:
        """A model in the library's own format; what predictions do not need is left out."""

    @abstractmethod
    def _checked_trees(self, text: str, n_features: int) -> Sequence[Any]:
        """The trees in a text that a stranger may have written, each of them checked."""

    @abstractmethod
    def _model(self, trees: Sequence[Any], n_features: int) -> Any:
        """A model that can be asked."""


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


def check_splits(
    feature: Int[np.ndarray, " split"], n_features: int, numbers: Float[np.ndarray, " number"]
) -> None:
    """Refuses a tree that looks at other features, or holds numbers that are not finite."""
    if not np.all((feature >= 0) & (feature < n_features)):
        raise ValueError("a tree splits a feature that the model does not have")
    if not np.isfinite(numbers).all():
        raise ValueError("the splits or leaves of a tree are not finite")


def _by_main_names(
    library: str, parameters: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The user's parameters, each by its main name."""
    main = {alias: name for name, aliases in names.items() for alias in (name, *aliases)}
    settings: dict[str, Any] = {}
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
        if main[name] in settings:
            raise ValueError(
                f"`learner_parameters` sets {main[name]!r} of {library} twice, by two of its "
                "names. Leave one out."
            )
        is_constraint = main[name] in {"monotone_constraints", "interaction_constraints"}
        settings[main[name]] = _as_lists(value) if is_constraint else value
    return settings


def _as_lists(constraint: Any) -> Any:
    """A constraint in lists, however it was written: LightGBM misreads tuples in tuples."""
    if isinstance(constraint, str):
        try:
            return _as_lists(ast.literal_eval(constraint))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return constraint  # refused before training
    if isinstance(constraint, np.ndarray):
        return constraint.tolist()
    if isinstance(constraint, (list, tuple)):
        return [_as_lists(part) for part in constraint]
    return constraint


def _check_constraints(settings: Mapping[str, Any], n_features: int) -> None:
    """Refuses constraints that could fall on other columns than the user means."""
    columns = f"the {n_features} columns that the trees see"
    signs = settings.get("monotone_constraints", [0] * n_features)
    if np.shape(signs) != (n_features,) or set(signs) - {-1, 0, 1}:
        raise ValueError(
            f"`monotone_constraints` must have -1, 0 or 1 for each of {columns}, got {signs!r}. "
            f"{_COLUMNS}"
        )
    groups = settings.get("interaction_constraints", [[*range(n_features)]])
    are_lists = isinstance(groups, list) and all(isinstance(group, list) for group in groups)
    if not are_lists or {*chain(*groups)} != {*range(n_features)}:
        raise ValueError(
            f"`interaction_constraints` must be groups of numbers from 0, with each of {columns} "
            f"in a group, got {groups!r}. A column that interacts with no other is a group of its "
            f"own. {_COLUMNS}"
        )


@contextmanager
def _plain_errors(library: str, parameters: Mapping[str, Any]) -> Iterator[None]:
    """Errors of a library without the places in its code, and with what the user passed."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(library):
            raise
        first = str(error).splitlines()[0]
        reason = re.sub(r"^\[[\d:]+\] \S+ | at \S+, line \d+ \.$", "", first)
        raise ValueError(
            f"{library} refused to train with learner_parameters={dict(parameters)!r}. It says: "
            f"{reason}"
        ) from error


def _weight_of(data: TrainingData, member: int) -> Float32[np.ndarray, " row"]:
    """What each row weighs for a member: a row that it sees twice counts twice."""
    weight = data.weight[: data.n_rows]
    if data.member_rows is None:
        return weight
    counts = np.bincount(data.rows_of(member), minlength=data.n_rows)
    return weight * counts.astype(np.float32)


def _rounds(plan: Plan, worker: Worker, progress: Progress | None) -> Iterator[int]:
    """The numbers of the rounds to come; in between, it reports progress and looks for a stop."""
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
