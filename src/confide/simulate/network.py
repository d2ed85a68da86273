"""A truth that resembles a real data set: one network."""

from dataclasses import dataclass

import numpy as np

from confide.learners import PAPER
from confide.methods import deep_ensemble
from confide.randomness import key_from
from confide.simulate.noise import GAUSSIAN, NoiseLaw
from confide.simulate.truth import Row, Table, Truth


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
        cls, X: Table, y: Row, *, random_state: int, noise: NoiseLaw = GAUSSIAN
    ) -> "NetworkTruth":
        """The network of the published runs: the paper's, 40 epochs, all rows."""
        settings = deep_ensemble.Settings(n_members=1, max_epochs=40)
        learner = deep_ensemble.learner(settings, X.shape[1], **PAPER)
        (network,) = deep_ensemble.fit([key_from(random_state)], X, y[None], settings, learner)
        return cls(network, noise=noise)

    def mean(self, X: Table) -> Row:
        """The true function."""
        return deep_ensemble.predict(self.network, X).mean

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        prediction = deep_ensemble.predict(self.network, X)
        return np.sqrt(prediction.total_variance)  # one network: noise alone
