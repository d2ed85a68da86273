"""Frames become charts in one house look.

Colours are Okabe and Ito's, which colour-blind readers tell apart; shapes or dashes repeat what
the colour says, for grey print. Text and axes take the colour of the page around them, so that one
chart reads on light and on dark. A chart holds what it draws and no other column of the frame.
Columns give axes their titles, with spaces for underscores.
"""

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float64

from confide.report.extra import require

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Item = TypeVar("Item")
# Okabe and Ito's palette without black and yellow, which vanish on dark and on white; then a grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A")
# One fewer than the colours, so that a pair repeats only after 42 categories.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (1, 4))
# The colour of the text around the figure, dark on light or light on dark.
INK = "currentColor"
WIDTH = 640
HEIGHT = 360
WIDEST_SCATTER = 560
# A hint to the page: a wider scatter would lay its diagonal flat.
WIDEST = {"widest": WIDEST_SCATTER}
GRID_POINTS = 64
# A violin's half height, where neighbours stand 1 apart.
HALF_VIOLIN = 0.42
# Of the axis: half the length of the spike that stands for values that are all equal.
HALF_SPIKE = 0.008
# Characters of a line of a violin's name; more would leave a phone no room for the violin.
LINE = 18

# What a violin says when it is pointed at.
NUMBERS = ["median", "lower_quartile", "upper_quartile", "rows"]


def look() -> dict[str, Any]:
    """The Vega-Lite configuration of every figure: sizes, and the ink of the page around it."""
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 13, "titleFontSize": 13}
    return {
        "background": None,
        "font": "system-ui, sans-serif",
        "view": {"stroke": INK, "strokeOpacity": 0.25},
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": INK,
            "gridOpacity": 0.12,
            "domainColor": INK,
            "domainOpacity": 0.5,
            "tickColor": INK,
            "tickOpacity": 0.5,
            "labelLimit": 150,
            "labelOverlap": True,
        },
        "legend": {
            **text,
            "titleFontWeight": "normal",
            "orient": "top",
            "labelLimit": 320,
            "symbolSize": 110,
            "symbolOpacity": 1,
            "columns": 3,
        },
        "header": {**text, "labelFontSize": 14, "labelFontWeight": "bold", "labelLimit": 320},
        "title": {"color": INK, "subtitleColor": INK, "fontSize": 15},
    }


