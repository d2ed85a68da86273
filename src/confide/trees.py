"""Regression trees as plain arrays, so that a model file can keep them, and variances from them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float64, Int, Int32

from confide.persistence import Arrays, checked_array

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

Table = Float[np.ndarray, "row feature"]
Row = Float64[np.ndarray, " row"]
# Fewer rows go through all trees at once, because a call of each tree takes 16 microseconds.
FEW_ROWS = 50
# The arrays with an entry for each node.
_TYPES = dict.fromkeys(("feature", "left", "right"), np.int32) | dict.fromkeys(
    ("threshold", "value"), np.float64
)
# The steps that a row may take in trees of a file, all of which go on until the deepest is at its
# end: thirty times what a large forest takes. And the deepest tree, as for boosted trees, and the
# most trees: each takes 60 microseconds to prepare, and there are 100.
MOST_STEPS, DEEPEST, MOST_TREES = 1_000_000, 10_000, 1_000
# Trees of a forest of variances, rows in each of their leaves, and leaves of each.
N_TREES, FEWEST_IN_LEAF, MOST_LEAVES = 50, 5, 200


@dataclass(frozen=True)
class Trees:
    """A sum of regression trees, all their nodes in one list; a leaf has itself as both children.

    Attributes:
        roots: the first node of each tree.
        feature: what a node looks at.
        threshold: rows up to it go left.
        left: the node where they go.
        right: the node where the others go.
        value: what a leaf adds to the sum.
        constant: what the sum starts from.
    """

    name: ClassVar[str] = "trees"
    roots: Int32[np.ndarray, " tree"]
    feature: Int32[np.ndarray, " node"]
    threshold: Float64[np.ndarray, " node"]
    left: Int32[np.ndarray, " node"]
    right: Int32[np.ndarray, " node"]
    value: Float64[np.ndarray, " node"]
    constant: float

    @classmethod
    def from_sklearn(
        cls, trees: "list[DecisionTreeRegressor]", *, weight: float, constant: float = 0.0
    ) -> "Trees":
        """Each tree's value times the weight, summed."""
        counts = [tree.tree_.node_count for tree in trees]
        roots = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)

        def nodes(name: str) -> np.ndarray:
            return np.concatenate([getattr(tree.tree_, name).reshape(-1) for tree in trees])

        own = np.arange(sum(counts), dtype=np.int32)
        offset = np.repeat(roots, counts)
        is_leaf = nodes("children_left") < 0
        left, right = (
            np.where(is_leaf, own, nodes(side) + offset).astype(np.int32)
            for side in ("children_left", "children_right")
        )
        return cls(
            roots=roots,
            feature=np.where(is_leaf, 0, nodes("feature")).astype(np.int32),
            threshold=np.where(is_leaf, 0.0, nodes("threshold")),
            left=left,
            right=right,
            value=weight * np.where(is_leaf, nodes("value"), 0.0),
            constant=constant,
        )

    def __call__(self, X: Table, few_rows: int = FEW_ROWS) -> Row:
        """The sum at each row; the same to the last bit, however many rows there are."""
        with np.errstate(over="ignore"):  # what is too large is to the right of every threshold
            X = np.ascontiguousarray(X, np.float32)  # as scikit-learn compares
        if X.shape[1] <= self.feature.max():
            raise ValueError(f"the trees look at more than {X.shape[1]} features")
        total = np.zeros(len(X))
        for values in self._at_once(X) if len(X) < few_rows else self._one_by_one(X):
            total += values
        return self.constant + total

    def _at_once(self, X: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, "tree row"]:
        node = np.repeat(self.roots[:, None], len(X), axis=1)
        rows = np.arange(len(X))
        while True:
            goes_left = X[rows, self.feature[node]] <= self.threshold[node]
            below = np.where(goes_left, self.left[node], self.right[node])
            if np.array_equal(below, node):  # all at leaves
                return self.value[node]
            node = below

    def _one_by_one(self, X: Float[np.ndarray, "row feature"]) -> Iterable[Row]:
        return (tree.predict(X)[:, 0] for tree in self._compiled)

    @cached_property
    def _compiled(self) -> list[Any]:
        """Each tree as scikit-learn's own, which is five times as fast as NumPy.

        These look up children without asking whether they are there: see `from_arrays`.
        """
        from sklearn.tree._tree import NODE_DTYPE, Tree  # here, because it takes long to load

        is_leaf = self.left == np.arange(len(self.left))
        nodes = np.zeros(len(self.left), NODE_DTYPE)
        first = np.repeat(self.roots, np.diff(self.roots, append=len(nodes)))
        nodes["left_child"] = np.where(is_leaf, -1, self.left - first)
        nodes["right_child"] = np.where(is_leaf, -1, self.right - first)
        nodes["feature"], nodes["threshold"] = self.feature, self.threshold
        trees = []
        for start, end in zip(self.roots, [*self.roots[1:], len(nodes)], strict=True):
            tree = Tree(int(self.feature.max()) + 1, np.ones(1, np.intp), 1)
            own = {"node_count": end - start, "max_depth": end - start}
            own |= {"nodes": nodes[start:end], "values": self.value[start:end, None, None]}
            tree.__setstate__(own)
            trees.append(tree)
        return trees

    def without_own(self, X: Table, seen: list[Int[np.ndarray, " seen"]]) -> Row:
        """For each row, the mean over the trees that have not seen it; over all rows if all have.

        Args:
            X: the rows.
            seen: the numbers of those that each tree has seen.

        Returns:
            The means.
        """
        total, n_trees = np.zeros(len(X)), np.zeros(len(X))
        for own, rows in zip(
            self._one_by_one(np.ascontiguousarray(X, np.float32)), seen, strict=True
        ):
            is_new = np.ones(len(X), bool)
            is_new[rows] = False
            total[is_new] += own[is_new]
            n_trees += is_new
        mean_of_all = total.sum() / max(1, n_trees.sum())
        return np.where(n_trees > 0, total / np.maximum(n_trees, 1), mean_of_all)

    def scaled(self, factor: float) -> "Trees":
        """The same sum times a factor."""
        return replace(self, value=factor * self.value, constant=factor * self.constant)

    def to_arrays(self) -> Arrays:
        """What a model file keeps."""
        arrays = {name: getattr(self, name) for name in (*_TYPES, "roots")}
        return {**arrays, "constant": np.array([self.constant])}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> "Trees":
        """From a model file's arrays.

        Children come after their parents and in the same tree, so that rows arrive at its leaves.
        """
        n_trees, n_nodes = (
            arrays[name].size if name in arrays else 0 for name in ("roots", "value")
        )
        roots = checked_array(arrays, "roots", (n_trees,), np.int32)
        (constant,) = checked_array(arrays, "constant", (1,), np.float64)
        feature, left, right, threshold, value = (
            checked_array(arrays, name, (n_nodes,), dtype) for name, dtype in _TYPES.items()
        )
        own = np.arange(n_nodes)
        is_leaf = (left == own) & (right == own)
        if not (n_trees and np.all(is_leaf | ((left > own) & (right > own)))):
            raise ValueError("a tree's nodes are out of order")
        for name, array, limit in (
            ("roots", roots, n_nodes),
            ("children", np.maximum(left, right), n_nodes),
            ("features", feature, n_features),
        ):
            if not np.all((array >= 0) & (array < limit)):
                raise ValueError(f"{name} of a tree point outside of it")
        if n_trees > MOST_TREES:
            raise ValueError(f"there are {n_trees} trees, and {MOST_TREES} are the most")
        if roots[0] != 0 or not np.all(np.diff(roots) > 0):
            raise ValueError("trees are out of order")
        tree = np.searchsorted(roots, own, side="right")
        if not np.all((tree[left] == tree) & (tree[right] == tree)):
            raise ValueError("children are in another tree")
        _check_depth(roots, np.stack([left, right]), is_leaf)
        return cls(roots, feature, threshold, left, right, value, float(constant))


