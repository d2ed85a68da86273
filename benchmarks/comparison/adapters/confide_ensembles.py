"""confide's own: deep ensembles, bootstrapped ones, and both ways to calibrate those."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from comparison.answers import LEVELS, PROBABILITIES, Answers, Predict
from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor

SET_ASIDE = 0.2


def tabular(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """The recipe for tables, as it comes: confidence intervals are calibrated on twins."""
    model = BootstrappedDeepEnsembleRegressor(recipe="tabular", random_state=seed)
    return predict_with(model.fit(X, y))


def bootstrapped(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """The paper's recipe, as it comes."""
    return predict_with(paper(seed).fit(X, y))


def deep_ensemble(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """The paper's recipe without its bootstrap."""
    return predict_with(DeepEnsembleRegressor(recipe="paper", random_state=seed).fit(X, y))


def automatic_epochs(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """The number of epochs chosen on held-out rows."""
    return predict_with(paper(seed).set_params(max_epochs="auto").fit(X, y))


def calibrated(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """Prediction intervals calibrated on rows that are set aside, at the price of those rows."""
    X_fit, X_aside, y_fit, y_aside = train_test_split(X, y, test_size=SET_ASIDE, random_state=seed)
    model = paper(seed).fit(X_fit, y_fit)
    return predict_with(model.calibrate(X_aside, y_aside))


def calibrated_confidence(X: Any, y: np.ndarray, *, seed: int) -> Predict:
    """Confidence intervals calibrated on simulated twins of the training rows."""
    model: Any = paper(seed)
    if not hasattr(model, "calibrate_confidence"):
        raise ImportError("this version of confide has no `calibrate_confidence`", name="confide")
    return predict_with(model.fit(X, y).calibrate_confidence(X, y))


def paper(seed: int) -> BootstrappedDeepEnsembleRegressor:
    """The paper's recipe by name, whatever the default is."""
    return BootstrappedDeepEnsembleRegressor(recipe="paper", random_state=seed)


def predict_with(model: Any) -> Predict:
    """The answers of any of them."""

    def predict(X: Any, /) -> Answers:
        prediction = model.get_prediction(X)
        confidence = [prediction.confidence_interval(level) for level in LEVELS]
        quantiles = prediction.quantiles(PROBABILITIES)
        return Answers(prediction.mean, quantiles, np.stack(confidence, axis=-1))

    return predict
