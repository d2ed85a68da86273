"""From an estimator's arguments to its networks: the paper's, or the user's own."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from confide.checks import (
    require_not_negative,
    require_positive,
    require_whole,
    require_within,
)
from confide.errors import nearest
from confide.learners.dropout import DropoutLikelihood, DropoutNetwork
from confide.learners.ensemble import (
    NetworkEnsemble,
    NetworkStrength,
    accelerators,
    balanced_block,
)
from confide.learners.likelihood import Likelihood, Normal, SquaredError
from confide.learners.loop import OneCycle
from confide.learners.network import Network, PaperNetwork
from confide.learners.own_network import own_network
from confide.learners.protocol import Learner
from confide.learners.tabular import TabularNetwork

PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "network": "paper",
        "hidden_layer_sizes": (40, 30, 20),
        "batch_size": 32,
        "learning_rate": 1e-3,
        "optimiser": None,
        "l2_penalty": None,
    }
)
"""The paper's networks and their training (Section 4.2), by name: they never change."""
TABULAR: Mapping[str, Any] = MappingProxyType(
    {
        "network": "tabular",
        "hidden_layer_sizes": (64, 64, 64),
        "batch_size": 64,
        "learning_rate": 0.02,
        "optimiser": None,
        "dropout": "auto",
        "smooth": "auto",
    }
)
"""Networks for tables and their training."""
NETWORKS = ("tabular", "paper")
# What dropout="auto" chooses from, each with its share of the epochs: the noisier, the shorter.
DROPOUTS = {0.0: 1.0, 0.3: 0.25, 0.5: 0.125}
# Of the epochs, for the trainings that choose how smooth the network is.
SHORT = 0.25
# Each layer is compiled, a second for twenty of them: a small file could ask for thousands.
MOST_LAYERS = 32


def networks(
    n_features: int,
    n_members: int,
    *,
    network: str | Callable[..., Any] = "paper",
    hidden_layer_sizes: int | Sequence[int] = PAPER["hidden_layer_sizes"],
    batch_size: int = PAPER["batch_size"],
    learning_rate: Any = PAPER["learning_rate"],
    optimiser: Any = None,
    l2_penalty: float | None = None,
    dropout: float | str | None = None,
    smooth: bool | str | None = None,
    indicators: Sequence[int] = (),
    device: str | None = None,
    n_jobs: int | None = None,
) -> Learner[Any]:
    """Networks that predict a mean and a variance, or a mean alone.

    Args:
        n_features: the number of features.
        n_members: members of one fit, which are trained side by side.
        network: "tabular", "paper", or a factory of the user's own: make(key, n_features) for a
            module of Equinox or Flax NNX, make(n_features) for one of PyTorch.
        hidden_layer_sizes: units of each hidden layer of a built-in network.
        batch_size: rows in a step.
        learning_rate: step size of Adam, or a schedule of it; the highest of the cycle of
            "tabular".
        optimiser: with a learning rate of its own, or None for Adam.
        l2_penalty: of the paper's network, or None for 1 / number of rows.
        dropout: of the network "tabular"; "auto" for one that is chosen on held-out rows.
        smooth: whether the network "tabular" has no high frequencies; "auto" as for `dropout`.
        indicators: positions of features that have but two values, of which the network "tabular"
            makes no waves.
        device: where PyTorch trains.
        n_jobs: threads, or None for one per core.

    Returns:
        The networks, not yet trained.
    """
    training = {
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "optimiser": optimiser,
        "n_jobs": n_jobs,
    }
    if callable(network):
        _refuse_own_with(hidden_layer_sizes, l2_penalty, dropout, smooth)
        if _n_arguments(network) == 1:
            from confide.learners.torch_networks import torch_networks

            return torch_networks(network, n_features, device=device, **training)
    if device is not None:
        raise ValueError(
            f"`device` is for PyTorch networks, got {device!r}. JAX uses all devices that it "
            "finds; leave `device` at None."
        )
    if callable(network):
        own, n_outputs = own_network(network, n_features)
        likelihood = Normal() if n_outputs == 2 else SquaredError()
        return jax_networks(own, likelihood, n_members, **training)
    if network not in NETWORKS:
        raise ValueError(
            f"`network` must be one of {NETWORKS}, or a function make(key, n_features) that "
            f"returns a module, got {network!r}. {nearest(network, NETWORKS)}".rstrip()
        )
    if network == "tabular":
        shape = layer_sizes(hidden_layer_sizes), tuple(indicators)
        return _tabular_networks(n_members, shape, l2_penalty, dropout, smooth, training)
    for name, value in {"dropout": dropout, "smooth": smooth}.items():
        if value is not None:
            raise ValueError(
                f"`{name}` belongs to the recipe 'tabular', but the recipe is 'paper', got "
                f"{value!r}. Leave it at None, or pass recipe='tabular'."
            )
    if l2_penalty is not None:
        require_not_negative(
            "l2_penalty", l2_penalty, "Pass None for the paper's 1 / N, or 0 for no penalty."
        )
    strength = np.asarray(-1.0 if l2_penalty is None else l2_penalty, np.float32)
    paper = PaperNetwork(layer_sizes(hidden_layer_sizes), strength)
    return jax_networks(paper, Normal(), n_members, **training)


