"""Brushes: dragging across a chart picks out rows of a table."""

from typing import Any

from confide.document.document import BRUSH
from confide.document.look import COLOURS, INK
from confide.document.parts import alt


def brush(number: int | None = None) -> Any:
    """A brush over the horizontal axis, for a chart that a `Figure` filters a table by.

    It is horizontal alone so that a finger that moves up and down still scrolls the page. The axis
    must be one of numbers or moments in time.

    Args:
        number: which of several brushes of one figure, or None where there is one.
    """
    return alt.selection_interval(
        name=BRUSH if number is None else f"{BRUSH}_{number}",
        encodings=["x"],
        zoom=False,
        mark=alt.BrushConfig(
            fill=COLOURS[0], fillOpacity=0.18, stroke=INK, strokeOpacity=0.6, cursor="move"
        ),
    )
