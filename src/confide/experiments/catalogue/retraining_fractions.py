"""Appendix: other shares of the epochs repeated."""

from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.contenders import CONTENDERS
from confide.experiments.coverage_study import Condition, study_cells, study_headline
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.store import Saved

CONDITIONS = [
    Condition(f"{fraction:g}", parameters={"retrain_fraction": fraction})
    for fraction in (0.1, 0.2, 0.3, 0.4)
]


class RetrainingFractions(Experiment):
    """How the intervals depend on r."""

    name = "retraining-fractions"
    title = "Other shares of the epochs repeated"
    paper = "Appendix, bench-retrainingfractions (it names no set; it is Boston)"
    whole: ClassVar = Options(
        simulations=100, sets=("boston",), methods=("BDE",), levels=(0.7, 0.8, 0.9, 0.95)
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=("BDE",), levels=(0.8,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one fraction, variant and 25 simulations."""
        return study_cells(options, CONDITIONS, CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)
