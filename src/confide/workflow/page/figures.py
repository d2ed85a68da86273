"""Charts of the page of a report.

Nothing from a file is a field's name: Vega-Lite would read dots and brackets in it as a path. Nor
is it a tooltip's whole title: the tooltip takes "image" and "title" for its own. Other titles and
labels go through `unread`.
"""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Int

from confide.diagnostics import WORDS as SOURCES
from confide.document import INK, WIDTH, brush, in_order, number_text, parts, shapes, unread
from confide.drawing import (
    BY_PREDICTION,
    COLOURS,
    axis_limits,
    interval_name,
    novelty_histogram,
    robust_range,
    stacked,
)
from confide.workflow.page.axes import (
    axis_format,
    category_axis,
    date_axis,
    number_axis,
    sorted_axis,
)
from confide.workflow.page.features import Feature, strips
from confide.workflow.page.inputs import TRAINED
from confide.workflow.page.judgement import AFTER_CALIBRATION, ONLY, RAW, unseen_rows
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import plain

if TYPE_CHECKING:
    import pandas as pd

alt = parts.alt
# Both are of prediction intervals.
CURVES = {
    ONLY: COLOURS["prediction, thin"],
    AFTER_CALIBRATION: COLOURS["prediction, thin"],
    RAW: COLOURS["prediction"],
}
OBSERVED, OBSERVED_TRAINED = "observed", "observed, trained on"
BESIDE = "prediction outside of its confidence interval"
# The fewest rows that judge a model for a picture of these alone.
FEWEST_JUDGES = 20
# Pixels of a bar among others that it may lie upon.
THIN_BAR = 1.2
# Of a prediction interval's bar, that of the confidence interval upon it.
INNER_BAR = 0.55
# Areas of observed values' marks, in square pixels: where a row has a place of its own, and not.
DOT, SMALL_DOT = 34, 18
# Digits of what is drawn; more would only fill the page.
DIGITS = 6


def sorted_predictions(rows: Rows) -> Any:
    """Both intervals and the observed values, of rows in the order of their predictions.

    Where enough rows judge the model, these alone: others look better than new ones would.
    """
    frame = drawn_frame(rows)
    if judges := enough_to_judge(rows):
        frame = frame[np.isin(rows.drawn, judges)].reset_index(drop=True)
    frame["x"] = frame["mean"].rank(method="first").astype(int)
    # Bars of few rows are thick, those of many touch.
    sizes = (float(np.clip(600 / len(frame), 1.5, 8)), DOT)
    x = sorted_axis(len(frame), BY_PREDICTION)
    return parts.whole(*_interval_layers(rows, frame, x, row_tooltips(rows), brush(), sizes))


def predictions_by_feature(rows: Rows) -> Any:
    """The same by each of the most telling features, a panel each."""
    frame = drawn_frame(rows)

    def layers(x: Any, tooltip: Any, brushed: Any) -> list[Any]:
        tooltip = [*tooltip, *row_tooltips(rows)]
        return _interval_layers(rows, frame, x, tooltip, brushed, (THIN_BAR, SMALL_DOT))

    return panels(frame, rows.features, rows.drawn, layers)


def split(rows: Rows) -> Any:
    """Shares of the sources of uncertainty, stacked, of rows in the order of the first source."""
    import pandas as pd

    drawn = rows.drawn
    shares = {source: np.nan_to_num(share[drawn]) for source, share in rows.shares.items()}
    first, *_ = shares
    place = np.empty(len(drawn), int)
    place[np.lexsort((drawn, -shares[first]))] = np.arange(1, len(drawn) + 1)
    frames = [
        pd.DataFrame(
            {
                "key": rows.inputs.numbers[drawn],
                "x": place - 0.5,
                "start": np.round(part.start, 4),
                "end": np.round(part.end, 4),
                "share": np.round(shares[part.source], 4),
                "category": SOURCES[part.source],
            }
        )
        for part in stacked(shares)
    ]
    scale = alt.Scale(
        domain=[SOURCES[source] for source in shares],
        range=[COLOURS[source] for source in shares],
    )
    percent = alt.Axis(format=".0%", tickCount=5)
    chart = alt.Chart(pd.concat(frames, ignore_index=True)).transform_calculate(right="datum.x + 1")
    bars = chart.mark_rect().encode(
        x=sorted_axis(len(drawn), f"rows, sorted by the share of {SOURCES[first]}"),
        x2="right:Q",
        y=alt.Y(
            "start:Q", title="share of the variance", scale=alt.Scale(domain=[0, 1]), axis=percent
        ),
        y2="end:Q",
        color=alt.Color("category:N", title=None, scale=scale),
        tooltip=parts.tooltips(
            ("key:Q", "row", "d"), ("category:N", "source"), ("share:Q", "share", ".1%")
        ),
    )
    return parts.whole(bars.add_params(brush()), height=240)


