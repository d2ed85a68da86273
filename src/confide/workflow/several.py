"""Several targets of one table: a model for each, in one file and on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confide.document import Document
from confide.errors import TargetError
from confide.estimators import (
    IntervalRegressor,
    check_targets,
    for_each_target,
    refuse_too_many,
)
from confide.workflow.fit import FittedTable, fit_table
from confide.workflow.notes import Notes
from confide.workflow.page.content import page_document
from confide.workflow.page.several import document_of_targets
from confide.workflow.report import page_inputs
from confide.workflow.target import known_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FittedTargets:
    """A model of several targets, made from a table.

    Attributes:
        model: fitted; its `targets_` are those of `targets`.
        targets: for each target its model, with what is to be said of it.
    """

    model: IntervalRegressor
    targets: Mapping[str, FittedTable]

    def to_json(self) -> dict[str, Any]:
        """The description of each target, as plain values."""
        return {"targets": {name: each.to_json() for name, each in self.targets.items()}}


def fit_targets(
    table: "pa.Table", targets: Sequence[str], estimator: IntervalRegressor, **how: Any
) -> FittedTargets:
    """Fits an estimator to each of several columns, none of which is a feature of another.

    Each model is that of `fit_table` with the other targets left out, to the last bit.

    Args:
        table: columns of any kind; rows without a target are left out for this target alone.
        targets: names of the columns to predict.
        estimator: what to fit, in place.
        how: arguments of `fit_table`.

    Returns:
        The fitted models, with notes and warnings.

    Raises:
        TargetError: a target is not there, comes twice, or cannot be predicted. Nothing is trained
            then.
    """
    try:
        refuse_too_many(estimator, len(targets))
    except ValueError as error:
        raise TargetError(str(error)) from error
    parts = {target: without_others(table, target, targets) for target in targets}
    for target, part in parts.items():
        _refuse_hopeless(part, target)
    names = {target: target for target in targets}
    shape = table.num_rows, table.num_columns
    fitted = for_each_target(_fitted, estimator, names, table, targets, how, shape=shape)
    model = estimator.adopt_targets({name: each.model for name, each in fitted.items()})
    return FittedTargets(model, fitted)


def _fitted(
    estimator: IntervalRegressor,
    target: str,
    table: "pa.Table",
    targets: Sequence[str],
    how: Mapping[str, Any],
) -> FittedTable:
    # The whole table is what all have in common, so that other processes get it once.
    return fit_table(without_others(table, target, targets), target, estimator, **how)


def without_others(table: "pa.Table", target: str, targets: Sequence[str]) -> "pa.Table":
    """A table without the other targets.

    Args:
        table: with all targets.
        target: the one to keep.
        targets: all of them.

    Returns:
        The table with one target.

    Raises:
        TargetError: one of them is not there, or comes twice.
    """
    TargetError.check(targets, table.column_names)
    return table.drop_columns([name for name in targets if name != target])


def _refuse_hopeless(table: "pa.Table", target: str) -> None:
    """What only the second target would show after the first was trained is refused before."""
    _, y, _ = known_rows(table, target, Notes())
    try:
        check_targets(y)
    except ValueError as error:
        raise TargetError(f"The target {target!r} cannot be predicted: {error}") from error


def page_of(model: IntervalRegressor, table: "pa.Table", **how: Any) -> Document:
    """The page of a model and a table, with a part for each target where there are several.

    Args:
        model: fitted.
        table: with the columns of the training data, and perhaps the targets.
        how: arguments of `page_inputs`.

    Returns:
        The page.
    """
    if model.targets_ is None:
        return page_document(page_inputs(model, table, **how))
    pages = {
        name: page_document(page_inputs(own, table, **how)) for name, own in model.targets_.items()
    }
    return document_of_targets(pages, how.get("file", ""))
