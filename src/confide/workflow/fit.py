"""From a table to a model: set rows aside, train, judge, calibrate."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.estimators import EnsembleRegressor, TrainingTable
from confide.workflow.rows import fingerprints, set_aside
from confide.workflow.target import known_rows, take_target

if TYPE_CHECKING:
    import pyarrow as pa

# More rows than this tell accuracy and quantiles no better, and are missed in training.
MOST_SET_ASIDE = 10_000
# The fewest rows from which a 95 % prediction interval can be calibrated: 19 / 20 = 0.95.
FEWEST_TO_CALIBRATE = 19
# The fewest rows that a share is set aside of.
FEWEST_ROWS = 10


@dataclass(frozen=True)
class FittedTable:
    """A model made from a table, with what is to be said of it.

    Attributes:
        model: fitted, calibrated where rows could be set aside, with its `training_table_`.
        notes: what happened on the way, for the reader: rows dropped, columns left out.
        warnings: what the reader should worry about.
    """

    model: EnsembleRegressor
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def fit_table(
    table: "pa.Table",
    target: str,
    estimator: EnsembleRegressor,
    *,
    file: str = "",
    hold_out: float = 0.2,
    seed: int = 0,
) -> FittedTable:
    """Fits an estimator to a table as it is.

    A share of the rows is set aside: the accuracy told is that on rows which the networks have not
    seen, and the prediction intervals are then calibrated on the same rows.

    Args:
        table: columns of any kind; rows without a target are dropped.
        target: name of the column to predict.
        estimator: what to fit; its parameters are used as they are.
        file: name of the table's file, remembered.
        hold_out: share of the rows to set aside, at most 10,000 of them; 0 for none.
        seed: of the choice of rows.

    Raises:
        TargetError: the target cannot be predicted.
        ValueError: the table cannot be learnt from.
    """
    notes: list[str] = []
    features, y = known_rows(*take_target(table, target), target, notes)
    with _kept_warnings(notes):
        aside = _aside(features, y, hold_out, seed)
        trained = features.filter(~aside), y[~aside]
        model = estimator.fit(*trained)
    held = features.filter(aside), y[aside]
    judged: Mapping[str, float] = {}
    if aside.any():
        judged = judged_on(model, *held)
    if aside.sum() >= FEWEST_TO_CALIBRATE:
        model.calibrate(*held)
    else:
        notes.append(
            f"Prediction intervals are not calibrated: that takes {FEWEST_TO_CALIBRATE} rows that "
            f"are set aside, and there are {aside.sum()}."
        )
    worries = _worries(model, trained[0])
    model.training_table_ = TrainingTable(
        target=target,
        file=file,
        trained_on=_known_again(model, *trained),
        set_aside=_known_again(model, *held),
        notes=tuple(dict.fromkeys(notes + worries)),
        judged=judged,
    )
    return FittedTable(model, tuple(dict.fromkeys(notes)), tuple(worries))


def _aside(
    features: "pa.Table", y: Float64[np.ndarray, " row"], hold_out: float, seed: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if hold_out == 0 or len(y) < FEWEST_ROWS:
        return np.zeros(len(y), bool)
    share = min(hold_out, MOST_SET_ASIDE / len(y))
    return set_aside(fingerprints(Encoder.fit(features).encode(features), y), share, seed)


def _known_again(
    model: EnsembleRegressor, features: "pa.Table", y: Float64[np.ndarray, " row"]
) -> Fingerprints:
    return np.unique(fingerprints(model.encoder_.encode(features), y))


def _worries(model: EnsembleRegressor, trained: "pa.Table") -> list[str]:
    check = overfitting_check(model.get_prediction(trained))
    return [check.reason] if check.fires else []


@contextmanager
def _kept_warnings(notes: list[str]) -> Iterator[None]:
    """Warnings become notes: each is said once, and kept with the model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    notes.extend(dict.fromkeys(str(warning.message) for warning in caught))

