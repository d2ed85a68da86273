"""Zero mean and unit variance for X and y; predictions are scaled back."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Float64

from confide.persistence import Arrays, checked_array

# Rows handled at once, so that a large table is never copied in double precision.
_ROWS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class Standardiser:
    """Means and standard deviations (divisor N) of the training data.

    Attributes:
        x_mean: mean of each feature.
        x_scale: standard deviation of each feature, one where the feature is constant.
        y_mean: mean of the targets.
        y_scale: standard deviation of the targets.
    """

    x_mean: Float64[np.ndarray, " feature"]
    x_scale: Float64[np.ndarray, " feature"]
    y_mean: float
    y_scale: float

    @classmethod
    def for_each(
        cls,
        X: Float[np.ndarray, "row feature"],
        targets: Float64[np.ndarray, "set row"],
        sample_weight: Float64[np.ndarray, " row"] | None = None,
    ) -> "list[Standardiser]":
        """One for each of some (weighted) data sets with the same inputs."""
        x_mean, x_scale = _mean_and_scale(X, sample_weight)
        of_sets = (_mean_and_scale(y[:, None], sample_weight) for y in targets)
        return [cls(x_mean, x_scale, float(mean[0]), float(scale[0])) for mean, scale in of_sets]

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
        return {"x_mean": self.x_mean, "x_scale": self.x_scale, "y_mean_and_scale": y}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> "Standardiser":
        """From a model file's arrays, checked."""
        x_mean, x_scale = (
            checked_array(arrays, name, (n_features,), np.float64) for name in ("x_mean", "x_scale")
        )
        y_mean, y_scale = checked_array(arrays, "y_mean_and_scale", (2,), np.float64).tolist()
        if not (np.all(x_scale > 0) and y_scale > 0 and 0 < y_scale * y_scale < np.inf):
            raise ValueError("scales must be positive, with a square that floats can hold")
        return cls(x_mean, x_scale, y_mean, y_scale)

    def targets(self, y: Float64[np.ndarray, " row"]) -> Float32[np.ndarray, " row"]:
        """Standardised targets for the networks."""
        return ((y - self.y_mean) / self.y_scale).astype(np.float32)


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
