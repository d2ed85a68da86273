"""What a model consists of: columns, scales, layers, noise."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64, Int

from confide.encoding import (
    CYCLES,
    CategoryColumn,
    Column,
    EncodedTable,
    Encoder,
    ManyCategoriesColumn,
    NumericColumn,
    WordsColumn,
)
from confide.errors import NoPlainFormError
from confide.estimators import IntervalRegressor
from confide.learners import PlainNetworks, plain_networks
from confide.methods import concrete_dropout
from confide.persistence import Arrays
from confide.trees import Trees

# Facts of a column that is a single number, of which none is missing.
_ONE_NUMBER: dict[str, Any] = {
    "width": 1,
    "cycles": [],
    "zone": None,
    "indicator": False,
    "missing": False,
}
Matrix = Float64[np.ndarray, "row feature"]
# A value of a column: a number (days of a date, seconds of a time or duration), the number of an
# option of a category, or None where it is missing.
Value = float | int | None
ONLY_BOOTSTRAPPED = (
    "This needs a bootstrapped ensemble of confide's own networks, but this model is a {}."
)
ONLY_OWN_NETWORKS = (
    "This needs confide's own networks, and this model has boosted trees or networks of your own: "
    "{}. Fit a model without `learner` and `network`."
)


@dataclass(frozen=True, eq=False)
class Parts:
    """A fitted model as plain values.

    Attributes:
        description: what JSON can hold: the columns and how each becomes features, and the
            networks' shape.
        arrays: weights, scales and trees.
        encoder: of the columns.
    """

    description: dict[str, Any]
    arrays: Arrays
    encoder: Encoder

    def values(self, table: EncodedTable, rows: Int[np.ndarray, " some"]) -> list[list[Value]]:
        """Of some rows the value of each column in use, as far as the model sees it."""
        matrix, codes, columns = table.matrix[rows], self.encoder.codes(table.table), []
        for column in self.description["columns"]:
            values = _READERS[column["kind"]](column, matrix)
            if column["name"] in codes:
                known = codes[column["name"]][rows]
                values = np.where(known >= 0, known, values)
            holes = _holes(column, matrix)
            pairs = zip(values.tolist(), holes.tolist(), strict=True)
            columns.append([None if hole else value for value, hole in pairs])
        return [list(row) for row in zip(*columns, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """Everything in one object: arrays as base64 of their little-endian bytes."""
        return {**self.description, "arrays": packed(self.arrays)}


def packed(arrays: Arrays) -> dict[str, dict[str, str]]:
    """Arrays for JSON, flat, with the names of JavaScript's typed arrays."""
    types = {"float32": "Float32Array", "float64": "Float64Array", "int32": "Int32Array"}
    return {
        name: {
            "type": types[array.dtype.name],
            "data": base64.b64encode(
                array.astype(array.dtype.newbyteorder("<")).tobytes()
            ).decode(),
        }
        for name, array in arrays.items()
    }


def model_parts(model: IntervalRegressor) -> Parts:
    """A fitted model as plain values.

    Raises:
        NoPlainFormError: it is not a bootstrapped ensemble of confide's own networks.
    """
    fitted, encoder = model.fitted_, model.encoder_
    retrained = getattr(fitted, "retrained", None)
    if retrained is None:
        raise NoPlainFormError(ONLY_BOOTSTRAPPED.format(type(model).__name__))
    if model.target_ is not None or getattr(model.calibration_, "of_groups", None):
        raise NoPlainFormError(
            "This needs a model without a transformed or bounded target, whose intervals are not "
            "calibrated by group."
        )
    n_features = len(fitted.standardiser.x_mean)
    nets, again = (
        _networks(fitted.learner, state, n_features) for state in (fitted.members, retrained)
    )
    if encoder is None:
        raise NoPlainFormError("This needs a model that was fitted to a table with named columns.")
    standardiser = fitted.standardiser
    arrays: Arrays = {
        "x_mean": standardiser.x_mean,
        "x_scale": standardiser.x_scale,
        "location": fitted.location,
        "scale": fitted.scale,
    }
    for name, networks in (("members", nets), ("retrained", again)):
        arrays[name] = weights(networks)
    description = {
        "columns": _columns(encoder),
        "n_features": n_features,
        "n_members": fitted.settings.n_members,
        "y_mean": standardiser.y_mean,
        "y_scale": standardiser.y_scale,
        "reach": list(standardiser.reach) if np.isfinite(standardiser.reach).all() else None,
        "clip": nets.clip,
        "frequencies": list(nets.frequencies),
        "waved": list(nets.waved),
        "activation": nets.activation,
        "layers": [list(weight.shape[1:]) for weight, _ in nets.layers],
        "net": 1.0 if fitted.noise is None else fitted.noise.net,
    }
    if fitted.noise is not None:
        arrays |= trees_parts("noise", fitted.noise.variance)
    return Parts(description, arrays, encoder)


def plain_columns(model: IntervalRegressor) -> list[dict[str, Any]]:
    """The columns in use and how each becomes features; those of an array are x0, x1 and so on."""
    if model.encoder_ is not None:
        return _columns(model.encoder_)
    typical = model.fitted_.standardiser.x_mean.tolist()  # stands in for what is missing
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(typical))])
    return [
        {"name": str(name), "kind": "number", "start": i, "median": median, **_ONE_NUMBER}
        for i, (name, median) in enumerate(zip(names, typical, strict=True))
    ]


