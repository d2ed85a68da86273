"""Predictions for rows that were left out in turn, and a choice of strength by them."""

from collections.abc import Container, Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, PRNGKeyArray

from confide.bootstrap import Keys, train_ensemble
from confide.fingerprints import Groups
from confide.fingerprints import groups as groups_of
from confide.learners import Learner, TrainingData, TrainingDivergedError
from confide.progress import Progress
from confide.randomness import further_keys
from confide.standardise import Standardiser
from confide.trees import Row

# Members a fold: two tell what averaging more of them would gain.
N_FOLDS, N_MEMBERS = 5, 2


class Choice(NamedTuple):
    """How much to regularise.

    Attributes:
        learner: with the strength chosen.
        epochs: how long to train it.
        means: what its members predict for rows that were left out, standardised; None if there
            was no choice.
    """

    learner: Learner[Any]
    epochs: int
    means: Float64[np.ndarray, "1 member row"] | None


def held_out_epochs(epochs: int, n_members: int) -> int:
    """How many epochs of one member it takes to predict rows left out in turn."""
    return N_FOLDS * min(n_members, N_MEMBERS) * epochs


def choice_epochs(learner: Learner[Any], epochs: int, *, may_shorten: bool = True) -> int:
    """How many epochs of one member the choice takes."""
    tried: dict[str, int] = {}
    while strengths := _untried(learner, epochs, may_shorten, tried):
        tried |= {_name(one, length): length for one, length in strengths}
        learner = strengths[0][0]
    return N_FOLDS * N_MEMBERS * sum(tried.values()) if len(tried) > 1 else 0


