"""Which rows are drawn, and where each of them stands on the horizontal axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Int
from numpy.typing import ArrayLike

from confide.plot.feature import Categories, Values, as_values, few_values_as_categories

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More than this are neither told apart on a page nor drawn quickly; of more, a sample is shown.
MOST_ROWS = 3000
# The same for rows that are not joined, and lie on top of each other where their values are near.
MOST_ROWS_APART = 500
_SEED = 0
# The part of a category's slot that its rows fill.
_SLOT = 0.8


@dataclass(frozen=True)
class Places:
    """The rows that are drawn, from left to right.

    Attributes:
        rows: their numbers.
        position: where they stand: numbers or dates.
        joined: whether neighbours belong together, as along a curve.
        categories: names of the positions 0, 1, ...; none for numbers and dates.
        notes: what the reader must know about rows that are not there.
    """

    rows: Int[np.ndarray, " place"]
    position: np.ndarray
    joined: bool = False
    categories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def label(self, ax: "Axes") -> None:
        """Ticks that suit what the positions are."""
        if self.categories:
            _set_words(ax, np.arange(len(self.categories)), self.categories)
            ax.set_xlim(-0.6, len(self.categories) - 0.4)
        elif self.position.dtype.kind == "M":
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator()
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))

    def label_side_by_side(self, ax: "Axes") -> None:
        """Ticks for rows that stand at 0, 1, ... instead, in the same order."""
        if self.categories:
            slots = np.round(self.position).astype(int)
            middles = [np.flatnonzero(slots == slot).mean() for slot in np.unique(slots)]
            _set_words(ax, np.array(middles), [self.categories[slot] for slot in np.unique(slots)])
            return
        ranks = np.unique(np.linspace(0, len(self.rows) - 1, 6).astype(int))
        of_ranks = self.position[ranks]
        dates = of_ranks.dtype.kind == "M"
        words = of_ranks.astype("M8[D]").astype(str) if dates else [f"{v:.3g}" for v in of_ranks]
        _set_words(ax, ranks, words)


def places_by_prediction(mean: Float64[np.ndarray, " row"]) -> Places:
    """Rows side by side, sorted by their prediction."""
    rows, notes = _thinned(np.arange(len(mean)), MOST_ROWS)
    rows = rows[np.argsort(mean[rows])]
    return Places(rows, np.arange(len(rows)), notes=notes)


def places_along(x: ArrayLike, mean: Float64[np.ndarray, " row"], *, joined: bool) -> Places:
    """Rows at their value of `x`: a number, a date, or a category's slot.

    In a slot, rows are spread in the order of their prediction. Rows without a number or date have
    no place.
    """
    values = as_values(x)
    if isinstance(values, Values) and not joined:
        values = few_values_as_categories(values)
    of_x = values.entries if isinstance(values, Values) else values.codes
    if len(of_x) != len(mean):
        raise ValueError(
            f"x must have one entry for each of the {len(mean)} predicted rows, got {len(of_x)}. "
            "Pass the column of the rows that were predicted."
        )
    known = values.known if isinstance(values, Values) else np.ones(len(mean), bool)
    if not known.any():
        raise ValueError(
            "x must have a number or a date for at least one row, got none. Pick another feature."
        )
    together = joined and isinstance(values, Values)
    rows, notes = _thinned(np.flatnonzero(known), MOST_ROWS if together else MOST_ROWS_APART)
    rows = rows[np.lexsort((mean[rows], of_x[rows]))]
    if not known.all():
        notes = (f"not drawn: {np.sum(~known)} rows without a value", *notes)
    if isinstance(values, Categories):
        position = _spread_in_slots(values.codes[rows])
        return Places(rows, position, categories=values.names, notes=notes)
    return Places(rows, values.entries[rows], joined, notes=notes)


def _set_words(ax: "Axes", position: np.ndarray, words: Sequence[str]) -> None:
    turned = sum(map(len, words)) > 50  # more would run into each other
    style: dict[str, Any] = {"rotation": 30, "ha": "right"} if turned else {}
    ax.set_xticks(position, words, **style)


def _spread_in_slots(codes: Int[np.ndarray, " place"]) -> Float64[np.ndarray, " place"]:
    """Sorted codes, the rows of each spread evenly about it; a lonely row stands in the middle."""
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    rank = np.arange(len(codes)) - np.repeat(first, sizes)
    return codes + _SLOT * ((rank + 0.5) / np.repeat(sizes, sizes) - 0.5)


def _thinned(
    rows: Int[np.ndarray, " row"], most: int
) -> tuple[Int[np.ndarray, " place"], tuple[str, ...]]:
    """All rows, or a random sample of too many: the same one for every picture."""
    if len(rows) <= most:
        return rows, ()
    sample = np.random.default_rng(_SEED).choice(rows, most, replace=False)
    return np.sort(sample), (f"a random {most} of {len(rows)} rows",)
