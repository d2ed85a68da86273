r"""Values that no training row had: beyond the range of a column, or of a category not seen.

The distance to training rows hardly sees them: one odd value among many columns is not far. So they
are counted first. With n training rows, the probability that an ordinary new row

- has a category that none of them has is at most about (1 + s) / (n + 1), with s the number of
  training rows that are alone in theirs: of n + 1 exchangeable rows, the new one is as often alone
  as any other (Good and Turing's estimate; s is bounded by the number of rare categories);
- lies beyond the range of a column by r times its gap is at most about 1 / (r (n + 1)). The gap is
  the larger of those between the two lowest and between the two highest values. The new row has
  the largest gap of n + 1 rows with probability 1 / (n + 1), and of exponential tails one that is r
  times as large as the others with 1 / (1 + r).

Of k columns the probabilities add up, so that a row's p-value is $(1 + s + k / r) / (n + 1)$, with
k / r = 0 for an unseen category. Columns of two values do not count. Measured with fresh rows,
1000 training rows and 20 columns, p <= 0.005 came with probability 0.002 to 0.003 (uniform, normal
and rounded columns), 0.006 (exponential), 0.008 (Cauchy, and log-normal with sigma = 2).

Only p-values of at most `SHARE` count, and take that share of all ordinary rows, q. The p-value of
the other rows is q + (1 - q) d, with d that of their distance. So p is one p-value for both: an
ordinary row is below t with a probability of about t. Categories that keep coming, of which s is
large, and ranges of few rows and many columns are left to the distance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64

from confide.persistence import Arrays, checked_array

# Of rows like the training data, one in a hundred has a smaller p-value.
NOVEL = 0.01
# What unseen values may take of that.
SHARE = NOVEL / 2
# However near to the range: either end may be the one that is passed.
MOST = 2.0
PARTS = ("low", "high", "gap")
# As far as no value is, and twice as much is still a number.
ENDLESS = 1e300

Row = Float64[np.ndarray, " row"]
Matrix = Float[np.ndarray, "row feature"]


@dataclass(frozen=True)
class Ranges:
    """Where the training data end.

    Attributes:
        n_rows: of the training data.
        low: lowest value of each feature.
        high: highest value of each feature.
        gap: from one end of a feature to its next value, the larger of the two; 0 for constants.
    """

    n_rows: int
    low: Float64[np.ndarray, " feature"]
    high: Float64[np.ndarray, " feature"]
    gap: Float64[np.ndarray, " feature"]

    @classmethod
    def of_training(cls, X: Matrix, without: Sequence[int] = ()) -> "Ranges":
        """From all rows of the training data; features `without` a range have an endless one."""
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        gap = np.zeros(len(low))
        for i in np.flatnonzero(low < high):
            column = X[:, i].astype(np.float64)
            above = np.min(column, where=column > low[i], initial=high[i]) - low[i]
            below = high[i] - np.max(column, where=column < high[i], initial=low[i])
            gap[i] = max(above, below)
        endless = list(without)
        low[endless], high[endless], gap[endless] = -ENDLESS, ENDLESS, 2 * ENDLESS
        return cls(len(X), low, high, gap)

    @property
    def n_counted(self) -> int:
        """The number of features of more than two values."""
        return int(np.count_nonzero(self.gap < self.high - self.low))

    def outside(self, X: Matrix) -> Bool[np.ndarray, "row feature"]:
        """Which values are beyond the range of their feature."""
        return (self.low > X) | (self.high < X)

    def nearness(self, X: Matrix) -> Row:
        """For each row 1 / r, at most `MOST`, of its feature that is farthest out, or infinity."""
        nearest = np.full(len(X), np.inf)
        if len(X):
            some = (X.min(axis=0) < self.low) | (X.max(axis=0) > self.high)
            for i in np.flatnonzero(some):
                beyond = np.maximum(self.low[i] - X[:, i], X[:, i] - self.high[i])
                out = beyond > 0
                own = np.minimum(np.divide(self.gap[i], beyond, where=out, out=beyond), MOST)
                nearest = np.where(out, np.minimum(nearest, own), nearest)
        return nearest

    def combined(
        self, distance_p: Row, X: Matrix, is_unseen: Bool[np.ndarray, " row"], s: int
    ) -> Row:
        """P-values of surprise and distance together.

        Args:
            distance_p: p-values of the distance.
            X: the rows.
            is_unseen: whether a row has a category that training did not have.
            s: training rows that are alone in their category, at most.

        Returns:
            The p-values.
        """
        least, counted = 1 / (self.n_rows + 1), self.n_counted
        if least >= NOVEL:  # of so few rows, nothing is rare
            return distance_p
        most = max(SHARE, least)
        near = np.where(is_unseen, 0.0, self.nearness(X))
        own = np.where(np.isinf(near), 1.0, least * (1 + s + counted * np.minimum(near, MOST)))
        q = min(most, least * (1 + s + MOST * counted))
        return np.where(own <= most, own, distance_p + q * (1 - distance_p))

    def to_arrays(self) -> Arrays:
        """What a model file keeps beside the number of rows."""
        return {name: getattr(self, name) for name in PARTS}

    @classmethod
    def from_arrays(cls, n_rows: int, arrays: Arrays, n_features: int) -> "Ranges":
        """From a model file's parts, checked."""
        low, high, gap = (checked_array(arrays, n, (n_features,), np.float64) for n in PARTS)
        if n_rows < 2 or np.any(low > high) or np.any(gap < 0) or np.any(gap > high - low):
            raise ValueError("ranges of columns do not fit together")
        return cls(n_rows, low.copy(), high.copy(), gap.copy())


def steady_columns(n_rare: Mapping[str, int], n_rows: int) -> dict[str, int]:
    """The columns in which an unseen category is a surprise, with their rare categories.

    Args:
        n_rare: the number of rare categories of each column.
        n_rows: of the training data.

    Returns:
        As many of the columns as an ordinary row surprises with a probability of at most `SHARE`.
    """
    steady: dict[str, int] = {}
    most = max(SHARE * (n_rows + 1), 1) - 1
    for name, count in sorted(n_rare.items(), key=lambda item: item[1]):
        if sum(steady.values()) + count > most:
            break
        steady[name] = count
    return steady
