"""The columns of a table as inputs of a graph, and the features that they become."""

from typing import Any

import numpy as np

from confide.export.onnx.graph import TREES, Graph, Value

# What the numbers of each kind of column count.
UNITS = {
    "number": "a number",
    "written number": "a number, without signs and separators of thousands",
    "boolean": "0 or 1",
    "duration": "seconds",
    "time": "seconds since midnight",
    "date": "days since 1970-01-01",
}
SECONDS_A_DAY = 86_400


def encoded(graph: Graph, columns: list[dict[str, Any]]) -> Value:
    """The features of each row.

    Args:
        graph: where the columns become inputs.
        columns: those in use, see `confide.export.plain_columns`.
    """
    parts = []
    for column in columns:
        of_kind = _category if column["kind"] == "category" else _number
        parts += of_kind(graph, column)
    return graph.concatenate(parts)


def described(column: dict[str, Any]) -> str:
    """What an input takes, in words."""
    if column["kind"] == "category":
        return "text; empty where it is missing"
    if "of" in column:
        has_word = column["name"].removeprefix(column["of"])
        return f"1 if the text of {column['of']!r}{has_word}, else 0"
    zone = f" on the clock of {column['zone']}" if column.get("zone") else ""
    return f"{UNITS[column['kind']]}{zone}; NaN where it is missing"


def _number(graph: Graph, column: dict[str, Any]) -> list[Value]:
    """The value itself, or its place on circles, and whether it is missing."""
    value = graph.input(column["name"], np.float64, described(column))
    is_missing = graph.is_nan(value)
    known = graph.where(is_missing, column["median"], value)
    is_time = column["kind"] == "time"
    days = known / SECONDS_A_DAY if is_time else known
    features = [] if is_time else [known]
    for period in column["cycles"]:
        features += _circle(graph, days, period)
    return features + ([is_missing.cast(np.float64)] if column["indicator"] else [])


def _circle(graph: Graph, days: Value, period: float) -> list[Value]:
    """Sine and cosine of a time."""
    rest = days - graph.node("Floor", days / period) * period
    turn = 2 * np.pi * rest / period
    return [graph.node("Sin", turn), graph.node("Cos", turn)]


def _category(graph: Graph, column: dict[str, Any]) -> list[Value]:
    """An indicator for each option, for others and for what is missing; and a mean target."""
    text = graph.input(column["name"], str, described(column))
    options, n_indicators = column["options"], column["n_indicators"]
    other, missing = len(options), len(options) + 1
    code = graph.node(
        "LabelEncoder",
        text,
        dtype=np.int64,
        domain=TREES,
        keys_strings=[*options, ""],
        values_int64s=[*range(other), missing],
        default_int64=other,
    )
    features = []
    if n_indicators:
        features.append(graph.equal(code, np.arange(n_indicators)[None]))
    if column["other"]:
        is_known = graph.node("Less", code, n_indicators, dtype=np.bool_)
        is_other = graph.node("Not", graph.node("Or", is_known, graph.equal(code, missing)))
        features.append(is_other)
    if column["indicator"]:
        features.append(graph.equal(code, missing))
    features = [feature.cast(np.float64) for feature in features]
    if column["means"] is not None:
        features.append(graph.taken([*column["means"], column["mean"], column["mean"]], code))
    return features
