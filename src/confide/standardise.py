"""X and y on a common scale for the learners; predictions are scaled back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Float64

from confide.persistence import Arrays, checked_array

# Rows handled at once, so that a large table is never copied in double precision.
_ROWS_PER_BLOCK = 65_536
# Pairs of quantiles with their distance under a normal law of unit variance, the next where one
# does not tell a column's values apart; the last tells all but constants.
_QUANTILES = ((0.25, 0.75, 1.349), (0.05, 0.95, 3.29), (0.0, 1.0, 2.0))
# Of a column with a long tail, such as delays, all but this share of the rows lies within so many
# scales of its median on each side: what networks clip beyond that, they do not learn. Measured on
# 13 tables, one split each.
_TAIL, _FARTHEST = 0.02, 4.0
# How far predictions may leave the range of the training targets, in widths of it.
_MARGIN = 0.5


@dataclass(frozen=True)
class Standardiser:
    """Means and standard deviations (divisor N) of the training data.

    A robust one has medians and quantile ranges of the features instead, and knows the range of
    the targets: one wild value then moves no other, and no prediction goes far beyond it.

    Attributes:
        x_mean: mean of each feature.
        x_scale: standard deviation of each feature, one where the feature is constant.
        y_mean: mean of the targets.
        y_scale: standard deviation of the targets.
        reach: lowest and highest prediction, standardised.
    """

    x_mean: Float64[np.ndarray, " feature"]
    x_scale: Float64[np.ndarray, " feature"]
    y_mean: float
    y_scale: float
    reach: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def for_each(
        cls,
        X: Float[np.ndarray, "row feature"],
        targets: Float64[np.ndarray, "set row"],
        sample_weight: Float64[np.ndarray, " row"] | None = None,
        *,
        robust: bool = False,
    ) -> "list[Standardiser]":
        """One for each of some (weighted) data sets with the same inputs.

        Args:
            X: the inputs.
            targets: of each data set.
            sample_weight: of the rows; quantiles do not look at it.
            robust: whether to go by quantiles and to keep predictions near the targets.

        Returns:
            Those of the data sets, in their order.
        """
        of_inputs = _median_and_scale(X) if robust else _mean_and_scale(X, sample_weight)
        own = []
        for y in targets:
            mean, scale = (float(value[0]) for value in _mean_and_scale(y[:, None], sample_weight))
            plain = cls(*of_inputs, mean, scale)
            own.append(plain.reaching(y.min(), y.max()) if robust else plain)
        return own

    def reaching(self, lowest: float, highest: float) -> "Standardiser":
        """The same, with predictions that stay near targets of this range."""
        low, high = (lowest - self.y_mean) / self.y_scale, (highest - self.y_mean) / self.y_scale
        margin = _MARGIN * (high - low)
        return replace(self, reach=(float(low - margin), float(high + margin)))

    @property
    def is_robust(self) -> bool:
        """Whether predictions stay near the training targets."""
        return bool(np.isfinite(self.reach[0]))

    def inputs(self, X: Float[np.ndarray, "row feature"]) -> Float32[np.ndarray, "row feature"]:
        """Standardised inputs for the networks."""
        return ((X - self.x_mean) / self.x_scale).astype(np.float32)

    def input_blocks(
        self, X: Float[np.ndarray, "row feature"]
    ) -> Iterator[Float32[np.ndarray, "_ feature"]]:
        """The same in consecutive blocks of rows."""
        return (
            self.inputs(X[start : start + _ROWS_PER_BLOCK])
            for start in range(0, len(X), _ROWS_PER_BLOCK)
        )

    def to_arrays(self) -> Arrays:
        """What a model file keeps."""
        y = np.array([self.y_mean, self.y_scale])
        arrays = {"x_mean": self.x_mean, "x_scale": self.x_scale, "y_mean_and_scale": y}
        return arrays | ({"reach": np.array(self.reach)} if np.isfinite(self.reach).all() else {})

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> "Standardiser":
        """From a model file's arrays, checked."""
        x_mean, x_scale = (
            checked_array(arrays, name, (n_features,), np.float64) for name in ("x_mean", "x_scale")
        )
        y_mean, y_scale = checked_array(arrays, "y_mean_and_scale", (2,), np.float64).tolist()
        if not (np.all(x_scale > 0) and y_scale > 0 and 0 < y_scale * y_scale < np.inf):
            raise ValueError("scales must be positive, with a square that floats can hold")
        own = cls(x_mean, x_scale, y_mean, y_scale)
        if "reach" not in arrays:
            return own
        low, high = checked_array(arrays, "reach", (2,), np.float64).tolist()
        if not low <= high:
            raise ValueError("the lowest prediction must not exceed the highest")
        return replace(own, reach=(low, high))

    def targets(self, y: Float64[np.ndarray, " row"]) -> Float32[np.ndarray, " row"]:
        """Standardised targets for the networks."""
        return ((y - self.y_mean) / self.y_scale).astype(np.float32)

    def within_reach(self, means: Float[np.ndarray, "*member row"]) -> Any:
        """Standardised predictions, none far beyond the training targets of a robust one."""
        return np.clip(means, *self.reach) if self.is_robust else means


def _median_and_scale(
    X: Float[np.ndarray, "row feature"],
) -> tuple[Float64[np.ndarray, " feature"], Float64[np.ndarray, " feature"]]:
    """Median of each column, and its spread between quantiles; a constant one has scale one."""
    scale, median = np.zeros(X.shape[1]), np.median(X, axis=0).astype(np.float64)
    for low, high, distance in _QUANTILES:
        ends = np.quantile(X, (low, high), axis=0).astype(np.float64)
        scale = np.where(scale > 0, scale, (ends[1] - ends[0]) / distance)
    # Never the outermost value itself, which may be a mistake.
    left = median - np.quantile(X, _TAIL, axis=0, method="higher")
    right = np.quantile(X, 1 - _TAIL, axis=0, method="lower") - median
    scale = np.maximum(scale, np.maximum(left, right) / _FARTHEST)
    return median, np.where(scale > 0, scale, 1.0)


def _mean_and_scale(
    X: Float[np.ndarray, "row feature"], sample_weight: Float64[np.ndarray, " row"] | None
) -> tuple[Float64[np.ndarray, " feature"], Float64[np.ndarray, " feature"]]:
    """Mean and standard deviation of each column; a constant one has scale one.

    Columns are first moved and stretched to [0, 1]. Values of any size then square without loss,
    and StandardScaler does not take a column for constant whose mean is far larger than its spread.
    """
    from sklearn.preprocessing import StandardScaler  # here, because importing it takes a while

    lowest, span = X.min(axis=0).astype(np.float64), np.ptp(X, axis=0).astype(np.float64)
    span[span == 0] = 1.0
    scaler = StandardScaler()
    for start in range(0, len(X), _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        weight = None if sample_weight is None else sample_weight[rows]
        scaler.partial_fit((X[rows] - lowest) / span, sample_weight=weight)
    return lowest + span * scaler.mean_, span * scaler.scale_
