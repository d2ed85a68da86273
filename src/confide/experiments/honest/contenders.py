"""Who is judged: methods as they are, and calibrated on twins of several kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confide.experiments.honest.problems import FORMULA, Problem

# What a method's intervals may be: its own, or calibrated on the twins that the default chooses, on
# one of a kind, or on the truth itself, which no user has; or with shifted centres as well.
RAW, AUTO, ORACLE, SHIFTED = "raw", "auto", "oracle", "shifted"
# The share of the bias that the last one takes off its centres.
SHIFT = 0.5
# Kinds of twins, by the names under which results are kept.
TWIN_KINDS = {"random_forest": "forest", "gradient_boosting": "boosting", "smooth": "smooth"}
TWINS = (*TWIN_KINDS, ORACLE)
# How they are called in tables.
SAID = {
    RAW: "raw",
    AUTO: "calibrated",
    **{kind: f"calibrated on {kind.replace('_', ' ')}" for kind in TWIN_KINDS},
    ORACLE: "calibrated on the truth itself",
    SHIFTED: "calibrated, shifted by half the bias",
}
# Where it is shown what the choice of twin does.
SHOWN_TWINS = (
    *(Problem(name, "random_forest") for name in ("boston", "yacht", "energy")),
    *(Problem(name, FORMULA) for name in ("friedman1", "sine")),
)
# Where it is shown what a shift does: also where the twin is of another family than the truth.
SHOWN_SHIFTS = (
    *SHOWN_TWINS,
    *(Problem(name, "gradient_boosting") for name in ("boston", "yacht")),
    Problem("boston", "network"),
)
# Where it is shown that another method can be calibrated as well.
SHOWN_METHODS = SHOWN_TWINS[:2]


@dataclass(frozen=True)
class Contender:
    """A method, and what of its intervals is kept; they are all of the same fits.

    Attributes:
        method: the paper's short name.
        estimator: its name in `ESTIMATORS`.
        variants: "raw", "auto", "oracle", "shifted", or a kind of twin.
        parameters: arguments of the estimator that differ from the paper's recipe.
    """

    method: str
    estimator: str
    variants: tuple[str, ...] = (RAW,)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For files."""
        return "-".join([self.method, *self.variants])


BDE, DE, NB = (
    "BootstrappedDeepEnsembleRegressor",
    "DeepEnsembleRegressor",
    "NaiveBootstrapRegressor",
)
EVERYWHERE = (Contender("BDE", BDE, (RAW, AUTO)), Contender("DE", DE), Contender("NB", NB))


def shown_for(problem: Problem) -> Sequence[Contender]:
    """Those that are judged on a few problems alone."""
    twins = [Contender("BDE", BDE, (twin,)) for twin in TWINS] if problem in SHOWN_TWINS else []
    methods = [Contender("DE", DE, (AUTO,))] if problem in SHOWN_METHODS else []
    shifts = [Contender("BDE", BDE, (SHIFTED,))] if problem in SHOWN_SHIFTS else []
    return [*shifts, *methods, *twins]
