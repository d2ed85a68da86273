"""`confide experiment`: the paper's tables and figures, made anew."""

import json
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
  confide experiment show experiment-1
  confide experiment report"""
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
  confide experiment run experiment-1 --methods QDE --levels 0.8"""
)
@click.argument("name")
@click.option("--quick", is_flag=True, help="A taste of it: small, in a folder of its own.")
@click.option("--sets", callback=_listed, help="Data sets, as boston,yacht.")
@click.option("--methods", callback=_listed, help="Methods, as BDE,DE.")
@click.option("--levels", callback=_listed, help="Confidence levels, as 0.8,0.95.")
@click.option("--simulations", type=click.IntRange(min=1), help="Simulated data sets.")
@click.option("--seed", type=int, help="Same seed, same numbers.")
@runs_option
def run(
    name: str,
    quick: bool,
    sets: list[str] | None,
    methods: list[str] | None,
    levels: list[str] | None,
    simulations: int | None,
    seed: int | None,
    runs: Path,
) -> None:
    """Run an experiment; what is there is not run again."""
    from rich.console import Console

    from confide.experiments import Display, InProcess, cells_of, open_run

    with _refusals():
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
        folder = open_run(chosen, options, _folder(runs, chosen, quick))
        cells = cells_of(chosen, options, folder)
        missing = [cell for cell in cells if folder.saved(cell) is None]
    console = Console(stderr=True)
    with Display(chosen, cells, missing, console) as display:
        InProcess().run(missing, folder, display)
    click.echo(folder.path)


@experiment.command(
    epilog="""\b
Examples:
  confide experiment show experiment-1
  confide experiment show experiment-1 --json"""
)
@click.argument("name")
@click.option("--quick", is_flag=True, help="Its small run.")
@click.option("--json", "as_json", is_flag=True, help="Its tables as JSON.")
@runs_option
def show(name: str, quick: bool, as_json: bool, runs: Path) -> None:
    """Say what an experiment is, how far its run has come, and what it found so far."""
    from confide.experiments import RunFolder
    from confide.report import Table, to_markdown

    with _refusals():
        chosen = _experiment(name)
        options = chosen.quick if quick else chosen.whole
        folder = RunFolder(_folder(runs, chosen, quick))
        finished = folder.all_saved()
        tables = list[Table]()
        if finished:
            findings = chosen.findings(finished)
            tables = _tables(findings.parts)
    if as_json:
        told = {table.name: table.frame.to_dict("records") for table in tables}
        click.echo(json.dumps(told, indent=2, default=str))
        return
    click.echo(f"{chosen.title}\n[{chosen.paper}]\n")
    for what in ("sets", "methods", "levels", "rows"):
        if values := getattr(options, what):
            click.echo(f"{what + ':':13s}{', '.join(map(str, values))}")
    click.echo(f"{'simulations:':13s}{options.simulations}")
    if not finished:
        click.echo(f"\nNo cell is finished in {folder.path}.")
        return
    hours = sum(saved.provenance["seconds"] for saved in finished) / 3600
    click.echo(f"\n{len(finished)} cells are finished in {folder.path}: {hours:.2f} h.\n")
    click.echo(findings.words)
    for table in tables:
        click.echo(f"\n{to_markdown(table)}", nl=False)


@experiment.command(
    epilog="""\b
Examples:
  confide experiment report
  confide experiment report --runs runs/experiment-1 -o table-1"""
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("report"),
    show_default=True,
    help="The folder to write: a page, tables as CSV and Markdown, figures as SVG.",
)
@runs_option
def report(output: Path, runs: Path) -> None:
    """Make a page of everything that is finished: from saved cells only."""
    from confide.experiments import document_of, runs_in
    from confide.report import write_document

    with _refusals():
        page = write_document(document_of(runs_in(runs)), output)
    click.echo(page)


def _tables(parts: Any) -> list[Any]:
    """The tables among the parts, from top to bottom."""
    from confide.report import Section, Table

    found = []
    for part in parts:
        if isinstance(part, Table):
            found.append(part)
        elif isinstance(part, Section):
            found += _tables(part.parts)
    return found


def _folder(runs: Path, chosen: Any, quick: bool) -> Path:
    return runs / (f"{chosen.name}-quick" if quick else chosen.name)


@contextmanager
def _refusals() -> Iterator[None]:
    """What was asked for wrongly is wrong usage: exit code 2, and the message alone."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _experiment(name: str) -> Any:
    from confide.experiments import EXPERIMENTS

    return EXPERIMENTS[name]