def _check_depth(
    roots: Int32[np.ndarray, " tree"],
    children: Int32[np.ndarray, "2 node"],
    is_leaf: Bool[np.ndarray, " node"],
) -> None:
    """Refuses trees that share nodes, or in which a row would take endless steps."""
    ways = np.concatenate([roots, children[:, ~is_leaf].ravel()])
    if np.bincount(ways).max() > 1:
        raise ValueError("nodes of trees are shared")
    level = roots
    for _ in range(min(DEEPEST, MOST_STEPS // len(roots))):
        if not len(level := level[~is_leaf[level]]):
            return
        level = children[:, level].ravel()
    raise ValueError(f"a row takes too many steps in {len(roots)} trees")


def variance_of_residuals(Z: Table, residuals: Row, seed: int) -> tuple[Trees, Row]:
    """The variance of noise from residuals of rows that a fit had not seen.

    Residuals of rows that were fitted are too small, and so would be the noise. A forest smooths
    the sizes of the others, and squares the mean size in each leaf: a large residual then counts
    once, not squared, so that leaves can be small. The mean of the variance is that of the squared
    residuals. On nineteen tables, laws with such a variance had 0.98 times the CRPS of those of a
    forest of squared residuals with leaves of a thirtieth of the rows.

    Args:
        Z: the rows.
        residuals: target less prediction of each.
        seed: of the forest.

    Returns:
        The variance as a function of the row, and that of the given rows by the trees that have not
        seen them.
    """
    from sklearn.ensemble import RandomForestRegressor  # here, because it takes long to load

    typical = np.sqrt(np.mean(residuals**2)) or 1.0
    forest = RandomForestRegressor(
        N_TREES,
        min_samples_leaf=max(FEWEST_IN_LEAF, len(Z) // MOST_LEAVES),
        max_features=0.5 if Z.shape[1] > 2 else 1.0,
        random_state=seed,
    ).fit(Z, np.abs(residuals) / typical)
    sizes = Trees.from_sklearn(forest.estimators_, weight=1.0)
    squares = replace(sizes, value=sizes.value**2)
    at_rows = squares.without_own(Z, forest.estimators_samples_)
    factor = typical**2 / (at_rows.mean() or 1.0)
    return squares.scaled(factor / N_TREES), factor * at_rows
