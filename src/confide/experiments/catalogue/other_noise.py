"""Appendix: noise that is not normal."""

from typing import ClassVar

from confide.experiments.coverage import Condition, Repetition
from confide.experiments.options import Options

CONDITIONS = [Condition(noise, noise=noise) for noise in ("gaussian", "t3", "gamma")]


class OtherNoise(Repetition):
    """Noise with heavy tails, and with strong skewness."""

    name = "other-noise"
    title = "Noise that is not normal: t(3), and a strongly skewed gamma"
    place = 5
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
    conditions = CONDITIONS
    condition = "noise"
    table = "bench-different-noise"
    printed = (
        ("confidence", 0.9, ("brier", "width")),
        ("confidence", 0.8, ("brier",)),
        ("confidence", 0.7, ("brier",)),
    )
    drawn = (("prediction", 0.8), ("prediction", 0.7))
