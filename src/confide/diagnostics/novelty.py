r"""How unlike the training data a row is, as a p-value.

The score of a row is its distance d to the nearest of n reference rows of the training data, and
its p-value is $(1 + \#\{i : d_i \ge d\}) / (n + 1)$, with $d_i$ the distance of reference row i to
the nearest other one. For a fresh row that is like them, this is the exact conformal p-value: had
row i the fresh row as a neighbour too, $d_i$ could only fall to a distance that is itself at least
d, and the count would be the same. (Not so with the second or third nearest neighbour.) So such a
row has a p-value below t with a probability of about t. Scales that were computed without it change
a little, and with heavy tails more than that: of Cauchy columns, 1.8 % of fresh rows are below 0.01
where n is 100. Equal rows are kept once; with ties between distances p-values are larger. Values
that no training row had count before the distance: see `surprise.py`.

A row that is farther out than every reference row has $d_{\max} / (d (n + 1))$: below 1 / (n + 1)
nothing is counted any more. So small tables can raise a flag at all, if hardly ever: with 30 rows
only what is three times as far off as any of them is flagged at 0.01.

Distances are between inputs as the model sees them, not between the activations of a network's last
hidden layer, which forget what the targets do not depend on, and what units that are off map onto
training rows. Of fresh rows of eight correlated columns, three of which mattered, with one column
moved by four standard deviations, p < 0.01 flagged 92 % by their inputs and 85 % by their
activations where the column mattered, 90 % and 63 % where it did not; of rows where a column
went against its correlation with others, 25 % and 12 %; of rows like the training data, 1 % both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int

from confide.diagnostics.surprise import PARTS as OF_RANGES
from confide.diagnostics.surprise import Ranges, steady_columns
from confide.persistence import Arrays, checked_array, checked_json
from confide.standardise import Standardiser

# Of 20,000 rows 250, 500 and 1000 saw a shift alike, and time goes with their number. With 300, a
# row like the training data has a p-value below 0.01 with probability 3 / 301.
MOST_REFERENCE_ROWS = 300
# Which rows are kept depends on their number alone: data sets of one X share their reference.
SEED = 0
# Values of a discrete column are at most this far from the next: those of a balanced yes and no.
LARGEST_GAP = 2.0
# Squares of standardised inputs up to here do not overflow; what is farther is far enough.
FARTHEST = np.float32(1e18)
# Rows whose distances are held at once: a few megabytes.
ROWS_PER_BLOCK = 1024
# Arrays in a model file.
PARTS = ("reference", "weights", "sorted_distances")
# Columns that are named for the distance of a row: so many, or those with this share of it.
MOST_NAMED, SHARE_NAMED = 3, 0.5


@dataclass(frozen=True)
class Unseen:
    """Values of some rows that training did not have.

    Attributes:
        is_new: for each column that has some, whether each row has one.
        n_rare: for each column how many categories it has that are rare.
    """

    is_new: Mapping[str, Bool[np.ndarray, " row"]] = field(default_factory=dict)
    n_rare: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Novelty:
    """Reference rows of the training data, to which new rows are compared.

    Attributes:
        reference: rows of the training data, standardised as the model sees them.
        weights: of the columns. Less than one for a column of few, rare values, such as a category
            that one row in a thousand has: standardised, its two values are 30 apart and would
            drown all else, though the model has seen both. (With a column of 200 categories,
            p < 0.05 flags 75 % of rows that are 4 standard deviations off, and 5 % without it.)
        sorted_distances: of each reference row to the nearest other one, in order.
        ranges: of the training data's columns; None in files of earlier versions.
    """

    reference: Float32[np.ndarray, "row feature"]
    weights: Float32[np.ndarray, " feature"]
    sorted_distances: Float64[np.ndarray, " row"]
    ranges: Ranges | None = None

    def __post_init__(self) -> None:
        for name in PARTS:
            getattr(self, name).flags.writeable = False

    @classmethod
    def of_training(
        cls,
        X: Float[np.ndarray, "row feature"],
        standardiser: Standardiser,
        without_range: Sequence[int] = (),
    ) -> "Novelty":
        """From training rows; at most `MOST_REFERENCE_ROWS` of them are kept, chosen by chance.

        Args:
            X: the rows.
            standardiser: of the model.
            without_range: positions of features that new rows may have beyond those of training.
        """
        from sklearn.neighbors import NearestNeighbors  # here, because importing it takes a while

        ranges = Ranges.of_training(X, without_range)
        if len(X) > MOST_REFERENCE_ROWS:
            rows = np.random.default_rng(SEED).choice(len(X), MOST_REFERENCE_ROWS, replace=False)
            X = X[np.sort(rows)]
        reference = _different(standardiser.inputs(X))
        weights = _column_weights(reference)
        weighted = reference * weights
        neighbours = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(weighted)
        nearest = neighbours.kneighbors(return_distance=False)[:, 0]
        return cls(reference, weights, np.sort(_distance(weighted, weighted[nearest])), ranges)

    def p_values(
        self,
        X: Float[np.ndarray, "row feature"],
        standardiser: Standardiser,
        unseen: Unseen | None = None,
    ) -> Float64[np.ndarray, " row"]:
        """For each row the p-value of its being like the training data.

        Args:
            X: the rows.
            standardiser: of the model.
            unseen: their values that training did not have.

        Returns:
            The p-values.
        """
        n, farthest = len(self.sorted_distances), self.sorted_distances[-1]
        blocks = [np.zeros(0)]
        for inputs in standardiser.input_blocks(X):
            distance = _distance(*self._beside_nearest(inputs))
            at_least = n - np.searchsorted(self.sorted_distances, distance, side="left")
            beyond = (distance > farthest) & (farthest > 0)
            tail = np.divide(farthest, distance, out=np.ones(len(distance)), where=beyond)
            blocks.append((tail + at_least) / (n + 1))
        unseen = unseen or Unseen()
        # A file of an earlier version knows no ranges, and of no more rows than its reference.
        no_features = np.zeros(0)
        ranges = self.ranges or Ranges(n, no_features, no_features, no_features)
        X = X if self.ranges is not None else X[:, :0]
        steady = steady_columns(unseen.n_rare, ranges.n_rows)
        is_new = [rows for name, rows in unseen.is_new.items() if name in steady]
        is_unseen = np.any([np.zeros(len(X), bool), *is_new], axis=0)
        return ranges.combined(np.concatenate(blocks), X, is_unseen, sum(steady.values()))

    def responsible(
        self,
        X: Float[np.ndarray, "row feature"],
        standardiser: Standardiser,
        unseen: Unseen,
        columns: Sequence[str],
    ) -> list[tuple[str, ...]]:
        """For each row the columns that make it unlike the training data, the plainest first.

        Those with values that no training row had; without any, those that are farthest from the
        nearest training row: they have half of the squared distance, or are three.

        Args:
            X: the rows.
            standardiser: of the model.
            unseen: their values that training did not have.
            columns: for each feature the column that it is of.

        Returns:
            The names of the columns.
        """
        if not len(X):
            return []
        names = list(dict.fromkeys(columns))
        of_feature = np.array([names.index(column) for column in columns])
        rows, nearest = self._beside_nearest(standardiser.inputs(X))
        squares = (rows.astype(np.float64) - nearest) ** 2
        parts = np.stack([squares[:, of_feature == i].sum(axis=1) for i in range(len(names))], 1)
        outside = np.zeros(X.shape, bool) if self.ranges is None else self.ranges.outside(X)
        found = []
        for i, part in enumerate(parts):
            new = [name for name, is_new in unseen.is_new.items() if is_new[i]]
            new += [names[j] for j in of_feature[outside[i]]]
            found.append(tuple(dict.fromkeys(new)) or _largest(part, names))
        return found

    def _beside_nearest(
        self, inputs: Float32[np.ndarray, "row feature"]
    ) -> tuple[Float32[np.ndarray, "row feature"], Float32[np.ndarray, "row feature"]]:
        """Weighted rows, and for each the reference row that is nearest to it."""
        from scipy.spatial.distance import cdist  # here, because importing it takes a while

        reference = self.reference * self.weights
        with np.errstate(over="ignore"):
            weighted = np.clip(inputs * self.weights, -FARTHEST, FARTHEST)
        # Not scikit-learn's search: on a busy machine its threads take a tenth of a second to meet.
        blocks = np.split(weighted, range(ROWS_PER_BLOCK, len(weighted), ROWS_PER_BLOCK))
        nearest = [cdist(block, reference, "sqeuclidean").argmin(axis=1) for block in blocks]
        return weighted, reference[np.concatenate(nearest)]

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        arrays = {name: getattr(self, name) for name in PARTS}
        if self.ranges is None:
            return {}, arrays
        return {"n_rows": self.ranges.n_rows}, arrays | self.ranges.to_arrays()

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "Novelty":
        """From a model file's parts, checked."""
        has_ranges = payload != {}
        expected = {*PARTS, *(OF_RANGES if has_ranges else ())}
        if set(payload) != ({"n_rows"} if has_ranges else set()) or set(arrays) != expected:
            raise ValueError("novelty has unknown parts, or lacks some")
        shape = arrays["reference"].shape
        if len(shape) != 2 or not (2 <= shape[0] <= MOST_REFERENCE_ROWS and shape[1] > 0):
            raise ValueError(f"novelty cannot have reference rows of shape {shape}")
        reference = checked_array(arrays, "reference", shape, np.float32)
        weights = checked_array(arrays, "weights", shape[1:], np.float32)
        distances = checked_array(arrays, "sorted_distances", shape[:1], np.float64)
        if not (np.all(weights > 0) and np.all(weights <= 1)):
            raise ValueError("weights of columns must lie in (0, 1]")
        if not (distances[0] >= 0 and np.all(np.diff(distances) >= 0)):
            raise ValueError("distances between reference rows must be positive and in order")
        ranges = None
        if has_ranges:
            n_rows = checked_json(int, payload["n_rows"], "the number of rows")
            ranges = Ranges.from_arrays(n_rows, arrays, shape[1])
        return cls(reference.copy(), weights.copy(), distances.copy(), ranges)


