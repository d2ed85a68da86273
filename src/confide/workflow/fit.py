"""From a table to a model: set rows aside, train, judge, calibrate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64

from confide.encoding import Encoder
from confide.errors import NoSuchIntervalError, TargetError, listed, nearest
from confide.estimators import EnsembleRegressor, TrainingTable
from confide.overfitting import overfitting_check
from confide.prediction import Prediction
from confide.workflow.accuracy import accuracy_scores
from confide.workflow.describe import described
from confide.workflow.notes import Notes
from confide.workflow.rows import fingerprints, known_again, set_aside
from confide.workflow.target import known_rows, take_target

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
# More rows than this tell accuracy and quantiles no better, and are missed in training.
MOST_SET_ASIDE = 10_000
# The fewest rows from which a 95 % prediction interval can be calibrated: 19 / 20 = 0.95.
FEWEST_TO_CALIBRATE = 19
# The fewest rows of a table that some are set aside of.
FEWEST_ROWS = 20
# Levels that the prediction intervals are judged at.
LEVELS = (0.8, 0.95)


@dataclass(frozen=True)
class FittedTable:
    """A model made from a table, with what is to be said of it.

    Attributes:
        model: fitted, calibrated where enough rows could be set aside, with its `training_table_`.
        notes: what happened on the way: rows dropped, columns left out.
        warnings: what the reader should worry about.
    """

    model: EnsembleRegressor
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def judgement(self) -> str:
        """How good it is on the rows that were set aside, in a sentence."""
        table = self.model.training_table_
        judged = {} if table is None else table.judged
        if not judged:
            return "No rows were set aside, so how good the model is cannot be told."
        held = " and ".join(
            f"{100 * judged[f'coverage_{name}']:.0f} ± {100 * judged[f'coverage_{name}_se']:.0f} % "
            f"of them in {name} % prediction intervals"
            for name in (f"{100 * level:g}" for level in LEVELS)
        )
        calibrated = " The prediction intervals are now calibrated on these rows." * (
            self.model.calibration_ is not None
        )
        return (
            f"On {judged['rows']:,.0f} rows set aside: RMSE {judged['rmse']:.4g} ± "
            f"{judged['rmse_se']:.2g}, where the target's standard deviation is "
            f"{judged['target_sd']:.4g}; {held}.{calibrated}"
        )

    def to_json(self) -> dict[str, Any]:
        """All that is told, as plain values."""
        return described(self.model).to_json()


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
    seen. The prediction intervals are then calibrated on the same rows.

    Args:
        table: columns of any kind; rows without a target are left out.
        target: name of the column to predict.
        estimator: what to fit, in place.
        file: name of the table's file, remembered.
        hold_out: share of the rows to set aside, at most 10,000 of them; 0 for none.
        seed: of the choice of rows.

    Raises:
        TargetError: the target cannot be predicted.
        ValueError: the table cannot be learnt from.
    """
    notes = Notes()
    features, y = known_rows(*take_target(table, target), target, notes)
    with notes.of_warnings():
        aside = _aside(features, y, hold_out, seed)
        train, held = features.filter(~aside), features.filter(aside)
        y_train, y_held = y[~aside], y[aside]
        model = estimator.fit(train, y_train)
        at_train = model.get_prediction(train)
        at_held = model.get_prediction(held) if aside.any() else None
        if len(y_held) >= FEWEST_TO_CALIBRATE:
            model.calibrate(held, y_held)
        else:
            notes.add(
                f"Prediction intervals are not calibrated: that takes {FEWEST_TO_CALIBRATE} rows "
                f"that are set aside, and there are {len(y_held)}."
            )
    worries = _worries(at_train, y_train, at_held, y_held)
    model.training_table_ = TrainingTable(
        target=target,
        file=file,
        trained_on=np.unique(known_again(model, train, y_train)),
        set_aside=np.unique(known_again(model, held, y_held)),
        notes=tuple(notes),
        warnings=tuple(worries),
        judged={} if at_held is None else judged_on(at_held, y_held),
    )
    return FittedTable(model, tuple(notes), tuple(worries))


def judged_on(prediction: Prediction, y: Row) -> dict[str, float]:
    """Accuracy, and coverage of the prediction intervals, on rows that were not trained on."""
    rmse, *_ = accuracy_scores(y, prediction.mean)
    found = {"rows": len(y), "rmse": rmse.value, "rmse_se": rmse.standard_error}
    found["target_sd"] = np.std(y)
    coverage = prediction.observed_coverage(y, LEVELS)
    for level, share, error in zip(LEVELS, coverage.shares, coverage.standard_error, strict=True):
        found[f"coverage_{100 * level:g}"] = share
        found[f"coverage_{100 * level:g}_se"] = error
    return {name: float(value) for name, value in found.items()}


def without_columns(table: "pa.Table", names: Sequence[str]) -> "pa.Table":
    """A table without some of its columns.

    Raises:
        TargetError: there is no such column.
    """
    for name in names:
        if name not in table.column_names:
            raise TargetError(
                f"There is no column {name!r} to leave out; the columns are "
                f"{listed(table.column_names)}. {nearest(name, table.column_names)}".rstrip()
            )
    return table.drop_columns(list(names))


def _aside(features: "pa.Table", y: Row, hold_out: float, seed: int) -> Bool[np.ndarray, " row"]:
    if hold_out == 0 or len(y) < FEWEST_ROWS:
        return np.zeros(len(y), bool)
    share = min(hold_out, MOST_SET_ASIDE / len(y))
    return set_aside(fingerprints(Encoder.fit(features).encode(features), y), share, seed)


def _worries(train: Prediction, y_train: Row, held: Prediction | None, y_held: Row) -> list[str]:
    given = (y_train, held, y_held) if held is not None and len(held) > 1 else ()
    try:
        check = overfitting_check(train, *given)
    except NoSuchIntervalError:  # nothing held out, and a method without classical variance
        return []
    return [check.reason] if check.fires else []