def _tabular_networks(
    n_members: int,
    shape: tuple[tuple[int, ...], tuple[int, ...]],
    l2_penalty: float | None,
    dropout: float | str | None,
    smooth: bool | str | None,
    training: dict[str, Any],
) -> NetworkEnsemble:
    if l2_penalty is not None:
        raise ValueError(
            f"`l2_penalty` belongs to the paper's network, got {l2_penalty!r}. Leave it at None, "
            "or pass recipe='paper'; `dropout` regularises the network 'tabular'."
        )
    dropouts: dict[Any, float] = DROPOUTS if dropout in (None, "auto") else {dropout: 1.0}
    for dropped in dropouts:
        advice = "It is the share of units dropped, such as 0.15, or 'auto'."
        require_within("dropout", dropped, "[0, 1)", advice)
    if smooth not in (None, "auto", True, False):
        raise ValueError(f"`smooth` must be True, False or 'auto', got {smooth!r}.")
    rate = training["learning_rate"]
    if training["optimiser"] is None and not callable(rate):
        require_positive("learning_rate", rate, "Pass for example 0.02.")
        training = {**training, "learning_rate": OneCycle(np.asarray(rate, np.float32))}
    # First how smooth, by short trainings; then how long and how much dropout.
    (sizes, indicators), strengths = shape, []
    for is_smooth in (False, True) if smooth in (None, "auto") else (bool(smooth),):
        further = [
            NetworkStrength(TabularNetwork.of(sizes, dropped, is_smooth, indicators), share)
            for dropped, share in dropouts.items()
        ]
        strengths.append(NetworkStrength(further[0].network, SHORT, tuple(further)))
    training = {**training, "network_strengths": tuple(strengths)}
    return jax_networks(strengths[0].network, SquaredError(), n_members, **training)


def jax_networks(
    network: Network,
    likelihood: Likelihood,
    n_members: int,
    *,
    n_jobs: int | None = None,
    **training: Any,
) -> NetworkEnsemble:
    """Networks in JAX.

    Args:
        network: how members are made and asked.
        likelihood: what they are trained with.
        n_members: members of one fit.
        n_jobs: threads, or None for one per core.
        training: batch size, learning rate and optimiser; see `NetworkEnsemble`.

    Returns:
        The networks, not yet trained.
    """
    block = balanced_block(n_members, accelerators())
    return NetworkEnsemble(
        network, likelihood, n_threads=n_threads(n_jobs), members_per_block=block, **training
    )


def dropout_networks(
    sizes: tuple[int, ...], *, weight_strength: float, entropy_strength: float, **training: Any
) -> NetworkEnsemble:
    """Networks of Concrete Dropout, one for a fit.

    Args:
        sizes: units of each hidden layer.
        weight_strength: how strongly weights are drawn towards zero.
        entropy_strength: how strongly dropout probabilities are drawn towards a half.
        training: as for `jax_networks`.

    Returns:
        The networks, not yet trained.
    """
    strengths = (np.asarray(s, np.float32) for s in (weight_strength, entropy_strength))
    return jax_networks(DropoutNetwork(sizes, *strengths), DropoutLikelihood(), 1, **training)


def layer_sizes(hidden_layer_sizes: int | Sequence[int]) -> tuple[int, ...]:
    """Sizes as plain integers, checked: compiled programs are told apart by them."""
    sizes = hidden_layer_sizes if np.iterable(hidden_layer_sizes) else (hidden_layer_sizes,)
    if len(sizes) > MOST_LAYERS:
        raise ValueError(
            f"`hidden_layer_sizes` must have at most {MOST_LAYERS} layers, got {len(sizes)}. Pass "
            "the units of each layer, such as (40, 30)."
        )
    for size in sizes:
        require_whole("hidden_layer_sizes", size, "Pass the units of each layer, such as (40, 30).")
    return tuple(int(size) for size in sizes)


def n_threads(n_jobs: int | None) -> int | None:
    """scikit-learn's `n_jobs` as a number of threads, None for one per core."""
    if n_jobs is None or n_jobs == -1:
        return None
    require_whole("n_jobs", n_jobs, "It is a number of threads; None uses all cores.")
    return int(n_jobs)


def _refuse_own_with(
    hidden_layer_sizes: Any, l2_penalty: float | None, dropout: Any, smooth: Any
) -> None:
    """Arguments of the built-in networks mean nothing to another."""
    passed = {
        "hidden_layer_sizes": layer_sizes(hidden_layer_sizes) != PAPER["hidden_layer_sizes"],
        "l2_penalty": l2_penalty is not None,
        "dropout": dropout is not None,
        "smooth": smooth is not None,
    }
    for name in (name for name, is_passed in passed.items() if is_passed):
        raise ValueError(
            f"`{name}` belongs to the built-in network, and `network` is your own. Set its sizes "
            "in your function, and its weight decay in `optimiser`, such as optax.adamw(1e-3)."
        )


def _n_arguments(make: Callable[..., Any]) -> int:
    """How many arguments the factory takes: one for PyTorch, two (a key first) for JAX."""
    libraries = ("equinox", "flax.nnx", "torch.nn")  # whoever passes a module has imported one
    modules = [sys.modules[name].Module for name in libraries if sys.modules.get(name)]
    signature = inspect.signature(make)
    needed = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    ]
    by_position = all(parameter.kind is not parameter.KEYWORD_ONLY for parameter in needed)
    is_swapped = len(needed) == 2 and needed[1].name in {"key", "rng", "rngs"}
    if isinstance(make, tuple(modules)) and len(needed) != 2:
        came = f"you passed a module itself: a {type(make).__name__}. Return it from a function"
    elif len(needed) in {1, 2} and by_position and not is_swapped:
        return len(needed)
    else:
        came = f"yours takes {signature}"
    raise TypeError(
        "`network` must be a function make(key, n_features) that returns an Equinox or Flax "
        "module, or make(n_features) that returns a PyTorch module. It is called by position, the "
        f"key first, but {came}."
    )
