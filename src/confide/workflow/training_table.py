"""The table that a model is made from: its rows, held out and recognised, and its origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from jaxtyping import Bool, Float64

from confide.encoding import EncodedTable
from confide.errors import ModelFileError
from confide.estimators import IntervalRegressor, TrainingRows
from confide.fingerprints import are_copies, fingerprints, groups, identities
from confide.persistence import checked_fields
from confide.workflow.page.inputs import CALIBRATED, NEW, TRAINED

if TYPE_CHECKING:
    import pyarrow as pa

Row = Float64[np.ndarray, " row"]
Matrix = Float64[np.ndarray, "row feature"]
# More rows than this tell accuracy and quantiles no better, and are missed in training.
MOST_SET_ASIDE = 10_000
# The fewest rows of a table of which some are held out.
FEWEST_ROWS = 20


@dataclass(frozen=True)
class TrainingTable:
    """Which file and column a model was fitted to, and what there was to say.

    Attributes:
        target: name of the column to predict, or None where the model was made in Python.
        file: name of the file, without its folder, or None likewise.
        notes: what happened at the fit: rows dropped, columns left out.
        warnings: what the reader should worry about.
        judged: accuracy on the held-out rows, by name.
    """

    target: str | None = None
    file: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, model: IntervalRegressor) -> Self:
        """What a model remembers; nothing where it was not fitted to a table of a file.

        Raises:
            ModelFileError: it was read from a file that says something else.
        """
        if (rows := model.training_table_) is None:
            return cls()
        try:
            return cls(**checked_fields(cls, dict(rows.origin)))
        except ValueError as error:
            raise ModelFileError(
                f"The model's description of its training table has the wrong type ({error}): "
                "its file is damaged or was tampered with. Save the model again."
            ) from error


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to judge and calibrate with, each encoded once.

    Attributes:
        train: the rows to train on.
        y_train: their targets.
        held: the different ones of the held-out rows: copies are not so many
            observations.
        y_held: their targets.
        rows: fingerprints of all rows.
    """

    train: EncodedTable
    y_train: Row
    held: EncodedTable
    y_held: Row
    rows: TrainingRows


def split(features: "pa.Table", y: Row, *, hold_out: float, seed: int) -> Split:
    """Sets a share of a table's rows aside, and encodes both parts as training sees them.

    Args:
        features: a table without its target.
        y: the target of each row.
        hold_out: share of the rows to hold out.
        seed: of the choice of rows.

    Returns:
        Both parts, and how to know their rows again.
    """
    aside = np.zeros(len(y), bool)
    if hold_out > 0 and len(y) >= FEWEST_ROWS:
        share = min(hold_out, MOST_SET_ASIDE / len(y))
        aside = set_aside(EncodedTable.for_training(features).matrix, y, share, seed)
    train = EncodedTable.for_training(features.filter(~aside))
    X = np.empty((len(y), train.matrix.shape[1]), order="F")
    X[~aside] = train.matrix
    if aside.any():
        X[aside] = train.encoder.encode(features.filter(aside))
    copies = are_copies(X, y)
    rows = identities(fingerprints(X, y), copies=copies)
    held = np.flatnonzero(aside)[np.unique(rows[aside], return_index=True)[1]]
    return Split(
        train,
        y[~aside],
        EncodedTable(features.take(held), train.encoder, np.asfortranarray(X[held])),
        y[held],
        TrainingRows(
            trained_on=np.unique(rows[~aside]),
            set_aside=np.unique(rows[aside]),
            n_trained=int(np.sum(~aside)),
            n_set_aside=int(np.sum(aside)),
            copies=copies,
        ),
    )


def set_aside(X: Matrix, y: Row, share: float, seed: int) -> Bool[np.ndarray, " row"]:
    """A random share of the rows; those that belong together stay so, and none tests itself.

    Args:
        X: the rows as numbers.
        y: their targets.
        share: of the rows.
        seed: of the choice.

    Returns:
        For each row whether it is held out.
    """
    of_rows = groups(X, y)
    # Groups in an order of their own: the choice does not depend on the order of the file.
    names = np.zeros(of_rows.max() + 1, np.uint64)
    np.maximum.at(names, of_rows, identities(fingerprints(X, y), copies=False))
    order = np.random.default_rng(seed).permutation(np.argsort(names))
    n_rows = np.cumsum(np.bincount(of_rows)[order])
    return np.isin(of_rows, order[n_rows <= round(share * len(y))])


def status(model: IntervalRegressor, X: Matrix, y: Row | None) -> list[str]:
    """What the model has to do with each row: "trained on", "calibrated on" or "new".

    Rows that were held out and not calibrated on are as good as new. A row without a target
    cannot be known again.

    Args:
        model: fitted.
        X: the rows as the model's encoder turns them into numbers.
        y: their targets, or None where there are none.
    """
    result = np.full(len(X), NEW, dtype="<U13")
    seen, known = model.training_table_, np.zeros(len(X), bool) if y is None else np.isfinite(y)
    if seen is not None and y is not None and known.any():
        rows = identities(fingerprints(X[known], y[known]), copies=seen.copies)
        calibrated = np.isin(rows, seen.set_aside) & (model.calibration_ is not None)
        result[known] = np.select(
            [np.isin(rows, seen.trained_on), calibrated], [TRAINED, CALIBRATED], NEW
        )
    return result.tolist()
