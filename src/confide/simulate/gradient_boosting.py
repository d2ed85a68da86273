"""A truth that resembles a real data set: boosted trees with a forest's noise."""

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from confide.simulate.noise import GAUSSIAN, NoiseLaw
from confide.simulate.truth import Row, Table, Truth


@dataclass(frozen=True)
class GradientBoostingTruth(Truth):
    """Algorithm 3 with gradient boosting in the place of its first forest.

    A sum of a hundred small trees is rougher than a mean of them, so networks find it harder. The
    noise is that of Algorithm 3: a forest fitted to squared residuals.
    """

    mean_trees: GradientBoostingRegressor
    variance_forest: RandomForestRegressor

    @classmethod
    def from_data(cls, X: Table, y: Row, *, noise: NoiseLaw = GAUSSIAN) -> "GradientBoostingTruth":
        """scikit-learn's default boosting, 100 trees of depth 3; seeds as in Algorithm 3."""
        mean_trees = GradientBoostingRegressor(random_state=2).fit(X, y)
        squares = (y - mean_trees.predict(X)) ** 2
        variance_forest = RandomForestRegressor(100, max_depth=3, random_state=2).fit(X, squares)
        return cls(mean_trees, variance_forest, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return np.asarray(self.mean_trees.predict(X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return np.sqrt(self.variance_forest.predict(X))
