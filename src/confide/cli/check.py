"""`confide check`: would these intervals cover on data like mine?"""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from confide.cli.arguments import (
    exclude_option,
    force_option,
    json_option,
    output_option,
    refuse_name,
    refuse_overwriting,
    seed_option,
    table_argument,
    table_with_target,
    target_option,
)
from confide.cli.messages import messages, refusals
from confide.cli.session import starting, stop_if_asked
from confide.errors import TargetError

if TYPE_CHECKING:
    import pandas as pd

PICTURES = (".png", ".svg", ".pdf")
BEFORE_CALIBRATION = (
    "All are the methods' own, before calibration: `confide fit` calibrates the prediction "
    "intervals, and with --honest the confidence intervals too."
)


@click.command(
    epilog="""\b
Examples:
  confide check houses.csv --target price
  confide check houses.csv --target price --simulations 100 -o coverage.png
  confide check houses.parquet --target price --rows 500 --json"""
)
@table_argument
@target_option
@output_option(None, "Where to draw the pointwise coverages (png, svg or pdf).")
@click.option(
    "--simulations",
    default=20,
    show_default=True,
    type=click.IntRange(min=1),
    help="Simulated data sets; 20 tell a mean coverage to about 2 points.",
)
@click.option(
    "--rows",
    default=1000,
    show_default=True,
    type=click.IntRange(min=20),
    help="At most so many rows are used, chosen at random.",
)
@exclude_option
@seed_option
@json_option
@force_option
def check(
    file: str | Path,
    target: str,
    output: Path | None,
    simulations: int,
    rows: int,
    exclude: list[str],
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """See how well both kinds of intervals would cover on data like FILE.

    The true function behind data is never seen, so no confidence interval can be checked on them.
    This builds a simulated twin of the table, whose true function is known, fits the bootstrapped
    deep ensemble and its rivals to many data sets drawn from it, and counts how often their
    intervals hold the truth. The number of epochs is chosen once, on the first of these data sets,
    and prediction intervals are looked at as they are before calibration. The Brier score is the
    mean squared distance of the coverage at a row from the level: 0 is best.
    """
    refuse_name(output, file, endings=PICTURES)
    with messages(), refusals(TargetError):
        source = table_with_target(file, target)
        refuse_overwriting(output, force)
        with starting():
            from confide.workflow import check_table, without_columns

        table = without_columns(source.read(), exclude)
        checked = check_table(table, target, n_simulations=simulations, most_rows=rows, seed=seed)
        stop_if_asked()
        if output is not None:
            checked.report.plot().savefig(output, dpi=150)
        for note in checked.notes:
            click.echo(note, err=True)
        frame = checked.report.to_frame()
        if as_json:
            rows_of = json.loads(frame.to_json(orient="records"))
            click.echo(json.dumps({"coverage": rows_of, "notes": checked.notes}, indent=2))
            return
        click.echo(_shown(frame))
        click.echo(checked.report.verdict)
        click.echo(BEFORE_CALIBRATION)
        if output is not None:
            click.echo(output, err=True)
        if checked.asks_for_honesty and file != "-":
            next_step = shlex.join(["fit", str(file), "--target", target, "--honest"])
            click.echo(f"Next: confide {next_step}", err=True)


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
