"""Bootstrapped deep ensemble as a plain Keras 3 loop.

Three calls of `model.fit` per member; the snapshot is a `.keras` file in a temporary
folder, which keeps the optimiser's state beside the weights. This is the shape of the
published code, except that there the optimiser's state was lost and that here the
simulated targets stay on the scale of the training data.

Importing this module sets `KERAS_BACKEND` to `tensorflow` if it is unset, and nothing
else. `fit` seeds Keras the documented way, which also seeds Python's, NumPy's and the
backend's global generators.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

# Keras reads it when first imported, so it has to be set before.
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
from keras import ops

from ._shared import (
    MINIMUM_STD,
    EnsemblePrediction,
    Standardisation,
    ensemble_prediction,
    epochs_before_and_after_snapshot,
    simulated_targets,
)


@dataclass(frozen=True)
class FittedEnsemble:
    """Members, the same members retrained on simulated targets, and the scales."""

    members: list[keras.Model]
    retrained: list[keras.Model]
    input_scale: Standardisation
    target_scale: Standardisation


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
) -> FittedEnsemble:
    """Fit a bootstrapped deep ensemble, Algorithm 1 of the paper (arXiv 2202.10903).

    Args:
        X: Training inputs, one row per observation.
        y: Training targets.
        n_members: Number of ensemble members.
        epochs: Passes over the data of each member.
        batch_size: Rows per update; the last partial batch is kept.
        hidden: Widths of the hidden layers.
        retrain_fraction: Share of the epochs that is repeated on simulated targets.
        seed: Seed of all random numbers.
    """
    keras.utils.set_random_seed(seed)
    generator = np.random.default_rng(seed)
    input_scale, target_scale = Standardisation.of(X), Standardisation.of(y)
    pairs = [
        fit_member(
            input_scale.apply(X),
            target_scale.apply(y),
            epochs=epochs_before_and_after_snapshot(epochs, retrain_fraction),
            batch_size=batch_size,
            hidden=hidden,
            generator=generator,
        )
        for _ in range(n_members)
    ]
    members, retrained = map(list, zip(*pairs, strict=True))
    return FittedEnsemble(members, retrained, input_scale, target_scale)


def fit_member(
    inputs: np.ndarray,
    targets: np.ndarray,
    *,
    epochs: tuple[int, int],
    batch_size: int,
    hidden: tuple[int, ...],
    generator: np.random.Generator,
) -> tuple[keras.Model, keras.Model]:
    """Train one member, then repeat its last epochs on targets it simulated itself.

    Args:
        inputs: Standardised inputs.
        targets: Standardised targets.
        epochs: Epochs before and after the snapshot.
        batch_size: Rows per update.
        hidden: Widths of the hidden layers.
        generator: Source of the simulated targets.

    Returns:
        The member and the retrained member.
    """
    epochs_before, epochs_after = epochs
    n_rows, n_features = inputs.shape
    member = make_network(n_features, hidden, n_rows=n_rows)
    with TemporaryDirectory() as folder:
        snapshot = Path(folder) / "snapshot.keras"
        train(member, inputs, targets, epochs_before, batch_size)
        member.save(snapshot)
        train(member, inputs, targets, epochs_after, batch_size)

        new_targets = simulated_targets(outputs_of(member, inputs), generator)
        retrained = keras.saving.load_model(
            snapshot, custom_objects={"gaussian_loss": gaussian_loss}
        )
        train(retrained, inputs, new_targets, epochs_after, batch_size)
    return member, retrained


def make_network(n_features: int, hidden: tuple[int, ...], *, n_rows: int) -> keras.Model:
    """Build and compile a ReLU network with two outputs, mean and log standard deviation.

    The l2 penalty is sum(w^2) / N on hidden kernels only. Glorot-uniform kernels, zero
    biases and Adam's epsilon of 1e-7 are Keras's defaults.
    """
    model = keras.Sequential([keras.Input((n_features,))])
    for width in hidden:
        penalty = keras.regularizers.L2(1 / n_rows)
        model.add(keras.layers.Dense(width, activation="relu", kernel_regularizer=penalty))
    model.add(keras.layers.Dense(2))
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-3), loss=gaussian_loss)
    return model


def gaussian_loss(targets: Any, outputs: Any) -> Any:
    """Negative log-likelihood of a normal distribution per row, without its constant."""
    mean, log_std = outputs[:, :1], outputs[:, 1:]
    std = ops.exp(log_std) + MINIMUM_STD
    return ops.log(std) + ops.square((targets - mean) / std) / 2


def train(
    model: keras.Model, inputs: np.ndarray, targets: np.ndarray, epochs: int, batch_size: int
) -> None:
    """Train `model` in place for some epochs, reshuffled in each."""
    # A column, because the loss compares it with a column of means.
    model.fit(inputs, targets[:, None], epochs=epochs, batch_size=batch_size, verbose=0)


def outputs_of(model: keras.Model, inputs: np.ndarray) -> np.ndarray:
    """Evaluate a network, with axes row and output.

    A call, not `model.predict`, as the manual advises for inputs that fit in one batch.
    """
    outputs: np.ndarray = ops.convert_to_numpy(model(inputs, training=False))
    return outputs


def predict(fitted: FittedEnsemble, X: np.ndarray) -> EnsemblePrediction:
    """Predict mean and variances on the scale of the targets."""
    inputs = fitted.input_scale.apply(X)
    return ensemble_prediction(
        np.stack([outputs_of(model, inputs) for model in fitted.members]),
        np.stack([outputs_of(model, inputs) for model in fitted.retrained]),
        fitted.target_scale,
    )
