"""Charts of distributions: violins, and histograms that are already counted."""

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.document import parts
from confide.document.look import (
    INK,
    WIDTH,
    colours,
    dashes,
    fitted_width,
    in_order,
    taken,
    tight,
    title_of,
)
from confide.document.parts import alt

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin

GRID_POINTS = 64
# A violin's half height, where neighbours stand 1 apart.
HALF_VIOLIN = 0.42
# Of the axis: half the length of the spike that stands for values that are all equal.
HALF_SPIKE = 0.008
# Characters of a line of a violin's name; more would leave a phone no room for the violin.
LINE = 18

# What a violin says when it is pointed at.
NUMBERS = ["median", "lower_quartile", "upper_quartile", "rows"]


def violins(
    frame: "pd.DataFrame",
    *,
    value: str,
    category: str,
    facet: str | None = None,
    level: float | str | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    columns: int = 2,
) -> "TopLevelMixin":
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

    rows = taken(frame, value=value, category=category, facet=facet).dropna(subset=["value"])
    _check_bounds(rows["value"], value, bounds)
    names = in_order(rows["category"])
    bodies = [
        _violin(of_one["value"].to_numpy(float), names.index(name), bounds).assign(
            part="body", category=name, facet=panel
        )
        for (panel, name), of_one in rows.groupby(["facet", "category"], sort=False, observed=True)
    ]
    drawn = pd.concat([*bodies, _levels(frame, rows, facet, level)], ignore_index=True)
    chosen = parts.highlight()
    tooltip = parts.tooltips(
        ("category:N", title_of(category)),
        ("median:Q", f"median {title_of(value)}", ".4g"),
        ("lower_quartile:Q", "a quarter is below", ".4g"),
        ("upper_quartile:Q", "a quarter is above", ".4g"),
        ("rows:Q", "values"),
    )
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
        x=alt.X("value:Q", title=title_of(value), scale=scale, axis=alt.Axis(tickCount=6))
    )
    whole = [alt.JoinAggregateFieldDef(op="max", field=name, **{"as": name}) for name in NUMBERS]
    body = base.transform_filter("datum.part == 'body'").transform_joinaggregate(
        whole, groupby=["facet", "category"]
    )
    body = body.mark_area(stroke=INK, strokeWidth=0.7, strokeOpacity=0.6).encode(
        y=alt.Y("low:Q", axis=position, scale=below),
        y2="high:Q",
        color=colours(alt, names, legend=None),
        opacity=parts.faded(chosen, 0.85, 0.2),
        tooltip=tooltip,
    )
    median = alt.Chart().encode(x="median:Q", y=alt.Y("centre:Q", scale=below), tooltip=tooltip)
    median = median.transform_filter("isValid(datum.centre)")
    median = median.mark_point(shape="circle", filled=True, size=55, color=INK, opacity=1)
    layers = [body.properties(name="violins").add_params(chosen), median]
    if level is not None:
        of_level = base.transform_filter("datum.part == 'level'")
        layers.append(
            parts.dashed(of_level, tooltip=parts.tooltips(("value:Q", "nominal level", ".4g")))
        )
    height = 60 + 38 * len(names)
    if facet is None:
        chart = alt.layer(*layers, data=_values(drawn))
        return chart.properties(width=WIDTH, height=height, autosize=fitted_width(alt))
    return _faceted(layers, drawn, rows["facet"], columns, height)


def histograms(
    frame: "pd.DataFrame",
    *,
    bin_start: str,
    bin_end: str,
    count: str,
    category: str,
    facet: str,
    columns: int = 4,
) -> "TopLevelMixin":
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

    rows = taken(
        frame, start=bin_start, end=bin_end, count=count, category=category, facet=facet
    ).sort_values("start", kind="stable")
    names = in_order(frame[category].astype(str))
    outlines = [
        _outline(of_one).assign(category=name, facet=panel)
        for (panel, name), of_one in rows.groupby(["facet", "category"], sort=False, observed=True)
    ]
    drawn = pd.concat([rows.assign(part="bin"), *outlines], ignore_index=True)
    chosen = parts.highlight(bind="legend")
    # One title for all panels leaves each of them more room.
    title = f"{title_of(count)} against {title_of(bin_start).removesuffix(' start')}"
    few_ticks = alt.Axis(title=None, tickCount=4)
    horizontal = alt.X("start:Q", axis=few_ticks, scale=tight(alt))
    vertical = alt.Y("count:Q", axis=few_ticks)
    base = alt.Chart().encode(x=horizontal, y=vertical, color=colours(alt, names))
    bins = base.transform_filter("datum.part == 'bin'").mark_bar(binSpacing=0)
    bins = bins.encode(
        x2="end:Q",
        y2=alt.datum(0),
        opacity=parts.faded(chosen, 0.35, 0.05),
        tooltip=parts.tooltips(
            ("category:N", title_of(category)),
            ("start:Q", "from", ".4g"),
            ("end:Q", "to", ".4g"),
            ("count:Q", title_of(count), ".4g"),
        ),
    )
    outline = base.transform_filter("datum.part == 'outline'")
    outline = outline.mark_line(interpolate="step-after", strokeWidth=1.5).encode(
        strokeDash=dashes(alt, names), opacity=parts.faded(chosen, 1, 0.1)
    )
    layers = [bins.properties(name="bins").add_params(chosen), outline]
    chart = _faceted(layers, drawn, frame[facet].astype(str), columns, 150, title)
    return chart.resolve_scale(x="independent", y="independent")


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
    from scipy.stats import gaussian_kde  # here, because importing it is slow

    lowest, highest = float(values.min()), float(values.max())
    length = bounds[1] - bounds[0] if bounds else max(1.0, abs(highest))
    if highest - lowest <= 1e-9 * length:
        grid = lowest + HALF_SPIKE * length * np.array([-1.0, 0.0, 1.0])
        return np.clip(grid, *(bounds or (None, None))), np.array([0.0, 1.0, 0.0])
    kernel = gaussian_kde(values)  # its bandwidth by Scott's rule
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
        levels = taken(frame, facet=facet, value=level).drop_duplicates()
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


def _faceted(
    layers: Sequence[Any],
    drawn: "pd.DataFrame",
    facets: "pd.Series[str]",
    columns: int,
    height: int,
    title: str | None = None,
) -> Any:
    """A panel for each facet, in the order in which they come."""
    panel = alt.layer(*layers).properties(width=WIDTH // columns, height=height)
    facet = alt.Facet("facet:N", title=title, sort=in_order(facets))
    return panel.facet(data=_values(drawn), facet=facet, columns=columns)


def _values(frame: "pd.DataFrame") -> Any:
    """Rows of several parts, each without the columns that it lacks."""
    import pandas as pd

    rows = frame.to_dict(orient="records")
    return alt.Data(values=[{k: v for k, v in row.items() if not pd.isna(v)} for row in rows])


def _check_bounds(
    values: "pd.Series[float]", column: str, bounds: tuple[float, float] | None
) -> None:
    outside = [] if bounds is None else [v for v in values if not bounds[0] <= v <= bounds[1]]
    if outside:
        raise ValueError(
            f"The column {column!r} must lie within {bounds}, got {outside[0]!r}. Pass other "
            "`bounds`, or None where there are none."
        )