def member_networks(fitted: Any, n_features: int) -> PlainNetworks:
    """The networks whose means are the prediction: the members, or those of random passes.

    Raises:
        NoPlainFormError: they are not confide's own.
    """
    if not hasattr(fitted, "pass_key"):
        return _networks(fitted.learner, fitted.members, n_features)
    passes = concrete_dropout.random_passes(fitted, n_features)
    blocks = [_networks(fitted.learner, each, n_features) for each in passes]
    layers = zip(*(block.layers for block in blocks), strict=True)
    joined = tuple(
        (np.concatenate(weights), np.concatenate(biases))
        for weights, biases in (zip(*layer, strict=True) for layer in layers)
    )
    return replace(blocks[0], layers=joined)


def retrained_networks(fitted: Any, n_features: int) -> PlainNetworks:
    """The retrained members of a bootstrapped ensemble."""
    return _networks(fitted.learner, fitted.retrained, n_features)


def _networks(learner: Any, state: Any, n_features: int) -> PlainNetworks:
    networks = plain_networks(learner, state, n_features)
    if networks is None:
        raise NoPlainFormError(ONLY_OWN_NETWORKS.format(type(learner).__name__))
    return networks


def weights(networks: PlainNetworks) -> Float32[np.ndarray, "member weight"]:
    """Of each member, the weights of the first layer row by row, its biases, and so on."""
    flat = [part.reshape(len(part), -1) for layer in networks.layers for part in layer]
    return np.concatenate(flat, axis=1).astype(np.float32)


def trees_parts(name: str, trees: Trees) -> Arrays:
    """Trees as arrays under a name."""
    return {f"{name}.{own}": array for own, array in trees.to_arrays().items()}


def _columns(encoder: Encoder) -> list[dict[str, Any]]:
    """The columns in use, and where their features begin."""
    columns, start = [], 0
    for column in encoder.columns:
        width = len(column.feature_names)
        if isinstance(column, WordsColumn):  # a yes or no for each word
            columns += [
                {"name": name, "of": column.name, "kind": "boolean", "start": place}
                | {"median": 0.0, **_ONE_NUMBER}
                for place, name in enumerate(column.feature_names, start)
            ]
        elif width:
            columns.append({"name": column.name, "start": start, "width": width} | _facts(column))
        start += width
    return columns


def _facts(column: Column) -> dict[str, Any]:
    """How a value becomes features, which `_READERS` turn back."""
    facts: dict[str, Any]
    if isinstance(column, CategoryColumn):
        facts = {"options": list(column.categories), "n_indicators": len(column.categories)}
        facts |= {"other": column.has_other, "means": None}
        if isinstance(column, ManyCategoriesColumn):
            facts["options"] += column.rare
            facts |= {"means": list(column.means), "mean": column.mean}
    elif isinstance(column, NumericColumn) and column.kind in _READERS:
        cycles = {"date": getattr(column, "cycles", ()), "time": ("day",)}.get(column.kind, ())
        facts = {"median": column.median, "cycles": [CYCLES[cycle] for cycle in cycles]}
        facts |= {"zone": getattr(column, "time_zone", None)}
    else:
        raise NoPlainFormError(
            f"The column {column.name!r} is of the kind {column.kind!r}, which has no plain form."
        )
    facts |= {"indicator": column.has_indicator, "missing": column.had_holes}
    kind = "category" if isinstance(column, CategoryColumn) else column.kind
    return {"kind": kind, **facts}


def _numbers(column: dict[str, Any], matrix: Matrix) -> np.ndarray:
    return matrix[:, column["start"]]


def _times(column: dict[str, Any], matrix: Matrix) -> np.ndarray:
    sine, cosine = matrix[:, column["start"]], matrix[:, column["start"] + 1]
    return np.round(np.arctan2(sine, cosine) / (2 * np.pi) % 1 * 86_400, 6)


def _options(column: dict[str, Any], matrix: Matrix) -> np.ndarray:
    """The number of each row's option; one more than there are for any other value."""
    start = column["start"]
    own = matrix[:, start : start + column["n_indicators"]]
    # A column of zeros, as there may be no indicator at all.
    chosen = np.column_stack([own, np.zeros(len(own))]).argmax(axis=1)
    return np.where(own.any(axis=1), chosen, len(column["options"]))


def _holes(column: dict[str, Any], matrix: Matrix) -> np.ndarray:
    """Which rows have no value, as far as the model sees it."""
    start, last = column["start"], column["start"] + column["width"] - 1
    if column.get("means") is not None:
        last -= 1
    if column["indicator"]:
        return matrix[:, last] > 0
    if column.get("other"):  # what is missing is none of all, and not another
        return np.all(matrix[:, start : start + column["n_indicators"] + 1] == 0, axis=1)
    return np.zeros(len(matrix), bool)


_READERS: dict[str, Callable[[dict[str, Any], Matrix], np.ndarray]] = {
    **dict.fromkeys(("number", "written number", "boolean", "duration", "date"), _numbers),
    "time": _times,
    "category": _options,
}
