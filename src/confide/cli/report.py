"""`confide report`: from a model and a table to a page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confide.budget import of_predicting
from confide.cli import arguments
from confide.cli.session import (
    errors_of,
    messages,
    say_json,
    say_need,
    say_written,
    starting,
    stop_if_asked,
)


@click.command(
    epilog="""\b
Examples:
  confide report model.confide houses.csv
  confide report model.confide new.parquet -o new.html --level 0.9"""
)
@arguments.prediction_options(0.9)
@arguments.output_option("report.html", "Where to write the page.")
@arguments.json_option
def report(
    model: Path,
    file: str,
    output: Path,
    level: float,
    network: Callable[..., Any] | None,
    as_json: bool,
    force: bool,
) -> None:
    """Make a page with the predictions of MODEL for the rows of FILE.

    The page is one file that works offline. It says whether the model is any good, shows both kinds
    of intervals, the rows with the widest prediction intervals, where the uncertainty comes from
    and what would reduce it. On the page, you can pick a row, change its features and see the new
    prediction. FILE may be the file that the model was fitted to: rows that it was trained on are
    recognised, and do not count as a test.
    """
    arguments.refuse_output(output, file, model, force=force, endings=(".html", ".htm"))
    with messages("", *errors_of(network)):
        with starting():
            from confide import load
            from confide.document import render_page
            from confide.persistence import atomic_file
            from confide.tables import TableFile, file_name
            from confide.workflow import (
                MOST_ROWS,
                arrow_types,
                n_fits,
                page_of,
            )

        with atomic_file(output) as page:
            fitted, source = load(model, network=network), TableFile(file)
            arguments.say_note(source)
            table = source.read(types=arrow_types(fitted, source))
            n_rows, n_columns = min(table.num_rows, MOST_ROWS), table.num_columns
            need = of_predicting(n_rows, n_columns, n_fits(fitted))
            say_need(need, f"A page of {n_rows:,} rows and {n_columns:,} columns")
            document = page_of(fitted, table, file=file_name(source.name), confidence_level=level)
            content = render_page(document).encode()
            stop_if_asked()
            page.write(content)
        if as_json:
            tables = {table.name: arguments.json_rows(table.frame) for table in document.tables}
            say_json({"page": str(output), **tables})
        else:
            say_written(output)
