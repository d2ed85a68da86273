"""Charts of the page of a report.

Nothing from a file is a field's name: Vega-Lite would read dots and brackets in it as a path. Nor
is it a tooltip's whole title: the tooltip takes "image" and "title" for its own. Other titles and
labels go through `unread`.
"""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Int

from confide.diagnostics import WORDS as SOURCES
from confide.document import (
    COLOURS,
    HEIGHT,
    INK,
    WIDTH,
    brush,
    colours,
    fitted_width,
    in_order,
    shapes,
    unread,
)
from confide.extras import require
from confide.workflow.page.features import Feature, strips
from confide.workflow.page.inputs import TRAINED
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import level_text, number, plain

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY = COLOURS
SOURCE_COLOURS = {"aleatoric": GREY, "classical": BLUE, "optimisation": ORANGE, "epistemic": GREEN}
OBSERVED, OBSERVED_TRAINED = "observed", "observed, trained on"
NOVELTY_BINS = 20
# Pixels of a bar among others that it may lie upon.
THIN_BAR = 1.2
# Of a prediction interval's bar, that of the confidence interval upon it.
INNER_BAR = 0.55
# Areas of observed values' marks, in square pixels: where a row has a place of its own, and not.
DOT, SMALL_DOT = 34, 18
# Pixels that a strip's name has for certain: panels of the page are no narrower than this.
NARROWEST_PANEL, CHARACTER = 120, 8
# Digits of what is drawn; more would only fill the page.
DIGITS = 6


def sorted_predictions(rows: Rows) -> "alt.TopLevelMixin":
    """Both intervals and the observed values, of rows in the order of their predictions."""
    alt = require("altair", "report")
    frame = drawn_frame(rows)
    frame["x"] = frame["mean"].rank(method="first").astype(int)
    horizontal = alt.X(
        "x:Q",
        title="rows, sorted by prediction",
        scale=alt.Scale(domain=[0.5, len(frame) + 0.5], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6, format="d"),
    )
    layers = _interval_layers(
        alt,
        rows,
        frame,
        horizontal,
        row_tooltips(alt, rows),
        brush(),
        (_bar_width(len(frame)), DOT),
    )
    chart = alt.layer(*layers)
    return chart.properties(width=WIDTH, height=HEIGHT, autosize=fitted_width(alt))


