"""Appendix: Experiment 1 with other noise, other truths, other networks and other fractions."""

from typing import ClassVar

from confide.experiments.coverage.repetition import Repetition
from confide.experiments.coverage.study import Condition
from confide.experiments.experiment import Options

LEVELS = (0.7, 0.8, 0.9, 0.95)
BOTH = ("BDE", "DE")
# The text says 80 epochs; the printed numbers look like 40.
EPOCHS = (40, 80)


class OtherNoise(Repetition):
    """Noise with heavy tails, and with strong skewness."""

    name = "other-noise"
    title = "Noise that is not normal: t(3), and a strongly skewed gamma"
    place = 5
    paper = "Appendix, bench-different-noise (its Gaussian row is Boston's, its caption Concrete)"
    whole: ClassVar = Options(
        simulations=100, sets=("boston", "concrete"), methods=BOTH, levels=LEVELS
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=BOTH, levels=(0.7, 0.8, 0.9))
    conditions = tuple(Condition(noise, noise=noise) for noise in ("gaussian", "t3", "gamma"))
    condition = "noise"
    table = "bench-different-noise"
    printed = (
        ("confidence", 0.9, ("brier", "width")),
        ("confidence", 0.8, ("brier",)),
        ("confidence", 0.7, ("brier",)),
    )
    drawn = (("prediction", 0.8), ("prediction", 0.7))


class NoRegularisation(Repetition):
    """Networks without the penalty."""

    name = "no-regularisation"
    title = "Networks without a penalty on their weights"
    place = 6
    paper = "Appendix, bench-regularisation"
    whole: ClassVar = Options(
        simulations=100, sets=("boston", "concrete", "energy"), methods=BOTH, levels=LEVELS
    )
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=BOTH, levels=(0.7, 0.9))
    conditions = tuple(
        Condition(f"{epochs}-epochs", parameters={"l2_penalty": 0.0, "max_epochs": epochs})
        for epochs in EPOCHS
    )
    condition = "epochs"
    table = "bench-regularisation"
    printed = (
        ("confidence", 0.9, ("brier", "width", "rmse")),
        ("prediction", 0.9, ("brier", "width")),
    )


class NetworkTruths(Repetition):
    """Algorithm 4 in place of Algorithm 3."""

    name = "network-truth"
    title = "Data simulated from a network (Algorithm 4)"
    place = 7
    paper = "Appendix, bench-neural-network"
    whole: ClassVar = NoRegularisation.whole
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=BOTH, levels=(0.9,))
    conditions = tuple(
        Condition(f"{epochs}-epochs", truth="network", parameters={"max_epochs": epochs})
        for epochs in EPOCHS
    )
    condition = "epochs"
    table = "bench-neural-network"
    printed = NoRegularisation.printed


class RetrainingFractions(Repetition):
    """How the intervals depend on r."""

    name = "retraining-fractions"
    title = "Other shares of the epochs repeated"
    place = 8
    paper = "Appendix, bench-retrainingfractions (it names no set; it is Boston)"
    whole: ClassVar = Options(simulations=100, sets=("boston",), methods=("BDE",), levels=LEVELS)
    quick: ClassVar = Options(simulations=4, sets=("boston",), methods=("BDE",), levels=(0.8,))
    conditions = tuple(
        Condition(f"{fraction:g}", parameters={"retrain_fraction": fraction})
        for fraction in (0.1, 0.2, 0.3, 0.4)
    )
    condition = "retraining fraction"
    table = "bench-retrainingfractions"
    printed = (
        ("confidence", 0.8, ("brier", "width")),
        ("prediction", 0.8, ("brier", "width")),
    )
