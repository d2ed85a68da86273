"""Knowing rows again: which a model was trained on, which were set aside, which are new."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, UInt64

from confide.estimators import EnsembleRegressor
from confide.fingerprints import fingerprints, identities
from confide.workflow.page_inputs import CALIBRATED, NEW, TRAINED

if TYPE_CHECKING:
    import pyarrow as pa


def known_again(
    model: EnsembleRegressor,
    features: "pa.Table",
    y: Float64[np.ndarray, " row"],
    *,
    copies: bool,
) -> UInt64[np.ndarray, " row"]:
    """Numbers to know a table's rows again by, as the model sees them."""
    encoder = model.encoder_
    if encoder is None:
        raise TypeError("A model that was fitted to an array has no table to know rows again by.")
    return identities(fingerprints(encoder.encode(features), y), copies=copies)


def set_aside(
    rows: UInt64[np.ndarray, " row"], share: float, seed: int
) -> Bool[np.ndarray, " row"]:
    """A random share of the rows; those of one number stay together, so that none tests itself.

    It depends on the rows and the seed alone, not on the rows' order.
    """
    different = np.unique(rows)
    n_aside = round(share * len(different))
    chosen = np.random.default_rng(seed).choice(different, n_aside, replace=False)
    return np.isin(rows, chosen)


def status(
    model: EnsembleRegressor, features: "pa.Table", y: Float64[np.ndarray, " row"]
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
