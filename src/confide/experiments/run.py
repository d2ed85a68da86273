"""Which cells a run has: those the options ask for, under the settings of its folder."""

from dataclasses import replace
from pathlib import Path

from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.store import RUN_FILE, RunFolder


def open_run(experiment: Experiment, options: Options, path: Path) -> RunFolder:
    """The run's folder; one with other settings is refused. Some of its levels may be asked for."""
    fixed = options.fixed
    if (path / RUN_FILE).exists():
        levels = RunFolder(path).description.get("levels", [])
        if set(fixed["levels"]) <= set(levels):
            fixed["levels"] = levels
    return RunFolder.opened(path, experiment.name, fixed)


def cells_of(experiment: Experiment, options: Options, folder: RunFolder) -> list[Cell]:
    """The cells that the options ask for, with the levels that all cells of the folder have."""
    levels = tuple(folder.description["levels"])
    cells = experiment.cells(replace(options, levels=levels))
    asked = set(options.levels)
    return [
        cell
        for cell in cells
        if not asked or asked.intersection(cell.settings.get("levels", asked))
    ]
