"""What the page of a report is made of: plain values, checked."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64, Int

from confide.checks import checked_level
from confide.document import number_text
from confide.encoding import EncodedTable
from confide.errors import nearest
from confide.export import Parts
from confide.persistence import Arrays
from confide.prediction import Prediction
from confide.workflow.order import n_novel_by
from confide.workflow.page.features import read_feature
from confide.workflow.page.text import plain

if TYPE_CHECKING:
    import pandas as pd

    from confide.calibration import CalibrationSummary
    from confide.inspection import Effects

TRAINED, CALIBRATED, NEW = "trained on", "calibrated on", "new"
MISSING_TEXTS = {"nan", "None", "NaT", "<NA>"}
STATUSES = (TRAINED, CALIBRATED, NEW)
# Rows of the tables of the widest prediction intervals and of novel rows, where there are more.
MOST_LISTED = 10


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What it takes to predict changed rows in the page.

    Attributes:
        parts: of the model.
        rules: how intervals of the page's level follow, see `confide.export.interval_rules`.
        arrays: those of the rules.
        table: the rows.
    """

    parts: Parts
    rules: Mapping[str, Any]
    arrays: Arrays
    table: EncodedTable


@dataclass(frozen=True, eq=False)
class PageInputs:
    """What the page of `confide report` is made of.

    Text in it comes from files and is shown as text; only `advice` is Markdown.

    Attributes:
        title: what stands above the page: predictions of this.
        target: name of what is predicted.
        frame: the rows' features as they are in the file.
        prediction: of these rows.
        status: for each row "trained on", "calibrated on" or "new".
        y: observed targets, NaN where there is none; or None where the file has none.
        confidence_level: of both intervals; a method of one level has its own.
        row_numbers: for each row its number in the file, or None for 1, 2, 3 ...
        ids: columns that name the rows, or None.
        n_calibration_rows: how many rows the prediction intervals were calibrated on, if they were
            and it is known: their coverage varies with the choice of these rows too.
        summary: what the calibration of the confidence intervals on simulated twins found, or None
            where they were not calibrated or it is not known.
        advice: what would shrink the uncertainty, in Markdown, or None.
        levers: what each lever would do, as `Explanation.levers`, or None.
        warnings: sentences, the most important first.
        judged: accuracy and coverage on the rows that were held out at the fit, as
            `TrainingTable` has them; empty where that is not known.
        held_out: for each row whether it was one of those.
        repeats: for each row whether it is a copy of an earlier one.
        held_out_by: the column whose last rows were held out at the fit, if that was so.
        what_if: what the page evaluates, or why it cannot.
        effects: of the features on the prediction, or why there are none.
        wide_because: for some rows the columns behind their wide prediction intervals.
        settings: how the model and the page came about.
    """

    title: str
    target: str
    frame: "pd.DataFrame"
    prediction: Prediction
    status: Sequence[str]
    y: Float64[np.ndarray, " row"] | None = None
    confidence_level: float = 0.95
    row_numbers: Int[np.ndarray, " row"] | None = None
    ids: "pd.DataFrame | None" = None
    n_calibration_rows: int | None = None
    summary: "CalibrationSummary | None" = None
    advice: str | None = None
    levers: "pd.DataFrame | None" = None
    warnings: Sequence[str] = ()
    judged: Mapping[str, float] = field(default_factory=dict)
    held_out: Bool[np.ndarray, " row"] | None = None
    repeats: Bool[np.ndarray, " row"] | None = None
    held_out_by: str | None = None
    what_if: "WhatIf | str | None" = None
    effects: "Effects | str | None" = None
    wide_because: Mapping[int, Sequence[str]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_level(self.confidence_level)
        lengths = {"frame": len(self.frame), "status": len(self.status)}
        for name in ("y", "row_numbers", "held_out", "repeats"):
            if (values := getattr(self, name)) is not None:
                lengths[name] = len(values)
        n_rows = len(self.prediction)
        if n_rows == 0:
            raise ValueError("A page needs at least one predicted row, got none. Pass some rows.")
        for name, length in lengths.items():
            if length != n_rows:
                raise ValueError(
                    f"`{name}` must have an entry for each of the {n_rows} predicted rows, got "
                    f"{length}. Pass those of the rows that were predicted, in their order."
                )
        for status in dict.fromkeys(self.status):
            if status not in STATUSES:
                raise ValueError(
                    f"The status of a row must be one of {list(STATUSES)}, got {status!r}. "
                    f"{nearest(str(status), STATUSES)}".rstrip()
                )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.prediction)

    @property
    def level(self) -> float:
        """The level of both intervals: the one asked for, or the nearest that there is."""
        levels = self.prediction.prediction_law.levels or (self.confidence_level,)
        return min(levels, key=lambda level: abs(level - self.confidence_level))

    @cached_property
    def prediction_interval(self) -> Float64[np.ndarray, "row 2"]:
        """Bounds for a new observation, which may be infinite."""
        with warnings.catch_warnings():  # the page says itself where they are
            warnings.simplefilter("ignore", UserWarning)
            return self.prediction.prediction_interval(self.level)

    @property
    def width(self) -> Float64[np.ndarray, " row"]:
        """Widths of the prediction intervals."""
        return np.ptp(self.prediction_interval, axis=1)

    @cached_property
    def widest(self) -> Int[np.ndarray, " row"]:
        """All rows, the widest prediction interval first."""
        return np.argsort(-self.width, kind="stable")

    @property
    def numbers(self) -> Int[np.ndarray, " row"]:
        """For each row its number in the file."""
        if self.row_numbers is None:
            return np.arange(1, self.n_rows + 1)
        return np.asarray(self.row_numbers)

    @property
    def observed(self) -> Float64[np.ndarray, " row"]:
        """Observed targets, NaN where there is none."""
        if self.y is None:
            return np.full(self.n_rows, np.nan)
        return np.where(np.isfinite(self.y), self.y, np.nan)

    def has_status(self, *statuses: str) -> Bool[np.ndarray, " row"]:
        """For each row whether its status is one of these."""
        return np.isin(np.asarray(self.status, dtype=str), statuses)

    def values_text(self, row: int, columns: Sequence[str]) -> str:
        """Columns of a row and their values."""
        return ", ".join(self.value_text(row, column) for column in columns)

    def value_text(self, row: int, column: str) -> str:
        """A column of a row and its value, such as size = 3, or that it is missing."""
        value: Any = self.frame[column].iloc[row] if column in self.frame else ""
        is_number = isinstance(value, float) and np.isfinite(value)
        shown = number_text(value, self._formats[column]) if is_number else plain(value)
        return f"{plain(column)} {'missing' if shown in MISSING_TEXTS else f'= {shown}'}"

    @cached_property
    def _formats(self) -> dict[str, str]:
        """The format of each column of numbers: that of its own column in tables."""
        named = ((name, read_feature(name, values)) for name, values in self.frame.items())
        return {str(name): feature.number_format for name, feature in named}

    def n_novel_by_order(self, rows: Bool[np.ndarray, " row"]) -> int:
        """How many of some rows are novel only by what rows were held out by, if most are."""
        columns = self.prediction.novel_columns
        if columns is None or self.held_out_by is None:
            return 0
        return n_novel_by([columns[i] for i in np.flatnonzero(rows & self.novel)], self.held_out_by)

    @property
    def novel(self) -> Bool[np.ndarray, " row"]:
        """For each row whether it is unlike the training data; none where that is not known."""
        novel = self.prediction.is_novel
        return np.zeros(self.n_rows, bool) if novel is None else novel
