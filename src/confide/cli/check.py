"""`confide check`: would these intervals cover on data like mine?"""

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from confide.budget import of_fits
from confide.cli import arguments
from confide.cli.pictures import write_picture
from confide.cli.session import messages, refusals, say, say_json, say_need, stop_if_asked
from confide.errors import TargetError

if TYPE_CHECKING:
    import pandas as pd

BEFORE_CALIBRATION = (
    "All intervals are those before calibration. `confide fit` calibrates the prediction "
    "intervals and, with --calibrate-confidence, the confidence intervals too."
)


@click.command(
    epilog="""\b
Examples:
  confide check houses.csv --target price
  confide check houses.csv --target price --simulations 100 -o coverage.png
  confide check houses.parquet --target price --rows 500 --json"""
)
@arguments.training_options
@arguments.output_option(None, "File for a picture of the coverage at each row (png, svg or pdf).")
@arguments.count_option(
    "--simulations", 20, 1, "Simulated data sets. With 20, coverage is known to within 2 points."
)
@arguments.count_option("--rows", 1000, 20, "Use at most this many rows, chosen at random.")
def check(
    file: str,
    target: str,
    output: Path | None,
    simulations: int,
    rows: int,
    exclude: list[str],
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Check how often both kinds of intervals would cover on data like FILE.

    Nobody sees the true function behind data, so confidence intervals cannot be checked on the data
    themselves. This command builds a simulated twin of the table, whose true function is known. It
    fits the bootstrapped deep ensemble and two other methods to many data sets drawn from the twin,
    and counts how often their intervals cover. The number of epochs is chosen once, on the
    first of these data sets. Prediction intervals are checked before calibration. The Brier score
    is the mean squared difference between the coverage at a row and the level: 0 is best.
    """
    arguments.refuse_output(output, file, endings=arguments.PICTURES)
    with messages(), refusals(TargetError):
        _, table = arguments.training_table(file, target, exclude, output, force=force)
        from confide.persistence import atomic_file
        from confide.workflow import check_table, compared

        n_rows, n_columns = min(rows, table.num_rows), table.num_columns
        member_epochs = sum(
            estimator.expected_epochs(n_rows, n_columns, simulations)
            for estimator in compared().values()
        )
        say_need(of_fits(n_rows, n_columns, member_epochs, "tabular"))
        with nullcontext() if output is None else atomic_file(output) as picture:
            checked = check_table(
                table, target, n_simulations=simulations, most_rows=rows, seed=seed
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
        say(BEFORE_CALIBRATION)
        if output is not None:
            say(output, err=True)
        if checked.advises_calibration and file != "-":
            command = ["fit", file, "--target", target, "--calibrate-confidence"]
            say(f"Next: confide {shlex.join(command)}", err=True)


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
