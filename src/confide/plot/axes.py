"""What the pictures of rows share: an axis, its ticks, sizes of marks, bars and the legend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.drawing import BY_PREDICTION, HEADROOM, Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of more bars than this, the gaps would be narrower than a pixel.
_MOST_WITH_GAPS = 200


def axis_or_new(ax: "Axes | None") -> "Axes":
    """The axis that was given, or one of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # here, because importing it is slow

    return plt.subplots(layout="constrained")[1]


def label_places(ax: "Axes", places: Places) -> None:
    """Ticks that suit what the positions are."""
    if places.by_prediction:
        ax.set_xlabel(BY_PREDICTION)
    elif places.categories:
        set_words(ax, np.arange(len(places.categories)), places.categories)
        ax.set_xlim(-0.6, len(places.categories) - 0.4)
    elif places.position.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def set_words(ax: "Axes", position: np.ndarray, words: Sequence[str]) -> None:
    """Ticks that are words."""
    turned = sum(map(len, words)) > 50  # more would run into each other
    style: dict[str, Any] = {"rotation": 30, "ha": "right"} if turned else {}
    ax.set_xticks(position, words, **style)


def mark_size(places: Places, few: float, many: float) -> float:
    """Marks of a few rows are large, and of many small: between 50 and 500 in proportion."""
    part = np.clip((len(places.rows) - 50) / 450, 0, 1)
    return float(few + part * (many - few))


def paint_bars(
    ax: "Axes",
    lower: Float64[np.ndarray, " place"],
    upper: Float64[np.ndarray, " place"],
    **style: Any,
) -> None:
    """A bar at 0, 1, ...; all as one artist, and many without gaps as one staircase."""
    from matplotlib.collections import PolyCollection

    place = np.arange(len(lower))
    if len(place) > _MOST_WITH_GAPS:
        ax.fill_between(place, lower, upper, step="mid", linewidth=0, **style)
        return
    left, right = place - 0.425, place + 0.425
    corners = [(left, lower), (left, upper), (right, upper), (right, lower)]
    bars = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    ax.add_collection(PolyCollection(list(bars), linewidth=0, **style))
    ax.autoscale_view()


def make_room(ax: "Axes") -> None:
    """Room for the legend, and later artists still find theirs."""
    if ax.get_autoscaley_on():
        box = ax.dataLim
        ax.update_datalim([(box.x0, box.y1 + HEADROOM * box.height)])
        ax.autoscale_view()


def make_log_room(ax: "Axes", part: float) -> None:
    """The same on a logarithmic axis."""
    lowest, highest = ax.get_ylim()
    ax.set_ylim(lowest, highest * (highest / lowest) ** part)


def legend(ax: "Axes", notes: Sequence[str]) -> None:
    """What is drawn, and what the reader must know about it."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"fontsize": "small", "title_fontsize": "small", "edgecolor": "none"}
    drawn = ax.legend(title="\n".join(notes), loc="upper left", ncols=2, **style)
    drawn.set_alignment("left")
    for line, text in zip(drawn.legend_handles, drawn.get_texts(), strict=True):
        if isinstance(line, Line2D) and "interval" in text.get_text():
            line.set_linewidth(4)  # as thin as those of many rows, it would have no colour
