"""Appendix: networks without a penalty on their weights."""

from typing import ClassVar

from confide.experiments.coverage import Condition, Repetition
from confide.experiments.options import Options

# The text says 80 epochs; the printed numbers look like 40.
CONDITIONS = [
    Condition(f"{epochs}-epochs", parameters={"l2_penalty": 0.0, "max_epochs": epochs})
    for epochs in (40, 80)
]


class NoRegularisation(Repetition):
    """Experiment 1 without the penalty."""

    name = "no-regularisation"
    title = "Networks without a penalty on their weights"
    place = 6
    paper = "Appendix, bench-regularisation"
    whole: ClassVar = Options(
        simulations=100,
        sets=("boston", "concrete", "energy"),
        methods=("BDE", "DE"),
        levels=(0.7, 0.8, 0.9, 0.95),
    )
    quick: ClassVar = Options(
        simulations=4, sets=("boston",), methods=("BDE", "DE"), levels=(0.7, 0.9)
    )
    conditions = CONDITIONS
    condition = "epochs"
    table = "bench-regularisation"
    printed = (
        ("confidence", 0.9, ("brier", "width", "rmse")),
        ("prediction", 0.9, ("brier", "width")),
    )
