"""Experiments: every table and figure of the paper, in cells that are run once and kept.

Read `experiment.py` for what an experiment is, `catalogue/` for the list and `store.py` for how
results are kept; `confide.engines` runs the cells.
"""

from confide.experiments.catalogue import EXPERIMENTS
from confide.experiments.cell import Cell
from confide.experiments.display import Display
from confide.experiments.document import document_of, runs_in
from confide.experiments.experiment import Experiment, Findings, cells_of, open_run
from confide.experiments.options import Options
from confide.experiments.store import QUICK, RunFolder, RunFolderError, Saved

__all__ = [
    "EXPERIMENTS",
    "QUICK",
    "Cell",
    "Display",
    "Experiment",
    "Findings",
    "Options",
    "RunFolder",
    "RunFolderError",
    "Saved",
    "cells_of",
    "document_of",
    "open_run",
    "runs_in",
]
