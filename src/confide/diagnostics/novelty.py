r"""How unlike the training data a row is, as a p-value.

The score of a row is its distance d to the nearest of n reference rows of the training data, and
its p-value is $(1 + \#\{i : d_i \ge d\}) / (n + 1)$, with $d_i$ the distance of reference row i to
the nearest other one. For a fresh row that is like them, this is the exact conformal p-value: had
row i the fresh row as a neighbour too, $d_i$ could only fall to a distance that is itself at least
d, and the count would be the same. (Not so with the second or third nearest neighbour.) So such a
row has a p-value below t with a probability of about t. Scales that were computed without it change
a little, and with heavy tails more than that: of Cauchy columns, 1.8 % of fresh rows are below 0.01
where n is 100. Equal rows are kept once; with ties between distances p-values are larger.

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

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Float64

from confide.persistence import Arrays, checked_array
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
# Arrays in a model file.
PARTS = ("reference", "weights", "sorted_distances")


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
    """

    reference: Float32[np.ndarray, "row feature"]
    weights: Float32[np.ndarray, " feature"]
    sorted_distances: Float64[np.ndarray, " row"]

    def __post_init__(self) -> None:
        for name in PARTS:
            getattr(self, name).flags.writeable = False

    @classmethod
    def of_training(
        cls, X: Float[np.ndarray, "row feature"], standardiser: Standardiser
    ) -> "Novelty":
        """From training rows; at most `MOST_REFERENCE_ROWS` of them are kept, chosen by chance."""
        from sklearn.neighbors import NearestNeighbors  # here, because importing it takes a while

        if len(X) > MOST_REFERENCE_ROWS:
            rows = np.random.default_rng(SEED).choice(len(X), MOST_REFERENCE_ROWS, replace=False)
            X = X[np.sort(rows)]
        reference = _different(standardiser.inputs(X))
        weights = _column_weights(reference)
        weighted = reference * weights
        neighbours = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(weighted)
        nearest = neighbours.kneighbors(return_distance=False)[:, 0]
        return cls(reference, weights, np.sort(_distance(weighted, weighted[nearest])))

    def p_values(
        self, X: Float[np.ndarray, "row feature"], standardiser: Standardiser
    ) -> Float64[np.ndarray, " row"]:
        """For each row the p-value of its being like the training data."""
        from sklearn.metrics import pairwise_distances_argmin

        reference = self.reference * self.weights
        n, farthest = len(self.sorted_distances), self.sorted_distances[-1]
        blocks = [np.zeros(0)]
        for inputs in standardiser.input_blocks(X):
            with np.errstate(over="ignore"):
                weighted = np.clip(inputs * self.weights, -FARTHEST, FARTHEST)
            # Searched in fast but rough arithmetic, then measured: equal rows are exactly 0 apart.
            nearest = reference[pairwise_distances_argmin(weighted, reference)]
            distance = _distance(weighted, nearest)
            at_least = n - np.searchsorted(self.sorted_distances, distance, side="left")
            beyond = (distance > farthest) & (farthest > 0)
            tail = np.divide(farthest, distance, out=np.ones(len(distance)), where=beyond)
            blocks.append((tail + at_least) / (n + 1))
        return np.concatenate(blocks)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        return {}, {name: getattr(self, name) for name in PARTS}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "Novelty":
        """From a model file's parts, checked."""
        if payload != {} or set(arrays) != set(PARTS):
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
        return cls(reference.copy(), weights.copy(), distances.copy())


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


def _distance(
    a: Float32[np.ndarray, "row feature"], b: Float32[np.ndarray, "row feature"]
) -> Float64[np.ndarray, " row"]:
    return np.linalg.norm(a.astype(np.float64) - b, axis=1)
