"""sklearn-contrib-bde: Bayesian deep ensembles, a posterior sampled about each member."""

import numpy as np
from bde import BdeRegressor
from bde.loss import GaussianNLL
from sklearn.preprocessing import StandardScaler

from comparison.answers import LEVELS, PROBABILITIES, Answers, Predict


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """With the settings of its manual's example."""
    X_scaler, y_scaler = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    model = BdeRegressor(
        n_members=8,
        hidden_layers=[16, 16],
        seed=seed,
        loss=GaussianNLL(),
        epochs=200,
        patience=10,
        lr=1e-3,
        warmup_steps=5000,
        n_samples=2000,
        n_thinning=2,
    )
    model.fit(x=X_scaler.transform(X), y=y_scaler.transform(y[:, None]).ravel())
    centre, scale = y_scaler.mean_[0], y_scaler.scale_[0]

    def predict(X: np.ndarray, /) -> Answers:
        said = np.asarray(model.predict(X_scaler.transform(X), raw=True), np.float64)
        said = said.reshape(-1, len(X), 2)  # all samples of all members
        means = centre + scale * said[..., 0]
        stds = scale * np.logaddexp(0, said[..., 1])  # its softplus
        # As its own `credible_intervals`: an observation of each sampled network.
        draws = means + stds * np.random.default_rng(seed).standard_normal(means.shape)
        quantiles = np.quantile(draws, PROBABILITIES, axis=0).T
        bounds = [[(1 - level) / 2, (1 + level) / 2] for level in LEVELS]
        confidence = np.moveaxis(np.quantile(means, bounds, axis=0), 2, 0)  # [row, level, 2]
        return Answers(means.mean(axis=0), quantiles, np.swapaxes(confidence, 1, 2))

    return predict
