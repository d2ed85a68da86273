"""A truth that resembles a real data set: two random forests."""

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from confide.simulate.noise import GAUSSIAN, NoiseLaw
from confide.simulate.truth import Row, Table, Truth


@dataclass(frozen=True)
class RandomForestTruth(Truth):
    r"""True function and noise as forests fitted to real data, Algorithm 3 (`simulationalgo`).

    One forest fitted to the data is the true function, one fitted to its squared residuals the
    true variance; new targets are $y_{\mathrm{new}} \sim \mathcal N(f(x), \sigma^2(x))$, or follow
    another law of the noise with that mean and variance.
    """

    mean_forest: RandomForestRegressor
    variance_forest: RandomForestRegressor

    @classmethod
    def from_data(cls, X: Table, y: Row, *, noise: NoiseLaw = GAUSSIAN) -> "RandomForestTruth":
        """The forests of the published runs: 100 trees of depth 3, seed 2, all rows."""

        def forest(target: Row) -> RandomForestRegressor:
            return RandomForestRegressor(100, max_depth=3, random_state=2).fit(X, target)

        mean_forest = forest(y)
        variance_forest = forest((y - mean_forest.predict(X)) ** 2)
        return cls(mean_forest, variance_forest, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return np.asarray(self.mean_forest.predict(X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise; zero where the forest left no residuals."""
        return np.sqrt(self.variance_forest.predict(X))
