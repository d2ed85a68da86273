"""How much to regularise, chosen on rows that are held out in turn."""

from typing import Any

import numpy as np
from jaxtyping import PRNGKeyArray

from confide.bootstrap import Keys
from confide.learners import Learner, TrainingData, TrainingDivergedError
from confide.methods.noise import held_out_folds, held_out_means
from confide.methods.predictor import Row, Table
from confide.progress import Progress
from confide.standardise import Standardiser

# Three fifths of the rows judge: the strengths differ by far more than chance where it matters.
N_JUDGED = 3


def strength_epochs(learner: Learner[Any], epochs: int) -> int:
    """How many epochs of one member the choice takes at most."""
    n_strengths = len(learner.strengths)
    return N_JUDGED * n_strengths * epochs if n_strengths > 1 else 0


def choose_strength(
    key: PRNGKeyArray,
    X: Table,
    y: Row,
    learner: Learner[Any],
    epochs: int,
    *,
    sample_weight: Row | None = None,
    progress: Progress | None = None,
) -> Learner[Any]:
    """Of a learner's strengths, the one with the smallest squared error on rows held out.

    Args:
        key: of the members that are trained for it.
        X: the inputs.
        y: the targets.
        learner: with its `strengths`.
        epochs: of a training.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.

    Returns:
        The learner with the strength chosen, and no others.
    """
    if len(learner.strengths) == 1:
        return learner.strengths[0]
    robust = learner.is_robust
    (standardiser,) = Standardiser.for_each(X, y[None], sample_weight, robust=robust)
    data = TrainingData.from_blocks(standardiser.input_blocks(X), X.shape, sample_weight)
    folds = held_out_folds(data.inputs)[:N_JUDGED]
    judged = np.concatenate([left_out for _, left_out in folds])
    targets, keys = standardiser.targets(y)[None], Keys.from_key(key, 1)

    def error(strength: Learner[Any]) -> float:
        try:
            means = held_out_means(keys, strength, data, targets, epochs, folds, progress=progress)
        except TrainingDivergedError:
            return np.inf  # what diverges is no choice; if all do, the fit will say so
        squares = (targets - standardiser.within_reach(means))[0, judged] ** 2
        return float(np.average(squares, weights=data.weight[judged]))

    return min(learner.strengths, key=error)