def violins(
    frame: "pd.DataFrame",
    *,
    value: str,
    category: str,
    facet: str | None = None,
    level: float | str | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    columns: int = 2,
) -> "alt.TopLevelMixin":
    """A violin and its median for each category, a panel for each facet.

    Densities are worked out here: the page holds none of the rows. Mass that a kernel would put
    beyond the bounds is folded back. Violins are equally high, whatever their number of rows.

    Args:
        frame: a row for each value; missing ones are left out.
        value: column of numbers.
        category: column that says which violin a row belongs to.
        facet: column that says which panel, or None for one.
        level: the nominal level, drawn dashed; or the column that holds the one of each panel.
        bounds: what values cannot leave, such as 0 and 1 of a coverage; None where they can.
        columns: panels beside each other, where the page is wide enough.
    """
    import pandas as pd

    alt = require("altair")
    rows = _taken(frame, value=value, category=category, facet=facet).dropna(subset=["value"])
    _check_bounds(rows["value"], value, bounds)
    names = _names(rows["category"])
    bodies = [
        _violin(of_one["value"].to_numpy(float), names.index(name), bounds).assign(
            part="body", category=name, facet=panel
        )
        for (panel, name), of_one in rows.groupby(["facet", "category"], sort=False, observed=True)
    ]
    drawn = pd.concat([*bodies, _levels(frame, rows, facet, level)], ignore_index=True)
    highlight = alt.selection_point(name="highlight", fields=["category"])
    tooltip = [
        alt.Tooltip("category:N", title=_title(category)),
        alt.Tooltip("median:Q", title=f"median {_title(value)}", format=".4g"),
        alt.Tooltip("lower_quartile:Q", title="a quarter is below", format=".4g"),
        alt.Tooltip("upper_quartile:Q", title="a quarter is above", format=".4g"),
        alt.Tooltip("rows:Q", title="values"),
    ]
    scale = alt.Scale(domain=list(bounds), nice=False) if bounds else alt.Scale(zero=False)
    lines = json.dumps([textwrap.wrap(name, LINE) for name in names])
    position = alt.Axis(
        values=list(range(len(names))),
        labelExpr=f"{lines}[datum.value]",
        # A label hangs on its first line: two lines are centred where the first sits higher.
        labelBaseline={
            "condition": {"test": f"length({lines}[datum.value]) > 1", "value": "bottom"},
            "value": "middle",
        },
        grid=False,
        ticks=False,
        domain=False,
        title=None,
    )
    below = alt.Scale(domain=[len(names) - 0.5, -0.5], nice=False, zero=False)
    base = alt.Chart().encode(
        x=alt.X("value:Q", title=_title(value), scale=scale, axis=alt.Axis(tickCount=6))
    )
    whole = [alt.JoinAggregateFieldDef(op="max", field=name, **{"as": name}) for name in NUMBERS]
    body = (
        base.transform_filter("datum.part == 'body'")
        .transform_joinaggregate(whole, groupby=["facet", "category"])
        .mark_area(stroke=INK, strokeWidth=0.7, strokeOpacity=0.6)
        .encode(
            y=alt.Y("low:Q", axis=position, scale=below),
            y2="high:Q",
            color=_colour(alt, names, legend=None),
            opacity=alt.condition(highlight, alt.value(0.85), alt.value(0.2)),
            tooltip=tooltip,
        )
        .properties(name="violins")
        .add_params(highlight)
    )
    median = (
        alt.Chart()
        .transform_filter("isValid(datum.centre)")
        .mark_point(shape="circle", filled=True, size=55, color=INK, opacity=1)
        .encode(x="median:Q", y=alt.Y("centre:Q", scale=below), tooltip=tooltip)
    )
    layers = [body, median]
    if level is not None:
        layers.append(
            base.transform_filter("datum.part == 'level'")
            .mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=INK)
            .encode(tooltip=[alt.Tooltip("value:Q", title="nominal level", format=".4g")])
        )
    height = 60 + 38 * len(names)
    if facet is None:
        chart = alt.layer(*layers, data=_values(alt, drawn))
        return chart.properties(width=WIDTH, height=height, autosize=_fitted(alt))
    return (
        alt.layer(*layers)
        .properties(width=WIDTH // columns, height=height)
        .facet(data=_values(alt, drawn), facet=_facet(alt, rows["facet"]), columns=columns)
    )


def scatter_against(
    frame: "pd.DataFrame",
    *,
    x: str,
    y: str,
    category: str,
    label: str,
    x_error: str | None = None,
    y_error: str | None = None,
    note: Sequence[str] = ("above the dotted line, the one", "on the horizontal axis is better"),
) -> "alt.TopLevelMixin":
    """Two scores against each other, both logarithmic, about the dotted line where they are equal.

    Args:
        frame: a row for each point; both scores must be positive.
        x: column of the score whose low values are good; on the horizontal axis.
        y: column of the score it is compared with.
        category: column that gives a point its colour and shape.
        label: column that names a point when it is pointed at.
        x_error: column of the standard errors of x, drawn as a bar of one error to each side.
        y_error: the same of y.
        note: what the side above the line means, line by line, above the chart.
    """
    import pandas as pd

    alt = require("altair")
    rows = _taken(
        frame, x=x, y=y, category=category, label=label, x_error=x_error, y_error=y_error
    ).dropna(subset=["x", "y"])
    for column, of_frame in (("x", x), ("y", y)):
        _check_positive(rows[column], of_frame)
    names = _names(rows["category"])
    floor = 0.7 * float(rows[["x", "y"]].min().min())
    for axis in ("x", "y"):
        _add_ends(rows, axis, floor)
    ends = rows[["x_low", "x_high", "y_low", "y_high"]].to_numpy(float)
    domain = [float(ends.min()) / 1.15, float(ends.max()) * 1.15]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis_style = alt.Axis(format="~g", tickCount=6)
    highlight = alt.selection_point(name="highlight", fields=["category"], bind="legend")
    # With Alt held only: a page must scroll under a finger and a wheel.
    zoom = alt.selection_interval(
        name="zoom",
        bind="scales",
        zoom="wheel![event.altKey]",
        translate="[pointerdown[event.altKey], window:pointerup] > window:pointermove!",
    )
    horizontal = alt.X("x:Q", title=_title(x), scale=scale, axis=axis_style)
    vertical = alt.Y("y:Q", title=_title(y), scale=scale, axis=axis_style)
    faded = alt.condition(highlight, alt.value(0.9), alt.value(0.12))
    base = alt.Chart(rows).encode(color=_colour(alt, names), opacity=faded)
    diagonal = (
        alt.Chart(pd.DataFrame({"x": domain, "y": domain}))
        .mark_line(strokeDash=[1, 4], strokeCap="round", strokeWidth=2, color=INK, clip=True)
        .encode(x=horizontal, y=vertical)
    )
    points = (
        base.mark_point(filled=True, size=90, clip=True)
        .encode(
            x=horizontal,
            y=vertical,
            shape=_shape(alt, names),
            tooltip=[
                alt.Tooltip("label:N", title=_title(label)),
                alt.Tooltip("category:N", title=_title(category)),
                *_with_error_tooltips(alt, x, "x", x_error),
                *_with_error_tooltips(alt, y, "y", y_error),
            ],
        )
        .properties(name="points")
        .add_params(highlight, zoom)
    )
    layers = [diagonal]
    if x_error is not None:
        layers.append(_bars(base, x=alt.X("x_low:Q", scale=scale), x2="x_high:Q", y=vertical))
    if y_error is not None:
        layers.append(_bars(base, x=horizontal, y=alt.Y("y_low:Q", scale=scale), y2="y_high:Q"))
    title = alt.TitleParams(list(note), anchor="start", fontSize=13, fontWeight="normal")
    return alt.layer(*layers, points).properties(
        title=title, width=WIDEST_SCATTER, height=480, autosize=_fitted(alt), usermeta=WIDEST
    )


def lines_with_errors(
    frame: "pd.DataFrame",
    *,
    x: str,
    y: str,
    error: str | None,
    category: str,
    log_x: bool = False,
    log_y: bool = False,
    fitted: str | None = None,
) -> "alt.TopLevelMixin":
    """Points with bars of one standard error, joined by lines; a fitted law is dashed.

    Args:
        frame: a row for each point.
        x: column of the horizontal axis.
        y: column of the vertical axis.
        error: column of the standard errors of y, or None.
        category: column that gives points and lines their colour and shape.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is.
        fitted: column of fitted values of y at the same x, or None.
    """
    alt = require("altair")
    rows = _taken(frame, x=x, y=y, category=category, y_error=error, fitted=fitted)
    rows = rows.dropna(subset=["x", "y"])
    for logarithmic, column, of_frame in ((log_x, "x", x), (log_y, "y", y)):
        if logarithmic:
            _check_positive(rows[column], of_frame)
    _add_ends(rows, "y", 0.5 * float(rows["y"].min()) if log_y else -np.inf)
    names = _names(rows["category"])
    highlight = alt.selection_point(name="highlight", fields=["category"], bind="legend")
    horizontal = _axis(alt, alt.X, "x", x, logarithmic=log_x)
    faded = alt.condition(highlight, alt.value(0.95), alt.value(0.12))
    base = alt.Chart(rows).encode(x=horizontal, color=_colour(alt, names), opacity=faded)
    vertical = _axis(alt, alt.Y, "y", y, logarithmic=log_y)
    tooltip = [
        alt.Tooltip("category:N", title=_title(category)),
        alt.Tooltip("x:Q", title=_title(x), format=".4g"),
        *_with_error_tooltips(alt, y, "y", error),
    ]
    layers = [base.mark_line(strokeWidth=1.5).encode(y=vertical)]
    if fitted is not None:
        tooltip.append(alt.Tooltip("fitted:Q", title=_title(fitted), format=".4g"))
        dashed = base.mark_line(strokeWidth=1.5, strokeDash=[6, 4])
        layers.append(dashed.encode(y=_axis(alt, alt.Y, "fitted", y, logarithmic=log_y)))
    if error is not None:
        low = _axis(alt, alt.Y, "y_low", y, logarithmic=log_y)
        layers.append(_bars(base, y=low, y2="y_high:Q"))
    points = (
        base.mark_point(filled=True, size=90)
        .encode(y=vertical, shape=_shape(alt, names), tooltip=tooltip)
        .properties(name="points")
        .add_params(highlight)
    )
    chart = alt.layer(*layers, points)
    return chart.properties(width=WIDTH, height=HEIGHT, autosize=_fitted(alt))


def histograms(
    frame: "pd.DataFrame",
    *,
    bin_start: str,
    bin_end: str,
    count: str,
    category: str,
    facet: str,
    columns: int = 4,
) -> "alt.TopLevelMixin":
    """Histograms over each other, already counted, a panel with axes of its own for each facet.

    Args:
        frame: a row for each bin.
        bin_start: column of the bins' lower ends.
        bin_end: column of the bins' upper ends.
        count: column of what the bins hold.
        category: column that says which histogram a bin belongs to; its colour and dashes.
        facet: column that says which panel.
        columns: panels beside each other, where the page is wide enough.
    """
    import pandas as pd

    alt = require("altair")
    rows = _taken(
        frame, start=bin_start, end=bin_end, count=count, category=category, facet=facet
    ).sort_values("start", kind="stable")
    names = _names(frame[category].astype(str))
    outlines = [
        _outline(of_one).assign(category=name, facet=panel)
        for (panel, name), of_one in rows.groupby(["facet", "category"], sort=False, observed=True)
    ]
    drawn = pd.concat([rows.assign(part="bin"), *outlines], ignore_index=True)
    highlight = alt.selection_point(name="highlight", fields=["category"], bind="legend")
    # One title for all panels leaves each of them more room.
    title = f"{_title(count)} against {_title(bin_start).removesuffix(' start')}"
    few_ticks = alt.Axis(title=None, tickCount=4)
    horizontal = alt.X("start:Q", axis=few_ticks, scale=_free(alt))
    vertical = alt.Y("count:Q", axis=few_ticks)
    base = alt.Chart().encode(x=horizontal, y=vertical, color=_colour(alt, names))
    bins = (
        base.transform_filter("datum.part == 'bin'")
        .mark_bar(binSpacing=0)
        .encode(
            x2="end:Q",
            y2=alt.datum(0),
            opacity=alt.condition(highlight, alt.value(0.35), alt.value(0.05)),
            tooltip=[
                alt.Tooltip("category:N", title=_title(category)),
                alt.Tooltip("start:Q", title="from", format=".4g"),
                alt.Tooltip("end:Q", title="to", format=".4g"),
                alt.Tooltip("count:Q", title=_title(count), format=".4g"),
            ],
        )
        .properties(name="bins")
        .add_params(highlight)
    )
    steps = (
        base.transform_filter("datum.part == 'outline'")
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            strokeDash=_dash(alt, names),
            opacity=alt.condition(highlight, alt.value(1), alt.value(0.1)),
        )
    )
    return (
        alt.layer(bins, steps)
        .properties(width=WIDTH // columns, height=150)
        .facet(
            data=_values(alt, drawn),
            facet=_facet(alt, frame[facet].astype(str), title),
            columns=columns,
        )
        .resolve_scale(x="independent", y="independent")
    )


def bands(
    frame: "pd.DataFrame",
    *,
    x: str,
    y: str,
    lower: str,
    upper: str,
    category: str,
    points: "pd.DataFrame | None" = None,
) -> "alt.TopLevelMixin":
    """Curves within bands, and the observations they were drawn from.

    Args:
        frame: a row for each position on a curve.
        x: column of the positions.
        y: column of the curve.
        lower: column of the band's lower edge.
        upper: column of its upper edge.
        category: column that says which curve, such as "95 % confidence"; its colour and dashes.
        points: a frame with the columns x and y of the observations, or None.
    """
    alt = require("altair")
    rows = _taken(frame, x=x, y=y, lower=lower, upper=upper, category=category)
    names = _names(rows["category"])
    highlight = alt.selection_point(name="highlight", fields=["category"], bind="legend")
    horizontal = alt.X("x:Q", title=_title(x), scale=_free(alt))
    vertical = alt.Y("y:Q", title=_title(y), scale=alt.Scale(zero=False))
    base = alt.Chart(rows).encode(x=horizontal, color=_colour(alt, names))
    edges = base.mark_area().encode(
        y=alt.Y("lower:Q", title=_title(y), scale=alt.Scale(zero=False)),
        y2="upper:Q",
        opacity=alt.condition(highlight, alt.value(0.28), alt.value(0.04)),
    )
    curves = base.mark_line(strokeWidth=2).encode(
        y=vertical,
        strokeDash=_dash(alt, names),
        opacity=alt.condition(highlight, alt.value(1), alt.value(0.1)),
    )
    # A band and a curve are each one mark; unseen points on the curve carry the numbers of each x.
    numbers = (
        base.mark_point(size=120, opacity=0, filled=True)
        .encode(
            y=vertical,
            tooltip=[
                alt.Tooltip("category:N", title=_title(category)),
                *(
                    alt.Tooltip(f"{channel}:Q", title=_title(column), format=".4g")
                    for channel, column in (("x", x), ("y", y), ("lower", lower), ("upper", upper))
                ),
            ],
        )
        .properties(name="numbers")
        .add_params(highlight)
    )
    layers = [edges, curves]
    if points is not None:
        observed = alt.Chart(_taken(points, x=x, y=y))
        layers.append(
            observed.mark_point(
                shape="circle", filled=True, size=28, color=INK, opacity=0.55
            ).encode(
                x=horizontal,
                y=vertical,
                tooltip=[
                    alt.Tooltip(f"{channel}:Q", title=f"observed {_title(column)}", format=".4g")
                    for channel, column in (("x", x), ("y", y))
                ],
            )
        )
    chart = alt.layer(*layers, numbers)
    return chart.properties(width=WIDTH, height=HEIGHT, autosize=_fitted(alt))


def _taken(frame: "pd.DataFrame", **columns: str | None) -> "pd.DataFrame":
    """The columns that are drawn, under names that need no quoting; names of things as strings."""
    import pandas as pd

    missing = [column for column in columns.values() if column and column not in frame.columns]
    if missing:
        raise ValueError(f"The chart needs the columns {missing}, got {list(frame.columns)}.")
    taken = pd.DataFrame(
        {name: "" if column is None else frame[column] for name, column in columns.items()},
        index=frame.index,
    )
    words = [name for name in ("category", "facet", "label") if name in taken]
    errors = [name for name, column in columns.items() if column is None and name not in words]
    taken[words] = taken[words].astype(str)
    return taken.drop(columns=errors).reset_index(drop=True)


def _violin(
    values: Float64[np.ndarray, " value"], centre: int, bounds: tuple[float, float] | None
) -> "pd.DataFrame":
    import pandas as pd

    grid, density = _density(values, bounds)
    half = HALF_VIOLIN * density / density.max()
    lower_quartile, median, upper_quartile = np.quantile(values, [0.25, 0.5, 0.75])
    body = pd.DataFrame(
        {
            # Four digits draw the curve; more would only fill the page.
            "value": [float(f"{position:.4g}") for position in grid],
            "low": np.round(centre - half, 4),
            "high": np.round(centre + half, 4),
        }
    )
    # Written once; the chart gives them to the other rows.
    body.loc[0, NUMBERS] = [median, lower_quartile, upper_quartile, len(values)]
    body.loc[0, "centre"] = centre
    return body


def _density(
    values: Float64[np.ndarray, " value"], bounds: tuple[float, float] | None
) -> tuple[Float64[np.ndarray, " position"], Float64[np.ndarray, " position"]]:
    """Positions and the density there, up to a factor; a spike where all values are equal."""
    from scipy.stats import gaussian_kde

    lowest, highest = float(values.min()), float(values.max())
    length = bounds[1] - bounds[0] if bounds else max(1.0, abs(highest))
    if highest - lowest <= 1e-9 * length:
        grid = lowest + HALF_SPIKE * length * np.array([-1.0, 0.0, 1.0])
        return np.clip(grid, *(bounds or (None, None))), np.array([0.0, 1.0, 0.0])
    kernel = gaussian_kde(values)
    reach = 2 * float(np.sqrt(kernel.covariance[0, 0]))
    low, high = lowest - reach, highest + reach
    if bounds:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    grid = np.linspace(low, high, GRID_POINTS)
    density = kernel(grid)
    for bound in bounds or ():
        density = density + kernel(2 * bound - grid)
    return grid, density


def _levels(
    frame: "pd.DataFrame", rows: "pd.DataFrame", facet: str | None, level: float | str | None
) -> "pd.DataFrame":
    """A row for each panel and its nominal level."""
    import pandas as pd

    if level is None:
        return pd.DataFrame()
    if isinstance(level, str):
        levels = _taken(frame, facet=facet, value=level).drop_duplicates()
    else:
        levels = rows[["facet"]].drop_duplicates().assign(value=level)
    return levels.assign(part="level")


def _outline(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The upper edge of one histogram as steps, down to zero at both ends."""
    import pandas as pd

    starts = rows["start"].to_numpy(float)
    return pd.DataFrame(
        {
            "start": [starts[0], *starts, float(rows["end"].iloc[-1])],
            "count": [0.0, *rows["count"].to_numpy(float), 0.0],
            "part": "outline",
        }
    )


def _add_ends(rows: "pd.DataFrame", axis: str, floor: float) -> None:
    """Ends of the error bars; on a logarithmic axis a bar that would reach zero ends at a floor."""
    error = rows[f"{axis}_error"].fillna(0.0) if f"{axis}_error" in rows else 0.0
    low = rows[axis] - error
    rows[f"{axis}_low"] = low.where(low > floor, np.minimum(floor, rows[axis]))
    rows[f"{axis}_high"] = rows[axis] + error


def _bars(base: Any, **ends: Any) -> Any:
    return base.mark_rule(strokeWidth=1.2, clip=True).encode(**ends)


def _values(alt: Any, frame: "pd.DataFrame") -> Any:
    """Rows of several parts, each without the columns that it lacks."""
    import pandas as pd

    rows = frame.to_dict(orient="records")
    return alt.Data(values=[{k: v for k, v in row.items() if not pd.isna(v)} for row in rows])


def _names(values: "pd.Series[str]") -> list[str]:
    """The different names, in the order in which they come."""
    return list(dict.fromkeys(values))


def _title(column: str) -> str:
    return column.replace("_", " ")


def _cycled(items: Sequence[Item], names: Sequence[str]) -> list[Item]:
    return [items[i % len(items)] for i in range(len(names))]


def _colour(alt: Any, names: Sequence[str], **options: Any) -> Any:
    scale = alt.Scale(domain=list(names), range=_cycled(COLOURS, names))
    return alt.Color("category:N", title=None, scale=scale, **options)


def _shape(alt: Any, names: Sequence[str]) -> Any:
    scale = alt.Scale(domain=list(names), range=_cycled(SHAPES, names))
    return alt.Shape("category:N", title=None, scale=scale)


def _dash(alt: Any, names: Sequence[str]) -> Any:
    dashes = [list(dash) for dash in _cycled(DASHES, names)]
    scale = alt.Scale(domain=list(names), range=dashes)
    return alt.StrokeDash("category:N", title=None, scale=scale)


def _facet(alt: Any, values: "pd.Series[str]", title: str | None = None) -> Any:
    return alt.Facet("facet:N", title=title, sort=_names(values))


def _axis(alt: Any, channel: Any, field: str, column: str, *, logarithmic: bool) -> Any:
    # The padding, in pixels, keeps marks off the frame.
    log = alt.Scale(type="log", nice=False, padding=14)
    scale = log if logarithmic else alt.Scale(zero=False)
    axis = alt.Axis(format="~g", tickCount=6) if logarithmic else alt.Axis()
    return channel(f"{field}:Q", title=_title(column), scale=scale, axis=axis)


def _free(alt: Any) -> Any:
    return alt.Scale(zero=False, nice=False)


def _fitted(alt: Any) -> Any:
    """The width is that of the whole figure, so that a page can set it."""
    return alt.AutoSizeParams(type="fit-x", contains="padding")


def _with_error_tooltips(alt: Any, column: str, field: str, error: str | None) -> list[Any]:
    tooltips = [alt.Tooltip(f"{field}:Q", title=_title(column), format=".4g")]
    if error is not None:
        title = f"its standard error ({field})" if field == "x" else "its standard error"
        tooltips.append(alt.Tooltip(f"{field}_error:Q", title=title, format=".2g"))
    return tooltips


def _check_bounds(
    values: "pd.Series[float]", column: str, bounds: tuple[float, float] | None
) -> None:
    outside = [] if bounds is None else [v for v in values if not bounds[0] <= v <= bounds[1]]
    if outside:
        raise ValueError(
            f"The column {column!r} must lie within {bounds}, got {outside[0]!r}. Pass other "
            "`bounds`, or None where there are none."
        )


def _check_positive(values: "pd.Series[float]", column: str) -> None:
    if (values <= 0).any():
        raise ValueError(
            f"A logarithmic axis needs positive values, got {float(values.min())!r} in the column "
            f"{column!r}: leave those rows out, or use a linear axis."
        )
