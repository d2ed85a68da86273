"""Prediction intervals of other libraries, with the methods that confide's estimators have."""

import copy
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.errors import NoSuchIntervalError
from confide.prediction import Kind
from confide.uncertainty import Row

PredictedInterval = tuple[Row, Float64[np.ndarray, "row 2"]]


class MapieAdapter:
    """A MAPIE regressor: conformal prediction intervals at the levels it was made for.

    Args:
        regressor: any of MAPIE's conformal regressors. One that takes a fitted model
            (`SplitConformalRegressor`) must have `prefit=False`.
        confidence_levels: the levels it was made for, in its order; None to ask it.
        conformalise_share: share of the rows kept back where MAPIE wants rows of their own.
    """

    def __init__(
        self,
        regressor: Any,
        confidence_levels: Sequence[float] | None = None,
        conformalise_share: float = 0.3,
    ) -> None:
        # MAPIE has no public name for them; where a version has none at all, the user must say.
        alphas = getattr(regressor, "_alphas", None)
        known = None if alphas is None else [float(1 - alpha) for alpha in np.atleast_1d(alphas)]
        levels = known if confidence_levels is None else np.atleast_1d(confidence_levels).tolist()
        if levels is None:
            raise ValueError(
                "This version of MAPIE does not say which levels a regressor was made for. Pass "
                "`confidence_levels` in the order of the regressor's."
            )
        if known is not None and (len(known) != len(levels) or not np.allclose(known, levels)):
            raise ValueError(
                f"`confidence_levels` must be those of the regressor, {known}, got {levels}. Leave "
                "them out."
            )
        self.regressor = regressor
        self.confidence_levels = levels
        self.conformalise_share = conformalise_share

    def fit(self, X: ArrayLike, y: ArrayLike) -> "MapieAdapter":
        """Fits and conformalises, on separate rows unless the regressor crosses them itself."""
        self.fitted_ = copy.deepcopy(self.regressor)
        if hasattr(self.fitted_, "fit_conformalize"):
            self.fitted_.fit_conformalize(X, y)
            return self
        from sklearn.model_selection import train_test_split  # here, because it takes a while

        X_fit, X_rest, y_fit, y_rest = train_test_split(
            X, y, test_size=self.conformalise_share, random_state=0
        )
        self.fitted_.fit(X_fit, y_fit).conformalize(X_rest, y_rest)
        return self

    def predict(self, X: ArrayLike) -> Row:
        """The prediction of each row."""
        return np.asarray(self.fitted_.predict(X), np.float64)

    def predict_interval(
        self, X: ArrayLike, confidence_level: float, kind: Kind = "prediction"
    ) -> PredictedInterval:
        """The prediction of each row with its prediction interval."""
        _refuse_confidence(kind, "MAPIE")
        y_pred, intervals = self.fitted_.predict_interval(X)
        for i, level in enumerate(self.confidence_levels):
            if np.isclose(level, confidence_level):
                return np.asarray(y_pred, np.float64), np.asarray(intervals[:, :, i], np.float64)
        raise NoSuchIntervalError(
            f"This MAPIE regressor was made for the levels {self.confidence_levels}, got "
            f"{confidence_level:g}. Make it with confidence_level={confidence_level:g} as well."
        )


class SkproAdapter:
    """A skpro regressor: prediction intervals at any level."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: ArrayLike, y: ArrayLike) -> "SkproAdapter":
        """Fits a copy."""
        import pandas as pd

        self.fitted_ = self.regressor.clone().fit(pd.DataFrame(X), pd.DataFrame(y))
        return self

    def predict(self, X: ArrayLike) -> Row:
        """The prediction of each row."""
        import pandas as pd

        return np.asarray(self.fitted_.predict(pd.DataFrame(X)), np.float64).ravel()

    def predict_interval(
        self, X: ArrayLike, confidence_level: float, kind: Kind = "prediction"
    ) -> PredictedInterval:
        """The prediction of each row with its prediction interval."""
        import pandas as pd

        _refuse_confidence(kind, "skpro")
        bounds = self.fitted_.predict_interval(pd.DataFrame(X), coverage=confidence_level)
        return self.predict(X), np.asarray(bounds, np.float64)


def adapted(estimator: Any) -> Any:
    """The estimator with confide's methods: an adapter, or itself if it has them."""
    home = type(estimator).__module__.split(".")[0]
    if home == "skpro":
        return SkproAdapter(estimator)
    if home == "mapie":
        return MapieAdapter(estimator)
    if isinstance(estimator, type):
        raise TypeError(
            f"Pass an estimator, not its class: {estimator.__name__}() instead of "
            f"{estimator.__name__}."
        )
    if not hasattr(estimator, "predict_interval"):
        raise TypeError(
            f"{type(estimator).__name__} has no `predict_interval(X, confidence_level, kind)`. "
            "Pass one of confide's estimators, or a regressor of skpro or MAPIE."
        )
    return estimator


def _refuse_confidence(kind: Kind, library: str) -> None:
    if cast("str", kind) != "prediction":
        raise NoSuchIntervalError(
            f"{library} has prediction intervals only, got kind={kind!r}. Ask for "
            "kind='prediction'."
        )
