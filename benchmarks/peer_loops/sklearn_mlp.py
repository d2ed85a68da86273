"""Ensemble of scikit-learn's `MLPRegressor`: the mean, and nothing about its uncertainty.

What it is not: there is no variance head (the loss is half the squared error), hence no
aleatoric variance, no targets to simulate, no bootstrap and no classical variance. It
trains each member once, so it does 80 epochs where the bootstrapped loops do 104.

What else differs: the l2 penalty is also on the output layer, and biases start uniform
instead of at zero. Both are fixed inside the library.
"""

import warnings

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def fit(
    X: np.ndarray,
    y: np.ndarray,
    *,
    n_members: int = 5,
    epochs: int = 80,
    batch_size: int = 32,
    hidden: tuple[int, ...] = (40, 30, 20),
    retrain_fraction: float = 0.3,
    seed: int = 0,
) -> list[TransformedTargetRegressor]:
    """Fit an ensemble of networks that differ in starting weights and order of rows.

    Args:
        X: Training inputs, one row per observation.
        y: Training targets.
        n_members: Number of ensemble members.
        epochs: Passes over the data of each member.
        batch_size: Rows per update; the last partial batch is kept.
        hidden: Widths of the hidden layers.
        retrain_fraction: Ignored: there is no bootstrap.
        seed: Seed of all random numbers.
    """
    del retrain_fraction
    # float32 as in the other peers; the network keeps the precision of its inputs.
    inputs, targets = np.asarray(X, dtype=np.float32), np.asarray(y, dtype=np.float32)
    member_seeds = np.random.SeedSequence(seed).generate_state(n_members)
    with warnings.catch_warnings():
        # Every member stops at `epochs` by design, which the library reports as a failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            make_member(
                n_rows=len(inputs),
                epochs=epochs,
                batch_size=batch_size,
                hidden=hidden,
                seed=int(member_seed),
            ).fit(inputs, targets)
            for member_seed in member_seeds
        ]


def make_member(
    *, n_rows: int, epochs: int, batch_size: int, hidden: tuple[int, ...], seed: int
) -> TransformedTargetRegressor:
    """Build one network that standardises inputs and targets by itself."""
    batch_size = min(batch_size, n_rows)
    network = MLPRegressor(
        hidden_layer_sizes=hidden,
        activation="relu",
        solver="adam",
        learning_rate_init=1e-3,
        epsilon=1e-7,
        # The library's penalty is alpha / (2 * batch) * sum(w^2), ours sum(w^2) / N. They
        # agree in full batches; the last, partial one is penalised more.
        alpha=2 * batch_size / n_rows,
        batch_size=batch_size,
        max_iter=epochs,
        # More epochs without progress than there are epochs: it never stops early.
        n_iter_no_change=epochs + 1,
        early_stopping=False,
        random_state=seed,
    )
    return TransformedTargetRegressor(
        make_pipeline(StandardScaler(), network), transformer=StandardScaler()
    )


def predict(fitted: list[TransformedTargetRegressor], X: np.ndarray) -> np.ndarray:
    """Predict the ensemble mean on the scale of the targets."""
    inputs = np.asarray(X, dtype=np.float32)
    member_means = np.stack([member.predict(inputs) for member in fitted])
    return np.asarray(member_means.mean(axis=0, dtype=np.float64))