def calibration(coverage: "pd.DataFrame") -> Any:
    """Observed against nominal coverage, with bars of 95 %, and the diagonal."""
    import pandas as pd

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
    several = len(names) > 1
    scale = alt.Scale(domain=[0, 1], nice=False)
    style = alt.Axis(format=".0%", tickCount=6)
    x = alt.X("x:Q", title="promised coverage", scale=scale, axis=style)
    y = alt.Y("y:Q", title="observed coverage", scale=scale, axis=style)
    low = alt.Y("low:Q", title="observed coverage", scale=scale)
    scale_of = alt.Scale(domain=names, range=[CURVES[name] for name in names])
    base = alt.Chart(frame).encode(x=x, color=alt.Color("category:N", title=None, scale=scale_of))
    bars = base.mark_rule(strokeWidth=1.2).encode(y=low, y2="high:Q")
    curve = base.mark_line(strokeWidth=1.5).encode(y=y)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=y,
        shape=shapes(alt, names) if several else alt.value("circle"),
        tooltip=parts.tooltips(
            ("category:N", "which"),
            ("x:Q", "promised", ".0%"),
            ("y:Q", "observed", ".1%"),
            ("low:Q", "from", ".1%"),
            ("high:Q", "to", ".1%"),
            ("rows:Q", "rows", ","),
        ),
    )
    layers = (parts.diagonal([0.0, 1.0], x, y), bars, curve, points)
    return parts.whole(*layers, width=460, height=400, usermeta={"widest": 460})


def novelty(p_values: Float64[np.ndarray, " row"]) -> Any:
    """How many rows have a p-value in each twentieth, and how many would by chance."""
    import pandas as pd

    counted = novelty_histogram(p_values)
    edges, counts = counted.edges.round(2), counted.novel + counted.others
    frame = pd.DataFrame({"start": edges[:-1], "end": edges[1:], "count": counts})
    few = alt.Axis(tickCount=6)
    bars = alt.Chart(frame).encode(
        x=alt.X("start:Q", bin="binned", title="p-value of novelty", axis=few),
        x2="end:Q",
        y=alt.Y("count:Q", title="rows", axis=alt.Axis(tickMinStep=1)),
        tooltip=parts.tooltips(("start:Q", "from"), ("end:Q", "to"), ("count:Q", "rows", ",")),
    )
    tooltip = parts.tooltips(("expected:Q", "rows by chance", ".3g"))
    expected = alt.Chart(pd.DataFrame({"expected": [counted.expected]}))
    line = parts.dashed(expected, y="expected:Q", tooltip=tooltip)
    return parts.whole(bars.mark_bar(binSpacing=1, color=COLOURS["novel"]), line, height=220)


