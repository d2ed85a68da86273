"""Rows known again by a number, and rows that are copies of one another."""

import numpy as np
from jaxtyping import Float, Int, UInt64

# Significant bits of a number that a row is known by: those of a float32, which is what many files
# keep, and what a decimal number of another file is rounded to.
BITS = 24
# Tables repeat rows by nature where most of what is repeated comes with several targets.
FEW = 0.1
# An odd number without a pattern: copies that count as rows of their own get numbers far apart.
STEP = np.uint64(0x9E3779B97F4A7C15)


def fingerprints(
    X: Float[np.ndarray, "row feature"], y: Float[np.ndarray, " row"]
) -> UInt64[np.ndarray, " row"]:
    """A number for each row that equal rows share, whatever file they are read from."""
    import pandas as pd

    mantissa, exponent = np.frexp(np.column_stack([X, y]).astype(np.float64))
    numbers = np.ldexp(np.round(mantissa * 2.0**BITS), exponent) + 0.0  # minus zero is zero
    return pd.util.hash_pandas_object(pd.DataFrame(numbers), index=False).to_numpy()


def are_copies(X: Float[np.ndarray, "row feature"], y: Float[np.ndarray, " row"]) -> bool:
    """Whether equal rows are copies, and not what a table of few values has by nature.

    A table of ratings, say, has the same features with several targets, and equal rows among them
    are as independent as any. Where equal features always come with the same target, rows were
    copied.
    """
    of_features = fingerprints(X, np.zeros(len(y)))
    designs, counts = np.unique(of_features, return_counts=True)
    repeated = np.isin(of_features, designs[counts > 1])
    n_different = len(np.unique(fingerprints(X[repeated], y[repeated])))
    n_designs = int(np.sum(counts > 1))
    return 0 < n_different <= (1 + FEW) * n_designs


def identities(
    rows: UInt64[np.ndarray, " row"], *, copies: bool
) -> UInt64[np.ndarray, " row"]:
    """Numbers to tell rows apart by: copies are one row, equal rows of another kind are several."""
    if copies or len(rows) == 0:
        return rows
    import pandas as pd

    occurrence = pd.Series(rows).groupby(rows).cumcount().to_numpy().astype(np.uint64)
    return rows ^ (occurrence * STEP)


def groups_of_copies(
    X: Float[np.ndarray, "row feature"], y: Float[np.ndarray, " row"]
) -> Int[np.ndarray, " row"]:
    """For each row the number of its group: copies share one."""
    if not are_copies(X, y):
        return np.arange(len(y))
    return np.unique(fingerprints(X, y), return_inverse=True)[1]
