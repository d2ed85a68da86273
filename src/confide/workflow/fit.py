"""From a table to a model: hold rows out, train, judge, calibrate."""

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.calibration import smallest_calibration_set
from confide.diagnostics import overfitting_check
from confide.document import with_error
from confide.errors import CalibrationWarning, NoSuchIntervalError, TargetError, TwinError
from confide.estimators import IntervalRegressor
from confide.fingerprints import groups
from confide.moved import warn_renamed
from confide.prediction import Prediction
from confide.simulate import FEWEST_ROWS as FEWEST_FOR_A_TWIN
from confide.workflow.accuracy import accuracy_scores
from confide.workflow.describe import described
from confide.workflow.notes import Notes, counted_in_file
from confide.workflow.target import known_rows
from confide.workflow.training_table import Split, TrainingTable, split

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
# The fewest rows from which a 95 % prediction interval can be calibrated.
FEWEST_TO_CALIBRATE = smallest_calibration_set(0.95)
# With fewer rows to train on, the reader is warned.
FEW_ROWS = 50
# Levels that the prediction intervals are judged at.
LEVELS = (0.8, 0.95)


@dataclass(frozen=True)
class FittedTable:
    """A model made from a table, with what is to be said of it.

    Attributes:
        model: fitted, calibrated where enough rows could be held out, with its `training_table_`.
        notes: what happened on the way: rows dropped, columns left out.
        warnings: what the reader should worry about.
    """

    model: IntervalRegressor
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def judgement(self) -> str:
        """How good it is on the held-out rows, in a sentence."""
        judged = TrainingTable.of(self.model).judged
        if not judged:
            return "No rows were held out, so it is not known how good the model is."
        held = " and ".join(
            f"{name} % prediction intervals contained {100 * judged[f'coverage_{name}']:.0f} % "
            f"of them (expected: {name} ± {100 * judged[f'coverage_{name}_se']:.1f} %)"
            for name in (f"{100 * level:g}" for level in LEVELS)
            if f"coverage_{name}" in judged
        )
        calibrated = " The prediction intervals are now calibrated on these rows." * (
            self.model.calibration_ is not None
        )
        rmse = with_error(judged["rmse"], judged["rmse_se"])
        return (
            f"On {judged['rows']:,.0f} held-out rows: RMSE {rmse}, where the target's standard "
            f"deviation is {judged['target_sd']:.4g}; {held}.{calibrated}"
        )

    def to_json(self) -> dict[str, Any]:
        """The model's description, as plain values."""
        return described(self.model).to_json()


def fit_table(
    table: "pa.Table",
    target: str,
    estimator: IntervalRegressor,
    *,
    file: str = "",
    hold_out: float = 0.2,
    seed: int = 0,
    calibrate_confidence: bool = False,
    n_simulations: int = 20,
    honest: bool | None = None,
) -> FittedTable:
    """Fits an estimator to a table as it is.

    A share of the rows is held out. The reported accuracy is that on these rows, which the model
    has not seen, and the prediction intervals are then calibrated on them. Confidence intervals
    can be calibrated too, on simulated twins of the rows that were trained on.

    Args:
        table: columns of any kind; rows without a target are left out.
        target: name of the column to predict.
        estimator: what to fit, in place.
        file: name of the table's file, remembered.
        hold_out: share of the rows to hold out, at most 10,000 of them; 0 for none.
        seed: of the choice of rows.
        calibrate_confidence: whether to calibrate confidence intervals, see
            `IntervalRegressor.calibrate_confidence`; it takes as long as `n_simulations` fits.
        n_simulations: simulated data sets to calibrate them on.
        honest: the old name of `calibrate_confidence`.

    Returns:
        The fitted model, with notes and warnings.

    Raises:
        TargetError: the target cannot be predicted.
        TwinError: confidence intervals cannot be calibrated on these rows.
        ValueError: the table cannot be learnt from.
    """
    if honest is not None:
        warn_renamed("`honest` of fit_table", "`calibrate_confidence`")
        calibrate_confidence = honest
    notes = Notes()
    features, y, rows = known_rows(table, target, notes)
    with notes.of_warnings():
        with counted_in_file(rows):
            parts = split(features, y, hold_out=hold_out, seed=seed)
        if calibrate_confidence:
            _refuse_without_twin(parts)
        model = estimator.fit(parts.train, parts.y_train)
    if len(parts.y_held) < parts.rows.n_set_aside:
        notes.add(
            f"Of {parts.rows.n_set_aside:,} held-out rows, {len(parts.y_held):,} are different; "
            "the others are copies."
        )
    with notes.of_warnings():
        at_train = model.get_prediction(parts.train)
        at_held = model.get_prediction(parts.held) if len(parts.y_held) else None
        if calibrate_confidence:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)  # the summary has them
                model.calibrate_confidence(parts.train, parts.y_train, n_simulations=n_simulations)
        if len(parts.y_held) >= FEWEST_TO_CALIBRATE:
            model.calibrate(parts.held, parts.y_held)
        else:
            notes.add(_why_not_calibrated(len(parts.y_held), on_twins=calibrate_confidence))
            if calibrate_confidence and at_held is not None:
                # The twins' intervals stay, and the twins have not seen these rows.
                at_held = model.get_prediction(parts.held)
    judged = {} if at_held is None else judged_on(at_held, parts.y_held)
    worries = _worries(model.fitted_, at_train, parts.y_train, at_held, parts.y_held)
    origin = TrainingTable(target, file, tuple(notes), tuple(worries), judged)
    model.training_table_ = replace(parts.rows, origin=asdict(origin))
    description = described(model)
    return FittedTable(model, tuple(description.notes), tuple(description.warnings))


