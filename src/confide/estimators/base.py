"""The scikit-learn face that all methods share: validate, convert, delegate."""

import inspect
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from confide.estimators.validation import checked_training_data, checked_X
from confide.prediction import Kind, Prediction
from confide.progress import progress_bar
from confide.randomness import key_from


class EnsembleRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators; a subclass names its method and spells out its arguments.

    An argument of the constructor that the method's `Settings` know is passed on to them.
    """

    method: ClassVar[ModuleType]

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "EnsembleRegressor":
        """Trains the ensemble.

        Args:
            X: a table of numbers: NumPy, pandas or polars. It need not be scaled.
            y: one number for each row.
            sample_weight: weight of each row's loss; only ratios matter, and a row of weight
                zero is left out.

        Returns:
            The estimator itself.
        """
        settings = self.settings()
        X, y, weight = checked_training_data(self, X, y, sample_weight)
        total = self.method.member_epochs(settings)
        with progress_bar(f"Fitting {type(self).__name__}", total, shown=self.verbose) as progress:
            (self.fitted_,) = self.method.fit(
                [key_from(self.random_state)],
                X,
                y[None],
                settings,
                sample_weight=weight,
                progress=progress,
            )
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> (
        Float64[np.ndarray, " row"]
        | tuple[Float64[np.ndarray, " row"], Float64[np.ndarray, " row"]]
    ):
        """The predicted mean of each row.

        Args:
            X: rows like those of `fit`.
            return_std: also return the standard deviation of a new observation about the
                prediction, the root of `Prediction.total_variance`.
        """
        prediction = self.get_prediction(X)
        if return_std:
            return prediction.mean, np.sqrt(prediction.total_variance)
        return prediction.mean

    def predict_interval(
        self,
        X: ArrayLike,
        confidence_level: float | Sequence[float] = 0.95,
        kind: Kind = "prediction",
    ) -> tuple[Float64[np.ndarray, " row"], Float64[np.ndarray, "row 2 *level"]]:
        """The prediction of each row with its interval.

        Args:
            X: rows like those of `fit`.
            confidence_level: one level, or several.
            kind: "confidence" for the true function, "prediction" for a new observation.

        Returns:
            The predictions, and the lower and upper bounds as (row, 2), or (row, 2, level) when
            several levels are asked for.
        """
        prediction = self.get_prediction(X)
        if np.ndim(confidence_level) == 0:
            return prediction.mean, prediction.interval(kind, confidence_level)  # type: ignore[arg-type]
        levels = list(confidence_level)  # type: ignore[arg-type]
        if not levels:
            raise ValueError(
                "`confidence_level` must be a level or a list of some, got []. Pass 0.95, or "
                "[0.8, 0.95]."
            )
        intervals = [prediction.interval(kind, level) for level in levels]
        return prediction.mean, np.stack(intervals, axis=-1)

    def predict_quantiles(
        self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Float64[np.ndarray, "row quantile"]:
        """Quantiles of a new observation for each row."""
        return self.get_prediction(X).quantiles(quantiles)

    def get_prediction(self, X: ArrayLike) -> Prediction:
        """All that the ensemble says about some rows, computed once."""
        check_is_fitted(self)
        return self.method.predict(self.fitted_, checked_X(self, X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted model to one file of arrays and JSON; `confide.load` reads it back.

        An older file of that name is replaced in one step: it is whole at every moment.
        """
        from confide.estimators.files import save_estimator

        check_is_fitted(self)
        save_estimator(self, path)

    def settings(self) -> Any:
        """The method's settings from the constructor's arguments, checked."""
        known = inspect.signature(self.method.Settings).parameters
        values = {
            name: value for name, value in self.get_params(deep=False).items() if name in known
        }
        sizes = values["hidden_layer_sizes"]
        values["hidden_layer_sizes"] = tuple(sizes) if np.iterable(sizes) else (sizes,)
        return self.method.Settings(**values)
