"""PyTorch members trained together against the plain loop: how many times as fast?

Both do Algorithm 1 of the paper on 404 x 13 numbers with five networks of 40-30-20 units, 80
epochs, batches of 32 and the last 30 % of the epochs repeated. Both have one thread and take
turns; the time is that of the process on the processor, so that other work on the machine matters
little. The first turn is a warm-up, and the best of the others counts.

    python benchmarks/torch_members.py     # about 2 minutes
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from peer_loops import torch_loop
from torch import Tensor, nn

from confide import BootstrappedDeepEnsembleRegressor

HIDDEN = (40, 30, 20)


def perceptron(n_features: int) -> nn.Sequential:
    """The loop's network, as a sequence of layers."""
    network = nn.Sequential()
    for n_inputs, n_outputs in zip((n_features, *HIDDEN), HIDDEN, strict=False):
        network.append(nn.Linear(n_inputs, n_outputs)).append(nn.ReLU())
    return network.append(nn.Linear(HIDDEN[-1], 2))


class OwnModule(nn.Module):
    """The same network in a class of its own, as most people write them."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.layers = perceptron(n_features)

    def forward(self, X: Tensor) -> Tensor:
        """Means and log standard deviations."""
        return self.layers(X)


class Vmapped(OwnModule):
    """The same with a `forward` that minds a leading axis, for which `vmap` is needed."""

    def forward(self, X: Tensor) -> Tensor:
        """Means and log standard deviations."""
        return self.layers(torch.cat([X[:, 1:], X[:, :1]], dim=1))


class OneByOne(OwnModule):
    """The same with a layer that is random, for which members are trained one after the other."""

    def forward(self, X: Tensor) -> Tensor:
        """Means and log standard deviations."""
        return self.layers(nn.functional.dropout(X, 1e-6, self.training))


def seconds(fits: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The best time of each, after a warm-up; they take turns."""
    taken: dict[str, list[float]] = {name: [] for name in fits}
    for _ in range(1 + repeats):
        for name, fit in fits.items():
            start = time.process_time()
            fit()
            taken[name].append(time.process_time() - start)
    return {name: min(times[1:]) for name, times in taken.items()}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="PyTorch members together against a plain loop.")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(404, 13))
    y = np.sin(X[:, 0]) + X[:, 1] + generator.normal(0, 0.5, 404)

    def ours(network: Callable[[int], nn.Module]) -> Callable[[], object]:
        settings = {"max_epochs": arguments.epochs, "random_state": 0, "n_jobs": 1}
        return lambda: BootstrappedDeepEnsembleRegressor(network=network, **settings).fit(X, y)

    fits = {
        "plain PyTorch loop": lambda: torch_loop.fit(X, y, epochs=arguments.epochs),
        "confide, `nn.Sequential`": ours(perceptron),
        "confide, a class of one's own": ours(OwnModule),
        "confide, a class that needs `vmap`": ours(Vmapped),
        "confide, members one by one": ours(OneByOne),
    }
    found = seconds(fits, arguments.repeats)
    loop = found["plain PyTorch loop"]
    print(f"404 x 13, {arguments.epochs} epochs, five members, one thread, PyTorch", end=" ")
    print(f"{torch.__version__}; processor time, best of {arguments.repeats}.\n")
    print("| fit | seconds | times as fast as the loop |\n|---|---|---|")
    for name, taken in found.items():
        print(f"| {name} | {taken:.2f} | {loop / taken:.1f} |")


if __name__ == "__main__":
    main()
