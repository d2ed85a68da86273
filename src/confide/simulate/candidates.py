"""Kinds of functions that a twin of a data set may have, rough and smooth, fitted to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy import linalg
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.metrics.pairwise import rbf_kernel

from confide.named import Named
from confide.simulate.functions import Function, Kernels
from confide.trees import Row, Table, Trees

Fit: TypeAlias = Callable[[Table, Row], Function]
# What is tuned on all rows is then fitted to any part of them; the number is a seed.
Tune: TypeAlias = Callable[[Table, Row, int], Fit]
# Trees of a forest, and steps of boosting.
N_TREES, N_STEPS = 50, 100
# A forest of a long table would make a large model file; so many leaves lose little.
MOST_LEAVES = 2_048
# Rows that a smooth function is spanned by: with more of them its fit takes longer than the rest.
MOST_LANDMARKS = 300
# What the smooth function chooses from: lengths, as multiples of a typical distance between rows,
# and ridges, as multiples of the largest eigenvalue.
LENGTHS = (0.3, 0.6, 1.0, 1.7, 3.0)
RIDGES = 10.0 ** np.arange(-7, 0)
# Eigenvalues below this share of the largest are what rounding makes of zero.
ROUNDING = 1e-10


def random_forest(X: Table, _: Row, seed: int) -> Fit:
    """A mean of deep trees, each on half of the features at a split."""
    forest = RandomForestRegressor(
        N_TREES,
        min_samples_leaf=3,
        max_leaf_nodes=MOST_LEAVES,
        max_features=0.5 if X.shape[1] > 2 else 1.0,
        random_state=seed,
    )

    def fit(X: Table, y: Row) -> Trees:
        return Trees.from_sklearn(clone(forest).fit(X, y).estimators_, weight=1 / N_TREES)

    return fit


def gradient_boosting(_X: Table, _y: Row, seed: int) -> Fit:
    """A sum of small trees, each on half of the rows."""
    boosting = GradientBoostingRegressor(
        n_estimators=N_STEPS, max_depth=3, subsample=0.5, random_state=seed
    )

    def fit(X: Table, y: Row) -> Trees:
        fitted = clone(boosting).fit(X, y)
        return Trees.from_sklearn(
            list(fitted.estimators_[:, 0]),
            weight=fitted.learning_rate,
            constant=float(fitted.init_.constant_[0, 0]),
        )

    return fit


def smooth(X: Table, y: Row, seed: int) -> Fit:
    """Ridge regression on Gaussian kernels: the mean of a Gaussian process.

    Length and ridge are those with the least leave-one-out error on all rows, which is exact here
    and costs no further fit. On long tables some rows, drawn at random, span the function.
    """
    least, best = np.inf, (LENGTHS[-1], 1.0)
    for length in LENGTHS:
        features = _Features.of(X, length, seed)
        eigenvalues, vectors = linalg.eigh(features.values.T @ features.values)
        kept = eigenvalues > ROUNDING * eigenvalues[-1]
        eigenvalues = eigenvalues[kept]
        left = features.values @ (vectors[:, kept] / np.sqrt(eigenvalues))
        centred = y - y.mean()
        turned = left.T @ centred
        beyond, free = centred - left @ turned, np.maximum(1 - (left**2).sum(axis=1), 0)
        for ridge in RIDGES:
            # What the ridge takes away: near zero it keeps its digits, its complement does not.
            taken = ridge / (eigenvalues / eigenvalues[-1] + ridge)
            residuals, without_leverage = beyond + left @ (taken * turned), free + left**2 @ taken
            error = np.mean((residuals / without_leverage) ** 2)
            if error < least:
                # The largest eigenvalue grows as rows do.
                least, best = error, (length, ridge * eigenvalues[-1] / len(y))
    length, ridge = best

    def fit(X: Table, y: Row) -> Kernels:
        features = _Features.of(X, length, seed)
        gram = features.values.T @ features.values
        centre = y.mean()
        coefficients = linalg.solve(
            gram + len(y) * ridge * np.eye(len(gram)),
            features.values.T @ (y - centre),
            assume_a="pos",
        )
        return Kernels(
            features.x_mean,
            features.x_scale,
            features.landmarks,
            features.root @ coefficients,
            features.gamma,
            float(centre),
        )

    return fit


@dataclass(frozen=True)
class _Features:
    """Features whose inner products are the kernel's projection on some rows (Nystroem)."""

    x_mean: Float64[np.ndarray, " feature"]
    x_scale: Float64[np.ndarray, " feature"]
    landmarks: Float64[np.ndarray, "landmark feature"]
    gamma: float
    root: Float64[np.ndarray, "landmark dimension"]
    values: Float64[np.ndarray, "row dimension"]

    @classmethod
    def of(cls, X: Table, length: float, seed: int) -> "_Features":
        x_mean, x_scale = X.mean(axis=0), X.std(axis=0)
        x_scale[x_scale == 0] = 1.0
        Z = (X - x_mean) / x_scale
        chosen = np.random.default_rng(seed).permutation(len(Z))[:MOST_LANDMARKS]
        landmarks = Z[np.sort(chosen)]
        # The mean squared distance of two rows is twice the number of features.
        gamma = 1 / (2 * length**2 * 2 * Z.shape[1])
        values, vectors = linalg.eigh(rbf_kernel(landmarks, gamma=gamma))
        kept = values > ROUNDING * values[-1]
        root = vectors[:, kept] / np.sqrt(values[kept])
        return cls(
            x_mean, x_scale, landmarks, gamma, root, rbf_kernel(Z, landmarks, gamma=gamma) @ root
        )


CANDIDATES: Named[Tune] = Named(
    "twin",
    {"random_forest": random_forest, "gradient_boosting": gradient_boosting, "smooth": smooth},
)
