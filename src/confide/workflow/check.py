"""Would these intervals cover on data like this table? The simulated twin of a file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.coverage import CoverageCheck, coverage_check
from confide.estimators import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    IntervalRegressor,
    NaiveBootstrapRegressor,
)
from confide.moved import renamed_attribute
from confide.workflow.notes import Notes, counted_in_file
from confide.workflow.target import known_rows

if TYPE_CHECKING:
    import pyarrow as pa

# What `confide fit` fits.
OURS = "bootstrapped deep ensemble"


@dataclass(frozen=True)
class CheckedTable:
    """What the simulations found, and what happened on the way."""

    report: CoverageCheck
    notes: tuple[str, ...]

    @property
    def advises_calibration(self) -> bool:
        """Whether confidence intervals of `confide fit` cover too seldom, as far as is known."""
        return self.report.is_enough and any(
            c.estimator == OURS and c.kind == "confidence" and c.covers_too_seldom
            for c in self.report.coverages
        )

    asks_for_honesty = renamed_attribute("asks_for_honesty", "advises_calibration")


def compared() -> dict[str, IntervalRegressor]:
    """The estimators that are checked beside each other."""
    return {
        OURS: BootstrappedDeepEnsembleRegressor(max_epochs="auto"),
        "deep ensemble": DeepEnsembleRegressor(max_epochs="auto"),
        "naive bootstrap": NaiveBootstrapRegressor(max_epochs="auto"),
    }


def check_table(
    table: "pa.Table",
    target: str,
    *,
    n_simulations: int = 20,
    most_rows: int = 1000,
    seed: int = 0,
    verbose: bool = True,
) -> CheckedTable:
    """Coverage of the bootstrapped deep ensemble and its rivals on a twin of a table.

    Args:
        table: columns of any kind; rows without a target are dropped.
        target: name of the column to predict.
        n_simulations: data sets to simulate.
        most_rows: rows to use; of a longer table so many are drawn.
        seed: of the rows and all simulations.
        verbose: show progress.

    Returns:
        The coverages, and what happened on the way.

    Raises:
        TargetError: the target cannot be predicted.
        ValueError: the table cannot be learnt from.
    """
    notes = Notes()
    features, y, rows = known_rows(table, target, notes)
    if len(y) > most_rows:
        notes.add(f"Of {len(y):,} rows, {most_rows:,} are used, drawn at random (see --rows).")
        drawn = np.random.default_rng(seed).choice(len(y), most_rows, replace=False)
        features, y, rows = features.take(drawn), y[drawn], rows[drawn]
    with counted_in_file(rows), notes.of_warnings():
        report = coverage_check(
            compared(),
            features,
            y,
            n_simulations=n_simulations,
            random_state=seed,
            verbose=verbose,
        )
    return CheckedTable(report, tuple(notes))
