"""Rows beyond those in memory, which members are trained on too."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confide.learners import MOST_ROWS, Learner, StoredData, StoredTargets, slices, store
from confide.methods.predictor import ROWS_PER_BLOCK, Row, Table
from confide.standardise import Standardiser


@dataclass(frozen=True)
class FurtherRows:
    """The rows of a table that is larger than memory, beside a random sample that is in memory.

    The members are trained on all rows. What is learnt beside them is learnt from the sample: how
    inputs are scaled, the noise, and how much of the residuals is error of the fit.

    Attributes:
        blocks: yields these rows, inputs and targets, from their beginning at each call.
        folder: for the files that members are trained from.
        epochs_in_memory: of a training on the sample alone.
    """

    blocks: Callable[[], Iterator[tuple[Table, Row]]]
    folder: Path
    epochs_in_memory: int

    def stored(
        self, X: Table, y: Row, standardiser: Standardiser, n_members: int
    ) -> tuple[StoredData, StoredTargets, Standardiser]:
        """All rows on disk, standardised, those in memory first.

        Args:
            X: the inputs in memory.
            y: their targets.
            standardiser: of the rows in memory.
            n_members: members that are trained on these targets.

        Returns:
            The inputs, the targets, and the standardiser, which reaches as far as all targets do.
        """
        ends: list[float] = []

        def standardised() -> Iterator[tuple[Table, Table]]:
            for inputs, targets in self._all_blocks(X, y):
                ends.extend((targets.min(), targets.max()))
                yield standardiser.inputs(inputs), standardiser.targets(targets)[:, None]

        inputs, targets = store([self.folder / name for name in ("X", "y")], standardised())
        _refuse_too_many(inputs.shape[0])
        if standardiser.is_robust:
            standardiser = standardiser.reaching(min(ends), max(ends))
        columns = np.zeros(n_members, np.int64)
        return StoredData(self.folder, inputs), StoredTargets(targets, columns), standardiser

    def _all_blocks(self, X: Table, y: Row) -> Iterator[tuple[Table, Row]]:
        for rows in slices(len(y), ROWS_PER_BLOCK):
            yield X[rows], y[rows]
        yield from (block for block in self.blocks() if len(block[1]))


def refuse_further_rows(learner: Learner[Any], *, resampled: bool) -> None:
    """Refuses what needs all rows in memory."""
    if not learner.reads_from_disk:
        raise ValueError(
            "A table that is larger than memory needs networks of JAX, which read their rows from "
            f"disk, but {type(learner).__name__} does not. Pass a sample of the rows as a table."
        )
    if resampled:
        raise ValueError(
            "The naive bootstrap draws rows for each member, which must be in memory. Use "
            "BootstrappedDeepEnsembleRegressor, or pass a sample of the rows as a table."
        )


def _refuse_too_many(n_rows: int) -> None:
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"A table must have at most {MOST_ROWS:,} rows, got {n_rows:,}. Leave out some files."
        )
