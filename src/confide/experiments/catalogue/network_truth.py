"""Appendix: data simulated from a network instead of random forests."""

from typing import ClassVar

from confide.experiments.coverage import Condition, Repetition
from confide.experiments.options import Options

# The text says 80 epochs; the printed numbers look like 40.
CONDITIONS = [
    Condition(f"{epochs}-epochs", truth="network", parameters={"max_epochs": epochs})
    for epochs in (40, 80)
]


class NetworkTruths(Repetition):
    """Experiment 1 with Algorithm 4 in place of Algorithm 3."""

    name = "network-truth"
    title = "Data simulated from a network (Algorithm 4)"
    place = 7
    paper = "Appendix, bench-neural-network"
    whole: ClassVar = Options(
        simulations=100,
        sets=("boston", "concrete", "energy"),
        methods=("BDE", "DE"),
        levels=(0.7, 0.8, 0.9, 0.95),
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=("BDE", "DE"), levels=(0.9,))
    conditions = CONDITIONS
    condition = "epochs"
    table = "bench-neural-network"
    printed = (
        ("confidence", 0.9, ("brier", "width", "rmse")),
        ("prediction", 0.9, ("brier", "width")),
    )
