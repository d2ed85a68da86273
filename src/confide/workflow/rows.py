"""Knowing rows again: which a model was trained on, which were set aside, which are new."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, UInt64

from confide.estimators import EnsembleRegressor

if TYPE_CHECKING:
    import pyarrow as pa


def known_again(
    model: EnsembleRegressor, features: "pa.Table", y: Float64[np.ndarray, " row"]
) -> UInt64[np.ndarray, " row"]:
    """The fingerprints of a table's rows as the model sees them."""
    encoder = model.encoder_
    if encoder is None:
        raise TypeError("A model that was fitted to an array has no table to know rows again by.")
    return fingerprints(encoder.encode(features), y)


def fingerprints(
    X: Float64[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
) -> UInt64[np.ndarray, " row"]:
    """A number for each row that equal rows share, whatever file they are read from."""
    import pandas as pd

    numbers = np.column_stack([X, y]) + 0.0  # minus zero is zero
    return pd.util.hash_pandas_object(pd.DataFrame(numbers), index=False).to_numpy()


def set_aside(
    rows: UInt64[np.ndarray, " row"], share: float, seed: int
) -> Bool[np.ndarray, " row"]:
    """A random share of the rows; equal rows stay together, so that none tests itself.

    It depends on the rows and the seed alone, not on the rows' order.
    """
    different = np.unique(rows)
    n_aside = round(share * len(different))
    chosen = np.random.default_rng(seed).choice(different, n_aside, replace=False)
    return np.isin(rows, chosen)


def status(
    rows: UInt64[np.ndarray, " row"], model: EnsembleRegressor
) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """What the model has to do with each row: "trained on", "calibrated on" or "new".

    Rows that were set aside and not calibrated on are as good as new.
    """
    table = getattr(model, "training_table_", None)
    if table is None:
        return np.full(len(rows), "new", dtype="<U13")
    calibrated = np.isin(rows, table.set_aside) & (model.calibration_ is not None)
    return np.select(
        [np.isin(rows, table.trained_on), calibrated], ["trained on", "calibrated on"], "new"
    )
