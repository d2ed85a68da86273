"""The table that a model is made from: its rows, held out and recognised, and its origin."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float64

from confide.encoding import EncodedTable
from confide.errors import ModelFileError
from confide.estimators import IntervalRegressor, TrainingRows, models_of
from confide.fingerprints import Groups, are_copies, fingerprints, identities
from confide.fingerprints import groups as groups_of
from confide.persistence import checked_fields
from confide.workflow.order import blocks_of_time, last_rows
from confide.workflow.page.inputs import CALIBRATED, NEW, TRAINED
from confide.workflow.verdict import verdict_lines

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
        ids: columns that name the rows, to show beside predictions.
        held_out_by: the column whose last rows were held out, if that was so.
    """

    target: str | None = None
    file: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    held_out_by: str | None = None

    @classmethod
    def of(cls, model: IntervalRegressor) -> Self:
        """What a model remembers; nothing where it was not fitted to a table of a file.

        For several targets, it is that of the first.

        Raises:
            ModelFileError: it was read from a file that says something else.
        """
        if (rows := models_of(model)[0].training_table_) is None:
            return cls()
        try:
            table = cls(**checked_fields(cls, dict(rows.origin)))
            _refuse_what_cannot_be_told(table.judged)
        except (LookupError, ValueError) as error:
            raise ModelFileError(
                f"The model's description of its training table does not fit together ({error}): "
                "its file is damaged or was tampered with. Save the model again."
            ) from error
        return table


def _refuse_what_cannot_be_told(judged: Mapping[str, float]) -> None:
    """Numbers that need one another are all there, or none of them."""
    verdict_lines(judged, (), calibrated=False)
    if judged and not math.isfinite(judged["rows"]):
        raise ValueError(f"{judged['rows']} rows were held out")


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
        aside: for each row of the table whether it is held out.
        groups: number of each training row's group, to leave out together; None for none.
    """

    train: EncodedTable
    y_train: Row
    held: EncodedTable
    y_held: Row
    rows: TrainingRows
    aside: Bool[np.ndarray, " row"]
    groups: Groups | None


def split(
    features: "pa.Table",
    y: Row,
    *,
    hold_out: float,
    seed: int,
    order: Row | None = None,
    groups: Groups | None = None,
) -> Split:
    """Sets a share of a table's rows aside, and encodes both parts as training sees them.

    Args:
        features: a table without its target.
        y: the target of each row.
        hold_out: share of the rows to hold out.
        seed: of the choice of rows.
        order: the last rows by this are held out; None to draw them.
        groups: number of each row's group, to draw whole ones.

    Returns:
        Both parts, and how to know their rows again.
    """
    aside = np.zeros(len(y), bool)
    if hold_out > 0 and len(y) >= FEWEST_ROWS:
        share = min(hold_out, MOST_SET_ASIDE / len(y))
        if order is not None:
            aside = last_rows(order, share)
        else:
            aside = set_aside(EncodedTable.for_training(features).matrix, y, share, seed, groups)
    together = _together(~aside, order, groups)
    train = EncodedTable.for_training(features.filter(~aside), y[~aside], together)
    X = np.empty((len(y), train.matrix.shape[1]), order="F")
    X[~aside] = train.matrix if train.as_new is None else train.as_new
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
        aside,
        together,
    )


def _together(
    kept: Bool[np.ndarray, " row"], order: Row | None, groups: Groups | None
) -> Groups | None:
    """Groups of the rows to train on: blocks of time, or those given; None if there is only one."""
    if order is not None:
        groups = blocks_of_time(order[kept])
    elif groups is not None:
        groups = groups[kept]
    return None if groups is None or np.ptp(groups) == 0 else groups


def set_aside(
    X: Matrix, y: Row, share: float, seed: int, given: Groups | None = None
) -> Bool[np.ndarray, " row"]:
    """A random share of the rows; those that belong together stay so, and none tests itself.

    Args:
        X: the rows as numbers.
        y: their targets.
        share: of the rows.
        seed: of the choice.
        given: number of each row's group: rows of a group belong together.

    Returns:
        For each row whether it is held out.
    """
    of_rows = groups_of(X, y, given)
    # Groups in an order of their own: the choice does not depend on the order of the file.
    names = np.zeros(of_rows.max() + 1, np.uint64)
    np.maximum.at(names, of_rows, identities(fingerprints(X, y), copies=False))
    order = np.random.default_rng(seed).permutation(np.argsort(names))
    sizes = np.bincount(of_rows)
    chosen = order[np.cumsum(sizes[order]) <= round(share * len(y))]
    if given is not None and len(chosen) == 0 and len(sizes) > 1:  # groups larger than the share
        chosen = np.argsort(sizes, kind="stable")[:1]
    return np.isin(of_rows, chosen)


class Known(NamedTuple):
    """What a model has to do with each row of a table.

    Attributes:
        status: "trained on", "calibrated on" or "new". Rows that were held out and not calibrated
            on are as good as new.
        held_out: whether the row judged the model when it was fitted.
        repeats: whether it is a copy of an earlier row, and so no further observation.
    """

    status: list[str]
    held_out: Bool[np.ndarray, " row"]
    repeats: Bool[np.ndarray, " row"]


def known_again(model: IntervalRegressor, X: Matrix, y: Row | None) -> Known:
    """What the model has to do with each row. A row without a target cannot be known again.

    Args:
        model: fitted.
        X: the rows as the model's encoder turns them into numbers.
        y: their targets, or None where there are none.
    """
    result = np.full(len(X), NEW, dtype="<U13")
    held_out, repeats = np.zeros((2, len(X)), bool)
    seen, known = model.training_table_, np.zeros(len(X), bool) if y is None else np.isfinite(y)
    if seen is not None and y is not None and known.any():
        rows = identities(fingerprints(X[known], y[known]), copies=seen.copies)
        held_out[known] = np.isin(rows, seen.set_aside)
        calibrated = held_out[known] & (model.calibration_ is not None)
        result[known] = np.select(
            [np.isin(rows, seen.trained_on), calibrated], [TRAINED, CALIBRATED], NEW
        )
        first = np.unique(rows, return_index=True)[1]
        repeats[known] = ~np.isin(np.arange(len(rows)), first)
    return Known(result.tolist(), held_out, repeats)
