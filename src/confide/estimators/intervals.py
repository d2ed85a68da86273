"""Intervals and quantiles of an estimator, read off its prediction."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.prediction import Kind, Prediction


class IntervalMixin:
    """What every estimator with a `Prediction` offers."""

    def _prediction(self, X: ArrayLike) -> Prediction:
        """What the model says about some rows."""
        raise NotImplementedError

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
        prediction = self._prediction(X)
        if np.ndim(confidence_level) == 0:
            return prediction.mean, prediction.interval(kind, confidence_level)  # type: ignore[arg-type]
        levels = list(confidence_level)  # type: ignore[arg-type]
        if not levels:
            raise ValueError(
                "`confidence_level` must be a level or a list of levels, got []. Pass 0.95, or "
                "[0.8, 0.95]."
            )
        intervals = [prediction.interval(kind, level) for level in levels]
        return prediction.mean, np.stack(intervals, axis=-1)

    def predict_quantiles(
        self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Float64[np.ndarray, "row quantile"]:
        """Quantiles of a new observation for each row."""
        return self._prediction(X).quantiles(quantiles)