def predictions_by_feature(rows: Rows) -> "alt.TopLevelMixin":
    """The same by each of the most telling features, a panel each."""
    alt = require("altair", "report")
    frame = drawn_frame(rows)
    panels = []
    for i, feature in enumerate(rows.features):
        horizontal = feature_axis(alt, frame, feature, rows.drawn, i)
        tooltips = [
            alt.Tooltip(f"t{i}:N", title=f"feature: {feature.name}"),
            *row_tooltips(alt, rows),
        ]
        sizes = (THIN_BAR, SMALL_DOT)
        layers = _interval_layers(alt, rows, frame, horizontal, tooltips, brush(i), sizes)
        panels.append(alt.layer(*layers).properties(width=WIDTH // 2, height=200))
    return alt.concat(*panels, columns=2).resolve_scale(color="shared")


def split(rows: Rows) -> "alt.TopLevelMixin":
    """Shares of the sources of uncertainty, stacked, of rows in the order of the first source."""
    import pandas as pd

    alt = require("altair", "report")
    drawn = rows.drawn
    shares = {source: np.nan_to_num(share[drawn]) for source, share in rows.shares.items()}
    first = next(iter(shares.values()))
    place = np.empty(len(drawn), int)
    place[np.lexsort((drawn, -first))] = np.arange(1, len(drawn) + 1)
    ends = np.cumsum([np.zeros(len(drawn)), *shares.values()], axis=0)
    parts = [
        pd.DataFrame(
            {
                "key": rows.inputs.numbers[drawn],
                "x": place - 0.5,
                "start": np.round(ends[i], 4),
                "end": np.round(ends[i + 1], 4),
                "share": np.round(share, 4),
                "category": SOURCES[source],
            }
        )
        for i, (source, share) in enumerate(shares.items())
    ]
    frame = pd.concat(parts, ignore_index=True)
    domain = [SOURCES[source] for source in shares]
    colour_scale = alt.Scale(domain=domain, range=[SOURCE_COLOURS[source] for source in shares])
    chart = (
        alt.Chart(frame)
        .transform_calculate(right="datum.x + 1")
        .mark_rect()
        .encode(
            x=alt.X(
                "x:Q",
                title=f"rows, sorted by the share of {domain[0]}",
                scale=alt.Scale(domain=[0.5, len(drawn) + 0.5], nice=False),
                axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6, format="d"),
            ),
            x2="right:Q",
            y=alt.Y(
                "start:Q",
                title="share of the variance",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=5),
            ),
            y2="end:Q",
            color=alt.Color("category:N", title=None, scale=colour_scale),
            tooltip=[
                alt.Tooltip("key:Q", title="row", format="d"),
                alt.Tooltip("category:N", title="source"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
        .add_params(brush())
    )
    return chart.properties(width=WIDTH, height=240, autosize=fitted_width(alt))


def calibration(coverage: "pd.DataFrame") -> "alt.TopLevelMixin":
    """Observed against nominal coverage, with bars of 95 %, and the diagonal."""
    import pandas as pd

    alt = require("altair", "report")
    frame = pd.DataFrame(
        {
            "x": coverage["level"],
            "y": coverage["coverage"].round(DIGITS),
            "low": coverage["lower"].round(DIGITS).clip(0, 1),
            "high": coverage["upper"].round(DIGITS).clip(0, 1),
            "rows": coverage["rows"],
            "category": coverage["intervals"],
        }
    )
    names = in_order(frame["category"])
    scale = alt.Scale(domain=[0, 1], nice=False)
    style = alt.Axis(format=".0%", tickCount=6)
    horizontal = alt.X("x:Q", title="promised coverage", scale=scale, axis=style)
    title = "observed coverage"
    vertical = alt.Y("y:Q", title=title, scale=scale, axis=style)
    diagonal = (
        alt.Chart(pd.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]}))
        .mark_line(strokeDash=[1, 4], strokeCap="round", strokeWidth=2, color=INK)
        .encode(x=horizontal, y=vertical)
    )
    legend = {} if len(names) > 1 else {"legend": None}
    base = alt.Chart(frame).encode(x=horizontal, color=colours(alt, names, **legend))
    bars = base.mark_rule(strokeWidth=1.2).encode(
        y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=vertical,
        shape=shapes(alt, names) if len(names) > 1 else alt.value("circle"),
        tooltip=[
            alt.Tooltip("category:N", title="which"),
            alt.Tooltip("x:Q", title="promised", format=".0%"),
            alt.Tooltip("y:Q", title="observed", format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("rows:Q", title="rows", format=","),
        ],
    )
    curve = base.mark_line(strokeWidth=1.5).encode(y=vertical)
    chart = alt.layer(diagonal, bars, curve, points)
    return chart.properties(
        width=460, height=400, autosize=fitted_width(alt), usermeta={"widest": 460}
    )


def novelty_histogram(p_values: Float64[np.ndarray, " row"]) -> "alt.TopLevelMixin":
    """How many rows have a p-value in each twentieth, and how many would by chance."""
    import pandas as pd

    alt = require("altair", "report")
    edges = np.linspace(0, 1, NOVELTY_BINS + 1)
    counts = np.histogram(p_values, edges)[0]
    frame = pd.DataFrame({"start": edges[:-1], "end": edges[1:], "count": counts}).round(2)
    expected = len(p_values) / NOVELTY_BINS
    bars = (
        alt.Chart(frame)
        .mark_bar(binSpacing=1, color=BLUE)
        .encode(
            x=alt.X(
                "start:Q", bin="binned", title="p-value of novelty", axis=alt.Axis(tickCount=6)
            ),
            x2="end:Q",
            y=alt.Y("count:Q", title="rows", axis=alt.Axis(tickMinStep=1)),
            tooltip=[
                alt.Tooltip("start:Q", title="from"),
                alt.Tooltip("end:Q", title="to"),
                alt.Tooltip("count:Q", title="rows", format=","),
            ],
        )
    )
    line = (
        alt.Chart(pd.DataFrame({"expected": [expected]}))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=INK)
        .encode(
            y="expected:Q",
            tooltip=[alt.Tooltip("expected:Q", title="rows by chance", format=".3g")],
        )
    )
    chart = alt.layer(bars, line)
    return chart.properties(width=WIDTH, height=220, autosize=fitted_width(alt))


