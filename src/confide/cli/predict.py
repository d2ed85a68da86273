"""`confide predict`: from a model and a table to predictions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from confide.budget import of_predicting
from confide.cli.arguments import output_option, prediction_options, refuse_output, say_note
from confide.cli.session import errors_of, messages, refusals, say, say_need, starting
from confide.errors import KeptColumnError


@click.command(
    epilog="""\b
Examples:
  confide predict model.confide new.csv
  confide predict model.confide new.parquet -o predicted.parquet --level 0.9
  confide predict model.confide new.csv --keep id,street | head
  confide predict model.confide - --json < new.csv"""
)
@prediction_options(0.95)
@output_option(
    None,
    "File for the predictions; its ending chooses CSV, TSV, Parquet or Arrow.  [default: "
    "standard output]",
)
@click.option(
    "--keep",
    default="",
    help="Columns to repeat before the predictions, such as id,street; or all. Those that `fit` "
    "knew as --id are repeated in any case.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="In CSV and TSV, put an apostrophe before kept text that a spreadsheet would run as a "
    "formula.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each row.")
def predict(
    model: Path,
    file: str,
    output: Path | None,
    level: float,
    network: Callable[..., Any] | None,
    keep: str,
    escape_formulas: bool,
    as_json: bool,
    force: bool,
) -> None:
    """Predict the rows of FILE with both kinds of intervals.

    The result has a row for each row of FILE, in the same order. Its columns: `mean`; the
    confidence interval for the true function, which is the average of many observations at such a
    row (`mean_ci_*`); the prediction interval for a new observation (`obs_ci_*`); the variances due
    to noise, finite data and random training; and the novelty p-value. If `is_novel` is true,
    the row is unlike the training data, and you cannot trust either interval; `novel_columns` names
    the columns that make it so. `unseen_values` counts the row's categories that are not in the
    training data. If an interval is calibrated, columns that end in `_uncalibrated` have its bounds
    before calibration.

    FILE is read in blocks, so it may be larger than the memory.
    """
    refuse_output(output, file, model, force=force)
    with messages("", *errors_of(network)), refusals(KeptColumnError):
        with starting():
            from confide import load
            from confide.progress import row_counter
            from confide.tables import TableFile, write_blocks
            from confide.workflow import (
                Notes,
                TrainingTable,
                arrow_types,
                feature_names,
                kept_columns,
                n_fits,
                one_ahead,
                prediction_blocks,
                refuse_missing_columns,
                rows_per_block,
                without_formulas,
            )

        fitted, source, notes = load(model, network=network), TableFile(file), Notes()
        say_note(source)
        names = source.schema.names
        refuse_missing_columns(fitted, names)
        kept = kept_columns(keep, names, TrainingTable.of(fitted).ids)
        asked = {*feature_names(fitted), *kept}
        needed = [name for name in names if name in asked]
        at_once = rows_per_block(len(needed))
        if source.about_rows is not None:
            need = of_predicting(source.about_rows, len(needed), n_fits(fitted), at_once)
            say_need(need, f"Predicting {len(needed):,} columns")
        blocks = source.blocks(at_once, columns=needed, types=arrow_types(fitted, source, kept))
        answers = prediction_blocks(fitted, blocks, confidence_level=level, keep=kept, notes=notes)
        with row_counter("Predicting", shown=output is not None) as counted:
            ending = ".jsonl" if as_json else ".csv"
            write_blocks(
                counted(one_ahead(answers)),
                output or "-",
                ending=ending,
                force=force,
                for_spreadsheets=partial(without_formulas, notes=notes, escape=escape_formulas),
            )
        for note in notes:
            say(note, err=True)
        say(f"Confidence and prediction intervals are at the level {level:g} (--level).", err=True)
        if output is not None:
            say(output)
