"""Predictions for rows that were left out in turn, and a choice of strength by them."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, PRNGKeyArray

from confide.bootstrap import Keys, train_ensemble
from confide.fingerprints import groups
from confide.learners import Learner, TrainingData, TrainingDivergedError
from confide.progress import Progress
from confide.randomness import further_keys
from confide.standardise import Standardiser
from confide.trees import Row

N_FOLDS = 5


class Choice(NamedTuple):
    """How much to regularise.

    Attributes:
        learner: with the strength chosen.
        epochs: how long to train it.
        means: what it predicts for rows that were left out, standardised; None if there was no
            choice.
    """

    learner: Learner[Any]
    epochs: int
    means: Float64[np.ndarray, "1 row"] | None


def choice_epochs(learner: Learner[Any], epochs: int, *, may_shorten: bool = True) -> int:
    """How many epochs of one member the choice takes at most."""
    lengths = [length for _, length in _strengths(learner, epochs, may_shorten)]
    return N_FOLDS * sum(lengths) if len(lengths) > 1 else 0


def choose_strength(
    key: PRNGKeyArray,
    X: Float[np.ndarray, "row feature"],
    y: Row,
    learner: Learner[Any],
    epochs: int,
    *,
    may_shorten: bool = True,
    sample_weight: Row | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Of a learner's strengths, the one with the smallest squared error on rows left out.

    Args:
        key: of the fit.
        X: the inputs.
        y: the targets.
        learner: with its `strengths`.
        epochs: of a training.
        may_shorten: whether a strength may be trained for a share of the epochs.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.

    Returns:
        The learner with the strength chosen, and no others.
    """
    strengths = _strengths(learner, epochs, may_shorten)
    best, least = Choice(*strengths[0], None), np.inf
    if len(strengths) == 1:
        return best
    (standardiser,) = Standardiser.for_each(X, y[None], sample_weight, robust=learner.is_robust)
    data = TrainingData.from_blocks(standardiser.input_blocks(X), X.shape, sample_weight)
    targets, keys = standardiser.targets(y)[None], Keys.from_key(key, 1)
    weight = data.weight[: data.n_rows]
    for strength, length in strengths:
        try:
            means = held_out_means(keys, strength, data, targets, length, progress=progress)
        except TrainingDivergedError:
            continue  # what diverges is no choice; if all do, the fit will say so
        squares = (targets - standardiser.within_reach(means))[0] ** 2
        error = np.average(squares, weights=weight)
        if error < least:
            best, least = Choice(strength, length, means), error
    return best


def _strengths(
    learner: Learner[Any], epochs: int, may_shorten: bool
) -> list[tuple[Learner[Any], int]]:
    """Those to choose from, each with its epochs."""
    return [
        (strength, max(1, round(share * epochs)))
        for strength, share in learner.strengths
        if may_shorten or share == 1
    ]


def held_out_means(
    keys: Keys,
    learner: Learner[Any],
    data: TrainingData,
    targets: Float32[np.ndarray, "set row"],
    epochs: int,
    *,
    progress: Progress | None = None,
) -> Float64[np.ndarray, "set row"]:
    """For each data set, what members predict for rows that they were trained without.

    All folds of all data sets are trained side by side, as members that see a part of the rows.

    Args:
        keys: of one member of each data set.
        learner: what is trained.
        data: the rows, the same for all.
        targets: of each data set.
        epochs: of a training.
        progress: called with the number of member-epochs just finished.

    Returns:
        The means, standardised as the targets are.
    """
    fold_of = folds(data.inputs)
    n_sets, n_folds = len(targets), int(fold_of.max()) + 1
    kept = [np.flatnonzero(fold_of != k) for k in range(n_folds)]
    # All folds have the length of the longest: a few rows of the others are seen twice.
    n_kept = max(map(len, kept))
    seen = np.stack([np.resize(rows, n_kept) for rows in kept])
    state = train_ensemble(
        _of_folds(keys, n_folds),
        learner,
        data.seen_in_part(np.tile(seen, (n_sets, 1))),
        np.repeat(targets, n_folds, axis=0),
        epochs,
        progress=progress,
    )
    outputs = learner.checked_outputs(state, data.inputs, n_sets * n_folds)
    means = learner.likelihood.mean(outputs).reshape(n_sets, n_folds, -1)
    return means[:, fold_of, np.arange(len(fold_of))].astype(np.float64)


def _of_folds(keys: Keys, n_folds: int) -> Keys:
    """Keys for each fold of each data set, one data set after the other."""

    def of_purpose(keys: Any) -> Any:
        further = np.stack([further_keys(keys, k) for k in range(n_folds)], axis=1)
        return further.reshape(-1, *further.shape[2:])

    return Keys(*map(of_purpose, keys))


def folds(inputs: Float32[np.ndarray, "row feature"]) -> Int[np.ndarray, " row"]:
    """The fold in which each row is left out; rows of equal inputs are left out together.

    They depend on the inputs alone: many data sets are fitted side by side.
    """
    of_rows = groups(inputs, np.zeros(len(inputs), np.float32))
    if of_rows.max() == 0:  # nothing to learn from inputs that are all the same
        of_rows = np.arange(len(inputs))
    n_groups = int(of_rows.max()) + 1
    return np.random.default_rng(0).permutation(n_groups)[of_rows] % min(N_FOLDS, n_groups)
