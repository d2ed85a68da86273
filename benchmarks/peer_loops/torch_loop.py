"""Bootstrapped deep ensemble as a plain PyTorch loop.

One member after another, one batch after another; the snapshot is a deep copy of the
state dictionaries of network and optimiser. Threads and all other global settings of
PyTorch stay as they are, and its global generator is not used.

Take its time on an idle machine. Measured on two cores at low priority, 404 x 13: 6 s
idle, but 10 to 200 s beside a busy process, as soon as one thread of its pool had to wait
for a core. With `OMP_NUM_THREADS=1` it took 6 s and a busy process did not disturb it.
"""

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

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

    members: list[nn.Sequential]
    retrained: list[nn.Sequential]
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
    input_scale, target_scale = Standardisation.of(X), Standardisation.of(y)
    inputs = torch.from_numpy(input_scale.apply(X))
    targets = torch.from_numpy(target_scale.apply(y))
    pairs = [
        fit_member(
            inputs,
            targets,
            epochs=epochs_before_and_after_snapshot(epochs, retrain_fraction),
            batch_size=batch_size,
            hidden=hidden,
            seed=[seed, member],
        )
        for member in range(n_members)
    ]
    members, retrained = map(list, zip(*pairs, strict=True))
    return FittedEnsemble(members, retrained, input_scale, target_scale)


def fit_member(
    inputs: Tensor,
    targets: Tensor,
    *,
    epochs: tuple[int, int],
    batch_size: int,
    hidden: tuple[int, ...],
    seed: list[int],
) -> tuple[nn.Sequential, nn.Sequential]:
    """Train one member, then repeat its last epochs on targets it simulated itself.

    Args:
        inputs: Standardised inputs.
        targets: Standardised targets.
        epochs: Epochs before and after the snapshot.
        batch_size: Rows per update.
        hidden: Widths of the hidden layers.
        seed: Entropy of this member's random numbers.

    Returns:
        The member and the retrained member.
    """
    numpy_generator = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(int(numpy_generator.integers(2**63)))
    epochs_before, epochs_after = epochs
    train_on = partial(train, inputs=inputs, batch_size=batch_size, generator=generator)

    member = make_network(inputs.shape[1], hidden, generator)
    optimiser = make_optimiser(member, n_rows=len(inputs))
    train_on(member, optimiser, targets=targets, epochs=epochs_before)
    snapshot = copy.deepcopy((member.state_dict(), optimiser.state_dict()))
    train_on(member, optimiser, targets=targets, epochs=epochs_after)

    new_targets = torch.from_numpy(simulated_targets(outputs_of(member, inputs), numpy_generator))
    retrained = copy.deepcopy(member)
    optimiser = make_optimiser(retrained, n_rows=len(inputs))
    network_state, optimiser_state = snapshot
    retrained.load_state_dict(network_state)
    optimiser.load_state_dict(optimiser_state)
    train_on(retrained, optimiser, targets=new_targets, epochs=epochs_after)
    return member, retrained


def make_network(
    n_features: int, hidden: tuple[int, ...], generator: torch.Generator
) -> nn.Sequential:
    """Build a ReLU network with two outputs, mean and log standard deviation."""
    network = nn.Sequential()
    for n_inputs, n_outputs in zip((n_features, *hidden), hidden, strict=False):
        network.append(nn.Linear(n_inputs, n_outputs)).append(nn.ReLU())
    network.append(nn.Linear(hidden[-1], 2))
    for layer in dense_layers(network):
        nn.init.xavier_uniform_(layer.weight, generator=generator)
        nn.init.zeros_(layer.bias)
    return network


def make_optimiser(network: nn.Sequential, *, n_rows: int) -> torch.optim.Adam:
    """Build Adam with the l2 penalty of the published runs.

    `weight_decay` adds `weight_decay * w` to the gradient, so 2 / N is the penalty
    sum(w^2) / N. It is on hidden kernels only: not on biases, not on the output layer.
    """
    *hidden_layers, output_layer = dense_layers(network)
    unpenalised = [layer.bias for layer in hidden_layers] + list(output_layer.parameters())
    groups: list[dict[str, Any]] = [
        {"params": [layer.weight for layer in hidden_layers], "weight_decay": 2 / n_rows},
        {"params": unpenalised},
    ]
    # Keras's epsilon, which the published runs used; PyTorch's own default is 1e-8.
    return torch.optim.Adam(groups, lr=1e-3, eps=1e-7)


def dense_layers(network: nn.Sequential) -> list[nn.Linear]:
    """List the layers with weights, from input to output."""
    return [layer for layer in network if isinstance(layer, nn.Linear)]


def train(
    network: nn.Sequential,
    optimiser: torch.optim.Optimizer,
    *,
    inputs: Tensor,
    targets: Tensor,
    epochs: int,
    batch_size: int,
    generator: torch.Generator,
) -> None:
    """Train `network` in place for some epochs, reshuffled in each."""
    for _ in range(epochs):
        order = torch.randperm(len(inputs), generator=generator)
        for rows in torch.split(order, batch_size):
            optimiser.zero_grad()
            loss = gaussian_loss(network(inputs[rows]), targets[rows])
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()


def gaussian_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean negative log-likelihood of a normal distribution, without its constant."""
    mean, log_std = outputs.unbind(dim=1)
    std = log_std.exp() + MINIMUM_STD
    return (std.log() + ((targets - mean) / std).square() / 2).mean()


@torch.no_grad()
def outputs_of(network: nn.Sequential, inputs: Tensor) -> np.ndarray:
    """Evaluate a network, with axes row and output."""
    outputs: Tensor = network(inputs)
    return outputs.numpy()


def predict(fitted: FittedEnsemble, X: np.ndarray) -> EnsemblePrediction:
    """Predict mean and variances on the scale of the targets."""
    inputs = torch.from_numpy(fitted.input_scale.apply(X))
    return ensemble_prediction(
        np.stack([outputs_of(network, inputs) for network in fitted.members]),
        np.stack([outputs_of(network, inputs) for network in fitted.retrained]),
        fitted.target_scale,
    )