def choose_strength(
    key: PRNGKeyArray,
    X: Float[np.ndarray, "row feature"],
    y: Row,
    learner: Learner[Any],
    epochs: int,
    n_members: int,
    *,
    may_shorten: bool = True,
    sample_weight: Row | None = None,
    groups: Groups | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Of a learner's strengths, the one with the smallest squared error on rows left out.

    It is the error of the whole ensemble, read off a few members: averaging takes away their
    disagreement, and no more. The best of a learner's strengths may have further ones beside it,
    which are tried next.

    Args:
        key: of the fit.
        X: the inputs.
        y: the targets.
        learner: with its `strengths`.
        epochs: of a training.
        n_members: of the ensemble that will be trained.
        may_shorten: whether a strength may be trained for a share of the epochs.
        sample_weight: of the rows.
        groups: number of each row's group: rows of a group are left out together.
        progress: called with the number of member-epochs just finished.

    Returns:
        The learner with the strength chosen, and no others.
    """
    if not choice_epochs(learner, epochs, may_shorten=may_shorten):
        return Choice(learner, epochs, None)
    (standardiser,) = Standardiser.for_each(X, y[None], sample_weight, robust=learner.is_robust)
    data = TrainingData.from_blocks(standardiser.input_blocks(X), X.shape, sample_weight)
    targets, keys = standardiser.targets(y)[None], Keys.from_key(key, min(n_members, N_MEMBERS))
    how: dict[str, Any] = {"groups": groups, "progress": progress}

    def tried_out(strength: Learner[Any], length: int) -> tuple[float, Choice]:
        try:
            means = held_out_means(keys, strength, data, targets, length, **how)
        except TrainingDivergedError:  # no choice; if all diverge, the fit will say so
            return np.inf, Choice(strength, length, None)
        squares = ensemble_squares(targets[0], standardiser.within_reach(means[0]), n_members)
        error = float(np.average(squares, weights=data.weight[: data.n_rows]))
        return error, Choice(strength, length, means)

    tried: dict[str, tuple[float, Choice]] = {}
    best = Choice(learner, epochs, None)
    while strengths := _untried(best.learner, epochs, may_shorten, tried):
        tried |= {_name(*one): tried_out(*one) for one in strengths}
        best = min(tried.values(), key=lambda one: one[0])[1]
    return best if best.means is not None else Choice(learner, epochs, None)


def ensemble_squares(
    targets: Float32[np.ndarray, " row"], means: Float64[np.ndarray, "member row"], n_members: int
) -> Row:
    """Squared errors of an ensemble, without bias, from those of a few of its members.

    Args:
        targets: of the rows.
        means: what the few members predict.
        n_members: of the ensemble.

    Returns:
        For each row; negative where the members disagree more than they err.
    """
    squares = np.mean((targets - means) ** 2, axis=0)
    if len(means) == 1:
        return squares
    return np.asarray(squares - (1 - 1 / n_members) * means.var(axis=0, ddof=1))


def _untried(
    learner: Learner[Any], epochs: int, may_shorten: bool, tried: Container[str]
) -> list[tuple[Learner[Any], int]]:
    """The strengths beside this one that are yet to be tried, each with its epochs."""
    shares = [(one, share if may_shorten else 1.0) for one, share in learner.strengths]
    lengths = [(one, max(1, round(share * epochs))) for one, share in shares]
    # Without their shares of the epochs, some are the same.
    different = {_name(*one): one for one in lengths}
    return [one for name, one in different.items() if name not in tried]


def _name(learner: Learner[Any], epochs: int) -> str:
    return f"{learner.chosen}, {epochs} epochs"


def held_out_means(
    keys: Keys,
    learner: Learner[Any],
    data: TrainingData,
    targets: Float32[np.ndarray, "set row"],
    epochs: int,
    *,
    n_left_out: int = 1,
    groups: Groups | None = None,
    progress: Progress | None = None,
) -> Float64[np.ndarray, "set member row"]:
    """For each data set, what members predict for rows that they were trained without.

    All folds of all data sets are trained side by side, as members that see a part of the rows,
    where the learner can do that; else one fold after the other, to the same numbers.

    Args:
        keys: of the members to train in each fold, as many for each data set.
        learner: what is trained.
        data: the rows, the same for all.
        targets: of each data set.
        epochs: of a training.
        n_left_out: how many folds are left out at once: the one that is predicted, and those that
            follow it. One at least is trained on.
        groups: number of each row's group: rows of a group are left out together.
        progress: called with the number of member-epochs just finished.

    Returns:
        The means, standardised as the targets are.
    """
    fold_of = folds(data.inputs, groups)
    n_all, n_folds = len(keys.training), int(fold_of.max()) + 1
    n_left_out = min(n_left_out, n_folds - 1)
    kept = [np.flatnonzero((fold_of - k) % n_folds >= n_left_out) for k in range(n_folds)]
    # All folds have the length of the longest: a few rows of the others are seen twice.
    n_kept = max(map(len, kept))
    seen = np.stack([np.resize(rows, n_kept) for rows in kept])
    trained = _trained_folds(keys, learner, data, targets, seen, epochs, progress)
    means = np.empty((n_all, len(fold_of)))
    for k, state in enumerate(trained):
        left_out = np.flatnonzero(fold_of == k)
        outputs = learner.checked_outputs(state, data.inputs[left_out], n_all)
        means[:, left_out] = learner.likelihood.mean(outputs)
    return means.reshape(len(targets), -1, len(fold_of))


def _trained_folds(
    keys: Keys,
    learner: Learner[Any],
    data: TrainingData,
    targets: Float32[np.ndarray, "set row"],
    seen: Int[np.ndarray, "fold kept"],
    epochs: int,
    progress: Progress | None,
) -> Iterator[Any]:
    """The members of each fold, trained on the rows that it sees."""
    n_all, n_folds = len(keys.training), len(seen)
    of_members = np.repeat(targets, n_all // len(targets), axis=0)
    of_folds = [Keys(*(further_keys(purpose, k) for purpose in keys)) for k in range(n_folds)]
    if learner.sees_parts:
        together = Keys(*(np.concatenate(purpose) for purpose in zip(*of_folds, strict=True)))
        parts = data.seen_in_part(np.repeat(seen, n_all, axis=0))
        again = np.tile(of_members, (n_folds, 1))
        state = train_ensemble(together, learner, parts, again, epochs, progress=progress)
        for k in range(n_folds):
            yield learner.take(state, np.arange(k * n_all, (k + 1) * n_all))
        return
    for own, rows in zip(of_folds, seen, strict=True):
        part = TrainingData.from_rows(data.inputs[rows], data.weight[rows])
        y = np.take(of_members, rows, axis=1)  # a row for each member lies together
        yield train_ensemble(own, learner, part, y, epochs, progress=progress)


def folds(
    inputs: Float32[np.ndarray, "row feature"], groups: Groups | None = None
) -> Int[np.ndarray, " row"]:
    """The fold in which each row is left out; rows of equal inputs or of a group go together.

    They do not depend on the targets: many data sets are fitted side by side.
    """
    of_rows = groups_of(inputs, np.zeros(len(inputs), np.float32), groups)
    if of_rows.max() == 0:  # nothing to learn from inputs that are all the same
        of_rows = np.arange(len(inputs))
    n_groups = int(of_rows.max()) + 1
    n_folds = min(N_FOLDS, n_groups)
    if groups is None:
        return np.random.default_rng(0).permutation(n_groups)[of_rows] % n_folds
    from sklearn.model_selection import GroupKFold

    fold_of = np.empty(len(inputs), np.int64)  # as equal in size as the groups allow
    for k, (_, left_out) in enumerate(GroupKFold(n_folds).split(inputs, groups=of_rows)):
        fold_of[left_out] = k
    return fold_of
