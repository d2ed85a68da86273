"""Appendix: noise that is not normal."""

from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.contenders import CONTENDERS
from confide.experiments.coverage_study import Condition, study_cells, study_headline
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.store import Saved

CONDITIONS = [Condition(noise, noise=noise) for noise in ("gaussian", "t3", "gamma")]


class OtherNoise(Experiment):
    """Noise with heavy tails, and with strong skewness."""

    name = "other-noise"
    title = "Noise that is not normal: t(3), and a strongly skewed gamma"
    paper = "Appendix, bench-different-noise (its Gaussian row is Boston's, its caption Concrete)"
    whole: ClassVar = Options(
        simulations=100,
        sets=("boston", "concrete"),
        methods=("BDE", "DE"),
        levels=(0.7, 0.8, 0.9, 0.95),
    )
    quick: ClassVar = Options(
        simulations=4, sets=("boston",), methods=("BDE", "DE"), levels=(0.7, 0.8, 0.9)
    )

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, law of the noise, contender and 25 simulations."""
        return study_cells(options, CONDITIONS, CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)
