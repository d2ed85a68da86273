"""`confide check`: would these intervals cover on data like mine?"""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from confide.budget import of_fits
from confide.cli import arguments
from confide.cli.pictures import write_picture
from confide.cli.session import (
    messages,
    refusals,
    say,
    say_json,
    say_need,
    stop_if_asked,
)
from confide.errors import TargetError

if TYPE_CHECKING:
    import pandas as pd

ABOUT_PREDICTION = (
    "Prediction intervals are those before calibration; `confide fit` calibrates them on held-out "
    "rows."
)


@click.command(
    epilog="""\b
Examples:
  confide check houses.csv --target price
  confide check houses.csv --target price --simulations 100 -o coverage.png
  confide check houses.csv --target price --truth gradient-boosting
  confide check houses.csv --target price --model model.confide
  confide check houses.parquet --target price --rows 500 --json"""
)
@arguments.training_options
@arguments.output_option(None, "File for a picture of the coverage at each row (png, svg or pdf).")
@arguments.count_option(
    "--simulations", 20, 1, "Simulated data sets. With 20, coverage is known to within 2 points."
)
@click.option(
    "--truth",
    type=click.Choice(["random-forest", "gradient-boosting", "network"]),
    default="random-forest",
    show_default=True,
    help="What to fit to the table and simulate from.",
)
@arguments.count_option("--rows", 1000, 20, "Use at most this many rows, chosen at random.")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="Check the method and settings of this model instead.",
)
@click.option(
    "--fast", is_flag=True, help="Check the confidence intervals before calibration alone."
)
def check(
    file: str,
    target: str,
    output: Path | None,
    simulations: int,
    truth: str,
    rows: int,
    model: Path | None,
    fast: bool,
    exclude: list[str],
    categorical: list[str],
    numeric: list[str],
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Check how often both kinds of intervals would cover on data like FILE.

    Nobody sees the true function behind data, so confidence intervals cannot be checked on the data
    themselves. This command builds a simulated twin of the table, whose true function is known. It
    fits what `confide fit` fits to many data sets drawn from the twin, calibrates the confidence
    intervals of each, and counts how often they cover. How to train is chosen once, on the first of
    these data sets. Prediction intervals are checked before calibration. The Brier score is the
    mean squared difference between the coverage at a row and the level: 0 is best.
    """
    if fast and model is not None:
        raise click.UsageError("--model has its own settings. Leave --fast out.")
    arguments.refuse_output(output, file, endings=arguments.PICTURES)
    with messages(), refusals(TargetError):
        meant = {"exclude": exclude, "categorical": categorical, "numeric": numeric}
        _, table = arguments.training_table(file, target, output, force=force, **meant)
        from confide.persistence import atomic_file
        from confide.workflow import check_table, compared, settings_of

        estimators = compared(fast=fast) if model is None else settings_of(model)
        n_rows, n_columns = min(rows, table.num_rows), table.num_columns
        member_epochs = sum(
            estimator.expected_epochs(n_rows, n_columns, simulations)
            for estimator in estimators.values()
        )
        need = of_fits(n_rows, n_columns, member_epochs, "tabular", n_members=5 * simulations)
        say_need(need, f"A check with {n_rows:,} rows and {n_columns:,} columns")
        with nullcontext() if output is None else atomic_file(output) as picture:
            checked = check_table(
                table,
                target,
                n_simulations=simulations,
                truth=truth.replace("-", "_"),
                most_rows=rows,
                estimators=estimators,
                seed=seed,
            )
            stop_if_asked()
            if output is not None and picture is not None:
                write_picture(checked.report.plot(), picture, output)
        for note in checked.notes:
            say(note, err=True)
        frame = checked.report.to_frame()
        if as_json:
            payload = {"coverage": arguments.json_rows(frame), "notes": checked.notes}
            say_json(payload)
            return
        say(*_shown(frame).split("\n"))
        say(*checked.report.verdict.split("\n"))
        say(ABOUT_PREDICTION)
        if output is not None:
            say(output, err=True)


def _shown(frame: "pd.DataFrame") -> str:
    """What fits a terminal; `--json` has the rest."""
    import pandas as pd

    percent = frame[["coverage", "coverage_se"]] * 100
    table = pd.DataFrame(
        {
            "method": frame["estimator"],
            "interval": frame["kind"],
            "level": [f"{100 * level:g} %" for level in frame["confidence_level"]],
            "coverage": [f"{c:.0f} ± {se:.1f} %" for c, se in percent.to_numpy()],
            "Brier score": [f"{score:.2g}" for score in frame["brier"]],
            "mean width": [f"{width:.3g}" for width in frame["width"]],
        }
    )
    return f"{table.to_string(index=False)}\n"
