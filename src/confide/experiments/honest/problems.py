"""The truths that calibration is tried on: fitted to real sets in three ways, and formulas."""

import functools
from collections.abc import Collection
from dataclasses import dataclass

from confide.experiments.simulated import TEST_SIZE, Twin, n_rows_of, twin_of
from confide.randomness import key_from
from confide.simulate import ANALYTIC_TRUTHS

SMALL = ("boston", "concrete", "energy", "yacht", "wine_red")
LARGE = ("kin8nm", "naval", "power")
# Of a large set so many rows are used, a fifth of them for tests; the number is in its name.
ROWS_OF_LARGE = 1_000
SHORTENED = {f"{name}-{ROWS_OF_LARGE}": name for name in LARGE}
FORMULA = "formula"
# Rows of a formula, and the key that their inputs are drawn with: the same in every simulation.
FORMULA_ROWS, FORMULA_TEST_ROWS, INPUTS_KEY = 400, 100, 1
SETS = (*SMALL, *ANALYTIC_TRUTHS, *SHORTENED)


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
    def is_short_of_simulations(self) -> bool:
        """Whether half as many data sets must do, because each of them takes long."""
        return self.set in SHORTENED

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


# In the order in which they are run: what matters most comes first.
MAIN_PROBLEMS = (
    *(Problem(name, "random_forest") for name in SMALL),
    *(Problem(name, FORMULA) for name in ANALYTIC_TRUTHS),
)
PROBLEMS = (
    *MAIN_PROBLEMS,
    *(Problem(name, "gradient_boosting") for name in SMALL),
    *(Problem(name, "network") for name in SMALL),
    *(Problem(name, "random_forest") for name in SHORTENED),
)


def problems_of(sets: Collection[str]) -> list[Problem]:
    """Those on some of the sets."""
    return [problem for problem in PROBLEMS if problem.set in sets]


@functools.cache
def _of_formula(name: str) -> Twin:
    truth = ANALYTIC_TRUTHS[name]()
    key = key_from(INPUTS_KEY)
    X = truth.inputs(key, FORMULA_ROWS + FORMULA_TEST_ROWS)
    X_train, X_test = X[:FORMULA_ROWS], X[FORMULA_ROWS:]
    # One draw stands for what was measured: a formula has no targets of its own.
    return Twin(X_train, X_test, truth.draw(key, X_train), truth)
