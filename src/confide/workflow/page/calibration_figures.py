"""Charts of how much wider calibration made confidence intervals, and where."""

from typing import TYPE_CHECKING, Any

import numpy as np

from confide.document import COLOURS, INK, brush, parts
from confide.drawing import BIASED, WITHIN_CHANCE, widening_of
from confide.workflow.page.figures import (
    drawn_frame,
    panels,
    rounded,
    row_tooltips,
    sorted_axis,
    texts,
)
from confide.workflow.page.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

alt = parts.alt
BLUE, VERMILION, *_ = COLOURS
LOOKS = {WITHIN_CHANCE: (BLUE, "circle"), BIASED: (VERMILION, "triangle-up")}
# Marks of the logarithmic axis.
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def sorted_widening(rows: Rows) -> Any:
    """The factor of each row with its error, of rows in its order."""
    frame = _frame(rows)
    frame["x"] = frame["times"].rank(method="first").astype(int)
    x = sorted_axis(len(rows.drawn), "rows, sorted by how much wider")
    title = "times as wide as before"
    return parts.whole(*_layers(frame, x, title, row_tooltips(rows), brush()))


def widening_by_feature(rows: Rows) -> Any:
    """The same by each of the features that it goes with most, a panel each."""
    frame = _frame(rows)

    def layers(x: Any, tooltip: list[Any], brushed: Any) -> list[Any]:
        return _layers(frame, x, "times as wide", row_tooltips(rows), brushed, tooltip)

    return panels(frame, rows.widening_features, frame["row"].to_numpy(), layers)


def _frame(rows: Rows) -> "pd.DataFrame":
    """The drawn rows that have a factor; the others had no width before."""
    prediction, drawn = rows.inputs.prediction, rows.drawn
    assert prediction.twin_errors is not None  # noqa: S101
    widening = widening_of(prediction, rows.inputs.level)[drawn]
    frame = drawn_frame(rows)
    frame["row"] = drawn
    frame["times"] = rounded(widening.times)
    frame["low"], frame["high"] = rounded(widening.low), rounded(widening.high)
    frame["category"] = np.where(widening.biased, BIASED, WITHIN_CHANCE)
    frame["bias_text"] = texts(rows, prediction.twin_errors.bias[drawn])
    # The few that are biased are drawn last, upon the others.
    last = np.argsort(widening.biased, kind="stable")
    known = np.isfinite(widening.times) & (widening.times > 0)
    return frame.iloc[last[known[last]]].reset_index(drop=True)


def _layers(
    frame: "pd.DataFrame",
    x: Any,
    title: str,
    of_rows: list[Any],
    brushed: Any,
    of_feature: list[Any] | None = None,
) -> list[Any]:
    """Points with bars, and the line where nothing changed."""
    import pandas as pd

    ends = frame["times"].to_numpy(float)
    top = max(float(ends.max(initial=1.0)) * 1.3, 1.5)
    bottom = min(float(ends.min(initial=1.0)) / 1.3, 0.75)
    scale = alt.Scale(type="log", domain=[bottom, top], nice=False)
    axis = alt.Axis(format="~g", values=[tick for tick in TICKS if bottom <= tick <= top])
    one, low, y = (
        alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)
        for field in ("one", "low", "times")
    )
    names = [name for name in LOOKS if name in set(frame["category"])]
    colour, shape = (
        alt.Scale(domain=names, range=[LOOKS[name][i] for name in names]) for i in (0, 1)
    )
    base = alt.Chart(frame).encode(x=x)
    # Of the page's ink: a faint colour would vanish on dark.
    bars = base.mark_rule(strokeWidth=1, opacity=0.3, color=INK, clip=True)
    is_biased = f"datum.category == '{BIASED}'"
    points = base.mark_point(filled=True, stroke=INK, opacity=0.9, clip=True).encode(
        y=y,
        color=alt.Color("category:N", title=None, scale=colour),
        size=alt.condition(is_biased, alt.value(90), alt.value(26)),
        strokeWidth=alt.condition(is_biased, alt.value(0.8), alt.value(0)),
        shape=alt.Shape("category:N", title=None, scale=shape),
        tooltip=[
            *(of_feature or []),
            *parts.tooltips(
                ("times:Q", "times as wide", ".2f"), ("bias_text:N", "systematic error on twins")
            ),
            *of_rows,
        ],
    )
    line = parts.dashed(alt.Chart(pd.DataFrame({"one": [1.0]})), y=one)
    return [bars.encode(y=low, y2="high:Q"), line, points.add_params(brushed)]