def drawn_frame(rows: Rows) -> "pd.DataFrame":
    """The drawn rows: numbers for marks, texts for tooltips; bounds end at the figure's edge."""
    import pandas as pd

    inputs, drawn, shape = rows.inputs, rows.drawn, rows.number_format
    trained = inputs.has_status(TRAINED)[drawn]
    low, high = _domain(rows)
    frame = pd.DataFrame(
        {
            "key": inputs.numbers[drawn],
            "mean": rounded(inputs.prediction.mean[drawn]),
            "kind": np.where(trained, OBSERVED_TRAINED, OBSERVED),
            "status": np.asarray(inputs.status, dtype=str)[drawn],
        }
    )
    frame["mean_text"] = [number(v, shape) for v in inputs.prediction.mean[drawn]]
    intervals = {"prediction": rows.prediction_interval, "confidence": rows.confidence_interval}
    for kind, interval in intervals.items():
        if interval is not None:
            bounds = interval[drawn]
            frame[f"{kind}_low"] = rounded(np.clip(bounds[:, 0], low, high))
            frame[f"{kind}_high"] = rounded(np.clip(bounds[:, 1], low, high))
            frame[f"{kind}_text"] = [f"{number(a, shape)} to {number(b, shape)}" for a, b in bounds]
    if (own := rows.own_confidence_interval) is not None:
        frame["own_text"] = [f"{number(a, shape)} to {number(b, shape)}" for a, b in own[drawn]]
    if inputs.y is not None:
        observed = inputs.observed[drawn]
        frame["observed"] = rounded(observed)
        frame["observed_text"] = [number(v, shape) for v in observed]
    if inputs.prediction.novelty is not None:
        frame["novelty"] = [float(f"{p:.3g}") for p in inputs.prediction.novelty[drawn]]
    return frame


def _interval_layers(
    alt: Any,
    rows: Rows,
    frame: "pd.DataFrame",
    x: Any,
    tooltip: list[Any],
    brushed: Any,
    sizes: tuple[float, float],
) -> list[Any]:
    """Bars of both intervals, points of predictions and observations, and the brush.

    The sizes are a bar's width and an observation's area.
    """
    inputs = rows.inputs
    level = level_text(inputs.level)
    confidence = confidence_label(rows)
    names = {
        f"{level} prediction interval": GREY,
        **({confidence: SKY} if rows.confidence_interval is not None else {}),
        "prediction": INK,
    }
    if inputs.y is not None:
        present = frame.loc[frame["observed"].notna(), "kind"]
        names |= {
            k: c
            for k, c in ((OBSERVED, VERMILION), (OBSERVED_TRAINED, PURPLE))
            if k in set(present)
        }
    scale = alt.Scale(domain=list(names), range=list(names.values()))
    low, high = _domain(rows)
    value = alt.Scale(domain=[low, high], nice=False, zero=False)
    axis_title = unread(plain(inputs.target))

    def vertical(field: str) -> Any:
        return alt.Y(f"{field}:Q", title=axis_title, scale=value, axis=alt.Axis(tickCount=6))

    def layer(name: str) -> Any:
        # The name is the same in all rows: it need not be in each.
        named = alt.Chart(frame).transform_calculate(mark=json.dumps(name))
        return named.encode(
            x=x, tooltip=tooltip, color=alt.Color("mark:N", title=None, scale=scale)
        )

    bar_width, dot = sizes
    layers = [
        layer(f"{level} prediction interval")
        .mark_rule(opacity=0.5, strokeWidth=bar_width, clip=True)
        .encode(y=vertical("prediction_low"), y2="prediction_high:Q")
    ]
    if rows.confidence_interval is not None:
        layers.append(
            layer(confidence)
            .mark_rule(opacity=1, strokeWidth=INNER_BAR * bar_width, clip=True)
            .encode(y=vertical("confidence_low"), y2="confidence_high:Q")
        )
    layers.append(
        layer("prediction")
        .mark_point(shape="stroke", size=12, strokeWidth=1.5, opacity=1, clip=True)
        .encode(y=vertical("mean"))
        .add_params(brushed)
    )
    layers += [
        layer(name)
        .transform_filter(f"isValid(datum.observed) && datum.kind == '{name}'")
        .mark_point(
            shape=shape,
            filled=True,
            size=size,
            stroke=INK,  # an outline: these are what must be found upon the bars
            strokeWidth=size / 60,
            opacity=1,
            clip=True,
        )
        .encode(y=vertical("observed"))
        for name, shape, size in (
            (OBSERVED_TRAINED, "diamond", 0.7 * dot),
            (OBSERVED, "circle", dot),
        )
        if name in names
    ]
    return layers


