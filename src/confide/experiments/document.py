"""The report of some runs: from finished cells alone."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from confide.experiments.catalogue import EXPERIMENTS
from confide.experiments.store import RUN_FILE, RunFolder, RunFolderError, Saved
from confide.report import Document, Section

VERSIONS = ("python", "confide", "jax", "jaxlib", "numpy", "pandas", "scikit-learn")
INTRODUCTION = """\
Bootstrapped Deep Ensembles (BDE), deep ensembles (DE), the naive bootstrap (NB), concrete dropout
(CD) and quality-driven ensembles (QDE), judged on simulated data whose truth is known. *Print* is
the paper (Sluijterman, Cator and Heskes; arXiv 2202.10903; Neurocomputing 656, 2025, 131500). *As
published* is a method with the settings of the code that the paper's tables were made with, *as
described* the method as its inventors describe it, which is confide's default. A number after ± is
a Monte-Carlo standard error.
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
    by_name = {run.description["experiment"]: run for run in runs}
    if len(by_name) < len(runs):
        twice = [
            name for name, n in Counter(r.description["experiment"] for r in runs).items() if n > 1
        ]
        raise RunFolderError(
            f"There are two runs of {twice[0]!r}; a report holds one. Pass --runs with the folder "
            "of one run."
        )
    sections, summary, every = [], [INTRODUCTION], list[Saved]()
    for name, experiment in EXPERIMENTS.items():
        finished = by_name[name].all_saved() if name in by_name else []
        if not finished:
            continue
        findings = experiment.findings(finished)
        where = f"*In the paper: {experiment.paper}.*"
        sections.append(Section(experiment.title, [where, findings.words, *findings.parts]))
        summary.append(f"**{experiment.title}**\n\n{findings.words}")
        every += finished
    if not sections:
        raise RunFolderError("No cell is finished yet, so there is nothing to report.")
    return Document("The paper's experiments", "\n\n".join(summary), sections, _provenance(every))


def _provenance(finished: Sequence[Saved]) -> dict[str, str]:
    """Commits and versions of all cells, and how long they took."""
    sources = [saved.provenance for saved in finished]
    return {
        "commits": _listed(Counter(source["commit"] for source in sources)),
        **{name: _listed({source[name] for source in sources}) for name in VERSIONS},
        "cores": _listed({source["cores"] for source in sources}),
        "seeds": _listed({str(saved.settings["seed"]) for saved in finished}),
        "cells": str(len(finished)),
        "hours, one cell after the other": f"{sum(s['seconds'] for s in sources) / 3600:.2f}",
        "hours of one core": f"{sum(s['cpu_seconds'] for s in sources) / 3600:.2f}",
    }


def _listed(values: "Counter[str] | set[str]") -> str:
    return ", ".join(sorted(values))
