"""skpro: a parametric law whose scale is a second regression, on out-of-fold residuals."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold
from skpro.regression.residual import ResidualDouble

from comparison.answers import PROBABILITIES, Answers, Predict


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """Laplace laws, of which the mean absolute residual is the scale; gradient boosting in both."""
    model = ResidualDouble(
        HistGradientBoostingRegressor(random_state=seed),
        estimator_resid=HistGradientBoostingRegressor(random_state=seed),
        dist="Laplace",
        cv=KFold(5, shuffle=True, random_state=seed),
    )
    model.fit(pd.DataFrame(X), pd.DataFrame({"y": y}))

    def predict(X: np.ndarray, /) -> Answers:
        table = pd.DataFrame(X)
        quantiles = model.predict_quantiles(table, alpha=list(PROBABILITIES))
        return Answers(model.predict(table).to_numpy().ravel(), quantiles.to_numpy())

    return predict
