"""Truths fitted to a real data set: the paper's forests, its network, and boosted trees."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from confide.learners import PAPER
from confide.methods import deep_ensemble
from confide.named import Named
from confide.randomness import key_from
from confide.simulate.noise import GAUSSIAN, NoiseLaw
from confide.simulate.truth import Row, Table, Truth


@dataclass(frozen=True)
class RandomForestTruth(Truth):
    r"""True function and noise as forests fitted to real data, Algorithm 3 (`simulationalgo`).

    One forest fitted to the data is the true function, one fitted to its squared residuals the
    true variance; new targets are $y_{\mathrm{new}} \sim \mathcal N(f(x), \sigma^2(x))$, or follow
    another law of the noise with that mean and variance.

    Attributes:
        mean_forest: the true function.
        variance_forest: the true variance of the noise.
        noise: the law of the noise, with mean 0 and variance 1.
    """

    mean_forest: RandomForestRegressor
    variance_forest: RandomForestRegressor

    @classmethod
    def from_data(cls, X: Table, y: Row, *, noise: NoiseLaw = GAUSSIAN) -> "RandomForestTruth":
        """The forests of the published runs: 100 trees of depth 3, seed 2, all rows.

        Args:
            X: inputs of the real data.
            y: their targets.
            noise: the law of the noise.

        Returns:
            The truth that was fitted.
        """
        mean_forest = _paper_forest().fit(X, y)
        variance_forest = _paper_forest().fit(X, (y - mean_forest.predict(X)) ** 2)
        return cls(mean_forest, variance_forest, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return np.asarray(self.mean_forest.predict(X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise; zero where the forest left no residuals."""
        return np.sqrt(self.variance_forest.predict(X))


@dataclass(frozen=True)
class GradientBoostingTruth(Truth):
    """Algorithm 3 with gradient boosting in the place of its first forest.

    A sum of a hundred small trees is rougher than a mean of them, so networks find it harder. The
    noise is that of Algorithm 3: a forest fitted to squared residuals.

    Attributes:
        mean_trees: the true function.
        variance_forest: the true variance of the noise.
        noise: the law of the noise, with mean 0 and variance 1.
    """

    mean_trees: GradientBoostingRegressor
    variance_forest: RandomForestRegressor

    @classmethod
    def from_data(
        cls, X: Table, y: Row, *, noise: NoiseLaw = GAUSSIAN, n_trees: int = 100, depth: int = 3
    ) -> "GradientBoostingTruth":
        """scikit-learn's default boosting, unless told otherwise; seeds as in Algorithm 3.

        Args:
            X: inputs of the real data.
            y: their targets.
            noise: the law of the noise.
            n_trees: how many trees.
            depth: of each.

        Returns:
            The truth that was fitted.
        """
        mean_trees = GradientBoostingRegressor(
            n_estimators=n_trees, max_depth=depth, random_state=2
        ).fit(X, y)
        variance_forest = _paper_forest().fit(X, (y - mean_trees.predict(X)) ** 2)
        return cls(mean_trees, variance_forest, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return np.asarray(self.mean_trees.predict(X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return np.sqrt(self.variance_forest.predict(X))


@dataclass(frozen=True)
class NetworkTruth(Truth):
    r"""True function and noise as a network fitted to real data, Algorithm 4 (`nnalgo`).

    The network outputs $f(x)$ and $\sigma^2(x)$; new targets are
    $y_{\mathrm{new}} \sim \mathcal N(f(x), \sigma^2(x))$, or follow another law of the noise with
    that mean and variance.
    """

    network: deep_ensemble.Fitted

    @classmethod
    def from_data(
        cls,
        X: Table,
        y: Row,
        *,
        random_state: int,
        noise: NoiseLaw = GAUSSIAN,
        hidden_layer_sizes: Sequence[int] = PAPER["hidden_layer_sizes"],
    ) -> "NetworkTruth":
        """The network of the published runs: the paper's, 40 epochs, all rows.

        Args:
            X: inputs of the real data.
            y: their targets.
            random_state: the seed of the network.
            noise: the law of the noise.
            hidden_layer_sizes: of another network than the paper's.

        Returns:
            The truth that was fitted.
        """
        settings = deep_ensemble.Settings(n_members=1, max_epochs=40)
        arguments = {**PAPER, "hidden_layer_sizes": hidden_layer_sizes}
        learner = deep_ensemble.learner(settings, X.shape[1], **arguments)
        (network,) = deep_ensemble.fit([key_from(random_state)], X, y[None], settings, learner)
        return cls(network, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return deep_ensemble.predict(self.network, X).mean

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        prediction = deep_ensemble.predict(self.network, X)
        return np.sqrt(prediction.total_variance)  # one network: noise alone


def _paper_forest() -> RandomForestRegressor:
    return RandomForestRegressor(100, max_depth=3, random_state=2)


TWINS: Named[Any] = Named(
    "twin",
    {
        "random_forest": RandomForestTruth.from_data,
        "gradient_boosting": GradientBoostingTruth.from_data,
        "network": lambda X, y, **how: NetworkTruth.from_data(X, y, random_state=0, **how),
        "larger_boosting": partial(GradientBoostingTruth.from_data, n_trees=300, depth=5),
        "larger_network": partial(
            NetworkTruth.from_data, random_state=0, hidden_layer_sizes=(128, 128)
        ),
    },
)
