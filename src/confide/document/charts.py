"""Charts of numbers against numbers: scatters, lines with errors, curves within bands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.document import parts
from confide.document.look import INK, colours, dashes, in_order, shapes, taken, tight, title_of
from confide.document.parts import alt

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin

WIDEST_SCATTER = 560
# A hint to the page: a wider scatter would lay its diagonal flat.
WIDEST = {"widest": WIDEST_SCATTER}


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
) -> "TopLevelMixin":
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
    named = {"category": category, "label": label, "x_error": x_error, "y_error": y_error}
    rows = taken(frame, x=x, y=y, **named).dropna(subset=["x", "y"])
    for column, of_frame in (("x", x), ("y", y)):
        _check_positive(rows[column], of_frame)
    names = in_order(rows["category"])
    floor = 0.7 * float(rows[["x", "y"]].min().min())
    for axis in ("x", "y"):
        _add_ends(rows, axis, floor)
    ends = rows[["x_low", "x_high", "y_low", "y_high"]].to_numpy(float)
    domain = [float(ends.min()) / 1.15, float(ends.max()) * 1.15]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis_style = alt.Axis(format="~g", tickCount=6)
    # With Alt held only: a page must scroll under a finger and a wheel.
    zoom = alt.selection_interval(
        name="zoom",
        bind="scales",
        zoom="wheel![event.altKey]",
        translate="[pointerdown[event.altKey], window:pointerup] > window:pointermove!",
    )
    horizontal = alt.X("x:Q", title=title_of(x), scale=scale, axis=axis_style)
    vertical = alt.Y("y:Q", title=title_of(y), scale=scale, axis=axis_style)
    chosen = parts.highlight(bind="legend")
    base = alt.Chart(rows).encode(color=colours(alt, names), opacity=parts.faded(chosen, 0.9, 0.12))
    points = base.mark_point(filled=True, size=90, clip=True).encode(
        x=horizontal,
        y=vertical,
        shape=shapes(alt, names),
        tooltip=parts.tooltips(
            ("label:N", title_of(label)),
            ("category:N", title_of(category)),
            *_with_error(x, "x", x_error),
            *_with_error(y, "y", y_error),
        ),
    )
    layers = [parts.diagonal(domain, horizontal, vertical)]
    if x_error is not None:
        layers.append(_bars(base, x=alt.X("x_low:Q", scale=scale), x2="x_high:Q", y=vertical))
    if y_error is not None:
        layers.append(_bars(base, x=horizontal, y=alt.Y("y_low:Q", scale=scale), y2="y_high:Q"))
    layers.append(points.properties(name="points").add_params(chosen, zoom))
    title = alt.TitleParams(list(note), anchor="start", fontSize=13, fontWeight="normal")
    return parts.whole(*layers, title=title, width=WIDEST_SCATTER, height=480, usermeta=WIDEST)


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
) -> "TopLevelMixin":
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
    rows = taken(frame, x=x, y=y, category=category, y_error=error, fitted=fitted)
    rows = rows.dropna(subset=["x", "y"])
    for logarithmic, column, of_frame in ((log_x, "x", x), (log_y, "y", y)):
        if logarithmic:
            _check_positive(rows[column], of_frame)
    _add_ends(rows, "y", 0.5 * float(rows["y"].min()) if log_y else -np.inf)
    names = in_order(rows["category"])
    chosen = parts.highlight(bind="legend")
    base = alt.Chart(rows).encode(
        x=_axis(alt.X, "x", x, logarithmic=log_x),
        color=colours(alt, names),
        opacity=parts.faded(chosen, 0.95, 0.12),
    )

    def vertical(field: str) -> Any:
        return _axis(alt.Y, field, y, logarithmic=log_y)

    lines = [
        ("category:N", title_of(category)),
        ("x:Q", title_of(x), ".4g"),
        *_with_error(y, "y", error),
    ]
    layers = [base.mark_line(strokeWidth=1.5).encode(y=vertical("y"))]
    if fitted is not None:
        lines.append(("fitted:Q", title_of(fitted), ".4g"))
        dashed = base.mark_line(strokeWidth=1.5, strokeDash=[6, 4])
        layers.append(dashed.encode(y=vertical("fitted")))
    if error is not None:
        layers.append(_bars(base, y=vertical("y_low"), y2="y_high:Q"))
    points = base.mark_point(filled=True, size=90).encode(
        y=vertical("y"), shape=shapes(alt, names), tooltip=parts.tooltips(*lines)
    )
    return parts.whole(*layers, points.properties(name="points").add_params(chosen))


def bands(
    frame: "pd.DataFrame",
    *,
    x: str,
    y: str,
    lower: str,
    upper: str,
    category: str,
    points: "pd.DataFrame | None" = None,
) -> "TopLevelMixin":
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
    rows = taken(frame, x=x, y=y, lower=lower, upper=upper, category=category)
    names = in_order(rows["category"])
    chosen = parts.highlight(bind="legend")
    horizontal = alt.X("x:Q", title=title_of(x), scale=tight(alt), axis=alt.Axis(tickCount=6))
    vertical, edge = (
        alt.Y(f"{field}:Q", title=title_of(y), scale=alt.Scale(zero=False))
        for field in ("y", "lower")
    )
    base = alt.Chart(rows).encode(x=horizontal, color=colours(alt, names))
    edges = base.mark_area().encode(y=edge, y2="upper:Q", opacity=parts.faded(chosen, 0.28, 0.04))
    curves = base.mark_line(strokeWidth=2).encode(
        y=vertical, strokeDash=dashes(alt, names), opacity=parts.faded(chosen, 1, 0.1)
    )
    # A band and a curve are each one mark; unseen points on the curve carry the numbers of each x.
    columns = {"x": x, "y": y, "lower": lower, "upper": upper}
    lines = [(f"{channel}:Q", title_of(name), ".4g") for channel, name in columns.items()]
    numbers = base.mark_point(size=120, opacity=0, filled=True).encode(
        y=vertical, tooltip=parts.tooltips(("category:N", title_of(category)), *lines)
    )
    layers = [edges, curves]
    if points is not None:
        observed = alt.Chart(taken(points, x=x, y=y)).mark_point(
            shape="circle", filled=True, size=28, color=INK, opacity=0.55
        )
        lines = [(field, f"observed {title}", shape) for field, title, shape in lines[:2]]
        layers.append(observed.encode(x=horizontal, y=vertical, tooltip=parts.tooltips(*lines)))
    return parts.whole(*layers, numbers.properties(name="numbers").add_params(chosen))


def _add_ends(rows: "pd.DataFrame", axis: str, floor: float) -> None:
    """Ends of the error bars; on a logarithmic axis a bar that would reach zero ends at a floor."""
    error = rows[f"{axis}_error"].fillna(0.0) if f"{axis}_error" in rows else 0.0
    low = rows[axis] - error
    rows[f"{axis}_low"] = low.where(low > floor, np.minimum(floor, rows[axis]))
    rows[f"{axis}_high"] = rows[axis] + error


def _bars(base: Any, **ends: Any) -> Any:
    return base.mark_rule(strokeWidth=1.2, clip=True).encode(**ends)


def _axis(channel: Any, field: str, column: str, *, logarithmic: bool) -> Any:
    # The padding, in pixels, keeps marks off the frame.
    log = alt.Scale(type="log", nice=False, padding=14)
    scale = log if logarithmic else alt.Scale(zero=False)
    axis = alt.Axis(format="~g", tickCount=6) if logarithmic else alt.Axis()
    return channel(f"{field}:Q", title=title_of(column), scale=scale, axis=axis)


def _with_error(column: str, field: str, error: str | None) -> list[tuple[str, ...]]:
    """Lines of a tooltip: a number and its standard error."""
    lines: list[tuple[str, ...]] = [(f"{field}:Q", title_of(column), ".4g")]
    if error is not None:
        title = f"its standard error ({field})" if field == "x" else "its standard error"
        lines.append((f"{field}_error:Q", title, ".2g"))
    return lines


def _check_positive(values: "pd.Series[float]", column: str) -> None:
    if (values <= 0).any():
        raise ValueError(
            f"A logarithmic axis needs positive values, got {float(values.min())!r} in the column "
            f"{column!r}: leave those rows out, or use a linear axis."
        )
