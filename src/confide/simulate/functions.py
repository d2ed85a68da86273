"""Functions of a row that are plain arrays, so that a model file can keep them."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float64

from confide.named import Named
from confide.persistence import Arrays, checked_array
from confide.trees import Row, Table, Trees

# Landmarks x rows that are held at once.
_CELLS_PER_BLOCK = 4_000_000


@dataclass(frozen=True)
class Kernels:
    r"""A smooth function: $c + \sum_j w_j \exp(-\gamma\,\|z - l_j\|^2)$, z the standardised row.

    Attributes:
        x_mean: mean of each feature.
        x_scale: standard deviation of each feature.
        landmarks: the standardised rows $l_j$.
        weights: of the landmarks.
        gamma: how fast they fade.
        constant: what the sum starts from.
    """

    name: ClassVar[str] = "kernels"
    x_mean: Float64[np.ndarray, " feature"]
    x_scale: Float64[np.ndarray, " feature"]
    landmarks: Float64[np.ndarray, "landmark feature"]
    weights: Float64[np.ndarray, " landmark"]
    gamma: float
    constant: float

    def __call__(self, X: Table) -> Row:
        """The sum at each row."""
        from sklearn.metrics.pairwise import rbf_kernel

        size = max(1, _CELLS_PER_BLOCK // len(self.weights))
        blocks = [
            rbf_kernel((X[i : i + size] - self.x_mean) / self.x_scale, self.landmarks, self.gamma)
            @ self.weights
            for i in range(0, len(X), size)
        ]
        return self.constant + (np.concatenate(blocks) if blocks else np.empty(0))

    def to_arrays(self) -> Arrays:
        """What a model file keeps."""
        names = ("x_mean", "x_scale", "landmarks", "weights")
        return {name: getattr(self, name) for name in names} | {
            "gamma_and_constant": np.array([self.gamma, self.constant])
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> "Kernels":
        """From a model file's arrays, checked."""
        n = arrays["weights"].size if "weights" in arrays else 0
        x_mean, x_scale = (
            checked_array(arrays, name, (n_features,), np.float64) for name in ("x_mean", "x_scale")
        )
        landmarks = checked_array(arrays, "landmarks", (n, n_features), np.float64)
        weights = checked_array(arrays, "weights", (n,), np.float64)
        gamma, constant = checked_array(arrays, "gamma_and_constant", (2,), np.float64)
        if not (n and np.all(x_scale > 0) and gamma > 0):
            raise ValueError("scales of a smooth function must be positive")
        return cls(x_mean, x_scale, landmarks, weights, float(gamma), float(constant))


Function: TypeAlias = Trees | Kernels
FUNCTIONS: Named[type[Trees] | type[Kernels]] = Named(
    "function", {kind.name: kind for kind in (Trees, Kernels)}
)
