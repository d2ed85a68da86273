"""Parts of Altair charts: layers as one chart, tooltips, lines, brushes, chosen categories."""

from collections.abc import Sequence
from typing import Any

from confide.document.document import BRUSH
from confide.document.look import HEIGHT, INK, WIDTH, fitted_width
from confide.extras import require


class _Altair:
    """Altair, imported when it is first used: it comes with an extra, and takes a while."""

    def __getattr__(self, name: str) -> Any:
        return getattr(require("altair", "report"), name)


alt: Any = _Altair()


def whole(*layers: Any, width: int = WIDTH, height: int = HEIGHT, **options: Any) -> Any:
    """Layers as one chart, as wide as the page has room for."""
    size = {"width": width, "height": height, "autosize": fitted_width(alt)}
    chart = layers[0] if len(layers) == 1 else alt.layer(*layers)
    return chart.properties(**size, **options)


def tooltips(*fields: tuple[str, ...]) -> list[Any]:
    """What a mark says when it is pointed at: fields, their titles and the format of numbers."""
    return [
        alt.Tooltip(field, title=title, **({"format": shape[0]} if shape else {}))
        for field, title, *shape in fields
    ]


def diagonal(domain: Sequence[float], x: Any, y: Any) -> Any:
    """The dotted line where both axes agree."""
    import pandas as pd

    line = alt.Chart(pd.DataFrame({"x": domain, "y": domain})).encode(x=x, y=y)
    return line.mark_line(strokeDash=[1, 4], strokeCap="round", strokeWidth=2, color=INK, clip=True)


def dashed(chart: Any, **encodings: Any) -> Any:
    """A dashed rule: where something should be."""
    return chart.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=INK).encode(**encodings)


def highlight(**options: Any) -> Any:
    """A choice of one category, which fades the others."""
    return alt.selection_point(name="highlight", fields=["category"], **options)


def faded(chosen: Any, on: float, off: float) -> Any:
    """Opacity of the category that is chosen, and of the others."""
    return alt.condition(chosen, alt.value(on), alt.value(off))


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
            fill=INK, fillOpacity=0.1, stroke=INK, strokeOpacity=0.6, cursor="move"
        ),
    )
