"""`confide fit`: from a table to a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from confide.cli.arguments import (
    Factory,
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

if TYPE_CHECKING:
    from confide.estimators import IntervalRegressor

# The default of `BootstrappedEnsembleRegressor`; a test keeps them equal.
ROUNDS = 200
# Those of `confide.calibration`, which takes long to load; a test keeps them equal.
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
  confide fit houses.csv --target price --learner xgboost
  confide fit houses.csv --target price --network mynetworks:make --epochs 80
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
    "--learner",
    type=click.Choice(["network", "xgboost", "lightgbm"]),
    default="network",
    show_default=True,
    help="What to train: networks, or boosted trees (pip install 'confide[boosting]').",
)
@click.option(
    "--network",
    type=Factory(),
    default=None,
    help="A network of your own: make(key, n_features) returns an Equinox or Flax NNX module, "
    "make(n_features) a PyTorch module.",
)
@click.option(
    "--members",
    default=5,
    show_default=True,
    type=click.IntRange(min=2),
    help="Members to train; with more of them, confidence intervals narrow and fits take longer.",
)
@click.option(
    "--epochs",
    type=Epochs(),
    default=None,
    help="Passes over the data, or rounds of boosting. auto chooses for the best predictions; with "
    "80, as in the paper, confidence intervals cover better.  [default: auto; boosted trees: "
    f"{ROUNDS}]",
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
    learner: str,
    network: Callable[..., Any] | None,
    members: int,
    epochs: int | Literal["auto"] | None,
    honest: bool,
    simulations: int | None,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Fit a bootstrapped ensemble of networks, or of boosted trees, to the table in FILE.

    Numbers, categories, dates, yes or no, and missing values are taken as they are. A share of the
    rows is kept from training: the accuracy that is told is that on rows which the networks have
    not seen, and the prediction intervals are then calibrated on them. Confidence intervals are the
    method's own unless --honest calibrates them.
    """
    if simulations is not None and not honest:
        raise click.UsageError("--simulations is for --honest: add it, or leave both out.")
    _refuse_learner(learner, network, epochs)
    refuse_name(output, file)
    with messages(), refusals(TargetError), refusals(TwinError):
        source = table_with_target(file, target)
        # Last of what is told at once: --force is no answer to a misspelt target.
        refuse_overwriting(output, force)
        with starting():
            from confide.workflow import fit_table, without_columns

        table = without_columns(source.read(), exclude)
        estimator = _estimator(
            learner, network, epochs, n_members=members, random_state=seed, verbose=True
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


def _refuse_learner(
    learner: str, network: Callable[..., Any] | None, epochs: int | Literal["auto"] | None
) -> None:
    """What cannot be meant together is told before anything is read."""
    if learner == "network":
        return
    if network is not None:
        raise click.UsageError(f"--network is for networks: leave out --learner {learner}.")
    if epochs == "auto":
        raise click.UsageError(f"--epochs auto is for networks: pass a number for {learner}.")


def _estimator(
    learner: str,
    network: Callable[..., Any] | None,
    epochs: int | Literal["auto"] | None,
    **how: Any,
) -> "IntervalRegressor":
    from confide import BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor

    if learner != "network":
        rounds = ROUNDS if epochs is None else int(epochs)
        return BootstrappedEnsembleRegressor(learner=learner, max_epochs=rounds, **how)
    return BootstrappedDeepEnsembleRegressor(
        network="paper" if network is None else network, max_epochs=epochs or "auto", **how
    )
