"""Appendix: other shares of the epochs repeated."""

from typing import ClassVar

from confide.experiments.coverage import Condition, Repetition
from confide.experiments.options import Options

CONDITIONS = [
    Condition(f"{fraction:g}", parameters={"retrain_fraction": fraction})
    for fraction in (0.1, 0.2, 0.3, 0.4)
]


class RetrainingFractions(Repetition):
    """How the intervals depend on r."""

    name = "retraining-fractions"
    title = "Other shares of the epochs repeated"
    place = 8
    paper = "Appendix, bench-retrainingfractions (it names no set; it is Boston)"
    whole: ClassVar = Options(
        simulations=100, sets=("boston",), methods=("BDE",), levels=(0.7, 0.8, 0.9, 0.95)
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=("BDE",), levels=(0.8,))
    conditions = CONDITIONS
    condition = "retraining fraction"
    table = "bench-retrainingfractions"
    printed = (
        ("confidence", 0.8, ("brier", "width")),
        ("prediction", 0.8, ("brier", "width")),
    )
