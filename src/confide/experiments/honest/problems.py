"""The truths that calibration is tried on, and the methods that are judged on them."""

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confide.experiments.simulated import TEST_SIZE, Twin, n_rows_of, twin_of
from confide.randomness import key_from
from confide.simulate import ANALYTIC_TRUTHS, NOISE_LAWS, SYNTHETIC_TRUTHS, AnalyticTruth

SMALL = ("boston", "concrete", "energy", "yacht", "wine_red")
LARGE = ("kin8nm", "naval", "power")
# Of a large set so many rows are used, a fifth of them for tests; the number is in its name.
ROWS_OF_LARGE = 1_000
SHORTENED = {f"{name}-{ROWS_OF_LARGE}": name for name in LARGE}
FORMULA = "formula"
# Rows of a formula, and the key that their inputs are drawn with: the same in every simulation.
FORMULA_ROWS, FORMULA_TEST_ROWS, INPUTS_KEY = 400, 100, 1
FORMULAS = {**ANALYTIC_TRUTHS, **SYNTHETIC_TRUTHS}
# Formulas with noise of another law, by their names.
OTHER_NOISE = {f"friedman1-{law}": ("friedman1", law) for law in ("t3", "gamma")}
SETS = (*SMALL, *FORMULAS, *OTHER_NOISE, *SHORTENED)
BDE, DE, NB = (
    "BootstrappedDeepEnsembleRegressor",
    "DeepEnsembleRegressor",
    "NaiveBootstrapRegressor",
)
# What a method's intervals may be: its own; calibrated on the twins that the default chooses, on
# one kind of twin, or on the truth itself, which no user has; or without a correction for bias.
RAW, AUTO, ORACLE, UNSHIFTED = "raw", "auto", "oracle", "unshifted"
# Kinds of twins, by the names under which results are kept.
TWIN_KINDS = {"random_forest": "forest", "gradient_boosting": "boosting", "smooth": "smooth"}
# What tables call them.
IN_WORDS = {
    RAW: "raw",
    AUTO: "calibrated",
    **{kind: f"calibrated on {kind.replace('_', ' ')}" for kind in TWIN_KINDS},
    ORACLE: "calibrated on the truth itself",
    UNSHIFTED: "calibrated, without a correction for bias",
}


@dataclass(frozen=True)
class Problem:
    """A truth, and the inputs that data are simulated at.

    Attributes:
        set: a benchmark set, with its number of rows where they are not all, or a formula's name.
        truth: how the truth was fitted to the set, or "formula".
    """

    set: str
    truth: str

    @property
    def n_train(self) -> int:
        """Training rows of each simulated data set."""
        if self.truth == FORMULA:
            return FORMULA_ROWS
        if self.set in SHORTENED:
            return round((1 - TEST_SIZE) * ROWS_OF_LARGE)
        return n_rows_of(self.set)[0]

    @property
    def twin(self) -> Twin:
        """The truth with its inputs."""
        if self.truth == FORMULA:
            return _of_formula(self.set)
        if self.set in SHORTENED:
            return twin_of(SHORTENED[self.set], truth=self.truth, n_rows=ROWS_OF_LARGE)
        return twin_of(self.set, truth=self.truth)


@functools.cache
def _of_formula(name: str) -> Twin:
    formula, law = OTHER_NOISE.get(name, (name, "gaussian"))
    truth: AnalyticTruth = FORMULAS[formula](noise=NOISE_LAWS[law])
    key = key_from(INPUTS_KEY)
    X = truth.inputs(key, FORMULA_ROWS + FORMULA_TEST_ROWS)
    X_train, X_test = X[:FORMULA_ROWS], X[FORMULA_ROWS:]
    # One draw stands for what was measured: a formula has no targets of its own.
    return Twin(X_train, X_test, truth.draw(key, X_train), truth)


def _problems(names: Collection[str], truth: str) -> tuple[Problem, ...]:
    return tuple(Problem(name, truth) for name in names)


# In the order in which they are run: what matters most comes first.
SMALL_FORESTS = _problems(SMALL, "random_forest")
PROBLEMS = (
    *SMALL_FORESTS,
    *_problems(ANALYTIC_TRUTHS, FORMULA),
    *_problems(SMALL, "gradient_boosting"),
    *_problems(SMALL, "network"),
    *_problems(SHORTENED, "random_forest"),
    *_problems((*SYNTHETIC_TRUTHS, *OTHER_NOISE), FORMULA),
    *_problems(("boston", "concrete"), "larger_boosting"),
    *_problems(("boston", "yacht"), "larger_network"),
)
# Where the effect of the choice of twin is shown.
SHOWN_TWINS = (
    *_problems(("boston", "yacht", "energy"), "random_forest"),
    *_problems(("friedman1", "sine"), FORMULA),
)
# Where the effect of the correction is shown: also where twin and truth are of other families.
SHOWN_SHIFTS = (
    *SHOWN_TWINS,
    *_problems(("boston", "yacht"), "gradient_boosting"),
    Problem("boston", "network"),
)
# Where another method is calibrated as well.
SHOWN_METHODS = SHOWN_TWINS[:2]


@dataclass(frozen=True)
class Contender:
    """A method, and which of its intervals are kept; they are all of the same fits.

    Attributes:
        method: the paper's short name.
        estimator: its name in `ESTIMATORS`.
        variants: "raw", "auto", "oracle", "unshifted", or a kind of twin.
        parameters: arguments of the estimator that differ from the paper's recipe; from the default
            if "recipe" is among them.
    """

    method: str
    estimator: str
    variants: tuple[str, ...] = (RAW,)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For files."""
        return "-".join([self.method, *self.variants])


TABULAR = {"recipe": "tabular"}
EVERYWHERE = (
    Contender("BDE", BDE, (RAW, AUTO), TABULAR),
    Contender("BDE of the paper", BDE),
    Contender("NB", NB),
)


def shown_for(problem: Problem) -> Sequence[Contender]:
    """Those that are judged on a few problems alone."""
    kinds = (*TWIN_KINDS, ORACLE) if problem in SHOWN_TWINS else ()
    methods = [Contender("DE", DE, (AUTO,), TABULAR)] if problem in SHOWN_METHODS else []
    variants = [*([UNSHIFTED] if problem in SHOWN_SHIFTS else []), *kinds]
    return [*methods, *(Contender("BDE", BDE, (variant,), TABULAR) for variant in variants)]
