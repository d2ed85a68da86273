"""Charts of how much wider calibration made confidence intervals, and where."""

from typing import TYPE_CHECKING, Any

import numpy as np

from confide.document import COLOURS, HEIGHT, INK, WIDTH, brush, fitted_width
from confide.extras import require
from confide.workflow.page.figures import drawn_frame, feature_axis, rounded, row_tooltips
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import number

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

BLUE, VERMILION, *_ = COLOURS
WITHIN, BIASED = "systematic error within chance", "systematic error exceeds chance"
TITLE, SHORT_TITLE = "times as wide as before", "times as wide"
# Marks of the logarithmic axis.
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def sorted_widening(rows: Rows) -> "alt.TopLevelMixin":
    """The factor of each row with its error, of rows in its order."""
    alt = require("altair", "report")
    frame = _frame(rows)
    frame["x"] = frame["times"].rank(method="first").astype(int)
    horizontal = alt.X(
        "x:Q",
        title="rows, sorted by how much wider",
        scale=alt.Scale(domain=[0.5, len(rows.drawn) + 0.5], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6, format="d"),
    )
    chart = alt.layer(*_layers(alt, rows, frame, (horizontal, TITLE), [], brush()))
    return chart.properties(width=WIDTH, height=HEIGHT, autosize=fitted_width(alt))


def widening_by_feature(rows: Rows) -> "alt.TopLevelMixin":
    """The same by each of the features that it goes with most, a panel each."""
    alt = require("altair", "report")
    frame = _frame(rows)
    kept = frame["row"].to_numpy()
    panels = []
    for i, feature in enumerate(rows.widening_features):
        horizontal = feature_axis(alt, frame, feature, kept, i)
        tooltips = [alt.Tooltip(f"t{i}:N", title=f"feature: {feature.name}")]
        layers = _layers(alt, rows, frame, (horizontal, SHORT_TITLE), tooltips, brush(i))
        panels.append(alt.layer(*layers).properties(width=WIDTH // 2, height=200))
    return alt.concat(*panels, columns=2).resolve_scale(color="shared", shape="shared")


def _frame(rows: Rows) -> "pd.DataFrame":
    """The drawn rows that have a factor; the others had no width before."""
    simulated, widening = rows.inputs.prediction.twin_errors, rows.widening
    assert simulated is not None  # noqa: S101
    assert widening is not None  # noqa: S101
    drawn = rows.drawn
    times, error = widening[drawn], simulated.factor_error[drawn]
    frame = drawn_frame(rows)
    frame["row"] = drawn
    frame["times"] = rounded(times)
    # On a logarithmic axis a bar of the same share is as long above as below.
    frame["low"], frame["high"] = rounded(times / (1 + error)), rounded(times * (1 + error))
    frame["category"] = np.where(simulated.is_biased[drawn], BIASED, WITHIN)
    frame["bias_text"] = [number(v, rows.number_format) for v in simulated.bias[drawn]]
    # The few that are biased are drawn last, upon the others.
    frame = frame[np.isfinite(times) & (times > 0)]
    return frame.sort_values(
        "category", key=lambda category: category == BIASED, kind="stable", ignore_index=True
    )


def _layers(
    alt: Any,
    rows: Rows,
    frame: "pd.DataFrame",
    axes: tuple[Any, str],
    tooltips: list[Any],
    brushed: Any,
) -> list[Any]:
    """Points with bars, and the line where nothing changed."""
    import pandas as pd

    x, title = axes
    ends = frame["times"].to_numpy(float)
    top = max(float(ends.max(initial=1.0)) * 1.3, 1.5)
    bottom = min(float(ends.min(initial=1.0)) / 1.3, 0.75)
    scale = alt.Scale(type="log", domain=[bottom, top], nice=False)

    def vertical(field: str) -> Any:
        axis = alt.Axis(format="~g", values=[tick for tick in TICKS if bottom <= tick <= top])
        return alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)

    line = (
        alt.Chart(pd.DataFrame({"one": [1.0]}))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=INK)
        .encode(y=vertical("one"))
    )
    domain = [name for name in (WITHIN, BIASED) if name in set(frame["category"])]
    looks = {WITHIN: (BLUE, "circle"), BIASED: (VERMILION, "triangle-up")}
    colour = alt.Scale(domain=domain, range=[looks[name][0] for name in domain])
    shape = alt.Scale(domain=domain, range=[looks[name][1] for name in domain])
    base = alt.Chart(frame).encode(x=x)
    # Of the page's ink: a faint colour would vanish on dark.
    bars = base.mark_rule(strokeWidth=1, opacity=0.3, color=INK, clip=True).encode(
        y=vertical("low"), y2="high:Q"
    )
    is_biased = f"datum.category == '{BIASED}'"
    points = (
        base.mark_point(filled=True, stroke=INK, opacity=0.9, clip=True)
        .encode(
            y=vertical("times"),
            color=alt.Color("category:N", title=None, scale=colour),
            size=alt.condition(is_biased, alt.value(90), alt.value(26)),
            strokeWidth=alt.condition(is_biased, alt.value(0.8), alt.value(0)),
            shape=alt.Shape("category:N", title=None, scale=shape),
            tooltip=[
                *tooltips,
                alt.Tooltip("times:Q", title="times as wide", format=".2f"),
                alt.Tooltip("bias_text:N", title="systematic error on twins"),
                *row_tooltips(alt, rows),
            ],
        )
        .add_params(brushed)
    )
    return [bars, line, points]
