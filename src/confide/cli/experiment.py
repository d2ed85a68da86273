"""`confide experiment`: the paper's tables and figures, made anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


@click.group(
    epilog="""\b
Examples:
  confide experiment list
  confide experiment run experiment-1 --quick
  confide experiment run experiment-1 --sets boston,yacht --methods BDE,DE
  confide experiment show experiment-1"""
)
def experiment() -> None:
    """Run the paper's experiments, look at them, make the report.

    A run is a folder under `--runs`; it can be stopped at any time and goes on where it was.
    """


def _listed(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]


runs_option = click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder that holds the runs, one folder each.",
)


@experiment.command("list")
def list_() -> None:
    """Name every experiment, with what it is in the paper."""
    from confide.experiments import EXPERIMENTS

    for name, each in EXPERIMENTS.items():
        click.echo(f"{name:22s}{each.title}\n{'':22s}[{each.paper}]")


@experiment.command(
    epilog="""\b
Examples:
  confide experiment run experiment-1 --quick
  confide experiment run experiment-1 --sets boston --methods BDE,DE --simulations 20
  confide experiment run experiment-1 --methods QDE --levels 0.8
  confide experiment run experiment-1 --engine ray --address auto"""
)
@click.argument("name")
@click.option("--quick", is_flag=True, help="A taste of it: small, in a folder of its own.")
@click.option("--sets", callback=_listed, help="Data sets, as boston,yacht.")
@click.option("--methods", callback=_listed, help="Methods, as BDE,DE.")
@click.option("--levels", callback=_listed, help="Confidence levels, as 0.8,0.95.")
@click.option("--simulations", type=click.IntRange(min=1), help="Simulated data sets.")
@click.option("--seed", type=int, help="Same seed, same numbers.")
@click.option(
    "--engine",
    type=click.Choice(["in-process", "ray"]),
    default="in-process",
    show_default=True,
    help="What runs it: this process on all cores, or Ray. The numbers are the same.",
)
@click.option("--address", help="Of a Ray cluster; without it, Ray is started on this machine.")
@runs_option
def run(
    name: str,
    quick: bool,
    sets: list[str] | None,
    methods: list[str] | None,
    levels: list[str] | None,
    simulations: int | None,
    seed: int | None,
    engine: str,
    address: str | None,
    runs: Path,
) -> None:
    """Run an experiment; what is there is not run again."""
    from rich.console import Console

    from confide.experiments import Display, cells_of, open_run

    if address is not None and engine != "ray":
        raise click.UsageError("--address is that of a Ray cluster: add --engine ray.")
    with _messages():
        try:
            chosen = _experiment(name)
            start = chosen.quick if quick else chosen.whole
            options = start.shrunk(
                chosen.whole,
                sets=sets,
                methods=methods,
                levels=None if levels is None else [float(level) for level in levels],
                simulations=simulations,
                seed=seed,
            )
            folder = open_run(chosen, options, runs / (f"{chosen.name}-quick" if quick else name))
            cells = cells_of(chosen, options, folder)
            missing = [cell for cell in cells if folder.saved(cell) is None]
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        chosen_engine = _engine(engine, address)
        with Display(chosen, cells, missing, Console(stderr=True)) as display:
            chosen_engine.run(missing, folder, display)
    click.echo(folder.path)


@contextmanager
def _messages() -> Iterator[None]:
    """What can go wrong with a run, as a line for people."""
    from confide.experiments import LostCellError

    kept = "Finished cells are kept; the same command goes on from there."
    try:
        yield
    except (ModuleNotFoundError, OSError, ValueError, LostCellError) as error:
        raise click.ClickException(f"{str(error).rstrip('.')}. {kept}") from None
    except KeyboardInterrupt:
        click.echo(f"Stopped. {kept}", err=True)
        raise SystemExit(130) from None  # 128 + SIGINT, as shells have it


def _engine(name: str, address: str | None) -> Any:
    from confide.experiments import InProcess, RayCluster

    return RayCluster(address) if name == "ray" else InProcess()


def _experiment(name: str) -> Any:
    from confide.experiments import EXPERIMENTS

    return EXPERIMENTS[name]