def judged_on(prediction: Prediction, y: Row) -> dict[str, float]:
    """Accuracy, and coverage of the prediction intervals, on rows that were not trained on."""
    rmse, *_ = accuracy_scores(y, prediction.mean)
    numbers = {"rows": len(y), "rmse": rmse.value, "rmse_se": rmse.standard_error}
    numbers["target_sd"] = np.std(y)
    for level in LEVELS:
        with contextlib.suppress(NoSuchIntervalError):  # a method of one level
            coverage = prediction.observed_coverage(y, [level])
            numbers[f"coverage_{100 * level:g}"] = coverage.shares[0]
            numbers[f"coverage_{100 * level:g}_se"] = coverage.standard_error[0]
    return {name: float(value) for name, value in numbers.items()}


def without_columns(table: "pa.Table", names: Sequence[str]) -> "pa.Table":
    """A table without some of its columns.

    Raises:
        TargetError: there is no such column.
    """
    for name in names:
        if name not in table.column_names:
            raise TargetError.of_missing(name, table.column_names, "leave out")
    return table.drop_columns(list(names))


def _refuse_without_twin(parts: Split) -> None:
    """What is too short for a twin is refused before anything is trained."""
    n_different = int(groups(parts.train.matrix, parts.y_train).max()) + 1
    if n_different < FEWEST_FOR_A_TWIN:
        n_aside = parts.rows.n_set_aside
        fewer = f", hold out fewer than {n_aside} rows" * (n_aside > 0)
        raise TwinError(
            "Calibrating confidence intervals on simulated twins needs at least "
            f"{FEWEST_FOR_A_TWIN} different rows to train on, but there are {n_different}. Use "
            f"more rows{fewer}, or fit without it."
        )


def _why_not_calibrated(n_rows: int, *, on_twins: bool) -> str:
    so_far = "calibrated on simulated twins only" if on_twins else "not calibrated"
    return (
        f"Prediction intervals are {so_far}: calibrating them on held-out rows needs "
        f"{FEWEST_TO_CALIBRATE} different rows, but there are {n_rows}."
    )


def _overfitting(*predictions: Any) -> list[str]:
    try:
        check = overfitting_check(*predictions)
    except NoSuchIntervalError:  # nothing held out, and no classical variance
        return []
    return [check.reason] if check.fires else []


def _worries(
    fitted: Any, train: Prediction, y_train: Row, held: Prediction | None, y_held: Row
) -> list[str]:
    worries = []
    if len(y_train) < FEW_ROWS:
        worries.append(
            f"Only {len(y_train)} rows were trained on: do not expect much of the model."
        )
    can_compare = held is not None and len(held) > 1
    # Noise that was learnt from rows left out is not too small, however well others are fitted.
    if getattr(fitted, "noise", None) is None:
        worries += _overfitting(train, *((y_train, held, y_held) if can_compare else ()))
    if held is not None and can_compare:
        squares, spread = (y_held - held.mean) ** 2, (y_held - y_train.mean()) ** 2
        if (squares - spread).mean() > 0:
            worries.append(
                "On the held-out rows the model is no better than always predicting the mean of "
                "the target. Does the target have extreme values, or are there too few rows?"
            )
    return worries
