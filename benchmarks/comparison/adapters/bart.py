"""stochtree: Bayesian additive regression trees, a posterior over sums of trees."""

import numpy as np
from stochtree import BARTModel

from comparison.answers import LEVELS, PROBABILITIES, Answers, Predict

DRAWS = 1000


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """Trees grown from the root, then a chain; constant noise, as it comes."""
    model = BARTModel()
    model.sample(
        X_train=X,
        y_train=y,
        num_gfr=10,
        num_burnin=0,
        num_mcmc=DRAWS,
        general_params={"random_seed": seed},
    )
    std = np.sqrt(model.global_var_samples)

    def predict(X: np.ndarray, /) -> Answers:
        means = np.asarray(model.predict(X=X, terms="y_hat"))  # [row, draw]
        draws = means + std * np.random.default_rng(seed).standard_normal(means.shape)
        quantiles = np.quantile(draws, PROBABILITIES, axis=1).T
        bounds = [[(1 - level) / 2, (1 + level) / 2] for level in LEVELS]
        confidence = np.moveaxis(np.quantile(means, bounds, axis=1), 2, 0)  # [row, level, 2]
        return Answers(means.mean(axis=1), quantiles, np.swapaxes(confidence, 1, 2))

    return predict