def drawn_frame(rows: Rows) -> "pd.DataFrame":
    """The drawn rows: numbers for marks, texts for tooltips; bounds end at the figure's edge."""
    import pandas as pd

    inputs, drawn = rows.inputs, rows.drawn
    mean, limits = inputs.prediction.mean[drawn], _limits(rows)
    frame = pd.DataFrame(
        {
            "key": inputs.numbers[drawn],
            "mean": rounded(mean),
            "mean_text": texts(rows, mean),
            "kind": np.where(inputs.has_status(TRAINED)[drawn], OBSERVED_TRAINED, OBSERVED),
            "status": np.asarray(inputs.status, dtype=str)[drawn],
            "beside": rows.side[drawn] != 0,
        }
    )
    intervals = {
        "prediction": rows.prediction_interval,
        "confidence": rows.confidence_interval,
        "own": rows.own_confidence_interval,
    }
    for kind, interval in intervals.items():
        if interval is not None:
            lower, upper = interval[drawn].T
            ends = zip(texts(rows, lower), texts(rows, upper), strict=True)
            frame[f"{kind}_text"] = [f"{low} to {high}" for low, high in ends]
            if kind != "own":
                frame[f"{kind}_low"] = rounded(np.clip(lower, *limits))
                frame[f"{kind}_high"] = rounded(np.clip(upper, *limits))
    if inputs.y is not None:
        frame["observed"] = rounded(inputs.observed[drawn])
        frame["observed_text"] = texts(rows, inputs.observed[drawn], rows.observed_format)
    if inputs.prediction.novelty is not None:
        frame["novelty"] = [float(f"{p:.3g}") for p in inputs.prediction.novelty[drawn]]
    return frame


