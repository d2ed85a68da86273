"""The data sets: nineteen tables, some of them with categories and holes, and simulated truths."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

import numpy as np
from sklearn.model_selection import train_test_split

from confide.datasets import MORE_NAMES, NAMES, load
from confide.experiments.simulated import twin_of
from confide.randomness import key_from
from confide.simulate import Friedman1, Ishigami
from confide.simulate.analytic import AnalyticTruth

TEST_SIZE = 0.2
MOST_ROWS = 2000
"""Longer tables are thinned to so many rows, drawn anew for each repeat."""

SIMULATED_ROWS, SIMULATED_TEST_ROWS = 400, 200
# What is drawn from a repeat's seed.
TRAINING, TEST = 1000, 2000

SHARE_OF_HOLES, HOLES = 0.1, 3000
"""Of the cells of a table with holes, and what they are drawn from: the same in every repeat."""

CATEGORIES: Mapping[str, tuple[int, ...]] = {
    "autompg": (6,),  # origin
    "bike": (3, 8, 10),  # season, weekday, weather
    "boston": (3, 8),  # chas, rad
    "parkinsons": (0,),  # 42 patients
    "servo": (0, 1),  # motor, screw
}
"""Columns that are categories by nature, of tables that also come with holes."""


@dataclass(frozen=True)
class Split:
    """Rows to fit and rows to judge with.

    Attributes:
        X: training inputs.
        y: training targets.
        X_test: test inputs.
        y_test: test targets.
        scale: the unit of errors and widths: the target's standard deviation, the same in every
            repeat.
        true_mean: the true function at the test rows, or None where nobody knows it.
        categories: columns of the inputs that are codes of categories. A hole is nan.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    scale: float
    true_mean: np.ndarray | None = None
    categories: tuple[int, ...] = ()


class Splitter(Protocol):
    """How a data set comes to a repeat's rows."""

    def __call__(self, repeat: int) -> Split:
        """The rows of one repeat."""


@dataclass(frozen=True)
class DataSet:
    """Something to predict.

    Attributes:
        label: its name in tables.
        repeats: how many, unless the command line says otherwise.
        split: makes the rows of a repeat.
        simulated: whether the true function is known.
        holed: whether it is a variant of a table with categories and holes.
    """

    label: str
    repeats: int
    split: Splitter
    simulated: bool = False
    holed: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it is one of the nineteen tables."""
        return not (self.simulated or self.holed)


@cache
def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load(name).without_constant_columns()
    return data.X, data.y


def _of_table(repeat: int, *, name: str) -> Split:
    """The rows of a table as they are."""
    return _divided(*_table(name), repeat)


def _divided(X: np.ndarray, y: np.ndarray, repeat: int, categories: tuple[int, ...] = ()) -> Split:
    """A fifth of the rows held out, other ones in each repeat."""
    rows = np.random.default_rng(repeat).permutation(len(y))[:MOST_ROWS]
    X_fit, X_test, y_fit, y_test = train_test_split(
        X[rows], y[rows], test_size=TEST_SIZE, random_state=repeat
    )
    return Split(X_fit, y_fit, X_test, y_test, float(np.std(y)), categories=categories)


def _with_holes(repeat: int, *, name: str) -> Split:
    """The rows of a table, with codes for categories; some of the cells are empty."""
    X, y = _table(name)
    holes = np.random.default_rng(HOLES).random(X.shape) < SHARE_OF_HOLES
    return _divided(np.where(holes, np.nan, X), y, repeat, CATEGORIES[name])


def _of_twin(repeat: int, *, name: str) -> Split:
    """The same inputs in each repeat, other targets."""
    twin = twin_of(name)
    X_test = twin.X_test[:SIMULATED_TEST_ROWS]
    y, y_test = (
        twin.truth.draw(key_from(first + repeat), inputs)
        for first, inputs in ((TRAINING, twin.X_train), (TEST, X_test))
    )
    scale = float(np.std(twin.real_targets))
    return Split(twin.X_train, y, X_test, y_test, scale, twin.truth.mean(X_test))


def _of_formula(repeat: int, *, truth: AnalyticTruth) -> Split:
    """The same inputs in each repeat, other targets."""
    X = truth.inputs(key_from(0), SIMULATED_ROWS)
    X_test = truth.inputs(key_from(1), SIMULATED_TEST_ROWS)
    y, y_test = (
        truth.draw(key_from(TRAINING + repeat), X),
        truth.draw(key_from(TEST + repeat), X_test),
    )
    scale = float(np.std(truth.draw(key_from(2), X)))
    return Split(X, y, X_test, y_test, scale, truth.mean(X_test))


def _twin(name: str) -> DataSet:
    return DataSet(f"twin of {name}", 5, partial(_of_twin, name=name), simulated=True)


def _formula(truth: AnalyticTruth) -> DataSet:
    return DataSet(truth.name, 5, partial(_of_formula, truth=truth), simulated=True)


_LONG = (
    *("kin8nm", "naval", "power", "protein"),
    *("bike", "elevators", "parkinsons", "pol", "skillcraft"),
)
"""Tables that are thinned; each repeat has other rows of them, so fewer do."""

DATA: Mapping[str, DataSet] = {
    **{
        name: DataSet(name, 3 if name in _LONG else 5, partial(_of_table, name=name))
        for name in (*NAMES, *MORE_NAMES)
    },
    **{
        f"{name}-holes": DataSet(
            f"{name} with holes", 3, partial(_with_holes, name=name), holed=True
        )
        for name in CATEGORIES
    },
    **{f"twin-{name}": _twin(name) for name in ("boston", "energy", "yacht")},
    **{truth.name: _formula(truth) for truth in (Friedman1(), Ishigami())},
}
