"""`confide check`: would these intervals cover on data like mine?"""

import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    say_worker,
    stop_if_asked,
)
from confide.errors import TargetError

if TYPE_CHECKING:
    import pandas as pd

    from confide.workflow import CheckedTable

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
  confide check houses.parquet --target price --rows 500 --json
  confide check houses.csv --target price --engine ray --address 10.0.0.1:6379"""
)
@arguments.training_options
@arguments.output_option(None, "File for a picture of the coverage at each row (png, svg or pdf).")
@arguments.count_option(
    "--simulations", 20, 1, "Simulated data sets. With 20, coverage is known to within 2 points."
)
@arguments.choice_option(
    "--truth",
    ["random-forest", "gradient-boosting", "network"],
    "What to fit to the table and simulate from.",
)
@arguments.count_option("--rows", 1000, 20, "Use at most this many rows, chosen at random.")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="Check the method and settings of this model instead.",
)
@click.option(
    "--fast", is_flag=True, help="Check confidence intervals without calibration, which is faster."
)
@arguments.engine_options
def check(
    file: str,
    targets: tuple[str, ...],
    output: Path | None,
    simulations: int,
    truth: str,
    rows: int,
    model: Path | None,
    fast: bool,
    engine: str,
    address: str | None,
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
    if output is not None and len(targets) > 1:
        raise click.UsageError(
            "A picture shows one target. Leave out --output, or pass one --target."
        )
    read = (file,) if model is None else (file, model)
    arguments.refuse_output(output, *read, endings=arguments.PICTURES)
    workers = arguments.chosen_engine(engine, address)
    with messages(), refusals(TargetError), workers.connected():
        meant: dict[str, Any] = {"exclude": exclude, "categorical": categorical, "numeric": numeric}
        _, table = arguments.training_table(file, targets, output, force=force, **meant)
        from confide.persistence import atomic_file
        from confide.workflow import (
            about_features,
            check_table,
            compared,
            settings_of,
            without_others,
        )

        estimators = compared(fast=fast) if model is None else settings_of(model)
        n_rows, n_columns = min(rows, table.num_rows), table.num_columns
        n_features, n_indicators = about_features(table)
        member_epochs = sum(
            estimator.expected_epochs(n_rows, n_features, simulations)
            for estimator in estimators.values()
        )
        member_epochs *= len(targets)
        how = {"n_members": 5 * simulations, "n_indicators": n_indicators}
        need = of_fits(n_rows, n_features, member_epochs, "tabular", **how)
        say_need(need, f"A check with {n_rows:,} rows and {n_columns:,} columns")
        shape = n_rows, n_features
        say_worker(max(one.memory_of_fit(shape) for one in estimators.values()), engine)
        with nullcontext() if output is None else atomic_file(output) as picture:
            checks = {
                target: check_table(
                    without_others(table, target, targets),
                    target,
                    n_simulations=simulations,
                    truth=truth.replace("-", "_"),
                    most_rows=rows,
                    estimators=estimators,
                    seed=seed,
                    engine=workers,
                )
                for target in targets
            }
            stop_if_asked()
            if output is not None and picture is not None:
                write_picture(checks[targets[0]].report.plot(), picture, output)
        say(*dict.fromkeys(note for checked in checks.values() for note in checked.notes), err=True)
        for warning in dict.fromkeys(w for checked in checks.values() for w in checked.warnings):
            say(f"Warning: {warning}", err=True, fg="yellow")
        if as_json:
            payloads = {target: _payload(checked) for target, checked in checks.items()}
            say_json({"targets": payloads} if len(targets) > 1 else payloads[targets[0]])
            return
        for target, checked in checks.items():
            say(*([f"Target {target!r}:"] if len(targets) > 1 else []))
            say(*_shown(checked.report.to_frame()).split("\n"))
            say(*checked.report.verdict.split("\n"))
        say(ABOUT_PREDICTION)
        if output is not None:
            say(output, err=True)


def _payload(checked: "CheckedTable") -> dict[str, object]:
    """For other programs."""
    return {
        "coverage": arguments.json_rows(checked.report.to_frame()),
        "notes": checked.notes,
        "warnings": checked.warnings,
    }


def _shown(frame: "pd.DataFrame") -> str:
    """What fits a terminal; `--json` has the rest."""
    import pandas as pd

    from confide.document import rounded_alike

    percent = frame[["coverage", "coverage_se"]] * 100
    table = pd.DataFrame(
        {
            "method": frame["estimator"],
            "interval": frame["kind"],
            "level": [f"{100 * level:g} %" for level in frame["confidence_level"]],
            "coverage": [
                # One simulation does not tell how far others would be from it.
                f"{c:.0f} ± {se:.1f} %" if math.isfinite(se) else f"{c:.0f} %"
                for c, se in percent.to_numpy()
            ],
            "Brier score": [f"{score:.2g}" for score in frame["brier"]],
            "mean width": [rounded_alike(width)[0] for width in frame["width"]],
        }
    )
    return f"{table.to_string(index=False)}\n"
