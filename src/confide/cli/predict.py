"""`confide predict`: from a model and a table to predictions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confide.budget import of_predicting
from confide.cli.arguments import (
    chosen_engine,
    engine_options,
    output_option,
    prediction_options,
    refuse_output,
    say_note,
)
from confide.cli.session import (
    errors_of,
    messages,
    refusals,
    say,
    say_need,
    say_worker,
    say_written,
    starting,
)
from confide.errors import KeptColumnError, TableFileError

if TYPE_CHECKING:
    from confide.engines import Engine
    from confide.estimators import IntervalRegressor
    from confide.tables import TableFile


@click.command(
    epilog="""\b
Examples:
  confide predict model.confide new.csv
  confide predict model.confide new.parquet -o predicted.parquet --level 0.9
  confide predict model.confide new.csv --keep id,street | head
  confide predict model.confide - --json < new.csv
  confide predict model.confide 'new/*.parquet' -o predicted/ --engine ray"""
)
@prediction_options(0.95)
@output_option(
    None,
    "File for the predictions; its ending chooses CSV, TSV, Parquet or Arrow. Or a folder, "
    "for a file of the same name for each FILE.  [default: standard output]",
    folders=True,
)
@click.option(
    "--keep",
    default="",
    help="Columns to repeat before the predictions, such as id,street; or all. Columns "
    "that `confide fit` got as --id are always repeated.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="In CSV and TSV, put an apostrophe before kept text that a spreadsheet would run as a "
    "formula.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each row.")
@engine_options
def predict(
    model: Path,
    file: str,
    output: Path | None,
    level: float,
    network: Callable[..., Any] | None,
    keep: str,
    escape_formulas: bool,
    as_json: bool,
    engine: str,
    address: str | None,
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

    FILE is read in blocks, so it may be larger than the memory. It may be a pattern in quotes, such
    as 'new/*.parquet' or 's3://bucket/new/*.parquet': then the result is a folder, with a file of
    the same name for each.
    """
    workers = chosen_engine(engine, address)
    with messages("", *errors_of(network)), refusals(KeptColumnError):
        with starting():
            from confide import load
            from confide.tables import TableFile, checked_ending
            from confide.workflow import (
                matching_files,
                memory_of_worker,
                outputs_of,
                refuse_different,
            )

        files = matching_files(file)
        with refusals(OSError):
            targets = _targets(file, files, output, outputs_of)
        for target in targets:
            refuse_output(target, *files, model, force=force)
            checked_ending(target or "-")
        fitted, sources = load(model, network=network), [TableFile(one) for one in files]
        refuse_different(fitted, sources, keep)
        how: dict[str, Any] = {"level": level, "keep": keep, "force": force}
        how |= {"escape_formulas": escape_formulas, "as_json": as_json}
        say_worker(memory_of_worker(fitted), engine)
        with workers.connected():
            for source, target in zip(sources, targets, strict=True):
                _predict_file(fitted, source, target, workers, **how)
        say(f"Confidence and prediction intervals are at the level {level:g} (--level).", err=True)
        say_written(*(target for target in targets if target is not None))


def _targets(
    pattern: str, files: list[str], output: Path | None, outputs_of: Callable[..., list[Path]]
) -> list[Path] | list[None]:
    """Where the predictions of each file go; None for standard output."""
    from confide.tables import checked_ending, is_folder, public

    if output is not None and output.is_dir():
        if is_folder(pattern):
            raise click.UsageError(
                f"The files of {public(pattern)} are one table, and {output} is a folder. Name a "
                f"file with -o, such as {output / 'predicted.parquet'}; or pass "
                f"'{public(pattern).rstrip('/')}/*.parquet' for a file for each."
            )
        return outputs_of(files, output)
    if len(files) > 1:
        raise click.UsageError(
            f"{len(files)} files match {pattern!r}. Create a folder for their predictions, and "
            "name it with -o."
        )
    if output is None:
        return [None]
    if (files != [pattern] or not output.suffix) and not output.exists():
        try:
            checked_ending(output)
        except TableFileError:  # it is no name of a file, so a folder is meant
            raise click.UsageError(
                f"There is no folder {output}. Create it first; or name a file, such as "
                f"{output.with_suffix('.parquet')}."
            ) from None
    return [output]


def _predict_file(
    fitted: "IntervalRegressor",
    source: "TableFile",
    output: Path | None,
    workers: "Engine",
    *,
    level: float,
    keep: str,
    escape_formulas: bool,
    as_json: bool,
    force: bool,
) -> None:
    """Predicts one file; its result is whole, or not there."""
    from confide.progress import row_counter
    from confide.tables import write_blocks
    from confide.workflow import (
        Notes,
        TrainingTable,
        arrow_types,
        feature_names,
        kept_columns,
        n_fits,
        one_ahead,
        prediction_blocks,
        rows_per_block,
        without_formulas,
    )

    say_note(source)
    notes, names = Notes(), source.schema.names
    kept = kept_columns(keep, names, TrainingTable.of(fitted).ids)
    asked = {*feature_names(fitted), *kept}
    needed = [name for name in names if name in asked]
    at_once = rows_per_block(len(needed))
    if source.about_rows is not None:
        need = of_predicting(source.about_rows, len(needed), n_fits(fitted), at_once)
        say_need(need, f"Predicting {len(needed):,} columns")
    blocks = source.blocks(at_once, columns=needed, types=arrow_types(fitted, source, kept))
    answers = prediction_blocks(
        fitted, blocks, confidence_level=level, keep=kept, notes=notes, engine=workers
    )
    with row_counter("Predicting", shown=output is not None) as counted:
        write_blocks(
            counted(one_ahead(answers)),
            output or "-",
            ending=".jsonl" if as_json else ".csv",
            force=force,
            for_spreadsheets=partial(without_formulas, notes=notes, escape=escape_formulas),
        )
    for note in notes:
        say(note, err=True)