def _interval_layers(
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
    bar_width, dot = sizes
    prediction, confidence = _interval_names(rows)
    observed = set(frame.loc[frame["observed"].notna(), "kind"]) if "observed" in frame else set()
    names = {
        prediction: COLOURS["prediction"],
        **({confidence: COLOURS["confidence"]} if rows.confidence_interval is not None else {}),
        "prediction": INK,
        **({BESIDE: COLOURS["biased"]} if frame["beside"].any() else {}),
        **({OBSERVED: COLOURS["observed"]} if OBSERVED in observed else {}),
        **({OBSERVED_TRAINED: COLOURS["trained on"]} if OBSERVED_TRAINED in observed else {}),
    }
    scale = alt.Scale(domain=list(names), range=list(names.values()))
    value = alt.Scale(domain=list(_limits(rows)), nice=False, zero=False)
    axis = alt.Axis(tickCount=6, **axis_format(*_limits(rows)))
    title = unread(plain(rows.inputs.target))

    def layer(name: str, field: str, y2: str | None = None) -> Any:
        # The name is the same in all rows: it need not be in each.
        named = alt.Chart(frame).transform_calculate(mark=json.dumps(name))
        y = alt.Y(f"{field}:Q", title=title, scale=value, axis=axis)
        ends = {"y": y} if y2 is None else {"y": y, "y2": f"{y2}:Q"}
        colour = alt.Color("mark:N", title=None, scale=scale)
        return named.encode(x=x, tooltip=tooltip, color=colour, **ends)

    bars = layer(prediction, "prediction_low", "prediction_high")
    layers = [bars.mark_rule(opacity=0.6, strokeWidth=bar_width, clip=True)]
    if rows.confidence_interval is not None:
        inner = layer(confidence, "confidence_low", "confidence_high")
        layers.append(inner.mark_rule(opacity=1, strokeWidth=INNER_BAR * bar_width, clip=True))
    means = layer("prediction", "mean").add_params(brushed)
    style = {"opacity": 1, "clip": True}
    layers.append(means.mark_point(shape="stroke", size=12, strokeWidth=1.5, **style))
    if BESIDE in names:
        beside = layer(BESIDE, "mean").transform_filter("datum.beside")
        layers.append(beside.mark_point(shape="triangle-up", filled=True, size=2 * DOT, **style))
    for name, shape, size in ((OBSERVED_TRAINED, "diamond", 0.7 * dot), (OBSERVED, "circle", dot)):
        if name in names:
            there = f"isValid(datum.observed) && datum.kind == '{name}'"
            # An outline: these are what must be found upon the bars.
            outline = {"stroke": INK, "strokeWidth": size / 60}
            points = layer(name, "observed").transform_filter(there)
            layers.append(
                points.mark_point(shape=shape, filled=True, size=size, **outline, **style)
            )
    return layers


def _interval_names(rows: Rows) -> tuple[str, str]:
    """What the legend calls prediction and confidence intervals."""
    level, calibrated = rows.inputs.level, rows.confidence_is_calibrated
    confidence = interval_name("confidence", level, calibrated=calibrated)
    return interval_name("prediction", level), confidence


def row_tooltips(rows: Rows) -> list[Any]:
    """What a drawn row says of itself."""
    prediction = rows.inputs.prediction
    level = rows.inputs.level
    lines = [
        ("key:Q", "row", "d"),
        ("mean_text:N", "prediction"),
        ("prediction_text:N", interval_name("prediction", level)),
        ("confidence_text:N", interval_name("confidence", level)),
        ("own_text:N", "before calibration"),
        ("observed_text:N", "observed"),
        ("novelty:Q", "novelty p"),
        ("status:N", "status"),
    ]
    missing = {
        "confidence_text:N": rows.confidence_interval is None,
        "own_text:N": rows.own_confidence_interval is None,
        "observed_text:N": rows.inputs.y is None,
        "novelty:Q": prediction.novelty is None,
    }
    return parts.tooltips(*(line for line in lines if not missing.get(line[0], False)))


def panels(
    frame: "pd.DataFrame",
    features: Sequence[Feature],
    drawn: Int[np.ndarray, " drawn"],
    layers: Callable[[Any, list[Any], Any], list[Any]],
) -> Any:
    """A panel for each feature.

    Args:
        frame: the drawn rows; the features' columns are added to it.
        features: in their order.
        drawn: numbers of these rows.
        layers: what is drawn, given the horizontal axis, the feature's tooltip and a brush.
    """
    charts = []
    for i, feature in enumerate(features):
        x = _feature_axis(frame, feature, drawn, i)
        tooltip = parts.tooltips((f"t{i}:N", f"feature: {feature.name}"))
        panel = alt.layer(*layers(x, tooltip, brush(i)))
        charts.append(panel.properties(width=WIDTH // 2, height=200))
    return alt.concat(*charts, columns=2).resolve_scale(color="shared", shape="shared")


def _feature_axis(
    frame: "pd.DataFrame", feature: Feature, drawn: Int[np.ndarray, " drawn"], i: int
) -> Any:
    """The horizontal axis of a feature, whose columns are added to the frame."""
    field, title, of_rows = f"f{i}", unread(feature.name), feature.texts()
    frame[f"t{i}"] = ["–" if of_rows[row] is None else of_rows[row] for row in drawn]
    if feature.kind == "category":
        position, names = strips(feature)
        spread = np.random.default_rng(i).uniform(-0.36, 0.36, len(drawn))
        frame[field] = np.round(position[drawn] + spread, 3)
        return category_axis(field, title, names)
    if feature.kind == "date":
        moments = feature.column.iloc[drawn]
        frame[field] = [None if m != m else int(m.timestamp() * 1000) for m in moments]  # noqa: PLR0124
        return date_axis(field, title)
    values = feature.column.to_numpy(float)[drawn]
    frame[field] = rounded(values)
    ends = robust_range(values).tolist() or [0.0, 1.0]
    if n := int(np.sum((values < ends[0]) | (values > ends[1]))):
        title += f" ({n} outside)"
    return number_axis(field, title, ends)


def _limits(rows: Rows) -> tuple[float, float]:
    intervals = [rows.prediction_interval, rows.confidence_interval]
    bounds = np.concatenate([bounds[rows.drawn] for bounds in intervals if bounds is not None])
    return axis_limits(bounds, _drawn_values(rows))


def enough_to_judge(rows: Rows) -> list[int]:
    """The drawn rows that judge the model; none where they are too few for a picture."""
    judges = rows.drawn[unseen_rows(rows.inputs)[rows.drawn]]
    return judges.tolist() if len(judges) >= FEWEST_JUDGES else []


def n_outside(rows: Rows) -> int:
    """How many of the drawn values are far from all others, and outside of the figure."""
    low, high = _limits(rows)
    values = _drawn_values(rows)
    return int(np.sum((values < low) | (values > high)))


def _drawn_values(rows: Rows) -> Float64[np.ndarray, " value"]:
    inputs, drawn = rows.inputs, rows.drawn
    return np.concatenate([inputs.prediction.mean[drawn], inputs.observed[drawn]])


def rounded(values: Any) -> list[float | None]:
    """Numbers with as many digits as are drawn; None for those that are not numbers."""
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]


def texts(rows: Rows, values: Any, shape: str | None = None) -> list[str]:
    """Numbers as tooltips show them, in the format of predictions if no other is given."""
    return [number_text(value, shape or rows.number_format) for value in values]
