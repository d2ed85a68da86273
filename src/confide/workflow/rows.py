"""Knowing rows again: which a model was trained on, which were set aside, which are new."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, UInt64

from confide.estimators import IntervalRegressor
from confide.fingerprints import fingerprints, groups, identities
from confide.workflow.page.inputs import CALIBRATED, NEW, TRAINED

if TYPE_CHECKING:
    import pyarrow as pa


def known_again(
    model: IntervalRegressor,
    features: "pa.Table",
    y: Float64[np.ndarray, " row"],
    *,
    copies: bool,
) -> UInt64[np.ndarray, " row"]:
    """Numbers to know a table's rows again by, as the model sees them."""
    return identities(fingerprints(encoded(model, features), y), copies=copies)


def encoded(model: IntervalRegressor, features: "pa.Table") -> Float64[np.ndarray, "row feature"]:
    """A table's rows as the model sees them."""
    if model.encoder_ is None:
        raise TypeError("A model that was fitted to an array has no table to know rows again by.")
    return model.encoder_.encode(features)


def set_aside(
    X: Float64[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"], share: float, seed: int
) -> Bool[np.ndarray, " row"]:
    """A random share of the rows; those that belong together stay so, and none tests itself."""
    of_rows = groups(X, y)
    # Groups in an order of their own: the choice does not depend on the order of the file.
    names = np.zeros(of_rows.max() + 1, np.uint64)
    np.maximum.at(names, of_rows, identities(fingerprints(X, y), copies=False))
    order = np.random.default_rng(seed).permutation(np.argsort(names))
    n_rows = np.cumsum(np.bincount(of_rows)[order])
    return np.isin(of_rows, order[n_rows <= round(share * len(y))])


def status(
    model: IntervalRegressor, features: "pa.Table", y: Float64[np.ndarray, " row"]
) -> list[str]:
    """What the model has to do with each row: "trained on", "calibrated on" or "new".

    Rows that were set aside and not calibrated on are as good as new. A row without a target
    cannot be known again.
    """
    found = np.full(len(y), NEW, dtype="<U13")
    table, known = model.training_table_, np.isfinite(y)
    if table is not None and known.any():
        rows = known_again(model, features.filter(known), y[known], copies=table.copies)
        calibrated = np.isin(rows, table.set_aside) & (model.calibration_ is not None)
        found[known] = np.select(
            [np.isin(rows, table.trained_on), calibrated], [TRAINED, CALIBRATED], NEW
        )
    return found.tolist()
