"""From a model and a table to what its page is made of."""

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from confide.encoding import EncodedTable
from confide.errors import NoPlainFormError, NoSuchIntervalError
from confide.estimators import IntervalRegressor
from confide.export import interval_rules, model_parts
from confide.prediction import Prediction
from confide.workflow.describe import Description, described_target
from confide.workflow.notes import Notes, counted_in_file
from confide.workflow.page.inputs import MOST_LISTED, PageInputs, WhatIf
from confide.workflow.page.judgement import unseen_rows
from confide.workflow.predict import encoded
from confide.workflow.target import take_target
from confide.workflow.training_table import TrainingTable, known_again
from confide.workflow.why import effects_of, wide_because

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# A page shows a sample of the rows in any case.
MOST_ROWS = 100_000


def page_inputs(
    model: IntervalRegressor,
    table: "pa.Table",
    *,
    file: str = "",
    confidence_level: float = 0.95,
    seed: int = 0,
    most_rows: int = MOST_ROWS,
) -> PageInputs:
    """What a model says about a table's rows, ready for the page.

    Args:
        model: fitted, with or without a `training_table_`.
        table: with the columns of the training data, in any order, and perhaps the target.
        file: name of the table's file.
        confidence_level: of both kinds of intervals.
        seed: of the rows drawn from a long table.
        most_rows: of a longer table so many are drawn.

    Returns:
        What the page is made of.
    """
    notes = Notes()
    numbers = np.arange(1, table.num_rows + 1)
    if table.num_rows > most_rows:
        notes.add(f"Of {table.num_rows:,} rows, {most_rows:,} drawn at random are shown.")
        drawn = np.random.default_rng(seed).choice(table.num_rows, most_rows, replace=False)
        numbers = np.sort(drawn) + 1
        table = table.take(numbers - 1)
    with counted_in_file(numbers - 1), notes.of_warnings():
        features = encoded(model, table)
        prediction = model.get_prediction(features)
    origin = TrainingTable.of(model)
    target, ids = origin.target or "the target", [n for n in origin.ids if n in table.column_names]
    y = take_target(table, target).y if target in table.column_names else None
    advice, levers = _advice(prediction, confidence_level)
    description, on_twins = described_target(model), model.confidence_calibration_
    known = known_again(model, features.matrix, y)
    used = list(dict.fromkeys(features.encoder.feature_columns))
    inputs = PageInputs(
        title=f"{target}: {file}" if file else target,
        target=target,
        frame=features.table.select(used).to_pandas(),
        prediction=prediction,
        status=known.status,
        y=y,
        confidence_level=confidence_level,
        row_numbers=numbers,
        ids=table.select(ids).to_pandas() if ids else None,
        n_calibration_rows=description.calibrated_on or None,
        summary=None if on_twins is None else on_twins.summary,
        advice=advice,
        levers=levers,
        warnings=[*description.warnings, *notes],
        judged=description.judged,
        held_out=known.held_out,
        repeats=known.repeats,
        held_out_by=origin.held_out_by,
        what_if=_what_if(model, features, confidence_level),
        settings=_settings(model, description, file),
    )
    # One row so far off that its variance overflows would drown all others in an average.
    noise = prediction.aleatoric_variance
    usual = ~inputs.novel if noise is None else ~inputs.novel & np.isfinite(noise)
    unseen, level = np.flatnonzero(unseen_rows(inputs) & usual), inputs.level
    return replace(
        inputs,
        effects=effects_of(model, features, y, np.flatnonzero(usual), unseen, level),
        wide_because=wide_because(model, features, inputs.widest[:MOST_LISTED], level),
    )


def _what_if(
    model: IntervalRegressor, table: EncodedTable, confidence_level: float
) -> WhatIf | str:
    """What the page evaluates, or why it cannot."""
    try:
        parts = model_parts(model)
    except NoPlainFormError as reason:
        return str(reason)
    return WhatIf(parts, *interval_rules(model, confidence_level), table)


def _advice(
    prediction: Prediction, confidence_level: float
) -> "tuple[str | None, pd.DataFrame | None]":
    try:
        explanation = prediction.explain(confidence_level)
    except NoSuchIntervalError:
        return None, None
    return str(explanation), explanation.levers


def _settings(model: IntervalRegressor, description: Description, file: str) -> dict[str, str]:
    # Without what was found on twins: that has a section of its own.
    from_fit = TrainingTable.of(model).notes
    notes = {"notes from the fit": " ".join(from_fit)} if from_fit else {}
    kinds = [column["kind"] for column in description.columns]
    return {
        "table": file or "given in Python",
        **description.facts,
        "columns": ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)),
        **notes,
        "confide": version("confide"),
    }
