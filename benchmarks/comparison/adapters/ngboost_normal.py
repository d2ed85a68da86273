"""NGBoost: natural-gradient boosting of a normal law."""

import numpy as np
from ngboost import NGBRegressor

from comparison.answers import Answers, Predict, normal_quantiles


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """As it comes."""
    model = NGBRegressor(random_state=seed, verbose=False).fit(X, y)

    def predict(X: np.ndarray, /) -> Answers:
        law = model.pred_dist(X)
        return Answers(law.loc, normal_quantiles(law.loc, law.scale))

    return predict
