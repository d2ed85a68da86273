"""Would these intervals cover on data like this table? The simulated twin of a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64, Int
from sklearn.base import clone

from confide.coverage import CoverageCheck, coverage_check
from confide.encoding import EncodedTable
from confide.estimators import BootstrappedDeepEnsembleRegressor, IntervalRegressor, load
from confide.workflow.notes import Notes, counted_in_file
from confide.workflow.suspicions import giveaways, wild_targets
from confide.workflow.target import known_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.engines import Engine

Row = Float64[np.ndarray, " row"]
# What `confide fit` fits; its confidence intervals are calibrated.
OURS = "bootstrapped deep ensemble"


@dataclass(frozen=True)
class CheckedTable:
    """What the simulations found, and what happened on the way.

    Attributes:
        report: the coverages.
        notes: what happened on the way.
        warnings: what a fit to this table would warn of.
    """

    report: CoverageCheck
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def compared(*, fast: bool = False) -> dict[str, IntervalRegressor]:
    """What is checked: the default beside itself without calibration, or this alone if `fast`."""
    uncalibrated = BootstrappedDeepEnsembleRegressor(calibration=None)
    ours = {} if fast else {OURS: BootstrappedDeepEnsembleRegressor()}
    return {**ours, f"{OURS}, not calibrated": uncalibrated}


def settings_of(path: Path) -> dict[str, IntervalRegressor]:
    """The method and settings of a saved model, not fitted, under its method's name."""
    model = load(path)
    return {type(model).__name__.removesuffix("Regressor"): clone(model)}


def check_table(
    table: "pa.Table",
    target: str,
    *,
    n_simulations: int = 20,
    truth: str = "random_forest",
    most_rows: int = 1000,
    estimators: Mapping[str, IntervalRegressor] | None = None,
    seed: int = 0,
    verbose: bool = True,
    engine: "str | Engine | None" = None,
) -> CheckedTable:
    """Coverage of the bootstrapped deep ensemble, calibrated and not, on a twin of a table.

    Args:
        table: columns of any kind; rows without a target are dropped.
        target: name of the column to predict.
        n_simulations: data sets to simulate.
        truth: what to simulate from, as for `coverage_check`.
        most_rows: rows to use; of a longer table so many are drawn.
        estimators: what to check instead, by name.
        seed: of the rows and all simulations.
        verbose: show progress.
        engine: where to fit, as for `coverage_check`.

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
    with counted_in_file(rows):
        worries = _worries(features, y, rows)
    with counted_in_file(rows), notes.of_warnings():
        report = coverage_check(
            estimators or compared(),
            features,
            y,
            n_simulations=n_simulations,
            truth=truth,
            random_state=seed,
            verbose=verbose,
            engine=engine,
        )
    return CheckedTable(report, tuple(notes), tuple(worries))


def _worries(features: "pa.Table", y: Row, rows: Int[np.ndarray, " row"]) -> list[str]:
    """What a fit to this table would warn of, in the same words."""
    known = EncodedTable.for_training(features, y)
    # Without held-out rows, half of these stand in.
    told = giveaways(known.encoder, known.matrix, y, known.matrix[:0], y[:0])
    return [*told, *wild_targets(y, rows)]
