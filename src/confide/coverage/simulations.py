"""An estimator fitted to many simulated data sets: its predictions and intervals, kept."""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Float64
from sklearn.base import clone

from confide.budget import of_other_fit
from confide.engines import Engine, named_engine
from confide.errors import NoSuchIntervalError
from confide.estimators import IntervalRegressor
from confide.prediction import KINDS, Kind
from confide.progress import Progress
from confide.uncertainty import Row

Table = Float[np.ndarray, "row feature"]
PerSimulation = Float64[np.ndarray, "simulation row"]
Asked: TypeAlias = tuple[Kind, float]


@dataclass(frozen=True)
class Answers:
    """What an estimator predicted for the test rows in each simulation.

    Attributes:
        means: its predictions.
        intervals: for each kind and level that it has, its intervals.
    """

    means: PerSimulation
    intervals: dict[Asked, Float64[np.ndarray, "simulation row 2"]]


def simulated_answers(
    estimator: Any,
    X_train: Table,
    targets: PerSimulation,
    X_test: Table,
    confidence_levels: Sequence[float],
    random_states: Sequence[int],
    *,
    progress: Progress | None = None,
    engine: str | Engine | None = None,
) -> Answers:
    """Fits the estimator to each simulated data set and asks it about the test rows.

    confide's own estimators are fitted in batches that fill the cores; others one after the other.
    Intervals that an estimator does not have are left out. The numbers of a simulation depend on
    its targets and random state alone.

    Args:
        estimator: one of confide's, or any with `fit`, `predict` and `predict_interval`.
        X_train: the rows of every training set.
        targets: their targets in each simulation.
        X_test: the rows to predict.
        confidence_levels: levels of the intervals.
        random_states: the seed of each simulation.
        progress: called with the amount of work just done, of `work(estimator, ...)` in all.
        engine: where to fit; None for the estimator's own.

    Returns:
        Its predictions and intervals.
    """
    asked = [(kind, level) for kind in KINDS for level in confidence_levels]
    answers = []
    for fitted in _fits(estimator, X_train, targets, random_states, progress, engine):
        answers.append(_answer(fitted, X_test, asked))
        asked = list(answers[-1][1])  # what one fit does not have, none of them has
    intervals = {key: np.array([bounds[key] for _, bounds in answers]) for key in asked}
    return Answers(np.array([mean for mean, _ in answers]), intervals)


def work(estimator: Any, n_simulations: int, n_features: int = 1) -> int:
    """How much work `progress` will be told of in all."""
    if isinstance(estimator, IntervalRegressor):
        return n_simulations * estimator.member_epochs(n_features)
    return n_simulations


def _fits(
    estimator: Any,
    X: Table,
    targets: PerSimulation,
    random_states: Sequence[int],
    progress: Progress | None,
    engine: str | Engine | None,
) -> Iterator[Any]:
    if isinstance(estimator, IntervalRegressor):
        if engine is not None and hasattr(estimator, "engine"):
            estimator = clone(estimator).set_params(engine=engine)
        yield from estimator.fit_many(X, targets, random_states, progress=progress)
        return
    seeded = (_seeded(estimator, seed) for seed in random_states)
    chosen = named_engine(engine)
    with chosen.connected():
        sets, memory = zip(seeded, targets, strict=True), of_other_fit(X.shape)
        for fitted in chosen.map(_fitted, sets, (X,), memory=memory):
            yield fitted
            if progress is not None:
                progress(1)


def _seeded(estimator: Any, seed: int) -> Any:
    own = copy.deepcopy(estimator)
    if "random_state" in getattr(own, "get_params", dict)():
        own.set_params(random_state=seed)
    return own


def _fitted(one: tuple[Any, Row], X: Table) -> Any:
    estimator, y = one
    return estimator.fit(X, y)


def _answer(
    fitted: Any, X: Table, asked: Sequence[Asked]
) -> tuple[Row, dict[Asked, Float64[np.ndarray, "row 2"]]]:
    """The prediction of each row, and the intervals asked for that there are."""
    interval: Callable[[Kind, float], Any]
    if isinstance(fitted, IntervalRegressor):
        prediction = fitted.get_prediction(X)
        mean, interval = prediction.mean, prediction.interval
    else:
        mean = np.asarray(fitted.predict(X), np.float64)
        interval = lambda kind, level: fitted.predict_interval(X, level, kind=kind)[1]  # noqa: E731
    answered = {}
    for kind, level in asked:
        with suppress(NoSuchIntervalError):
            bounds = np.asarray(interval(kind, level), np.float64)
            _refuse_odd_bounds(fitted, bounds, len(X))
            answered[kind, level] = bounds
    return mean, answered


def _refuse_odd_bounds(fitted: Any, bounds: np.ndarray, n_rows: int) -> None:
    name = type(fitted).__name__
    if bounds.shape != (n_rows, 2):
        raise ValueError(
            f"Intervals must have a lower and an upper bound for each row, shape ({n_rows}, 2), "
            f"but {name}.predict_interval gave {bounds.shape}."
        )
    if np.isnan(bounds).any():
        row = int(np.argmax(np.isnan(bounds).any(axis=1)))
        raise ValueError(
            f"Intervals must be numbers, but {name}.predict_interval gave nan at row {row}."
        )
