"""From a table to a model: set rows aside, train, judge, calibrate."""

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64

from confide.calibration import smallest_calibration_set
from confide.diagnostics import overfitting_check
from confide.document import with_error
from confide.encoding import Encoder
from confide.errors import (
    CalibrationWarning,
    NoSuchIntervalError,
    TargetError,
    TwinError,
    UnseenValueWarning,
    listed,
    nearest,
)
from confide.estimators import IntervalRegressor, TrainingRows
from confide.fingerprints import are_copies, groups
from confide.prediction import Prediction
from confide.simulate import FEWEST_ROWS as FEWEST_FOR_A_TWIN
from confide.workflow.accuracy import accuracy_scores
from confide.workflow.describe import described
from confide.workflow.notes import Notes
from confide.workflow.rows import encoded, known_again, set_aside
from confide.workflow.target import known_rows, take_target
from confide.workflow.training_table import TrainingTable

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
# More rows than this tell accuracy and quantiles no better, and are missed in training.
MOST_SET_ASIDE = 10_000
# The fewest rows from which a 95 % prediction interval can be calibrated.
FEWEST_TO_CALIBRATE = smallest_calibration_set(0.95)
# The fewest rows of a table that some are set aside of.
FEWEST_ROWS = 20
# With fewer rows to train on, the reader is warned.
FEW_ROWS = 50
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

    model: IntervalRegressor
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def judgement(self) -> str:
        """How good it is on the rows that were set aside, in a sentence."""
        judged = TrainingTable.of(self.model).judged
        if not judged:
            return "No rows were set aside, so how good the model is cannot be told."
        held = " and ".join(
            f"{name} % prediction intervals held {100 * judged[f'coverage_{name}']:.0f} % of them "
            f"(right ones would {name} ± {100 * judged[f'coverage_{name}_se']:.1f} %)"
            for name in (f"{100 * level:g}" for level in LEVELS)
            if f"coverage_{name}" in judged
        )
        calibrated = " The prediction intervals are now calibrated on these rows." * (
            self.model.calibration_ is not None
        )
        rmse = with_error(judged["rmse"], judged["rmse_se"])
        return (
            f"On {judged['rows']:,.0f} rows set aside: RMSE {rmse}, where the target's standard "
            f"deviation is {judged['target_sd']:.4g}; {held}.{calibrated}"
        )

    def to_json(self) -> dict[str, Any]:
        """All that is told, as plain values."""
        return described(self.model).to_json()


