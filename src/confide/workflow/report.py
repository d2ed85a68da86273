"""From a model and a table to what its page is made of."""

from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from confide.errors import NoSuchIntervalError
from confide.estimators import IntervalRegressor
from confide.prediction import Prediction
from confide.workflow.describe import described
from confide.workflow.notes import Notes
from confide.workflow.page.inputs import NEW, PageInputs
from confide.workflow.predict import features_of, predicted
from confide.workflow.rows import status
from confide.workflow.target import take_target
from confide.workflow.training_table import TrainingTable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# Of a longer table so many rows are drawn: a page shows a sample of them in any case.
MOST_ROWS = 100_000


def page_inputs(
    model: IntervalRegressor,
    table: "pa.Table",
    *,
    file: str = "",
    confidence_level: float = 0.95,
    seed: int = 0,
) -> PageInputs:
    """What a model says about a table's rows, ready for the page.

    Args:
        model: fitted, with or without a `training_table_`.
        table: with the columns of the training data, in any order, and perhaps the target.
        file: name of the table's file.
        confidence_level: of both kinds of intervals.
        seed: of the rows drawn from a long table.
    """
    notes = Notes()
    numbers = np.arange(1, table.num_rows + 1)
    if table.num_rows > MOST_ROWS:
        notes.add(f"Of {table.num_rows:,} rows, {MOST_ROWS:,} drawn at random are shown.")
        drawn = np.random.default_rng(seed).choice(table.num_rows, MOST_ROWS, replace=False)
        numbers = np.sort(drawn) + 1
        table = table.take(numbers - 1)
    features = features_of(model, table)
    prediction = predicted(model, features, notes)
    target = TrainingTable.of(model).target or "the target"
    y = take_target(table, target).y if target in table.column_names else None
    advice, levers = _advice(prediction, confidence_level)
    description = described(model)
    on_twins = model.confidence_calibration_
    return PageInputs(
        title=f"{target}: {file}" if file else target,
        target=target,
        frame=features.to_pandas(),
        prediction=prediction,
        status=[NEW] * len(prediction) if y is None else status(model, features, y),
        y=y,
        confidence_level=confidence_level,
        row_numbers=numbers,
        n_calibration_rows=description.calibrated_on or None,
        summary=None if on_twins is None else on_twins.summary,
        advice=advice,
        levers=levers,
        warnings=[*description.warnings, *notes],
        settings=_settings(model, file),
    )


def _advice(
    prediction: Prediction, confidence_level: float
) -> "tuple[str | None, pd.DataFrame | None]":
    try:
        explanation = prediction.explain(confidence_level)
    except NoSuchIntervalError:
        return None, None
    return str(explanation), explanation.levers


def _settings(model: IntervalRegressor, file: str) -> dict[str, str]:
    description = described(model)
    # Without what was found on twins: that has a section of its own.
    said = TrainingTable.of(model).notes
    notes = {"notes from the fit": " ".join(said)} if said else {}
    kinds = [column["kind"] for column in description.columns]
    return {
        "table": file or "given in Python",
        **description.facts,
        "columns": ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)),
        **notes,
        "confide": version("confide"),
    }
