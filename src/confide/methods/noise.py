"""Noise for learners that predict a mean alone: from residuals of rows that were left out.

Residuals of rows that a learner was trained on are too small. So the ensemble is trained a few
times without a part of the rows and predicts that part. A forest smooths the squared residuals into
a variance at every row. Residuals also contain the error of the fit, so the noise is estimated a
little too large rather than too small.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Float64, Int

from confide.bootstrap import Keys, train_ensemble
from confide.fingerprints import groups
from confide.learners import Learner, TrainingData
from confide.progress import Progress
from confide.randomness import further_keys, generator_from
from confide.trees import Trees, variance_of_residuals

# Members a fold: two have half of what averaging more of them would gain, at a part of the time.
N_FOLDS, N_MEMBERS = 5, 2


def out_of_fold_noise(
    keys: Keys,
    learner: Learner[Any],
    data: TrainingData,
    targets: Float32[np.ndarray, "set row"],
    epochs: int,
    *,
    progress: Progress | None = None,
) -> list[Trees]:
    """For each data set, the variance of its noise as a function of the standardised inputs.

    Args:
        keys: of all members of all data sets.
        learner: what is trained.
        data: the rows, the same for all.
        targets: of each data set.
        epochs: of a training.
        progress: called with the number of member-epochs just finished.
    """
    n_sets = len(targets)
    # The first members of each data set.
    members = np.arange(len(keys.training)).reshape(n_sets, -1)[:, :N_MEMBERS]
    n_members = members.shape[1]
    predicted = np.zeros_like(targets)
    for k, (kept, left_out) in enumerate(_folds(data.inputs)):
        rows = np.concatenate([kept, left_out])
        # The rows left out come last, beyond those that are trained on: the fold has the shape of
        # the whole table, so that no program is compiled for it.
        fold = TrainingData.from_rows(data.inputs[rows], data.weight[rows])
        state = train_ensemble(
            Keys(*(further_keys(of_purpose[members.ravel()], k) for of_purpose in keys)),
            learner,
            replace(fold, n_rows=len(kept)),
            np.repeat(targets[:, kept], n_members, axis=0),
            epochs,
            progress=progress,
        )
        outputs = learner.checked_outputs(state, data.inputs[left_out], members.size)
        means = learner.likelihood.mean(outputs).reshape(n_sets, n_members, -1)
        predicted[:, left_out] = means.mean(axis=1)
    inputs, residuals = data.inputs.astype(np.float64), targets.astype(np.float64) - predicted
    seeds = [_seed(key) for key in keys.simulation[members[:, 0]]]
    return [
        variance_of_residuals(inputs, of_set, seed)
        for of_set, seed in zip(residuals, seeds, strict=True)
    ]


def noise_epochs(epochs: int, n_members: int) -> int:
    """How many epochs of one member it takes to learn the noise."""
    return N_FOLDS * min(n_members, N_MEMBERS) * epochs


def variance_at(
    noise: Sequence[Trees | None], inputs: Float[np.ndarray, "row feature"], n_members: int
) -> Float64[np.ndarray, "member row"]:
    """Each member's noise at some standardised rows: that of its data set."""
    variances = [trees(inputs) for trees in noise if trees is not None]
    return np.repeat(variances, n_members, axis=0)


def _folds(
    inputs: Float32[np.ndarray, "row feature"],
) -> list[tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " left_out"]]]:
    """Rows kept and left out in turn; rows of equal inputs are left out together.

    They depend on the inputs alone: many data sets are fitted side by side.
    """
    of_rows = groups(inputs, np.zeros(len(inputs), np.float32))
    n_groups = int(of_rows.max()) + 1
    fold_of = np.random.default_rng(0).permutation(n_groups)[of_rows] % N_FOLDS
    splits = [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(N_FOLDS)]
    return [(kept, out) for kept, out in splits if len(kept) and len(out)]


def _seed(key: Any) -> int:
    return int(generator_from(key, 1).integers(np.iinfo(np.int32).max))
