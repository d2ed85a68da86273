"""MAPIE: cross-conformal prediction intervals (CV+) around scikit-learn's regressors."""

from typing import Any

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comparison.answers import CENTRAL_LEVELS, Answers, Predict, between_bounds

EPOCHS = 80


def network(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """Around a network of the size and the schedule of confide's members."""
    mlp = MLPRegressor(
        hidden_layer_sizes=(40, 30, 20),
        batch_size=32,
        max_iter=EPOCHS,
        n_iter_no_change=EPOCHS,  # all of them, as confide's
        random_state=seed,
    )
    scaled = make_pipeline(StandardScaler(), mlp)
    return around(TransformedTargetRegressor(scaled, transformer=StandardScaler()), X, y, seed)


def boosting(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """Around gradient boosting as it comes."""
    return around(HistGradientBoostingRegressor(random_state=seed), X, y, seed)


def around(regressor: Any, X: np.ndarray, y: np.ndarray, seed: int) -> Predict:
    """CV+ with five folds, MAPIE's default."""
    model = CrossConformalRegressor(
        regressor, confidence_level=CENTRAL_LEVELS, method="plus", cv=5, random_state=seed
    )
    model.fit_conformalize(X, y)

    def predict(X: np.ndarray, /) -> Answers:
        mean, intervals = model.predict_interval(X)
        return Answers(mean, between_bounds(intervals))

    return predict
