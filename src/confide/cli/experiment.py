"""`confide experiment`: the paper's tables and figures, made anew."""

import contextlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from confide.cli.arguments import (
    chosen_engine,
    count_option,
    engine_options,
    json_option,
    json_rows,
    listed_names,
)
from confide.cli.session import messages, refusals, say, say_json


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
    """Run the paper's experiments, show their results, write a report.

    Each run has a folder under `--runs`. You can stop it at any time. The same command continues
    where it stopped.
    """


runs_option = click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder with one folder for each run.",
)


@experiment.command("list")
def list_() -> None:
    """List every experiment and its place in the paper."""
    from confide.experiments import EXPERIMENTS

    for name, listed in EXPERIMENTS.items():
        click.echo(f"{name:22s}{listed.title}\n{'':22s}[{listed.paper}]")


@experiment.command(
    epilog="""\b
Examples:
  confide experiment run all --quick
  confide experiment run experiment-1 --sets boston --methods BDE,DE --simulations 20
  confide experiment run experiment-1 --methods QDE --levels 0.8
  confide experiment run experiment-1 experiment-2 --engine ray --address auto"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--quick", is_flag=True, help="A small version that takes a minute, in its own folder."
)
@click.option("--sets", callback=listed_names, help="Data sets, such as boston,yacht.")
@click.option("--methods", callback=listed_names, help="Methods, such as BDE,DE.")
@click.option("--levels", callback=listed_names, help="Confidence levels, such as 0.8,0.95.")
@count_option("--simulations", None, 1, "Number of simulated data sets.")
@click.option("--seed", type=int, help="The same seed gives the same numbers.")
@engine_options
@runs_option
def run(
    names: tuple[str, ...], quick: bool, engine: str, address: str | None, runs: Path, **asked: Any
) -> None:
    """Run one or more experiments, or all. Finished parts are not run again."""
    from rich.console import Console

    from confide.experiments import EXPERIMENTS, Display, cells_of, open_run

    with _messages():
        runner = chosen_engine(engine, address)
        with refusals(ValueError):  # all of them, before any is run
            if "all" in names and len(names) > 1:
                raise ValueError("`all` means every experiment. Leave the other names out.")
            chosen = [EXPERIMENTS[name] for name in (EXPERIMENTS if "all" in names else names)]
            options_of = [_options(one, quick, asked) for one in chosen]
            prepared = []
            for one, options in zip(chosen, options_of, strict=True):
                folder = open_run(one, options, _folder(runs, one, quick))
                cells = cells_of(one, options, folder)
                missing = [cell for cell in cells if folder.saved(cell) is None]
                prepared.append((one, folder, cells, missing))
        for one, folder, cells, missing in prepared:
            with Display(one, cells, missing, Console(stderr=True)) as display:
                runner.run(missing, folder, display)
            say(folder.path)


@experiment.command(
    epilog="""\b
Examples:
  confide experiment show experiment-1
  confide experiment show experiment-1 --json"""
)
@click.argument("name")
@click.option("--quick", is_flag=True, help="Show its quick run.")
@json_option
@runs_option
def show(name: str, quick: bool, as_json: bool, runs: Path) -> None:
    """Show what an experiment is, how much of its run is finished, and its results so far."""
    from confide.document import Document, Section, Table, to_markdown
    from confide.experiments import EXPERIMENTS, RunFolder

    with _messages(kept=""), refusals(ValueError):
        chosen = EXPERIMENTS[name]
        options = chosen.quick if quick else chosen.whole
        folder = RunFolder(_folder(runs, chosen, quick))
        finished, tables = folder.all_saved(), tuple[Table, ...]()
        if finished:
            options = options.of_run(folder.description_of(chosen.name))
            findings = chosen.findings(finished)
            section = Section(chosen.title, findings.parts)
            tables = Document(chosen.title, findings.words, [section]).tables
    if as_json:
        payload = {table.name: json_rows(table.frame) for table in tables}
        say_json(payload)
        return
    click.echo(f"{chosen.title}\n[{chosen.paper}]\n")
    for what in ("sets", "methods", "levels", "rows"):
        if values := getattr(options, what):
            click.echo(f"{what + ':':13s}{', '.join(map(str, values))}")
    click.echo(f"{'simulations:':13s}{options.simulations}\n{'seed:':13s}{options.seed}")
    if not finished:
        click.echo(f"\nNo cell is finished in {folder.path}.")
        return
    hours = sum(saved.provenance["seconds"] for saved in finished) / 3600
    in_all = ""
    with contextlib.suppress(OSError, ValueError):  # cells are not needed to read what is saved
        in_all = f" of {len(chosen.cells(options))}"
    click.echo(f"\n{len(finished)}{in_all} cells are finished in {folder.path}: {hours:.2f} h.\n")
    say(*findings.words.split("\n"))
    for table in tables:
        say("", *to_markdown(table).removesuffix("\n").split("\n"))


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
    """Write a page with the results of all finished cells."""
    from confide.document import write_document
    from confide.experiments import document_of, runs_in

    with _messages(kept=""), refusals(ValueError):
        page = write_document(document_of(runs_in(runs)), output)
    say(page)


def _options(chosen: Any, quick: bool, asked: dict[str, Any]) -> Any:
    """What was asked for; an error names the experiment."""
    levels = asked["levels"]
    try:
        if levels is not None:
            levels = [_number(level) for level in levels]
        start = chosen.quick if quick else chosen.whole
        return start.shrunk(chosen.whole, **{**asked, "levels": levels})
    except ValueError as error:
        raise ValueError(f"{chosen.name}: {error}") from None


def _number(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        raise ValueError(f"A level is a number such as 0.8, got {level!r}.") from None


def _folder(runs: Path, chosen: Any, quick: bool) -> Path:
    from confide.experiments import QUICK

    return runs / (f"{chosen.name}{QUICK}" if quick else chosen.name)


def _messages(
    kept: str = "Finished cells are kept. The same command continues from there.",
) -> AbstractContextManager[None]:
    return messages(kept)
