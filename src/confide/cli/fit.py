"""`confide fit`: from a table to a model."""

import json
from pathlib import Path
from typing import Any, Literal

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
from confide.errors import TargetError, TwinError

# Those of `confide.honest`, which takes long to load; a test keeps them equal.
FEWEST_SIMULATIONS, SIMULATIONS = 10, 20


class Epochs(click.ParamType):  # type: ignore[type-arg]
    """A number of epochs, or "auto"."""

    name = "auto|number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["auto"]:
        """Either of the two."""
        if value == "auto":
            return "auto"
        return click.IntRange(min=1).convert(value, param, ctx)


@click.command(
    epilog="""\b
Examples:
  confide fit houses.csv --target price
  confide fit houses.parquet --target price -o houses.confide --exclude id,url
  confide fit houses.csv --target price --honest
  zcat houses.csv.gz | confide fit - --target price --members 20"""
)
@table_argument
@target_option
@output_option("model.confide", "Where to keep the model.")
@exclude_option
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 0.9),
    default=0.2,
    show_default=True,
    help="Share of the rows to keep from training, to judge and calibrate with.",
)
@click.option(
    "--members",
    default=5,
    show_default=True,
    type=click.IntRange(min=2),
    help="Networks to train; with more of them, confidence intervals narrow and fits take longer.",
)
@click.option(
    "--epochs",
    type=Epochs(),
    default="auto",
    show_default=True,
    help="Passes over the data. auto chooses for the best predictions; with 80, as in the paper, "
    "confidence intervals cover better.",
)
@click.option(
    "--honest",
    is_flag=True,
    help="Calibrate the confidence intervals too. Networks err systematically where the truth is "
    "rough, and their own confidence intervals do not know it. This fits further ensembles to "
    "simulated twins of the training rows, 20 by default: the networks' part of the time, which is "
    "the smaller one for small tables, grows 20-fold, in fits and in predictions.",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=FEWEST_SIMULATIONS),
    default=None,
    help="Simulated twins for --honest; more of them tell better how wide confidence intervals "
    f"must be.  [default: {SIMULATIONS}]",
)
@seed_option
@json_option
@force_option
def fit(
    file: str | Path,
    target: str,
    output: Path,
    exclude: list[str],
    hold_out: float,
    members: int,
    epochs: int | Literal["auto"],
    honest: bool,
    simulations: int | None,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Fit a bootstrapped deep ensemble to the table in FILE.

    Numbers, categories, dates, yes or no, and missing values are taken as they are. A share of the
    rows is kept from training: the accuracy that is told is that on rows which the networks have
    not seen, and the prediction intervals are then calibrated on them. Confidence intervals are the
    method's own unless --honest calibrates them.
    """
    if simulations is not None and not honest:
        raise click.UsageError("--simulations is for --honest: add it, or leave both out.")
    refuse_name(output, file)
    with messages(), refusals(TargetError), refusals(TwinError):
        source = table_with_target(file, target)
        # Last of what is told at once: --force is no answer to a misspelt target.
        refuse_overwriting(output, force)
        with starting():
            from confide import BootstrappedDeepEnsembleRegressor
            from confide.workflow import fit_table, without_columns

        table = without_columns(source.read(), exclude)
        estimator = BootstrappedDeepEnsembleRegressor(
            n_members=members, max_epochs=epochs, random_state=seed, verbose=True
        )
        fitted = fit_table(
            table,
            target,
            estimator,
            file=Path(source.name).name,
            hold_out=hold_out,
            seed=seed,
            honest=honest,
            n_simulations=SIMULATIONS if simulations is None else simulations,
        )
        stop_if_asked()
        fitted.model.save(output)
        for note in fitted.notes:
            click.echo(note, err=True)
        for warning in fitted.warnings:
            click.secho(f"Warning: {warning}", err=True, fg="yellow")
        click.echo(fitted.judgement, err=True)
        if as_json:
            click.echo(json.dumps({"model": str(output), **fitted.to_json()}, indent=2))
        else:
            click.echo(output)
        if file != "-":
            click.echo(f"Next: confide report {output} {file}", err=True)
