"""A number by which a row is recognised, and groups of rows that must be held out together."""

import numpy as np
from jaxtyping import Float, Int, UInt64

# Significant bits of a number that a row is known by: those of a float32, which is what many files
# keep, and what a decimal number of another file is rounded to.
BITS = 24
# Rows of equal features are copies where so few of them come with a second target.
FEW = 0.1
# Otherwise they are repeated measurements, and not what few values bring about by chance, if there
# are at least so many different ones, each with at most so many rows on average.
FEWEST_DESIGNS, MOST_REPEATS = 20, 10
# An odd number without a pattern: equal rows that count as several get numbers far apart.
STEP = np.uint64(0x9E3779B97F4A7C15)

Features = Float[np.ndarray, "row feature"]
Targets = Float[np.ndarray, " row"]
Numbers = UInt64[np.ndarray, " row"]


def fingerprints(X: Features, y: Targets) -> Numbers:
    """A number for each row that equal rows share, whatever file they are read from."""
    return _hashed(np.column_stack([X, y]))


def identities(rows: Numbers, *, copies: bool) -> Numbers:
    """A number for each row: copies share one; other equal rows count as a first, a second ..."""
    if copies or len(rows) == 0:
        return rows
    import pandas as pd

    occurrence = pd.Series(rows).groupby(rows).cumcount().to_numpy().astype(np.uint64)
    return rows ^ (occurrence * STEP)


def are_copies(X: Features, y: Targets) -> bool:
    """Whether rows were copied: equal features come with equal targets, nearly always."""
    of_features = _hashed(X)
    designs, counts = np.unique(of_features, return_counts=True)
    repeated = np.isin(of_features, designs[counts > 1])
    n_different = len(np.unique(fingerprints(X[repeated], y[repeated])))
    return bool(0 < n_different <= (1 + FEW) * np.sum(counts > 1))


def groups(X: Features, y: Targets) -> Int[np.ndarray, " row"]:
    """For each row the number of its group: rows of a group are held out together or not at all.

    Copies and repeated measurements share a group: a model that has learnt one of them has seen
    the others. In a table of few values, such as ratings by sex and region, equal rows are as
    independent as any, and each is a group of its own.
    """
    designs, group = np.unique(_hashed(X), return_inverse=True)
    repeated_measurements = len(designs) >= FEWEST_DESIGNS and len(y) <= MOST_REPEATS * len(designs)
    if len(designs) < len(y) and (repeated_measurements or are_copies(X, y)):
        return group
    return np.arange(len(y))


def _hashed(numbers: Features) -> Numbers:
    import pandas as pd

    mantissa, exponent = np.frexp(numbers.astype(np.float64))
    rounded = np.ldexp(np.round(mantissa * 2.0**BITS), exponent - BITS) + 0.0  # minus zero is zero
    return pd.util.hash_pandas_object(pd.DataFrame(rounded), index=False).to_numpy()
