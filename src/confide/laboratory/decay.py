"""How fast the variances fall as rows are added, measured on one's own data."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.utils import _safe_indexing

from confide.errors import NoSuchIntervalError
from confide.explanation import Decay

HELD_OUT = 0.2


def measured_decay(
    estimator: Any, X: ArrayLike, y: ArrayLike, *, n_splits: int = 5, random_state: int = 0
) -> Decay:
    r"""How the estimator's classical and optimisation variance fall with the number of rows.

    Holds out a fifth of the rows, fits the estimator to the rest and to half of the rest, and reads
    the exponent of $N^{-a}$ off the mean variances at the held-out rows, again and again. The
    errors are those over the repetitions, which share rows: they are a little too small.

    Args:
        estimator: a `BootstrappedDeepEnsembleRegressor`, fitted or not; it is left as it is.
        X: the table.
        y: its targets.
        n_splits: repetitions, at least two; each costs a fit and a half.
        random_state: seed of the repetitions.
    """
    if n_splits < 2:
        raise ValueError(
            f"`n_splits` must be at least 2, got {n_splits}: one repetition says nothing of its "
            "error. Pass for example 5."
        )
    splits = ShuffleSplit(n_splits, test_size=HELD_OUT, random_state=random_state)
    exponents = []
    for seed, (rows, held_out) in enumerate(splits.split(X)):
        whole, half = (
            _mean_variances(estimator, X, y, fitted_to, held_out, random_state + seed)
            for fitted_to in (rows, rows[: len(rows) // 2])
        )
        exponents.append(np.log2(half / whole))
    classical, optimisation = np.mean(exponents, axis=0)
    errors = np.std(exponents, axis=0, ddof=1) / np.sqrt(n_splits)
    return Decay(float(classical), float(errors[0]), float(optimisation), float(errors[1]))


def _mean_variances(
    estimator: Any, X: ArrayLike, y: ArrayLike, rows: np.ndarray, held_out: np.ndarray, seed: int
) -> np.ndarray:
    model = clone(estimator).set_params(random_state=seed)
    model.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
    prediction = model.get_prediction(_safe_indexing(X, held_out))
    if prediction.classical_variance is None:
        raise NoSuchIntervalError(
            f"The decay is that of the variance due to finite data, and {type(estimator).__name__} "
            "does not estimate it. Pass a BootstrappedDeepEnsembleRegressor."
        )
    return np.array([prediction.classical_variance.mean(), prediction.optimisation_variance.mean()])
