"""pytabkit: RealMLP and TabM, bagged over five folds, whose left-out rows give the intervals."""

from typing import Any

import numpy as np
from pytabkit import RealMLP_TD_Regressor, TabM_D_Regressor

from comparison.answers import MIDPOINTS, PROBABILITIES, Answers, Predict, conformal_shift

FOLDS = 5


def realmlp(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """RealMLP with its tuned defaults, and residuals of the rows left out."""
    return around(RealMLP_TD_Regressor(n_cv=FOLDS, random_state=seed, device="cpu"), X, y, seed)


def realmlp_quantiles(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """RealMLP for all quantiles at once, as its manual shows, each shifted by the rows left out."""
    loss = f"multi_pinball({','.join(str(p) for p in PROBABILITIES)})"
    model = RealMLP_TD_Regressor(
        n_cv=FOLDS,
        random_state=seed,
        device="cpu",
        train_metric_name=loss,
        val_metric_name=loss,
    )
    return around(model, X, y, seed)


def tabm(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """TabM, narrower than its default, which takes many minutes on two cores."""
    model = TabM_D_Regressor(
        n_cv=FOLDS, random_state=seed, device="cpu", d_block=128, batch_size="auto"
    )
    return around(model, X, y, seed)


def around(model: Any, X: np.ndarray, y: np.ndarray, seed: int) -> Predict:
    """Fit a network for each fold; quantiles are moved to where the left-out rows say."""
    folds = folds_of(len(y), seed)
    # With targets as a column, predictions are [fold, row, column]; otherwise the first column.
    model.fit(X, y[:, None], val_idxs=folds)
    columns = model.predict_ensemble(X)
    left_out = np.concatenate([columns[fold, rows] for fold, rows in enumerate(folds)])
    shift = conformal_shift(y[folds.ravel(), None] - left_out)

    def predict(X: np.ndarray, /) -> Answers:
        said = model.predict_ensemble(X).mean(axis=0)
        quantiles = np.sort(said + shift, axis=1)
        midpoints = quantiles[:, np.isin(PROBABILITIES, MIDPOINTS)]
        # A network of quantiles has no mean of its own: theirs is that of the law on them.
        mean = said[:, 0] if said.shape[1] == 1 else midpoints.mean(axis=1)
        return Answers(mean, quantiles)

    return predict


def folds_of(n_rows: int, seed: int) -> np.ndarray:
    """Row numbers of folds of the same size, [fold, row]; a remainder is in none."""
    size = n_rows // FOLDS
    return np.random.default_rng(seed).permutation(n_rows)[: FOLDS * size].reshape(FOLDS, size)
