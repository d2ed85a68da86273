"""Why predictions are what they are: effects of features, and columns behind wide intervals."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int

from confide.drawing import as_values, some
from confide.encoding import EncodedTable
from confide.estimators import IntervalRegressor
from confide.inspection import Effects, effects

Some = Int[np.ndarray, " some"]

# Rows that effects are averaged over: a page should not take much longer for them.
MOST_ROWS, FEWEST_ROWS = 100, 20
# Features with a curve, values of each, and exchanges for the importance.
N_CURVES, N_POINTS, N_REPEATS = 6, 10, 3
# A column is behind a wide interval if its typical value would make it this much narrower.
LEAST_SHRINK = 0.05
MOST_COLUMNS = 2


def effects_of(
    model: IntervalRegressor,
    features: EncodedTable,
    y: Float64[np.ndarray, " row"] | None,
    usual: Some,
    unseen: Some,
    confidence_level: float,
) -> Effects | str:
    """Effects of the features, or why there are none.

    Args:
        model: fitted.
        features: of all rows.
        y: their targets, if these are known.
        usual: the rows that may be averaged over.
        unseen: those that can judge the model; importance is that of these, if they are enough.
        confidence_level: of the bands.
    """
    judges = y is not None and len(unseen) >= FEWEST_ROWS
    rows = some(unseen if judges else usual, MOST_ROWS)
    if len(rows) < FEWEST_ROWS:
        return f"Effects are averages over rows, and fewer than {FEWEST_ROWS} are too few."
    try:
        return effects(
            model,
            features.table.take(rows),
            y[rows] if y is not None and judges else None,
            confidence_level=confidence_level,
            n_repeats=N_REPEATS,
            n_curves=N_CURVES,
            n_points=N_POINTS,
        )
    except ValueError as reason:
        return str(reason)


def wide_because(
    model: IntervalRegressor, features: EncodedTable, rows: Some, confidence_level: float
) -> Mapping[int, tuple[str, ...]]:
    """For each of some rows the columns whose values make its prediction interval wide.

    Each column in turn gets a typical value, the median or the most common category. Those that
    make the interval narrowest come first; none where no column alone matters much.

    Args:
        model: fitted.
        features: of all rows.
        rows: those that are asked about.
        confidence_level: of the prediction intervals.

    Returns:
        Names of columns for each of these rows.
    """
    of_number = features.encoder.feature_columns
    names = list(dict.fromkeys(of_number))
    asked = features.matrix[rows][:, None].repeat(len(names) + 1, axis=1)  # the last as it is
    for i, name in enumerate(names):
        group = [k for k, of in enumerate(of_number) if of == name]
        asked[:, i, group] = features.matrix[_typical_row(features, name, group), group]
    again = np.repeat(rows, len(names) + 1)
    flat = replace(
        features, table=features.table.take(again), matrix=asked.reshape(len(again), -1), unseen={}
    )
    with warnings.catch_warnings():  # the page itself says what there is to say
        warnings.simplefilter("ignore", UserWarning)
        bounds = model.predict_interval(flat, confidence_level)[1]
    *widths, today = np.ptp(bounds, axis=1).reshape(len(rows), -1).T
    with np.errstate(invalid="ignore"):  # infinite widths have no reason
        shrink = 1 - np.array(widths) / today
    order = np.argsort(-shrink, axis=0, kind="stable")[:MOST_COLUMNS].T
    return {
        int(row): tuple(names[k] for k in best if shrink[k, j] >= LEAST_SHRINK)
        for j, (row, best) in enumerate(zip(rows, order, strict=True))
    }


def _typical_row(features: EncodedTable, name: str, group: list[int]) -> int:
    """A row that has the median or the most common category of a column, as the model sees it."""
    values = as_values(features.table.column(name))
    known = np.flatnonzero(values.known)
    if not len(known):
        return 0
    entries = values.entries[known]
    if values.categories:
        own = features.matrix[known][:, group]
        _, first, counts = np.unique(own, axis=0, return_index=True, return_counts=True)
        return int(known[first[counts.argmax()]])
    return int(known[np.argsort(entries, kind="stable")[len(known) // 2]])
