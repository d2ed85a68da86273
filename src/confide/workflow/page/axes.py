"""Horizontal axes of the page's figures: rows side by side, categories, dates and numbers."""

import json
from collections.abc import Sequence
from typing import Any

from confide.document import parts, unread

alt = parts.alt
# Pixels that a strip's name has for certain: panels of the page are no narrower than this.
NARROWEST_PANEL, CHARACTER = 120, 8


def sorted_axis(n_rows: int, title: str) -> Any:
    """The horizontal axis of rows side by side; without numbers, which would look like rows'."""
    scale = alt.Scale(domain=[0.5, n_rows + 0.5], nice=False)
    style = alt.Axis(grid=False, labels=False, ticks=False)
    return alt.X("x:Q", title=title, scale=scale, axis=style)


def category_axis(field: str, title: str, names: Sequence[str]) -> Any:
    """The axis of categories, which stand at 0, 1, ..."""
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


def date_axis(field: str, title: str) -> Any:
    """The axis of moments in UTC."""
    scale = alt.Scale(type="utc", nice=False, padding=8)
    return alt.X(f"{field}:T", title=title, scale=scale, axis=alt.Axis(tickCount=4))


def number_axis(field: str, title: str, ends: Sequence[float]) -> Any:
    """The axis of numbers between two ends."""
    scale = alt.Scale(zero=False, nice=False, padding=8, domain=list(ends))
    axis = alt.Axis(tickCount=5, **axis_format(*ends))
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)


def axis_format(*ends: float) -> dict[str, str]:
    """How an axis writes numbers: those of years without a separator."""
    small = max(map(abs, ends)) < 10_000 and max(map(abs, ends)) >= 1000
    return {"format": "~f"} if small else {}


def _label_angle(names: Sequence[str]) -> dict[str, Any]:
    """Names of strips are turned only where they might run into each other."""
    if CHARACTER * max(map(len, names), default=0) * len(names) <= NARROWEST_PANEL:
        return {"labelAngle": 0, "labelAlign": "center"}
    return {"labelAngle": -35, "labelAlign": "right"}
