"""`confide predict`: from a model and a table to predictions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confide.cli.arguments import (
    force_option,
    level_option,
    model_argument,
    network_option,
    output_option,
    refuse_output,
    table_argument,
)
from confide.cli.messages import messages, refusals
from confide.cli.session import starting
from confide.errors import KeptColumnError


@click.command(
    epilog="""\b
Examples:
  confide predict model.confide new.csv
  confide predict model.confide new.parquet -o predicted.parquet --level 0.9
  confide predict model.confide new.csv --keep id,street | head
  confide predict model.confide - --json < new.csv"""
)
@model_argument
@table_argument
@output_option(
    None, "Where to write; the ending chooses CSV, TSV, Parquet or Arrow. Else standard output."
)
@level_option
@network_option
@click.option(
    "--keep", default="", help="Columns to repeat before the predictions, as id,street; or all."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
@force_option
def predict(
    model: Path,
    file: str | Path,
    output: Path | None,
    level: float,
    network: Callable[..., Any] | None,
    keep: str,
    as_json: bool,
    force: bool,
) -> None:
    """Predict the rows of FILE with both kinds of intervals.

    A row of the result for each row of FILE, in its order: `mean`; the confidence interval for the
    true function, which is the average of many observations at such a row (`mean_ci_*`); the
    prediction interval for a new observation (`obs_ci_*`); variances due to noise, finite data and
    random training; and the novelty p-value: where `is_novel` is true, the row is far from the
    training data and neither interval can be trusted; `unseen_values` counts the row's categories
    that training did not have. Where an interval is calibrated, columns ending in `_uncalibrated`
    have the method's own. FILE is read in blocks, so it may be larger than the memory. A model of
    `confide fit --honest` asks all its simulated fits about each row: the networks' part of the
    time is about 20 times that of another.
    """
    refuse_output(output, force, file, model)
    with messages(), refusals(KeptColumnError):
        with starting():
            from confide import load
            from confide.progress import row_counter
            from confide.tables import TableFile, write_blocks
            from confide.workflow import (
                Notes,
                arrow_types,
                feature_names,
                kept_columns,
                one_ahead,
                prediction_blocks,
                refuse_missing_columns,
            )

        fitted, source, notes = load(model, network=network), TableFile(file), Notes()
        names = source.schema.names
        refuse_missing_columns(fitted, names)
        kept = kept_columns(keep, names)
        needed = [name for name in names if name in {*feature_names(fitted), *kept}]
        blocks = source.blocks(columns=needed, types=arrow_types(fitted, source, kept))
        answers = prediction_blocks(fitted, blocks, confidence_level=level, keep=kept, notes=notes)
        with row_counter("Predicting", shown=output is not None) as counted:
            ending = ".jsonl" if as_json else ".csv"
            write_blocks(counted(one_ahead(answers)), output or "-", ending=ending, force=force)
        for note in notes:
            click.echo(note, err=True)
        click.echo(
            f"Confidence and prediction intervals are at the level {level:g} (--level).", err=True
        )
        if output is not None:
            click.echo(output)
