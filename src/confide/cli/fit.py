"""`confide fit`: from a table to a model."""

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from confide.budget import of_fits, of_worker
from confide.cli import arguments
from confide.cli.session import (
    errors_of,
    messages,
    refusals,
    say,
    say_json,
    say_need,
    say_next,
    say_worker,
    say_written,
    stop_if_asked,
)
from confide.errors import TargetError, TwinError

if TYPE_CHECKING:
    from confide.estimators import IntervalRegressor
    from confide.workflow import FittedTable, FittedTargets

# The first is the default; the last two have their own networks, and no recipe.
METHODS = (
    *("bootstrapped-deep-ensemble", "deep-ensemble", "naive-bootstrap"),
    *("concrete-dropout", "quality-driven-ensemble"),
)
WITHOUT_RECIPE = METHODS[3:]
# The default of `BootstrappedEnsembleRegressor`; a test keeps them equal.
ROUNDS = 200
# Those of `confide.calibration`, which takes long to load; a test keeps them equal.
FEWEST_SIMULATIONS, SIMULATIONS = 10, 20
# `MOST_MEMBERS_PER_BLOCK` of `confide.learners`, which takes long to load.
MEMBERS_OF_A_PIECE = 8


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


class Bounds(click.ParamType):  # type: ignore[type-arg]
    """The lowest and the highest value that a target can have; either may be left out."""

    name = "low,high"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float | None, float | None]:
        """The two."""
        with contextlib.suppress(ValueError):
            self.fail(
                f"{float(value):g} is one number, and two ends are needed. Write `--bounds "
                f"{value},` for a lowest value alone, with the comma, and `--bounds ,{value}` for "
                "a highest one.",
                param,
                ctx,
            )
        try:
            low, high = (float(end) if end.strip() else None for end in str(value).split(","))
        except ValueError:
            self.fail(
                f"{value!r} must be two numbers with a comma between them, such as 0,100. Leave "
                "one out for no bound on its side.",
                param,
                ctx,
            )
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
        if not ends[0] < ends[1]:  # not a number is in no order
            self.fail(
                f"{value!r} must be a lower and a higher number. Write `--bounds 0,` for targets "
                "that cannot be negative.",
                param,
                ctx,
            )
        return low, high


