"""`confide report`: from a model and a table to a page."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confide.cli.arguments import (
    force_option,
    json_option,
    level_option,
    model_argument,
    network_option,
    output_option,
    refuse_output,
    table_argument,
)
from confide.cli.messages import messages
from confide.cli.session import starting, stop_if_asked


@click.command(
    epilog="""\b
Examples:
  confide report model.confide houses.csv
  confide report model.confide new.parquet -o new.html --level 0.9"""
)
@model_argument
@table_argument
@output_option("report.html", "Where to write the page.")
@level_option
@network_option
@json_option
@force_option
def report(
    model: Path,
    file: str | Path,
    output: Path,
    level: float,
    network: Callable[..., Any] | None,
    as_json: bool,
    force: bool,
) -> None:
    """Make a page of what MODEL says about the rows of FILE.

    One file that works offline: accuracy and coverage on rows that the model has not seen, both
    kinds of intervals, where the uncertainty comes from and what would shrink it, the riskiest rows
    and those that are far from the training data. FILE may be the one that the model was fitted to:
    rows that it was trained on are known again and do not count as a test.
    """
    refuse_output(output, force, file, model, endings=(".html", ".htm"))
    with messages():
        with starting():
            from confide import load
            from confide.document import render_page
            from confide.persistence import write_atomically
            from confide.tables import TableFile
            from confide.workflow import arrow_types, page_document, page_inputs

        fitted, source = load(model, network=network), TableFile(file)
        table = source.read(types=arrow_types(fitted, source))
        inputs = page_inputs(fitted, table, file=Path(source.name).name, confidence_level=level)
        document = page_document(inputs)
        page = render_page(document).encode()
        stop_if_asked()
        write_atomically(output, page)
        if as_json:
            # Through pandas' own writer: what is not a number becomes null.
            tables = {
                t.name: json.loads(t.frame.to_json(orient="records")) for t in document.tables
            }
            click.echo(json.dumps({"page": str(output), **tables}, indent=2, allow_nan=False))
        else:
            click.echo(output)
