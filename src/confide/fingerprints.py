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
# The largest share of the rows that equal rows may join to one of the groups that were given.
MOST_JOINED = 0.2
# Rows handled at once, so that a long table is not copied whole.
ROWS_PER_BLOCK = 65_536
# An odd number without a pattern: equal rows that count as several get numbers far apart.
STEP = np.uint64(0x9E3779B97F4A7C15)

Features = Float[np.ndarray, "row feature"]
Targets = Float[np.ndarray, " row"]
Numbers = UInt64[np.ndarray, " row"]
Groups = Int[np.ndarray, " row"]


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


def groups(X: Features, y: Targets, given: Groups | None = None) -> Groups:
    """For each row the number of its group: rows of a group are held out together or not at all.

    Copies and repeated measurements share a group: a model that has learnt one of them has seen
    the others. In a table of few values, such as ratings by sex and region, equal rows are as
    independent as any, and each is a group of its own. Rows of a group that was given stay together
    too; if that and equal rows would chain most of the table together, the given groups decide.
    """
    designs, group = np.unique(_hashed(X), return_inverse=True)
    repeated_measurements = len(designs) >= FEWEST_DESIGNS and len(y) <= MOST_REPEATS * len(designs)
    if not (len(designs) < len(y) and (repeated_measurements or are_copies(X, y))):
        return np.arange(len(y)) if given is None else given
    if given is None:
        return group
    joined = _joined(group, given)
    most = max(np.bincount(given).max(), MOST_JOINED * len(y))
    return joined if np.bincount(joined).max() <= most else given


def _joined(one: Groups, other: Groups) -> Groups:
    """Groups that hold together what either of two groupings does."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    links = coo_array((np.ones(len(one)), (one, n_one + other)), shape=(n_one + n_other,) * 2)
    _, component = connected_components(links, directed=False)
    return np.unique(component[one], return_inverse=True)[1]


def _hashed(numbers: Features) -> Numbers:
    hashed = np.empty(len(numbers), np.uint64)
    for start in range(0, len(numbers), ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        mantissa, exponent = np.frexp(numbers[rows].astype(np.float64))
        rounded = np.ldexp(np.round(mantissa * 2.0**BITS), exponent - BITS)
        rounded += 0.0  # minus zero is zero
        hashed[rows] = _row_hashes(rounded)
    return hashed


def _row_hashes(numbers: Features) -> Numbers:
    """As `pandas.util.hash_pandas_object` has them, which model files hold; a test compares.

    Every fit takes them, and importing pandas takes longer than many fits.
    """
    n_columns = numbers.shape[1]
    out, factor = np.full(len(numbers), 0x345678, np.uint64), 1000003
    for i in range(n_columns):
        bits = np.ascontiguousarray(numbers[:, i]).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out = (out ^ bits ^ (bits >> np.uint64(31))) * np.uint64(factor)
        factor += 82520 + 2 * (n_columns - i)
    return out + np.uint64(97531)