def _different(
    rows: Float32[np.ndarray, "row feature"],
) -> Float32[np.ndarray, "different feature"]:
    """Each row once: repeated ones, 0 apart, would make every other row look far off."""
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    return rows[first] if len(first) > 1 else rows


def _column_weights(
    reference: Float32[np.ndarray, "row feature"],
) -> Float32[np.ndarray, " feature"]:
    """Weights under which neighbouring values of a column are at most `LARGEST_GAP` apart."""
    ordered = np.sort(reference.astype(np.float64), axis=0)
    gaps = np.diff(ordered, axis=0)
    smallest = np.min(gaps, axis=0, where=gaps > 0, initial=np.inf)
    # A rare category of which no reference row is one: its column has one value z here, which
    # was standardised together with the others. A column of two values has them 1/z + z apart.
    value = np.abs(ordered[0])
    alone = np.divide(1, value, out=np.zeros_like(value), where=value > 0) + value
    gap = np.where(np.isinf(smallest), alone, smallest)
    return (LARGEST_GAP / np.maximum(gap, LARGEST_GAP)).astype(np.float32)


def _largest(parts: Float64[np.ndarray, " column"], names: Sequence[str]) -> tuple[str, ...]:
    """The columns with the largest parts of a squared distance, which may be infinite."""
    order: Int[np.ndarray, " column"] = np.argsort(-parts, kind="stable")
    before = np.cumsum(parts[order]) - parts[order]
    with np.errstate(invalid="ignore"):
        needed = (before < SHARE_NAMED * parts.sum()) & (parts[order] > 0)
    return tuple(names[i] for i in order[needed][:MOST_NAMED])


def _distance(
    a: Float32[np.ndarray, "row feature"], b: Float32[np.ndarray, "row feature"]
) -> Float64[np.ndarray, " row"]:
    return np.linalg.norm(a.astype(np.float64) - b, axis=1)
