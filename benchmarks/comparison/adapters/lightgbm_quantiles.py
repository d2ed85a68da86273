"""LightGBM: a model for each quantile."""

from typing import Any

import numpy as np
from lightgbm import LGBMRegressor

from comparison.answers import PROBABILITIES, Answers, Predict


def fit(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """As it comes, with a further model for the mean."""
    settings = {"random_state": seed, "verbosity": -1}
    of_mean = LGBMRegressor(**settings).fit(X, y)
    models = [
        LGBMRegressor(objective="quantile", alpha=p, **settings).fit(X, y) for p in PROBABILITIES
    ]

    def predict(X: Any, /) -> Answers:
        quantiles = np.stack([model.predict(X) for model in models], axis=1)
        # Models that do not know each other may cross.
        return Answers(np.asarray(of_mean.predict(X)), np.sort(quantiles, axis=1))

    return predict
