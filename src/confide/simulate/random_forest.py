"""A truth that resembles a real data set: two random forests."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from sklearn.ensemble import RandomForestRegressor

from confide.randomness import generator_from


@dataclass(frozen=True)
class RandomForestTruth:
    r"""True function and noise as forests fitted to real data, Algorithm 3.

    One forest fitted to the data is the true function, one fitted to its squared residuals the
    true variance; new targets are $y_{\mathrm{new}} \sim \mathcal N(f(x), \sigma^2(x))$.
    """

    mean_forest: RandomForestRegressor
    variance_forest: RandomForestRegressor

    @classmethod
    def from_data(
        cls, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
    ) -> "RandomForestTruth":
        """The forests of the published runs: 100 trees of depth 3, seed 2, all rows."""

        def forest(target: Float64[np.ndarray, " row"]) -> RandomForestRegressor:
            return RandomForestRegressor(100, max_depth=3, random_state=2).fit(X, target)

        mean_forest = forest(y)
        return cls(mean_forest, forest((y - mean_forest.predict(X)) ** 2))

    def mean(self, X: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, " row"]:
        """The true function."""
        return np.asarray(self.mean_forest.predict(X))

    def std(self, X: Float[np.ndarray, "row feature"]) -> Float64[np.ndarray, " row"]:
        """The true standard deviation of the noise."""
        return np.sqrt(self.variance_forest.predict(X))

    def draw(
        self, key: PRNGKeyArray, X: Float[np.ndarray, "row feature"]
    ) -> Float64[np.ndarray, " row"]:
        """New targets."""
        noise = generator_from(key).standard_normal(len(X))
        return self.mean(X) + self.std(X) * noise
