"""Intervals and quantiles of an estimator, read off its prediction."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from confide.budget import of_other_fit
from confide.engines import Engine
from confide.estimators.several import of_each_target, stacked
from confide.estimators.validation import checked_weight
from confide.prediction import Kind, Prediction


class IntervalMixin:
    """What every estimator with a `Prediction` offers, for one target or for several."""

    targets_: Mapping[str, Self] | None = None
    """Where `fit` had several targets, the fitted model of each by its name; else None."""

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn asks: several targets are taken."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The coefficient of determination, R2, as scikit-learn has it; of weights, ratios count.

        Args:
            X: rows like those of `fit`.
            y: their targets.
            sample_weight: one number for each row.

        Returns:
            1 at best, and 0 for a model that predicts the mean of `y` for every row.
        """
        weight = (
            None if sample_weight is None else checked_weight(sample_weight, len(np.asarray(y)))
        )
        score: float = super().score(X, y, weight)  # type: ignore[misc]
        return score

    def adopt_targets(self, targets: Mapping[str, Self]) -> Self:
        """Takes over a fitted model for each target, at once; nothing of an earlier fit is left.

        What they do next, such as a calibration, is done by this estimator's engine.
        """
        first: Any = next(iter(targets.values()))
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                kept[name] = getattr(first, name)
        if "engine" in kept:
            for own in targets.values():
                vars(own)["engine"] = kept["engine"]
        self.__dict__ = {**kept, "targets_": dict(targets)}
        return self

    @property
    def _engine(self) -> Engine:
        """Where fits, or parts of them, are done."""
        raise NotImplementedError

    def memory_of_fit(self, shape: tuple[int, int]) -> float:
        """Bytes that a worker needs for a whole fit to so many rows and columns."""
        return of_other_fit(shape)

    def _prediction(self, X: ArrayLike) -> Prediction:
        """What the model says about some rows."""
        raise NotImplementedError

    @of_each_target(stacked)
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
            several levels are asked for. For several targets, the second axis is the target:
            (row, target), and (row, target, 2) or (row, target, 2, level).
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

    @of_each_target(stacked)
    def predict_quantiles(
        self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Float64[np.ndarray, "row quantile"]:
        """Quantiles of a new observation for each row; (row, target, quantile) for targets."""
        return self._prediction(X).quantiles(quantiles)
