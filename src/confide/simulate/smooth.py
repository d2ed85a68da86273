"""Smooth functions: ridge regression on Gaussian kernels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy import linalg
from sklearn.metrics.pairwise import rbf_kernel

from confide.cores import one_blas_thread
from confide.trees import Row, Table

Matrix = Float64[np.ndarray, "_ _"]
# Rows that a smooth function is spanned by: with more of them its fit takes longer than the rest.
MOST_LANDMARKS = 300
# What the smooth function chooses from: lengths, as multiples of a typical distance between rows,
# and ridges, as multiples of the largest eigenvalue.
LENGTHS = (0.3, 0.6, 1.0, 1.7, 3.0)
RIDGES = tuple(10.0 ** np.arange(-7, 0))
# Eigenvalues below this share of the largest are what rounding makes of zero.
ROUNDING = 1e-10
# Landmarks x rows that are held at once.
CELLS_PER_BLOCK = 4_000_000


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

    x_mean: Float64[np.ndarray, " feature"]
    x_scale: Float64[np.ndarray, " feature"]
    landmarks: Float64[np.ndarray, "landmark feature"]
    weights: Float64[np.ndarray, " landmark"]
    gamma: float
    constant: float

    @one_blas_thread()
    def __call__(self, X: Table, cells_per_block: int = CELLS_PER_BLOCK) -> Row:
        """The sum at each row."""
        size = max(1, cells_per_block // len(self.weights))
        blocks = [
            self.values(X[start : start + size]) @ self.weights for start in range(0, len(X), size)
        ]
        return self.constant + (np.concatenate(blocks) if blocks else np.empty(0))

    def values(self, X: Table) -> Matrix:
        """The kernel of each row and landmark."""
        return np.asarray(rbf_kernel((X - self.x_mean) / self.x_scale, self.landmarks, self.gamma))


@one_blas_thread()
def smooth(
    X: Table,
    y: Row,
    seed: int,
    lengths: Sequence[float] = LENGTHS,
    ridges: Sequence[float] = RIDGES,
) -> Callable[[Table, Row], Kernels]:
    """Ridge regression on Gaussian kernels: the mean of a Gaussian process.

    Length and ridge are those with the least leave-one-out error on all rows, which is exact here
    and costs no further fit. On long tables some rows, drawn at random, span the function.

    Args:
        X: all rows.
        y: their targets.
        seed: of the rows that span the function.
        lengths: to choose from, as multiples of a typical distance between rows.
        ridges: to choose from, as multiples of the largest eigenvalue.

    Returns:
        The fit to any part of the rows, with that length and ridge.
    """
    candidates = (
        (error, length, ridge)
        for length in lengths
        for error, ridge in _leave_one_out(spanned(X, length, seed)[2], y, ridges)
        if error < np.inf
    )
    fallback = (np.inf, lengths[-1], 1.0)
    _, length, ridge = min(candidates, key=lambda candidate: candidate[0], default=fallback)

    @one_blas_thread()
    def fit(X: Table, y: Row) -> Kernels:
        kernels, root, features = spanned(X, length, seed)
        gram = features.T @ features
        centre = y.mean()
        coefficients = linalg.solve(
            gram + len(y) * ridge * np.eye(len(gram)), features.T @ (y - centre), assume_a="pos"
        )
        return replace(kernels, weights=root @ coefficients, constant=float(centre))

    return fit


def spanned(X: Table, length: float, seed: int) -> tuple[Kernels, Matrix, Matrix]:
    """Features whose inner products are the kernel's projection on some rows (Nystroem).

    Returns:
        Kernels on those rows, with weights of zero; the weights that make each feature; and the
        features of all rows.
    """
    x_mean, x_scale = X.mean(axis=0), X.std(axis=0)
    x_scale[x_scale == 0] = 1.0
    Z = (X - x_mean) / x_scale
    chosen = np.random.default_rng(seed).permutation(len(Z))[:MOST_LANDMARKS]
    landmarks = Z[np.sort(chosen)]
    # The mean squared distance of two rows is twice the number of features.
    gamma = 1 / (2 * length**2 * 2 * Z.shape[1])
    kernels = Kernels(x_mean, x_scale, landmarks, np.zeros(len(landmarks)), gamma, 0.0)
    eigenvalues, vectors = _positive_eigenvalues(rbf_kernel(landmarks, gamma=gamma))
    root = vectors / np.sqrt(eigenvalues)
    return kernels, root, kernels.values(X) @ root


def _leave_one_out(features: Matrix, y: Row, ridges: Sequence[float]) -> list[tuple[float, float]]:
    """For each ridge the mean squared error of rows left out one by one, and the ridge per row."""
    eigenvalues, vectors = _positive_eigenvalues(features.T @ features)
    left = features @ (vectors / np.sqrt(eigenvalues))
    centred = y - y.mean()
    turned = left.T @ centred
    beyond, free = centred - left @ turned, np.maximum(1 - (left**2).sum(axis=1), 0)
    errors = []
    for ridge in ridges:
        # What the ridge takes away: near zero it keeps its digits, its complement does not.
        taken = ridge / (eigenvalues / eigenvalues[-1] + ridge)
        residuals, without_leverage = beyond + left @ (taken * turned), free + left**2 @ taken
        error = float(np.mean((residuals / without_leverage) ** 2))
        errors.append((error, ridge * eigenvalues[-1] / len(y)))  # the largest grows as rows do
    return errors


def _positive_eigenvalues(matrix: Matrix) -> tuple[Row, Matrix]:
    """Those that are not zero up to rounding, in rising order, and their eigenvectors."""
    eigenvalues, vectors = linalg.eigh(matrix)
    kept = eigenvalues > ROUNDING * eigenvalues[-1]
    return eigenvalues[kept], vectors[:, kept]
