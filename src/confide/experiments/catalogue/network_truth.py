"""Appendix: data simulated from a network instead of random forests."""

from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.contenders import CONTENDERS
from confide.experiments.coverage_study import Condition, study_cells, study_headline
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.store import Saved

# The text says 80 epochs; the printed numbers look like 40.
CONDITIONS = [
    Condition(f"{epochs}-epochs", truth="network", parameters={"max_epochs": epochs})
    for epochs in (40, 80)
]


class NetworkTruths(Experiment):
    """Experiment 1 with Algorithm 4 in place of Algorithm 3."""

    name = "network-truth"
    title = "Data simulated from a network (Algorithm 4)"
    paper = "Appendix, bench-neural-network"
    whole: ClassVar = Options(
        simulations=100,
        sets=("boston", "concrete", "energy"),
        methods=("BDE", "DE"),
        levels=(0.7, 0.8, 0.9, 0.95),
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=("BDE", "DE"), levels=(0.9,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, number of epochs, contender and 25 simulations."""
        return study_cells(options, CONDITIONS, CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)
