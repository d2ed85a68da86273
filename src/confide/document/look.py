"""The house look: colours, shapes and sizes that all charts share.

Colours are Okabe and Ito's, which colour-blind readers tell apart; shapes or dashes repeat what
the colour says, for grey print. Text and axes take the colour of the page around them, so that one
chart reads on light and on dark. A chart holds what it draws and no other column of the frame.
Columns give axes their titles, with spaces for underscores.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
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


def taken(frame: "pd.DataFrame", **columns: str | None) -> "pd.DataFrame":
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


def in_order(values: "pd.Series[str]") -> list[str]:
    """The different names, in the order in which they come."""
    return list(dict.fromkeys(values))


def title_of(column: str) -> str:
    """A column's name in words."""
    return column.replace("_", " ")


def unread(text: str) -> str:
    """A text that Vega shows and does not read: one with a zero-width space at its end.

    In expressions, and titles are such, Vega takes the text "constructor" for what JavaScript's
    objects have under that name; likewise "toString" and others.
    """
    return f"{text}\u200b"


def colours(alt: Any, names: Sequence[str], **options: Any) -> Any:
    """A colour for each category, and its legend."""
    scale = alt.Scale(domain=list(names), range=_cycled(COLOURS, names))
    return alt.Color("category:N", title=None, scale=scale, **options)


def shapes(alt: Any, names: Sequence[str]) -> Any:
    """A shape for each category, in the same legend."""
    scale = alt.Scale(domain=list(names), range=_cycled(SHAPES, names))
    return alt.Shape("category:N", title=None, scale=scale)


def dashes(alt: Any, names: Sequence[str]) -> Any:
    """A dash for each category, in the same legend."""
    dashes = [list(dash) for dash in _cycled(DASHES, names)]
    scale = alt.Scale(domain=list(names), range=dashes)
    return alt.StrokeDash("category:N", title=None, scale=scale)


def tight(alt: Any) -> Any:
    """A scale that ends where the numbers end."""
    return alt.Scale(zero=False, nice=False)


def fitted_width(alt: Any) -> Any:
    """The width is that of the whole figure, so that a page can set it."""
    return alt.AutoSizeParams(type="fit-x", contains="padding")


def _cycled(items: Sequence[Item], names: Sequence[str]) -> list[Item]:
    return [items[i % len(items)] for i in range(len(names))]