def fit_table(
    table: "pa.Table",
    target: str,
    estimator: IntervalRegressor,
    *,
    file: str = "",
    hold_out: float = 0.2,
    seed: int = 0,
    honest: bool = False,
    n_simulations: int = 20,
) -> FittedTable:
    """Fits an estimator to a table as it is.

    A share of the rows is set aside: the accuracy told is that on rows which the networks have not
    seen. The prediction intervals are then calibrated on the same rows. Confidence intervals can
    be calibrated too, on simulated twins of the rows that were trained on.

    Args:
        table: columns of any kind; rows without a target are left out.
        target: name of the column to predict.
        estimator: what to fit, in place.
        file: name of the table's file, remembered.
        hold_out: share of the rows to set aside, at most 10,000 of them; 0 for none.
        seed: of the choice of rows.
        honest: whether to calibrate confidence intervals, see
            `IntervalRegressor.calibrate_confidence`; it takes as long as `n_simulations` fits.
        n_simulations: simulated data sets to calibrate them on.

    Raises:
        TargetError: the target cannot be predicted.
        TwinError: confidence intervals cannot be calibrated on these rows.
        ValueError: the table cannot be learnt from.
    """
    notes, worries = Notes(), []
    features, y = known_rows(*take_target(table, target), target, notes)
    with notes.of_warnings():
        aside = _aside(features, y, hold_out, seed)
        train, y_train = features.filter(~aside), y[~aside]
        if honest:
            _refuse_without_twin(train, y_train, int(aside.sum()))
        model = estimator.fit(train, y_train)
    if len(y_train) < FEW_ROWS:
        worries.append(f"Only {len(y_train)} rows were trained on: expect little of the model.")
    copies = are_copies(encoded(model, features), y)
    rows = known_again(model, features, y, copies=copies)
    # Copies count once where a model is judged: they are not so many observations.
    test = np.flatnonzero(aside)[np.unique(rows[aside], return_index=True)[1]]
    held, y_held, judged = features.take(test), y[test], dict[str, float]()
    if len(test) < aside.sum():
        notes.add(
            f"Of {aside.sum():,} rows set aside, {len(test):,} are different, the others copies."
        )
    # Categories that only rows set aside have are not worth a word here.
    with notes.of_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenValueWarning)
        at_train = model.get_prediction(train)
        at_held = model.get_prediction(held) if len(test) else None
        if honest:
            warnings.simplefilter("ignore", CalibrationWarning)  # the account has them
            model.calibrate_confidence(train, y_train, n_simulations=n_simulations)
        if len(test) >= FEWEST_TO_CALIBRATE:
            model.calibrate(held, y_held)
        else:
            takes = f"takes {FEWEST_TO_CALIBRATE} different rows that are set aside"
            calibrated = (
                "calibrated on simulated twins alone: more" if honest else "not calibrated: that"
            )
            notes.add(f"Prediction intervals are {calibrated} {takes}, and there are {len(test)}.")
        if at_held is not None:
            # Those of the twins, where they stay; the twins have not seen these rows.
            stay = honest and len(test) < FEWEST_TO_CALIBRATE
            judged = judged_on(model.get_prediction(held) if stay else at_held, y_held)
    worries += _worries(at_train, y_train, at_held, y_held)
    origin = TrainingTable(target, file, tuple(notes), tuple(worries), judged)
    model.training_table_ = TrainingRows(
        trained_on=np.unique(rows[~aside]),
        set_aside=np.unique(rows[aside]),
        n_trained=len(y_train),
        n_set_aside=int(aside.sum()),
        copies=copies,
        origin=asdict(origin),
    )
    told = described(model)
    return FittedTable(model, tuple(told.notes), tuple(told.warnings))


def judged_on(prediction: Prediction, y: Row) -> dict[str, float]:
    """Accuracy, and coverage of the prediction intervals, on rows that were not trained on."""
    rmse, *_ = accuracy_scores(y, prediction.mean)
    found = {"rows": len(y), "rmse": rmse.value, "rmse_se": rmse.standard_error}
    found["target_sd"] = np.std(y)
    for level in LEVELS:
        try:
            coverage = prediction.observed_coverage(y, [level])
        except NoSuchIntervalError:  # a method of one level
            continue
        found[f"coverage_{100 * level:g}"] = coverage.shares[0]
        found[f"coverage_{100 * level:g}_se"] = coverage.standard_error[0]
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
    return set_aside(Encoder.fit(features).encode(features), y, share, seed)


def _refuse_without_twin(train: "pa.Table", y: Row, n_aside: int) -> None:
    """What is too short for a twin is told before the networks are trained."""
    n_different = int(groups(Encoder.fit(train).encode(train), y).max()) + 1
    if n_different < FEWEST_FOR_A_TWIN:
        fewer = f", set fewer than {n_aside} rows aside" * (n_aside > 0)
        raise TwinError(
            "Calibrating confidence intervals on simulated twins takes at least "
            f"{FEWEST_FOR_A_TWIN} different rows to train on, and there are {n_different}. Gather "
            f"more rows{fewer}, or fit without it."
        )


def _worries(train: Prediction, y_train: Row, held: Prediction | None, y_held: Row) -> list[str]:
    found = []
    given = (y_train, held, y_held) if held is not None and len(held) > 1 else ()
    with contextlib.suppress(NoSuchIntervalError):  # nothing held out, and no classical variance
        check = overfitting_check(train, *given)
        found += [check.reason] if check.fires else []
    if held is not None and len(held) > 1:
        squares, spread = (y_held - held.mean) ** 2, (y_held - y_train.mean()) ** 2
        worse = squares - spread
        if worse.mean() > 0:
            found.append(
                "On the rows set aside the model is no better than always predicting the mean of "
                "the target. Are there wild values in it, or too few rows?"
            )
    return found
