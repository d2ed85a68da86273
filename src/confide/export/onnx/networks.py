"""Networks and trees as nodes of a graph: networks in single precision, as in JAX."""

from types import ModuleType
from typing import Any

import numpy as np

from confide.export.onnx.graph import TREES, Graph, Value
from confide.learners import Likelihood, PlainNetworks
from confide.standardise import Standardiser
from confide.trees import Trees


def standardised(graph: Graph, features: Value, standardiser: Standardiser) -> Value:
    """Features as networks and trees see them."""
    del graph
    scaled = (features - standardiser.x_mean[None]) / standardiser.x_scale[None]
    return scaled.cast(np.float32)


def within_reach(graph: Graph, means: Value, standardiser: Standardiser) -> Value:
    """Predictions that do not go far beyond the training targets, where these have a reach."""
    if not np.isfinite(standardiser.reach[0]):
        return means
    low, high = standardiser.reach
    return graph.minimum(graph.maximum(means, low), high)


def outputs(
    graph: Graph, networks: PlainNetworks, inputs: Value, likelihood: Likelihood
) -> list[Value]:
    """What each network says about each row, as the likelihood reads it: (row, member) each.

    Args:
        graph: to add to.
        networks: of one shape.
        inputs: standardised.
        likelihood: theirs.
    """
    x = inputs if networks.clip is None else _waves(graph, inputs, networks)
    *hidden, head = networks.layers
    for layer in hidden:
        x = _activated(graph, _dense(graph, x, layer), networks.activation)
    x = _dense(graph, x, head)  # (member, row, output)
    last = [graph.constant(i, np.int64) for i in range(head[1].shape[1])]
    raw = [
        graph.node("Transpose", graph.node("Gather", x, place, axis=2), perm=[1, 0])
        for place in last
    ]
    return [output.cast(np.float64) for output in likelihood.outputs(raw, _array_library(graph))]


def _array_library(graph: Graph) -> ModuleType:
    """The functions that likelihoods are written with, as nodes."""
    library = ModuleType("array_library")
    library.__dict__["exp"] = graph.exp
    return library


def _dense(graph: Graph, x: Value, layer: Any) -> Value:
    weight, bias = layer
    return graph.node("MatMul", x, np.swapaxes(weight, 1, 2)) + bias[:, None]


def _activated(graph: Graph, x: Value, activation: str) -> Value:
    return graph.node("Relu", x) if activation == "relu" else x * graph.node("Sigmoid", x)


def _waves(graph: Graph, inputs: Value, networks: PlainNetworks) -> Value:
    """Clipped inputs, and sines and cosines of those that have waves."""
    wide = inputs.cast(np.float64)  # whose square does not overflow
    clipped = wide / graph.sqrt((wide / networks.clip) ** 2 + 1.0)
    parts = [clipped.cast(np.float32)]
    waved = graph.node("Gather", parts[0], graph.constant(networks.waved, np.int64), axis=1)
    for frequency in networks.frequencies if networks.waved else ():
        turn = 2 * np.pi * frequency * waved
        parts += [graph.node(wave, turn) for wave in ("Sin", "Cos")]
    return graph.concatenate(parts)


def tree_sum(graph: Graph, trees: Trees, inputs: Value) -> Value:
    """A sum of trees at each row.

    Args:
        graph: to add to.
        trees: those.
        inputs: standardised, in single precision.
    """
    onnx_attributes = _tree_attributes(_without_lone_leaves(trees))
    wide = inputs.cast(np.float64)
    return graph.node("TreeEnsemble", wide, domain=TREES, **onnx_attributes) + trees.constant


def _without_lone_leaves(trees: Trees) -> dict[str, np.ndarray]:
    """The nodes; a tree that is one leaf gets a root, both of whose children are that leaf."""
    own = {name: array for name, array in trees.to_arrays().items() if name != "constant"}
    lone = np.flatnonzero(own["left"][own["roots"]] == own["roots"])
    n_nodes, leaves = len(own["left"]), own["roots"][lone]
    more = {"left": leaves, "right": leaves, "feature": 0 * leaves}
    more |= {name: np.zeros(len(lone)) for name in ("threshold", "value")}
    nodes = {name: np.concatenate([own[name], added]) for name, added in more.items()}
    roots = own["roots"].copy()
    roots[lone] = n_nodes + np.arange(len(lone))
    return {**nodes, "roots": roots}


def _tree_attributes(nodes: dict[str, np.ndarray]) -> dict[str, Any]:
    """Nodes and leaves apart, each with numbers of their own, as the operator has them."""
    from onnx.numpy_helper import from_array

    is_leaf = nodes["left"] == np.arange(len(nodes["left"]))
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    left, right = nodes["left"][~is_leaf], nodes["right"][~is_leaf]
    leaves = nodes["value"][is_leaf]
    return {
        "nodes_featureids": nodes["feature"][~is_leaf].tolist(),
        "nodes_splits": from_array(nodes["threshold"][~is_leaf]),
        "nodes_modes": from_array(np.zeros(len(left), np.uint8)),  # up to the split: to the left
        "nodes_truenodeids": number[left].tolist(),
        "nodes_trueleafs": is_leaf[left].astype(int).tolist(),
        "nodes_falsenodeids": number[right].tolist(),
        "nodes_falseleafs": is_leaf[right].astype(int).tolist(),
        "tree_roots": number[nodes["roots"]].tolist(),
        "leaf_targetids": [0] * len(leaves),
        "leaf_weights": from_array(leaves),
        "n_targets": 1,
        "aggregate_function": 1,  # the sum
    }