@click.command(
    epilog="""\b
Examples:
  confide fit houses.csv --target price
  confide fit houses.parquet --target price -o houses.confide --id number --exclude url
  confide fit houses.csv --target price --categorical district,heating
  confide fit hotel.csv --target price --hold-out-by date
  confide fit visits.csv --target pressure --group patient
  confide fit houses.csv --target price --target rent
  confide fit houses.csv --target price --fast
  confide fit houses.csv --target price --recipe paper
  confide fit houses.csv --target price --learner xgboost
  confide fit houses.csv --target price --method deep-ensemble
  confide fit houses.csv --target price --transform log --bounds 0,
  confide fit houses.csv --target price --network mynetworks:make --epochs 80
  confide fit houses.parquet --target price --engine ray --address 10.0.0.1:6379
  zcat houses.csv.gz | confide fit - --target price --members 20"""
)
@arguments.training_options
@arguments.names_option(
    "--id",
    "Columns that name the rows. They are shown beside predictions, and are not learnt from.",
)
@arguments.output_option("model.confide", "File for the model.")
@click.option(
    "--hold-out",
    type=arguments.Within(0, 0.9),
    default=0.2,
    show_default=True,
    help="Share of the rows to hold out, to judge the model and to calibrate it.",
)
@click.option(
    "--hold-out-by",
    type=arguments.ColumnName(),
    help="Hold out the last rows by this column of dates or numbers, instead of random ones. Use "
    "it if the model is to predict later rows.",
)
@click.option(
    "--group",
    type=arguments.ColumnName(),
    help="Hold out all rows of a group or none. Use it if the model is to predict other groups, "
    "such as other patients. The column itself is not used to predict.",
)
@arguments.choice_option(
    "--method", METHODS, "How intervals are made. The other methods are for comparison."
)
@arguments.choice_option(
    "--learner",
    ["network", "xgboost", "lightgbm"],
    "What to train: networks, or boosted trees (pip install 'confide[boosting]').",
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
@click.option(
    "--transform",
    type=click.Choice(["log", "sqrt", "yeo-johnson", "auto"]),
    help="Train on a transformed target, for example for prices, counts and incomes. Predictions "
    "are in the units of the target. auto chooses on held-out rows.",
)
@click.option(
    "--bounds",
    type=Bounds(),
    help="The lowest and highest value that the target can have, such as 0,100. Leave one "
    "out for no bound on its side, but keep the comma.",
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
    "--fast",
    is_flag=True,
    help="Do not calibrate the confidence intervals, which takes most of the time. They are then "
    "too narrow where the true function is rough: models are biased there, and a single fit does "
    "not show it.",
)
@click.option(
    "--calibrate-confidence",
    is_flag=True,
    help="Calibrate confidence intervals on simulated twins of the training rows also with boosted "
    "trees, --recipe paper or a network of your own. The default networks do so without this "
    "option.",
)
@click.option("--honest", is_flag=True, hidden=True)
@arguments.count_option(
    "--simulations",
    None,
    FEWEST_SIMULATIONS,
    "Simulated twins to calibrate confidence intervals on. More of them give steadier widths.  "
    f"[default: {SIMULATIONS}, or {FEWEST_SIMULATIONS} with more than 5,000 rows]",
)
@arguments.engine_options
def fit(
    file: str,
    targets: tuple[str, ...],
    id: list[str],  # noqa: A002
    output: Path,
    exclude: list[str],
    categorical: list[str],
    numeric: list[str],
    hold_out: float,
    hold_out_by: str | None,
    group: str | None,
    method: str,
    learner: str,
    recipe: Literal["tabular", "paper"] | None,
    network: Callable[..., Any] | None,
    transform: str | None,
    bounds: tuple[float | None, float | None] | None,
    members: int,
    epochs: int | Literal["auto"] | None,
    fast: bool,
    calibrate_confidence: bool,
    honest: bool,
    simulations: int | None,
    engine: str,
    address: str | None,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Fit a bootstrapped ensemble of networks, or of boosted trees, to the table in FILE.

    FILE may be a folder, or a quoted pattern, of Parquet files with the same columns.

    The columns may be numbers, categories, text, dates or booleans, with missing values. A share of
    the rows is held out. The model is judged on these rows, and its prediction intervals are then
    calibrated on them. Confidence intervals are calibrated on simulated twins of the other rows.
    """
    if honest:
        say("--honest is now --calibrate-confidence; the old name will be removed.", err=True)
        calibrate_confidence = True
    if fast and (calibrate_confidence or simulations is not None):
        raise click.UsageError(
            "--fast leaves out the calibration of confidence intervals, which the other option "
            "asks for. Leave one of them out."
        )
    _refuse_named_twice({"--target": targets, "--id": id, "--exclude": exclude})
    _refuse_method(method, learner, recipe, network, epochs)
    _refuse_learner(learner, recipe, network, epochs)
    arguments.refuse_output(output, file)
    workers = arguments.chosen_engine(engine, address)
    shown, refused = messages("", *errors_of(network)), refusals(TargetError, TwinError)
    with shown, refused, workers.connected():
        # What rows are held out by is needed, though it may be excluded.
        needed = [name for name in exclude if name in (hold_out_by, group)]
        unneeded = [name for name in exclude if name not in needed]
        name, table = arguments.training_table(
            *(file, targets, output),
            force=force,
            may_be_long=(learner, network, len(targets)) == ("network", None, 1)
            and method != "naive-bootstrap",
            exclude=unneeded,
            categorical=categorical,
            numeric=numeric,
        )
        from confide.persistence import atomic_file
        from confide.tables import public

        # Before it is said how long the fit will take.
        _refuse_at_once(table, targets, learner, hold_out_by=hold_out_by, group=group)
        how: dict[str, Any] = {
            "recipe": recipe,
            "n_members": members,
            "random_state": seed,
            "verbose": True,
            "target_transform": transform,
            "bounds": bounds,
            "engine": workers,
        }
        by_default = (learner, network, recipe or "tabular") == ("network", None, "tabular")
        by_default &= method not in WITHOUT_RECIPE
        n_further = getattr(table, "n_further", 0)
        # The fit calibrates by itself, but for another number of simulations; a fit from disk does
        # not, and refuses to.
        calibrate_confidence &= not by_default or n_further > 0
        calibrate_confidence |= simulations is not None
        if by_default and (fast or calibrate_confidence or n_further):
            how["calibration"] = None
        model = _estimator(method, learner, network, epochs, **how)
        kind = "trees" if learner != "network" else recipe or "tabular"
        kind = "paper" if method in WITHOUT_RECIPE else kind
        known = model
        if network is not None:  # nothing is known of it: it counts as the paper's
            kind = "paper"
            known = _estimator(method, learner, None, epochs, **{**how, "recipe": kind})
        n_fits = 1 + calibrate_confidence * ((simulations or SIMULATIONS) // 5)
        _say_needs(table, known, kind, n_targets=len(targets), n_fits=n_fits, engine=engine)
        with atomic_file(output) as kept:  # opened first: who trains for hours must not lose all
            of_fit: dict[str, Any] = {
                "file": name,
                "hold_out": hold_out,
                "hold_out_by": hold_out_by,
                "group": group,
                "exclude": needed,
                "seed": seed,
                "ids": id,
                "calibrate_confidence": calibrate_confidence,
                "n_simulations": simulations,
            }
            fitted = _fitted(table, targets, model, **of_fit)
            stop_if_asked()
            fitted.model.save(kept)
        for each in getattr(fitted, "targets", {targets[0]: fitted}).values():
            _say_verdict(each, named=len(targets) > 1)
        if as_json:
            say_json({"model": str(output), **fitted.to_json()})
        else:
            say_written(output)
        # A command with secrets in it is not printed.
        if file != "-" and output.is_file() and public(file) == file:
            own = click.get_current_context().meta.get(arguments.GIVEN_NETWORK)
            say_next("report", output, file, network=own, force=force)


def _refuse_at_once(table: Any, targets: Sequence[str], learner: str, **held: str | None) -> None:
    """What the fit would refuse, and what is quickly seen."""
    from confide.workflow import refuse_before_fit

    library = None if learner == "network" else learner
    refuse_before_fit(table, targets, **held, library=library)


def _say_needs(
    table: Any, model: "IntervalRegressor", kind: str, *, n_targets: int, n_fits: int, engine: str
) -> None:
    """How long the fit will take and how much memory, where that is worth saying.

    Args:
        table: what is learnt from.
        model: what is fitted.
        kind: of its members.
        n_targets: how many there are.
        n_fits: fits to each, those to simulated twins included.
        engine: where members are trained.
    """
    in_memory, n_further = getattr(table, "sample", table), getattr(table, "n_further", 0)
    from confide.workflow import about_features

    n_rows, n_columns = shape = in_memory.num_rows, in_memory.num_columns
    n_features, n_indicators = about_features(in_memory)
    n_members = model.settings().n_members
    member_epochs = n_targets * model.expected_epochs(n_rows, n_features, n_fits)
    how = {"n_members": n_fits * n_members, "n_indicators": n_indicators}
    need = of_fits(n_rows, n_features, member_epochs, kind, **how)
    if n_further:  # members and their retraining pass over all rows once
        on_disk = of_fits(n_further, n_features, 2 * n_members, kind, n_indicators=n_indicators)
        need = need._replace(seconds=need.seconds + on_disk.seconds)
    say_need(need, f"Learning from {n_rows:,} rows and {n_columns:,} columns")
    say_worker(of_worker(shape, MEMBERS_OF_A_PIECE), engine)


def _fitted(
    table: Any, targets: Sequence[str], model: "IntervalRegressor", **how: Any
) -> "FittedTable | FittedTargets":
    from confide.workflow import fit_table, fit_targets

    if len(targets) == 1:
        return fit_table(table, targets[0], model, **how)
    return fit_targets(table, targets, model, **how)


def _say_verdict(fitted: "FittedTable", *, named: bool) -> None:
    """Whether the model is any good, then the other warnings and what happened on the way."""
    if named:
        say(f"Target {fitted.target!r}:", err=True)
    say(*fitted.verdict, err=True)
    for warning in fitted.warnings[1:]:  # the first is in the verdict
        say(f"Warning: {warning}", err=True, fg="yellow")
    say(*fitted.notes, err=True)


def _refuse_named_twice(options: dict[str, Sequence[str]]) -> None:
    """A column that several of these options name is refused before anything is read."""
    for first, second in itertools.combinations(options, 2):
        for name in options[first]:
            if name in options[second]:
                raise click.UsageError(
                    f"{name!r} is named twice, by {first} and by {second}. Name it by one of them: "
                    "neither is learnt from."
                )


def _refuse_method(
    method: str,
    learner: str,
    recipe: Literal["tabular", "paper"] | None,
    network: Callable[..., Any] | None,
    epochs: int | Literal["auto"] | None,
) -> None:
    """Options that a method does not have are refused before anything is read."""
    if learner != "network" and method != METHODS[0]:
        raise click.UsageError(f"--learner {learner} needs --method {METHODS[0]}. Leave one out.")
    if method not in WITHOUT_RECIPE:
        return
    at_once = {"--recipe": recipe, "--network": network, "--epochs auto": epochs == "auto" or None}
    for option, given in at_once.items():
        if given is not None:
            raise click.UsageError(f"--method {method} has no {option}. Leave one of them out.")


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
    method: str,
    learner: str,
    network: Callable[..., Any] | None,
    epochs: int | Literal["auto"] | None,
    *,
    recipe: Literal["tabular", "paper"] | None,
    **how: Any,
) -> "IntervalRegressor":
    from confide.estimators import ESTIMATORS

    if learner != "network":
        rounds = ROUNDS if epochs is None else int(epochs)
        trees = ESTIMATORS["BootstrappedEnsembleRegressor"]
        return trees(learner=learner, max_epochs=rounds, **how)
    chosen = ESTIMATORS[f"{method.title().replace('-', '')}Regressor"]
    if method in WITHOUT_RECIPE:
        how |= {} if epochs is None else {"max_epochs": epochs}
        known = chosen().get_params()
        return chosen(**{name: value for name, value in how.items() if name in known})
    length = "auto" if epochs is None else epochs
    return chosen(recipe=recipe or "tabular", network=network, max_epochs=length, **how)
