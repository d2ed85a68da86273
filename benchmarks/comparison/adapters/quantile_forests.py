"""quantile-forest: quantiles from the training targets in the leaves of a random forest."""

import numpy as np
from quantile_forest import RandomForestQuantileRegressor

from comparison.answers import PROBABILITIES, Answers, Predict


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """As it comes, on all cores."""
    model = RandomForestQuantileRegressor(n_jobs=-1, random_state=seed).fit(X, y)

    def predict(X: np.ndarray, /) -> Answers:
        mean = model.predict(X, quantiles="mean")
        return Answers(mean, model.predict(X, quantiles=list(PROBABILITIES)))

    return predict