def confidence_label(rows: Rows) -> str:
    """What the legend calls confidence intervals."""
    calibrated = ", calibrated" if rows.confidence_is_calibrated else ""
    return f"{level_text(rows.inputs.level)} confidence interval{calibrated}"


def row_tooltips(alt: Any, rows: Rows) -> list[Any]:
    """What a drawn row says of itself."""
    level = level_text(rows.inputs.level)
    found = [
        alt.Tooltip("key:Q", title="row", format="d"),
        alt.Tooltip("mean_text:N", title="prediction"),
        alt.Tooltip("prediction_text:N", title=f"{level} prediction interval"),
    ]
    if rows.confidence_interval is not None:
        found.append(alt.Tooltip("confidence_text:N", title=f"{level} confidence interval"))
    if rows.own_confidence_interval is not None:
        found.append(alt.Tooltip("own_text:N", title="before calibration"))
    if rows.inputs.y is not None:
        found.append(alt.Tooltip("observed_text:N", title="observed"))
    if rows.inputs.prediction.novelty is not None:
        found.append(alt.Tooltip("novelty:Q", title="novelty p"))
    return [*found, alt.Tooltip("status:N", title="status")]


def feature_axis(
    alt: Any, frame: "pd.DataFrame", feature: Feature, drawn: Int[np.ndarray, " drawn"], i: int
) -> Any:
    """The horizontal axis of a feature, whose columns are added to the frame."""
    field, title = f"f{i}", unread(feature.name)
    frame[f"t{i}"] = [("–" if text is None else text) for text in _taken(feature.texts(), drawn)]
    if feature.kind == "category":
        position, names = strips(feature)
        spread = np.random.default_rng(i).uniform(-0.36, 0.36, len(drawn))
        frame[field] = np.round(position[drawn] + spread, 3)
        labels = json.dumps([unread(name) for name in names])
        axis = alt.Axis(
            values=list(range(len(names))),
            labelExpr=f"{labels}[datum.value]",
            **_label_angle(names),
            labelLimit=95,
            labelOverlap=False,
            ticks=False,
            grid=False,
        )
        scale = alt.Scale(domain=[-0.5, len(names) - 0.5], nice=False, zero=False)
        return alt.X(f"{field}:Q", title=title, axis=axis, scale=scale)
    if feature.kind == "date":
        moments = feature.column.iloc[drawn]
        frame[field] = [None if m != m else int(m.timestamp() * 1000) for m in moments]  # noqa: PLR0124
        return alt.X(
            f"{field}:T",
            title=title,
            scale=alt.Scale(type="utc", nice=False, padding=8),
            axis=alt.Axis(tickCount=4),
        )
    frame[field] = rounded(feature.column.to_numpy(float)[drawn])
    scale = alt.Scale(zero=False, nice=False, padding=8)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))


def _domain(rows: Rows) -> tuple[float, float]:
    """Ends of the vertical axis: all predictions and observations, and nearly all bounds."""
    inputs, drawn = rows.inputs, rows.drawn
    intervals = [rows.prediction_interval, rows.confidence_interval]
    bounds = np.concatenate([each[drawn] for each in intervals if each is not None])
    values = np.concatenate([inputs.prediction.mean[drawn], inputs.observed[drawn]])
    ends = [values[np.isfinite(values)]]
    for side, share in ((0, 0.01), (1, 0.99)):
        finite = bounds[np.isfinite(bounds[:, side]), side]
        ends.append(np.quantile(finite, [share]) if len(finite) else finite)
    all_ends = np.concatenate(ends)
    if not len(all_ends):
        return 0.0, 1.0
    low, high = float(all_ends.min()), float(all_ends.max())
    room = 0.03 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


def _bar_width(n: int) -> float:
    """Pixels: bars of few rows are thick, those of many touch."""
    return float(np.clip(600 / n, 1.5, 8))


def _label_angle(names: list[str]) -> dict[str, Any]:
    """Names of strips are turned only where they might run into each other."""
    if CHARACTER * max(map(len, names), default=0) * len(names) <= NARROWEST_PANEL:
        return {"labelAngle": 0, "labelAlign": "center"}
    return {"labelAngle": -35, "labelAlign": "right"}


def rounded(values: Any) -> list[float | None]:
    """Numbers with as many digits as are drawn; None for those that are not numbers."""
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]


def _taken(values: list[Any], rows: Int[np.ndarray, " some"]) -> list[Any]:
    return [values[i] for i in rows]
