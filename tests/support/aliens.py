"""Learners that confide has never seen, made as their owners would make them."""

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor
from confide.learners import Learner, SquaredError
from confide.randomness import generator_from


def equinox_network(key, n_features):
    """A stock perceptron of Equinox: a mean and a log standard deviation."""
    return eqx.nn.MLP(n_features, 2, width_size=8, depth=1, activation=jax.nn.tanh, key=key)


def flax_network(key, n_features):
    """A Flax NNX module with dropout, a mean alone."""
    from flax import nnx

    rngs = nnx.Rngs(key)
    return nnx.Sequential(
        nnx.Linear(n_features, 8, rngs=rngs),
        nnx.relu,
        nnx.Dropout(0.1, rngs=rngs),
        nnx.Linear(8, 1, rngs=rngs),
    )


def torch_network(n_features):
    """A PyTorch module with batch normalisation."""
    from torch import nn

    return nn.Sequential(nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


class Fake(Learner):
    """Straight lines by gradient descent: a learner of a dozen lines."""

    likelihood = SquaredError()

    def init(self, keys, data):
        shape = data.X.shape[1]
        return {"slopes": np.stack([generator_from(key).normal(0, 0.1, shape) for key in keys])}

    def train(self, keys, state, data, targets, plan, *, progress=None):
        slopes, X = state["slopes"], data.inputs.astype(np.float64)
        for _ in range(plan.epochs):
            slopes = slopes + 0.05 * (targets - slopes @ X.T) @ X / len(X)
            if progress is not None:
                progress(len(slopes))
        return {"slopes": slopes}

    def predict(self, state, X):
        return (state["slopes"] @ X.T.astype(np.float64))[..., None]


class Alien(NamedTuple):
    """How an alien comes in, and what it takes to load it again."""

    estimator: Callable[..., Any]
    arguments: Mapping[str, Any]
    load: Mapping[str, Any]
    needs: str | None = None
    extra: str = ""

    @property
    def is_here(self) -> bool:
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    def make(self, **changes):
        few = {"n_members": 2, "max_epochs": 10, "random_state": 3}
        return self.estimator(**{**few, **self.arguments, **changes})


DEEP, ANY = BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor
FAKE = Fake()
ALIENS = {
    "equinox": Alien(DEEP, {"network": equinox_network}, {"network": equinox_network}),
    "flax": Alien(DEEP, {"network": flax_network}, {"network": flax_network}, "flax", "flax"),
    "torch": Alien(DEEP, {"network": torch_network}, {"network": torch_network}, "torch", "torch"),
    "xgboost": Alien(ANY, {"learner": "xgboost"}, {}, "xgboost", "boosting"),
    "lightgbm": Alien(ANY, {"learner": "lightgbm"}, {}, "lightgbm", "boosting"),
    "fake": Alien(ANY, {"learner": FAKE}, {"learner": FAKE}),
}
