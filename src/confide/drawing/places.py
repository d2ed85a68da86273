"""Which rows are drawn, and where each of them stands on the horizontal axis."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int
from numpy.typing import ArrayLike

from confide.drawing.feature import as_values, few_values_as_categories

# More than this are neither told apart on a page nor drawn quickly; of more, a sample is shown.
MOST_ROWS = 3000
# The same for rows that are not joined, and lie on top of each other where their values are near.
MOST_ROWS_APART = 500
_SEED = 0
# The part of a category's slot that its rows fill.
_SLOT = 0.8
Ticks = tuple[np.ndarray, list[str]]


@dataclass(frozen=True, eq=False)
class Places:
    """The rows that are drawn, from left to right.

    Attributes:
        rows: their numbers.
        position: where they stand: numbers or dates.
        joined: whether neighbours belong together, as along a curve.
        categories: names of the positions 0, 1, ...; none for numbers and dates.
        notes: what the reader must know about rows that are not there.
        by_prediction: whether they stand side by side, sorted by their prediction.
    """

    rows: Int[np.ndarray, " place"]
    position: np.ndarray
    joined: bool = False
    categories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    by_prediction: bool = False

    def ticks_side_by_side(self) -> Ticks:
        """Ticks and their names for rows that stand at 0, 1, ... instead, in the same order."""
        if self.categories:
            slots = np.round(self.position).astype(int)
            middles = [np.flatnonzero(slots == slot).mean() for slot in np.unique(slots)]
            return np.array(middles), [self.categories[slot] for slot in np.unique(slots)]
        ranks = np.unique(np.linspace(0, len(self.rows) - 1, 6).astype(int))
        values = self.position[ranks]
        if values.dtype.kind == "M":
            return ranks, values.astype("M8[D]").astype(str).tolist()
        return ranks, [f"{value:.3g}" for value in values]


def places_of(
    mean: Float64[np.ndarray, " row"], x: ArrayLike | None = None, *, joined: bool = False
) -> Places:
    """Rows at their value of `x`, a number, a date or a category's slot; or sorted without one.

    In a slot, rows are spread in the order of their prediction. Rows without a number or date have
    no place.
    """
    if x is None:
        rows, notes = _thinned(np.arange(len(mean)), MOST_ROWS)
        rows = rows[np.argsort(mean[rows])]
        return Places(rows, np.arange(len(rows)), notes=notes, by_prediction=True)
    values = as_values(x)
    joined = joined and not values.categories
    if not joined:
        values = few_values_as_categories(values)
    if len(values.entries) != len(mean):
        raise ValueError(
            f"x must have one entry for each of the {len(mean)} predicted rows, got "
            f"{len(values.entries)}. Pass the column of the rows that were predicted."
        )
    known = values.known
    if not known.any():
        raise ValueError(
            "x must have a number or a date for at least one row, got none. Pick another feature."
        )
    rows, notes = _thinned(np.flatnonzero(known), MOST_ROWS if joined else MOST_ROWS_APART)
    rows = rows[np.lexsort((mean[rows], values.entries[rows]))]
    if not known.all():
        notes = (f"not drawn: {np.sum(~known)} rows without a value", *notes)
    position = values.entries[rows]
    if values.categories:
        position = _spread_in_slots(position)
    return Places(rows, position, joined, values.categories, notes)


def _spread_in_slots(codes: Int[np.ndarray, " place"]) -> Float64[np.ndarray, " place"]:
    """Sorted codes, the rows of each spread evenly about it; a lonely row stands in the middle."""
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    rank = np.arange(len(codes)) - np.repeat(first, sizes)
    return codes + _SLOT * ((rank + 0.5) / np.repeat(sizes, sizes) - 0.5)


def _thinned(
    rows: Int[np.ndarray, " row"], most: int
) -> tuple[Int[np.ndarray, " place"], tuple[str, ...]]:
    """Some rows, and what to say of the others."""
    notes = (f"a random {most} of {len(rows)} rows",) if len(rows) > most else ()
    return some(rows, most), notes


def some(rows: Int[np.ndarray, " row"], most: int) -> Int[np.ndarray, " some"]:
    """All rows, or a random sample of too many: the same one for every picture, in order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(_SEED).choice(rows, most, replace=False))
