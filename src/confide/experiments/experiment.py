"""What an experiment is: cells to compute, and what is made of the finished ones."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from confide.document import Part
from confide.experiments.cell import Cell
from confide.experiments.options import Options
from confide.experiments.store import RUN_FILE, RunFolder, Saved, tables_by

# All that a file of the catalogue needs to describe an experiment comes from here.
__all__ = ["Cell", "Experiment", "Findings", "Options", "Saved", "tables_by"]


@dataclass(frozen=True)
class Findings:
    """What an experiment found, from finished cells alone.

    Attributes:
        words: plain language, as Markdown.
        parts: tables, figures and sections.
    """

    words: str
    parts: Sequence[Part]


class Experiment(ABC):
    """One table or figure of the paper, or a few that come from the same simulations.

    Attributes:
        name: what the command calls it.
        title: a line for people.
        place: its place in the list and in the report; experiments without one come last.
        paper: where it is in the paper.
        whole: the whole experiment.
        quick: a small version that takes a minute.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[int] = 100
    paper: ClassVar[str]
    whole: ClassVar[Options]
    quick: ClassVar[Options]

    @abstractmethod
    def cells(self, options: Options) -> list[Cell]:
        """The independent pieces."""

    @abstractmethod
    def headline(self, saved: Saved) -> str:
        """The result of a finished cell in a few words, shown while the others run."""

    @abstractmethod
    def findings(self, finished: Sequence[Saved]) -> Findings:
        """The results of the finished cells: in words, tables and figures."""


def open_run(experiment: Experiment, options: Options, path: Path) -> RunFolder:
    """Opens the folder of a run, or makes it; a folder with other settings is refused.

    Args:
        experiment: what is run.
        options: the settings of the run. Its levels may be a part of those in the folder.
        path: the folder.

    Returns:
        The folder.
    """
    fixed = options.fixed
    if (path / RUN_FILE).exists():
        levels = RunFolder(path).description.get("levels", [])
        if set(fixed["levels"]) <= set(levels):
            fixed["levels"] = levels
    return RunFolder.opened(path, experiment.name, fixed)


def cells_of(experiment: Experiment, options: Options, folder: RunFolder) -> list[Cell]:
    """The cells that the options ask for, with the levels that all cells of the folder have.

    Args:
        experiment: what is run.
        options: the settings of the run.
        folder: where the cells are stored.

    Returns:
        The cells, finished or not.
    """
    levels = tuple(folder.description["levels"])
    cells = experiment.cells(replace(options, levels=levels))
    asked = set(options.levels)
    return [
        cell
        for cell in cells
        if not asked or asked.intersection(cell.settings.get("levels", asked))
    ]
