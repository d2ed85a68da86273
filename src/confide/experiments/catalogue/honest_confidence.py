"""Confidence intervals calibrated on simulated twins, on data whose truth is known."""

from collections.abc import Sequence
from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment, Findings
from confide.experiments.honest.cells import nested_cells
from confide.experiments.honest.problems import SETS
from confide.experiments.options import Options
from confide.experiments.store import Saved


class HonestConfidence(Experiment):
    """Raw and calibrated intervals on outer data sets, each with simulations of its own."""

    name = "honest-confidence"
    title = "Confidence intervals calibrated on simulated twins of the data"
    place = 10
    paper = "not in the paper; its truths of Experiment 1 (Algorithm 3) and of Algorithm 4"
    whole: ClassVar = Options(
        simulations=40, sets=SETS, methods=("BDE", "DE", "NB"), levels=(0.7, 0.8, 0.9, 0.95)
    )
    quick: ClassVar = Options(
        simulations=4, sets=("sine",), methods=("BDE", "DE", "NB"), levels=(0.8,)
    )

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one truth, contender and ten outer data sets."""
        return nested_cells(options)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return f"{len(saved.frame)} rows"

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """To come."""
        return Findings(f"{len(finished)} cells.", [])
