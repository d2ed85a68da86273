"""The panel in which a reader changes a row and sees what the model says of it."""

from importlib import resources
from typing import Any

import numpy as np

from confide.diagnostics import WORDS as SOURCES
from confide.document import Panel
from confide.drawing import interval_name, robust_range
from confide.export import evaluator, packed
from confide.workflow.page.inputs import WhatIf
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import literal, plain

# Values of rows that the panel holds, and bytes of weights: the page must open at once.
MOST_VALUES, MOST_BYTES = 50_000, 5_000_000
# Features beside the answers; the others are folded.
MOST_SHOWN = 12
CAPTION = (
    "Pick a row, change its features, and see what the model says of such a row. The thin bar "
    "below is the row as it was. Everything is computed in this page: nothing leaves your computer."
)


def what_if(rows: Rows) -> Panel | str:
    """The panel, or why there is none."""
    given = rows.inputs.what_if
    if not isinstance(given, WhatIf):
        return f"There is no panel to try out changes here. {literal(given, 500)}"
    arrays = given.parts.arrays | given.arrays
    if sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
        return "There is no panel to try out changes here: the model is too large for a page."
    script = resources.files("confide.workflow.page").joinpath("what_if.js").read_text("utf-8")
    data = {**given.parts.description, "arrays": packed(arrays), "rules": given.rules}
    return Panel("what-if", CAPTION, evaluator() + script, data | _shown(rows, given))


def _shown(rows: Rows, given: WhatIf) -> dict[str, Any]:
    """Rows to pick, and how to show them."""
    inputs, columns = rows.inputs, given.parts.description["columns"]
    picked = rows.drawn[: max(1, MOST_VALUES // len(columns))]
    level, telling = inputs.level, [plain(feature.name) for feature in rows.features]
    names = [plain(column.get("of", column["name"])) for column in columns]
    order = sorted(range(len(columns)), key=lambda i: _place(names[i], telling))
    return {
        "target": plain(inputs.target),
        "rows": {
            "numbers": inputs.numbers[picked].tolist(),
            "values": given.parts.values(given.table, picked),
            "observed": [v if np.isfinite(v) else None for v in inputs.observed[picked].tolist()],
            "means": inputs.prediction.mean[picked].tolist(),
        },
        "labels": [_label(column) or "(no name)" for column in columns],
        "choices": [[plain(o, 80) for o in column.get("options", ())] for column in columns],
        "order": order,
        "shown": MOST_SHOWN,
        "ranges": [_range(given, column) for column in columns],
        "names": {
            "prediction": interval_name("prediction", level),
            "confidence": interval_name(
                "confidence", level, calibrated=rows.confidence_is_calibrated
            ),
        },
        "sources": {name: SOURCES[name] for name in ("aleatoric", "classical", "optimisation")},
        "split": "where its uncertainty comes from"
        + ", before calibration" * rows.confidence_is_calibrated,
        "format": rows.number_format,
        "observed_format": rows.observed_format,
    }


def _label(column: dict[str, Any]) -> str:
    """The name of a column; of a word in a text, the word is never cut."""
    text = column.get("of", "")
    own = column["name"].removeprefix(text)
    return f"{plain(text)} {plain(own, 80)}" if text else plain(own)


def _place(name: str, telling: list[str]) -> int:
    return telling.index(name) if name in telling else len(telling)


def _range(given: WhatIf, column: dict[str, Any]) -> list[float] | None:
    """The ends of a slider, and whether its values are whole; None for what has no slider."""
    if column["kind"] not in {"number", "written number", "duration", "date"}:
        return None
    values = given.table.matrix[:, column["start"]]
    low, high = robust_range(values).tolist()
    return [low, high, float(np.all(values == np.round(values)))]
