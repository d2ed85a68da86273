"""CatBoost: boosting of a normal law, with virtual ensembles for the doubt about its mean."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from catboost import CatBoostRegressor, Pool
from sklearn.model_selection import KFold

from comparison.answers import (
    Answers,
    Predict,
    conformal_shift,
    normal_intervals,
    normal_quantiles,
)

FOLDS = 5


class Law(NamedTuple):
    """A normal law for each row, and the standard deviation of its mean."""

    mean: np.ndarray
    std: np.ndarray
    std_of_mean: np.ndarray


def fit(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """As its manual does it."""
    model = fitted(X, y, seed)

    def predict(X: Any, /) -> Answers:
        law = law_of(model, X)
        confidence = normal_intervals(law.mean, law.std_of_mean)
        return Answers(law.mean, normal_quantiles(law.mean, law.std), confidence)

    return predict


def conformal(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """The same, its standard deviations taken as far as rows that were left out say."""
    standardised = np.empty((len(y), 1))
    for rows, left_out in KFold(FOLDS, shuffle=True, random_state=seed).split(X):
        law = law_of(fitted(rows_of(X, rows), y[rows], seed), rows_of(X, left_out))
        standardised[left_out, 0] = (y[left_out] - law.mean) / law.std
    shift, model = conformal_shift(standardised), fitted(X, y, seed)

    def predict(X: Any, /) -> Answers:
        law = law_of(model, X)
        confidence = normal_intervals(law.mean, law.std_of_mean)
        return Answers(law.mean, law.mean[:, None] + law.std[:, None] * shift, confidence)

    return predict


def fitted(X: Any, y: np.ndarray, seed: int) -> CatBoostRegressor:
    """Posterior sampling is what its manual asks for where virtual ensembles are wanted."""
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        posterior_sampling=True,
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
    )
    return model.fit(pool_of(X, y))


def law_of(model: CatBoostRegressor, X: Any) -> Law:
    """The law of the ten virtual ensembles together."""
    said = model.virtual_ensembles_predict(pool_of(X), prediction_type="TotalUncertainty")
    mean, of_mean, of_noise = np.asarray(said).T
    return Law(mean, np.sqrt(of_mean + of_noise), np.sqrt(of_mean))


def pool_of(X: Any, y: np.ndarray | None = None) -> Pool:
    """Holes among numbers are its own affair; among categories they must be one."""
    if not isinstance(X, pd.DataFrame):
        return Pool(X, y)
    categories = list(X.select_dtypes("category"))
    return Pool(X.astype(dict.fromkeys(categories, str)), y, cat_features=categories)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array or a frame."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
