"""The report of some runs: from finished cells alone."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from confide.document import Document, Section
from confide.experiments.catalogue import EXPERIMENTS
from confide.experiments.provenance import PACKAGES
from confide.experiments.store import QUICK, RUN_FILE, RunFolder, RunFolderError, Saved

INTRODUCTION = """\
Bootstrapped Deep Ensembles (BDE), deep ensembles (DE), the naive bootstrap (NB), concrete dropout
(CD) and quality-driven ensembles (QDE), judged on simulated data whose truth is known. *Print* is
the paper (Sluijterman, Cator and Heskes; arXiv 2202.10903; Neurocomputing 656, 2025, 131500). *As
published* is a method with the settings of the code that the paper's tables were made with. *As
described* is the method as its authors describe it, which is confide's default. A number after ± is
a Monte-Carlo standard error.

Nobody knows the true function behind real data. So each data set has a *twin*: a model is fitted to
it and taken as the truth, and new targets are drawn from it again and again. A *confidence
interval* is for the true function's value at a row, a *prediction interval* for a new target there.
An 80 % interval should contain that value in 80 % of the simulations at every row. How often it
does is its *coverage* (CICF for confidence, PICF for prediction intervals). The *Brier score* is
the mean squared distance of that coverage from 80 % over the test rows: 0 is perfect, 0.01 means
off by about 10 points.
"""


def runs_in(folder: Path) -> list[RunFolder]:
    """Every run in a folder of runs (or that folder itself, if it is a run)."""
    if (folder / RUN_FILE).exists():
        return [RunFolder(folder)]
    runs = [RunFolder(file.parent) for file in sorted(folder.glob(f"*/{RUN_FILE}"))]
    if not runs:
        raise RunFolderError(
            f"There is no run in {folder}. Make one with `confide experiment run NAME --runs "
            f"{folder}`."
        )
    return runs


def document_of(runs: Sequence[RunFolder]) -> Document:
    """The report: a section for each run, in the order of the experiments."""
    finished = _finished(runs)
    if not finished:
        raise RunFolderError("No cell is finished yet, so there is nothing to report.")
    sections, summary = [], [INTRODUCTION]
    for name in sorted(finished, key=list(EXPERIMENTS).index):
        experiment = EXPERIMENTS[name]
        findings = experiment.findings(finished[name])
        where = f"*In the paper: {experiment.paper}.*"
        sections.append(Section(experiment.title, [where, findings.words, *findings.parts]))
        summary.append(f"**{experiment.title}**\n\n{findings.words}")
    source = _provenance([saved for cells in finished.values() for saved in cells])
    return Document("The paper's experiments", "\n\n".join(summary), sections, source)


def _finished(runs: Sequence[RunFolder]) -> dict[str, list[Saved]]:
    """The finished cells of each experiment; a quick run gives way to a whole one."""
    of_runs: dict[str, dict[Path, list[Saved]]] = {}
    for run in runs:
        name = str(run.description.get("experiment"))
        if name not in EXPERIMENTS:
            raise RunFolderError(
                f"{run.path} holds a run of {name!r}, which is not an experiment of this confide."
            )
        if cells := run.all_saved():
            of_runs.setdefault(name, {})[run.path] = cells
    for name, paths in of_runs.items():
        whole = {path: cells for path, cells in paths.items() if not path.name.endswith(QUICK)}
        of_runs[name] = whole or paths
        if len(of_runs[name]) > 1:
            raise RunFolderError(
                f"There are two runs of {name!r}: {', '.join(map(str, of_runs[name]))}. A report "
                "holds one: move one away, or pass --runs with the folder of one."
            )
    return {name: cells for name, paths in of_runs.items() for cells in paths.values()}


def _provenance(finished: Sequence[Saved]) -> dict[str, str]:
    """Commits and versions of all cells, and how long they took."""
    sources = [saved.provenance for saved in finished]
    return {
        "commits": _listed(Counter(source["commit"] for source in sources)),
        **{
            name: _listed({source[name] for source in sources if name in source})
            for name in ("python", *PACKAGES)
            if any(name in source for source in sources)
        },
        "cores": _listed({source["cores"] for source in sources}),
        "seeds": _listed({str(saved.settings["seed"]) for saved in finished}),
        "cells": str(len(finished)),
        "hours, one cell after the other": f"{sum(s['seconds'] for s in sources) / 3600:.2f}",
        "hours of one core": f"{sum(s['cpu_seconds'] for s in sources) / 3600:.2f}",
    }


def _listed(values: "Counter[str] | set[str]") -> str:
    return ", ".join(sorted(values))
