"""Experiment 1: eight simulated data sets, five methods, as published and as described."""

from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.contenders import CONTENDERS
from confide.experiments.coverage_study import Condition, study_cells, study_headline
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.store import Saved

SETS = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "yacht", "wine_red")
METHODS = ("BDE", "DE", "NB", "CD", "QDE")
LEVELS = (0.7, 0.8, 0.9, 0.95)


class Experiment1(Experiment):
    """Pointwise coverage of both intervals on simulated twins of the benchmark sets."""

    name = "experiment-1"
    title = "Coverage of five methods on simulated twins of eight data sets"
    paper = "Experiment 1; Table 1 (benchresults), RMSEvalues, the violin and scatter plots"
    whole: ClassVar = Options(simulations=100, sets=SETS, methods=METHODS, levels=LEVELS)
    quick: ClassVar = Options(simulations=4, sets=("yacht",), methods=METHODS, levels=(0.8,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, contender and 25 simulations."""
        return study_cells(options, [Condition()], CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)
