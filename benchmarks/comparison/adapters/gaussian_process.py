"""scikit-learn's Gaussian process: one length scale for each feature, constant noise."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import StandardScaler

from comparison.answers import Answers, Predict, normal_intervals, normal_quantiles


def fit(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
    """By maximum likelihood."""
    scaler = StandardScaler().fit(X)
    # About as far as standardised rows are apart.
    distance = np.full(X.shape[1], np.sqrt(X.shape[1]))
    kernel = ConstantKernel(1.0) * RBF(distance, (1e-2, 1e3)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():  # a feature of no use has a length scale at its bound
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scaler.transform(X), y)
    noise_variance = model.kernel_.k2.noise_level * np.var(y)

    def predict(X: np.ndarray, /) -> Answers:
        # The white kernel is part of the variance: it is that of a new observation.
        mean, std = model.predict(scaler.transform(X), return_std=True)
        of_function = np.sqrt(np.maximum(std**2 - noise_variance, 0))
        quantiles = normal_quantiles(mean, std)
        return Answers(mean, quantiles, normal_intervals(mean, of_function))

    return predict
