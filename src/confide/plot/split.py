"""Where the uncertainty of each row comes from."""

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from confide.drawing import COLOURS, HEADROOM, SOURCES, places_of, stacked
from confide.plot.axes import axis_or_new, label_places, legend, paint_bars, set_words
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_split(
    prediction: Prediction,
    x: ArrayLike | None = None,
    *,
    joined: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """The share of noise, finite data and random training in each row's total variance.

    Args:
        prediction: what to show.
        x: a position for each row (numbers, dates, or text as categories), or None for rows sorted
            by their prediction.
        joined: whether neighbours along `x` belong together, as along a curve. Otherwise rows
            stand side by side, sorted by `x`.
        ax: where to draw, or None for a new figure.

    Returns:
        The axis with the picture.

    Example:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> noise, shift = np.array([1.0, 3.0]), np.array([1.0, 1.0])
        >>> law = TPlusNormalLaw.normal(np.zeros(2), np.sqrt(noise + shift))
        >>> prediction = Prediction(law.location, noise, shift, law, law, shift, 0 * shift, 5)
        >>> ax = plot_split(prediction, ax=Figure().subplots())
        >>> ax.get_ylabel()
        'share of variance, %'
    """
    shares = prediction.shares
    places = places_of(prediction.mean, x, joined=joined)
    ax = axis_or_new(ax)
    for part in stacked({source: 100 * share[places.rows] for source, share in shares.items()}):
        colour, name = COLOURS[part.source], SOURCES[part.source]
        if places.joined:
            ax.fill_between(places.position, part.start, part.end, facecolor=colour, label=name)
        else:
            paint_bars(ax, part.start, part.end, color=colour, label=name)
    if places.joined or places.by_prediction:
        label_places(ax, places)
    else:
        ax.set_xlabel("rows, sorted by x")
        set_words(ax, *places.ticks_side_by_side())
    ax.set_ylim(0, 100 * (1 + HEADROOM))
    ax.set_yticks(range(0, 101, 20))
    ax.set_ylabel("share of variance, %")
    ax.margins(x=0)
    legend(ax, places.notes)
    return ax
