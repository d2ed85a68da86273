"""Many data sets with the same inputs, fitted in batches that fill the cores."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.learners import Learner, TrainingDivergedError, slices
from confide.progress import Progress

# Targets (members x rows) in one batch of many fits: some tens of megabytes.
TARGETS_PER_BATCH = 8_000_000


def fit_batches(
    method: Any,
    keys: Sequence[PRNGKeyArray],
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    settings: Any,
    learner: Learner[Any],
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    progress: Progress | None = None,
    targets_per_batch: int = TARGETS_PER_BATCH,
) -> Iterator[Any]:
    """A fit for each data set, in their order. Only the fits of one batch are in memory at once.

    The result for a data set depends on its targets and its key alone.

    Args:
        method: one of `confide.methods`, or its `MEAN_FITS`.
        keys: one for each data set.
        X: the inputs of all.
        targets: of each data set.
        settings: of the method.
        learner: what is trained.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.
        targets_per_batch: targets (members x rows) that are in memory at once.

    Yields:
        The fits.
    """
    of_a_set = settings.n_members * X.shape[0]
    how: dict[str, Any] = {"sample_weight": sample_weight, "progress": progress}
    for batch in slices(len(targets), max(1, targets_per_batch // of_a_set)):
        try:
            fits = method.fit(keys[batch], X, targets[batch], settings, learner.for_many(), **how)
            # One data set is asked as if it had been fitted alone.
            yield from (replace(fitted, learner=learner.at_home) for fitted in fits)
        except TrainingDivergedError as error:
            in_batch = error.member // settings.n_members % (batch.stop - batch.start)
            error.add_note(
                f"Members are counted over the batch: this one belongs to data set "
                f"{batch.start + in_batch}."
            )
            raise
