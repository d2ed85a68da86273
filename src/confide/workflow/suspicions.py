"""What is suspicious about a table: a column gives the target away or only names things; a sign."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Float64, Int

from confide.document import for_people
from confide.encoding import Encoder, named_thing, sources
from confide.errors import listed

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
Matrix = Float[np.ndarray, "row feature"]

# A column that explains more of the target's variance by itself is likely made from the target.
TOO_GOOD = 0.999
# With fewer rows to judge, that may be chance; more than so many to learn from are not needed.
FEWEST_ROWS, MOST_ROWS = 20, 10_000
# So many times as far from the median as any other value, and at most so many of them.
FAR, MOST_WILD = 20, 3
# More prediction intervals than this share of them must reach below zero to matter.
MANY_BELOW = 0.05


def giveaways(encoder: Encoder, X: Matrix, y: Row, X_held: Matrix, y_held: Row) -> list[str]:
    """Warnings of columns of which a single one tells the target of held-out rows.

    Each is tried by itself: the target is read off a straight line, and off the neighbours among
    the training rows, so that any smooth function of a column is found, such as its exponential.

    Args:
        encoder: that made the numbers.
        X: the training rows as numbers.
        y: their targets.
        X_held: the held-out rows; with few of them, half of the training rows stand in.
        y_held: their targets.

    Returns:
        A sentence for each column.
    """
    if len(y_held) < FEWEST_ROWS:
        half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
        X, y, X_held, y_held = X[half], y[half], X[~half], y[~half]
    if min(len(y_held), len(y)) < FEWEST_ROWS:
        return []
    drawn = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y, sentences, start = X[drawn], y[drawn], [], 0
    for column in encoder.columns:
        stop = start + len(column.feature_names)
        known = (_explained(X[:, j], y, X_held[:, j], y_held) for j in range(start, stop))
        if max(known, default=0.0) > TOO_GOOD:
            sentences.append(
                f"The column {column.name!r} gives the target away: by itself it explains more "
                f"than {100 * TOO_GOOD:g} % of the target's variance. If it is not known before "
                f"the target, leave it out (--exclude {shlex.quote(column.name)})."
            )
        start = stop
    return sentences


def names_as_numbers(table: "pa.Table", *, may_group: bool) -> str:
    """A hint where numbers that are learnt from seem to be the names of things; else nothing.

    Args:
        table: what is learnt from.
        may_group: whether rows could also be held out by group.

    Returns:
        A sentence, or nothing.
    """
    things = {s.name: thing for s in sources(table) if (thing := named_thing(s)) is not None}
    if not things:
        return ""
    names, (thing, *others) = list(things), things.values()
    looks = f"looks like the name of {'an' if thing[0] in 'aeio' else 'a'} {thing}, not a quantity"
    if others:
        looks = "look like names, not quantities"
    options = f"--categorical {shlex.quote(','.join(names))}"
    if may_group:
        options += (
            f", or --group {shlex.quote(names[0])} if the model is to predict others than those in "
            "the table"
        )
    return f"{listed(names)} {looks}: if so, add {options}."


def below_zero(lower: Row, y: Row) -> list[str]:
    """A warning of prediction intervals that reach below zero where no target does.

    Args:
        lower: lower bounds of 90 % prediction intervals of some rows.
        y: all targets.

    Returns:
        A sentence, or none.
    """
    n = int(np.sum(lower < 0))
    if y.min() < 0 or n <= MANY_BELOW * len(lower):
        return []
    sentence = (
        f"{n:,} of {len(lower):,} 90 % prediction intervals of held-out rows reach below 0, but no "
        "target does. If the target cannot be negative, have them end there: fit again with "
        "`--bounds 0,`"
    )
    return [sentence]


def wild_targets(y: Row, rows: Sequence[int] | Int[np.ndarray, " row"]) -> list[str]:
    """A warning of targets that are far from all others, as a slip of the pen may be.

    Args:
        y: the targets.
        rows: the position of each in the file, from 0.

    Returns:
        A sentence, or none.
    """
    if len(y) < FEWEST_ROWS:
        return []
    far = np.abs(y - np.median(y))
    order = np.argsort(-far, kind="stable")
    for n in range(1, MOST_WILD + 1):
        nearest, next_one = far[order[n - 1]], far[order[n]]
        if 0 < FAR * next_one < nearest:
            where = " and ".join(f"{for_people(y[i])} in row {int(rows[i]) + 1}" for i in order[:n])
            sentence = (
                f"The target is {where}, at least {nearest / next_one:,.0f} times as far from "
                "the median as in any other row. One such value can spoil a model. If it is a "
                "mistake, correct it, or leave it empty."
            )
            return [sentence]
    return []


def _explained(x: Row, y: Row, x_held: Row, y_held: Row) -> float:
    """The share of the variance in held-out rows that one column explains."""
    # Between the training rows alone: beyond them there are no neighbours.
    inside = (x_held >= x.min()) & (x_held <= x.max())
    if np.ptp(x) == 0 or inside.sum() < FEWEST_ROWS:
        return 0.0
    scale = np.abs(x).max()  # floats do not hold the square of any column
    x, x_held, y_held = x / scale, x_held[inside] / scale, y_held[inside]
    values, place = np.unique(x, return_inverse=True)
    means = np.bincount(place, y) / np.bincount(place)
    line = np.polynomial.Polynomial.fit(x, y, 1)(x_held)
    spread = np.sum((y_held - y_held.mean()) ** 2)
    errors = [np.sum((y_held - read) ** 2) for read in (line, np.interp(x_held, values, means))]
    return float(1 - min(errors) / spread) if spread > 0 else 0.0
