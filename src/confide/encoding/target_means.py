"""A number for each of many categories: its mean target, drawn towards the mean of all rows.

A category of n rows has the mean of its own targets and of `prior` further ones that equal the mean
of all: (n * own + prior * all) / (n + prior). The prior is the variance within categories over that
between them, as in a one-way analysis of variance with random effects. Where chance would explain
the differences between categories, there is none.

A row's own target must not be in its number: a network would learn from it. So the number of a row
of the training table comes from the rows of other folds. Equal rows share a fold. scikit-learn's
TargetEncoder takes such folds only since its version 1.9, and does not draw a category of a single
row towards the mean.
"""

import numpy as np
from jaxtyping import Float, Float64, Int
from scipy import stats

from confide.fingerprints import fingerprints

N_FOLDS = 5
# Of the hypothesis that categories do not differ; beyond, they are taken not to.
LARGEST_P = 0.01

Codes = Int[np.ndarray, " row"]
Targets = Float64[np.ndarray, " row"]


def prior_rows(codes: Codes, y: Targets) -> float | None:
    """How many rows the mean of all counts for; None where categories differ by chance at most.

    Args:
        codes: the category of each row, from 0 on.
        y: its target.

    Returns:
        The prior.
    """
    counts = np.bincount(codes)
    n_rows, n_groups = len(y), int(np.sum(counts > 0))
    if not 1 < n_groups < n_rows:
        return None
    means = np.bincount(codes, y) / np.maximum(counts, 1)
    within = np.sum((y - means[codes]) ** 2) / (n_rows - n_groups)
    between = np.sum(counts * (means - y.mean()) ** 2) / (n_groups - 1)
    if between <= within:
        return None
    ratio = between / within if within > 0 else np.inf
    if stats.f.sf(ratio, n_groups - 1, n_rows - n_groups) > LARGEST_P:
        return None
    rows_per_group = (n_rows - np.sum(counts**2) / n_rows) / (n_groups - 1)
    return float(within * rows_per_group / (between - within))


def shrunk_means(codes: Codes, y: Targets, n_categories: int, prior: float) -> Targets:
    """The number of each category.

    Args:
        codes: the category of each row, from 0 on.
        y: its target.
        n_categories: how many there are.
        prior: how many rows the mean of all counts for.

    Returns:
        The numbers.
    """
    sums, counts = np.bincount(codes, y, n_categories), np.bincount(codes, minlength=n_categories)
    return _shrunk(sums, counts, prior, float(y.mean()))


def out_of_fold_means(codes: Codes, y: Targets, folds: Codes, prior: float) -> Targets:
    """The number of each row, from the rows of other folds; without a category, their mean.

    Args:
        codes: the category of each row, or -1 for none.
        y: its target.
        folds: its fold.
        prior: how many rows the mean of all counts for.

    Returns:
        The numbers.
    """
    numbers = np.full(len(y), y.mean())
    for fold in np.unique(folds):
        inside, others = folds == fold, (folds != fold) & (codes >= 0)
        if others.any():
            means = shrunk_means(codes[others], y[others], int(codes.max()) + 1, prior)
            means = np.append(means, y[others].mean())  # the last one, for -1
            numbers[inside] = means[codes[inside]]
    return numbers


def folds_of(X: Float[np.ndarray, "row feature"]) -> Codes:
    """A fold for each row, by what is in it: whatever the order of rows, equal ones share it."""
    return (fingerprints(X, np.zeros(len(X))) % np.uint64(N_FOLDS)).astype(np.int64)


def _shrunk(sums: Targets, counts: Codes, prior: float, mean: float) -> Targets:
    total = counts + prior
    return np.where(total > 0, (sums + prior * mean) / np.where(total > 0, total, 1), mean)
