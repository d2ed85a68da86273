"""`confide fit`: from a table to a model."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from confide.budget import of_fits
from confide.cli import arguments
from confide.cli.session import (
    errors_of,
    messages,
    refusals,
    say,
    say_json,
    say_need,
    stop_if_asked,
)
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
        return click.IntRange(1, arguments.MOST).convert(value, param, ctx)


@click.command(
    epilog="""\b
Examples:
  confide fit houses.csv --target price
  confide fit houses.parquet --target price -o houses.confide --exclude id,url
  confide fit houses.csv --target price --calibrate-confidence
  confide fit houses.csv --target price --recipe paper
  confide fit houses.csv --target price --learner xgboost
  confide fit houses.csv --target price --network mynetworks:make --epochs 80
  zcat houses.csv.gz | confide fit - --target price --members 20"""
)
@arguments.training_options
@arguments.output_option("model.confide", "File for the model.")
@click.option(
    "--hold-out",
    type=arguments.Within(0, 0.9),
    default=0.2,
    show_default=True,
    help="Share of the rows to hold out, to judge the model and to calibrate it.",
)
@click.option(
    "--learner",
    type=click.Choice(["network", "xgboost", "lightgbm"]),
    default="network",
    show_default=True,
    help="What to train: networks, or boosted trees (pip install 'confide[boosting]').",
)
@click.option(
    "--recipe",
    type=click.Choice(["tabular", "paper"]),
    help="Which networks, and how they are trained: for tables of all kinds, or as in the paper, "
    "which is faster and predicts worse on most tables.  [default: tabular]",
)
@click.option(
    "--network",
    type=arguments.Factory(),
    help="A network of your own: make(key, n_features) returns an Equinox or Flax NNX module, "
    "make(n_features) a PyTorch module.",
)
@arguments.count_option(
    "--members",
    5,
    2,
    "Members to train. More of them give narrower confidence intervals, and take longer.",
)
@click.option(
    "--epochs",
    type=Epochs(),
    help="Passes over the data, or rounds of boosting. auto chooses for the best predictions.  "
    f"[default: auto; boosted trees: {ROUNDS}]",
)
@click.option(
    "--calibrate-confidence",
    is_flag=True,
    help="Calibrate the confidence intervals too. Networks are biased where the true function is "
    "rough, and their own confidence intervals do not show it. This option fits further "
    "ensembles to simulated twins of the training rows, 20 by default. Training and predicting "
    "then take about 20 times as long; on small tables, most of the time is start-up, which "
    "does not change.",
)
@click.option("--honest", is_flag=True, hidden=True)
@arguments.count_option(
    "--simulations",
    None,
    FEWEST_SIMULATIONS,
    "Simulated twins for --calibrate-confidence. More of them give more precise widths.  "
    f"[default: {SIMULATIONS}]",
)
def fit(
    file: str,
    target: str,
    output: Path,
    exclude: list[str],
    hold_out: float,
    learner: str,
    recipe: Literal["tabular", "paper"] | None,
    network: Callable[..., Any] | None,
    members: int,
    epochs: int | Literal["auto"] | None,
    calibrate_confidence: bool,
    honest: bool,
    simulations: int | None,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Fit a bootstrapped ensemble of networks, or of boosted trees, to the table in FILE.

    The columns may be numbers, categories, dates or booleans, with missing values. A share of the
    rows is held out. The model is judged on these rows, and its prediction intervals are then
    calibrated on them. Confidence intervals are only calibrated with --calibrate-confidence.
    """
    if honest:
        say("--honest is now --calibrate-confidence; the old name will be removed.", err=True)
        calibrate_confidence = True
    if simulations is not None and not calibrate_confidence:
        raise click.UsageError(
            "--simulations needs --calibrate-confidence. Add it, or leave both out."
        )
    _refuse_learner(learner, recipe, network, epochs)
    arguments.refuse_output(output, file)
    with messages("", *errors_of(network)), refusals(TargetError, TwinError):
        name, table = arguments.training_table(file, target, exclude, output, force=force)
        from confide.persistence import atomic_file
        from confide.workflow import fit_table

        how: dict[str, Any] = {
            "recipe": recipe,
            "n_members": members,
            "random_state": seed,
            "verbose": True,
        }
        model = _estimator(learner, network, epochs, **how)
        kind = "trees" if learner != "network" else recipe or "tabular"
        known = model
        if network is not None:  # nothing is known of it: it counts as the paper's
            kind = "paper"
            known = _estimator(learner, None, epochs, **{**how, "recipe": kind})
        n_fits = 1 + calibrate_confidence * (simulations or SIMULATIONS)
        n_rows, n_columns = table.num_rows, table.num_columns
        member_epochs = known.expected_epochs(n_rows, n_columns, n_fits)
        say_need(of_fits(n_rows, n_columns, member_epochs, kind))
        with atomic_file(output) as kept:  # opened first: who trains for hours must not lose all
            fitted = fit_table(
                table,
                target,
                model,
                file=name,
                hold_out=hold_out,
                seed=seed,
                calibrate_confidence=calibrate_confidence,
                n_simulations=SIMULATIONS if simulations is None else simulations,
            )
            stop_if_asked()
            fitted.model.save(kept)
        for note in fitted.notes:
            say(note, err=True)
        for warning in fitted.warnings:
            say(f"Warning: {warning}", err=True, fg="yellow")
        say(fitted.judgement, err=True)
        if as_json:
            say_json({"model": str(output), **fitted.to_json()})
        else:
            say(output)
        if file != "-":
            say(f"Next: confide report {output} {file}", err=True)


def _refuse_learner(
    learner: str,
    recipe: Literal["tabular", "paper"] | None,
    network: Callable[..., Any] | None,
    epochs: int | Literal["auto"] | None,
) -> None:
    """Options that exclude each other are refused before anything is read."""
    if recipe is not None and (learner, network) != ("network", None):
        raise click.UsageError("--recipe has its own networks. Leave the other option out.")
    if learner == "network":
        return
    if network is not None:
        raise click.UsageError(f"--network needs networks. Leave out --learner {learner}.")
    if epochs == "auto":
        raise click.UsageError(f"--epochs auto needs networks. Pass a number for {learner}.")


def _estimator(
    learner: str,
    network: Callable[..., Any] | None,
    epochs: int | Literal["auto"] | None,
    *,
    recipe: Literal["tabular", "paper"] | None,
    **how: Any,
) -> "IntervalRegressor":
    from confide import BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor

    if learner != "network":
        rounds = ROUNDS if epochs is None else int(epochs)
        return BootstrappedEnsembleRegressor(learner=learner, max_epochs=rounds, **how)
    return BootstrappedDeepEnsembleRegressor(
        recipe=recipe or "tabular",
        network=network,
        max_epochs="auto" if epochs is None else epochs,
        **how,
    )
