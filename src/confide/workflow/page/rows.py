"""The rows that the page draws and lists, one value for figures, tables and words alike."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int

from confide.diagnostics import SOURCES, mean_shares
from confide.document import Column, Table
from confide.drawing import some, widening_of
from confide.errors import NoSuchIntervalError
from confide.workflow.page.features import Feature, telling_features
from confide.workflow.page.inputs import PageInputs
from confide.workflow.page.judgement import unseen_rows
from confide.workflow.page.text import at_least_three_digits, decimals_for, level_text, percent

Row = Float64[np.ndarray, " row"]
Interval = Float64[np.ndarray, "row 2"]

# Rows in figures and in the table that brushes filter: more fill a page and not a reader.
MOST_DRAWN = 500
# The table that brushes filter.
ROWS = "rows"
# Features with a panel of their own; fewer have a column, so that tables fit a screen.
MOST_FEATURES, MOST_COLUMNS = 6, 4
# The same for where confidence intervals became wider.
MOST_WIDENING_FEATURES = 4
WHY = (
    "wide: columns whose typical value (the median or the most common category) would make the "
    "prediction interval narrower; unlike training data: columns that make the row novel; too high "
    "or too low: the prediction lies outside of its confidence interval, because the model is "
    "biased there on simulated data; widened: the prediction interval was widened to contain the "
    "confidence interval"
)


class Rows:
    """All rows of the page, with everything that figures, tables and words show of them.

    Attributes:
        inputs: of the page.
        prediction_interval: bounds for a new observation, which may be infinite.
        confidence_interval: bounds for the true function, or None where the method has none.
        own_confidence_interval: the same before calibration on twins, or None without that.
        width: of the prediction intervals.
        widening: how many times as wide calibration made the confidence intervals; NaN for 0 of 0,
            or None where they are not calibrated.
        shares: of each source in the variance; empty where the method has no variances.
        mean_shares: their means over rows; without sources that have none.
        drawn: all rows, or `MOST_DRAWN` of them drawn by chance, in the file's order; those that
            judge the model come first.
        features: those that go most with the predictions or their widths.
        widening_features: those that the widening goes with most.
        number_format: of predictions and bounds.
        observed_format: of observed values.
    """

    def __init__(self, inputs: PageInputs) -> None:
        prediction, level, frame = inputs.prediction, inputs.level, inputs.frame
        self.inputs = inputs
        self.confidence_interval: Interval | None = None
        self.own_confidence_interval: Interval | None = None
        self.widening: Row | None = None
        with warnings.catch_warnings():  # the page says itself where bounds are infinite
            warnings.simplefilter("ignore", UserWarning)
            with suppress(NoSuchIntervalError):
                self.confidence_interval = prediction.confidence_interval(level)
            if self.confidence_is_calibrated and prediction.uncalibrated is not None:
                self.own_confidence_interval = prediction.uncalibrated.confidence_interval(level)
                self.widening = widening_of(prediction, level).times
        self.prediction_interval, self.width = inputs.prediction_interval, inputs.width
        self.shares: dict[str, Row] = {}
        self.mean_shares: dict[str, float] = {}
        with suppress(NoSuchIntervalError):
            self.shares, means = prediction.shares, mean_shares(prediction.sources)
            self.mean_shares = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        unseen = unseen_rows(inputs)
        first = some(np.flatnonzero(unseen), MOST_DRAWN)
        others = some(np.flatnonzero(~unseen), MOST_DRAWN - len(first))
        self.drawn = np.sort(np.concatenate([first, others]))
        self.number_format = decimals_for(self.width, prediction.mean)
        self.observed_format = at_least_three_digits(self.number_format, inputs.observed)
        self.features = telling_features(frame, prediction.mean, self.width, most=MOST_FEATURES)
        self.widening_features: list[Feature] = []
        if self.widening is not None:
            times = np.nan_to_num(self.widening, nan=1.0)
            self.widening_features = telling_features(frame, times, most=MOST_WIDENING_FEATURES)

    @property
    def all_are_drawn(self) -> bool:
        """Whether figures and tables hold every row."""
        return len(self.drawn) == self.inputs.n_rows

    @property
    def confidence_is_calibrated(self) -> bool:
        """Whether the confidence intervals are calibrated, on simulated twins of the data."""
        return self.inputs.prediction.twin_errors is not None

    @property
    def side(self) -> Int[np.ndarray, " row"]:
        """1 where a prediction is above its confidence interval, -1 where it is below, else 0."""
        if self.confidence_interval is None:
            return np.zeros(self.inputs.n_rows, int)
        lower, upper = self.confidence_interval.T
        mean = self.inputs.prediction.mean
        return (upper < mean).astype(int) - (mean < lower)

    @property
    def is_stretched(self) -> Bool[np.ndarray, " row"]:
        """Rows whose prediction interval was made wider, to contain the confidence interval."""
        if self.confidence_interval is None:
            return np.zeros(self.inputs.n_rows, bool)
        is_same = self.prediction_interval == self.confidence_interval
        # Both may end at what a target can be.
        is_same &= ~np.isin(self.prediction_interval, self.inputs.prediction.prediction_law.support)
        return (is_same & np.isfinite(self.prediction_interval)).any(axis=1) & (self.width > 0)

    @property
    def whose(self) -> str:
        """Where the widths of the confidence intervals come from, in words."""
        if self.confidence_is_calibrated:
            return "calibrated on simulated twins of the training data"
        return "not calibrated"

    def table(self, name: str, caption: str, rows: Int[np.ndarray, " some"]) -> Table:
        """Some rows as a table, in that order."""
        import pandas as pd

        values_of: dict[str, Any] = {}
        shown = []
        for column, values in self._columns(rows):
            values_of[column.name] = values
            shown += [column] if column.heading else []
        first, *others = shown
        ids = _from_file(values_of, self._id_columns(rows), help="names the row")
        features = _from_file(values_of, self._feature_columns(rows))
        columns = [first, *ids, *others, *features]
        return Table(name, caption, pd.DataFrame(values_of), columns, only_in_csv=list(values_of))

    def _columns(self, rows: Int[np.ndarray, " some"]) -> Iterator[tuple[Column, Any]]:
        """Columns of ours with their values; those without a heading are only in the CSV."""
        inputs, of_target = self.inputs, self.number_format
        yield Column("row", "row", help="number of the row in the file"), inputs.numbers[rows]
        yield Column("prediction", "prediction", of_target), inputs.prediction.mean[rows]
        if inputs.y is not None:
            yield Column("observed", "observed", self.observed_format), inputs.observed[rows]
        for kind, interval, of in (
            ("prediction", inputs.prediction_interval, "a new observation"),
            ("confidence", self.confidence_interval, f"the true function; {self.whose}"),
        ):
            if interval is not None:
                lower, upper = interval[rows].T
                level, ends = level_text(inputs.level), f"{kind}_upper"
                meaning = f"for {of}"
                heading = f"{level} {kind} interval"
                yield Column(f"{kind}_lower", heading, of_target, help=meaning, to=ends), lower
                yield Column(ends, ""), upper
        if self.widening is not None:
            yield Column("widening", ""), self.widening[rows]
        yield from self._reasons(rows)
        status = np.asarray(inputs.status, dtype=str)[rows]
        heading = "status" if len(set(inputs.status)) > 1 else ""
        yield Column("status", heading, help="what the model did with the row"), status

    def _reasons(self, rows: Int[np.ndarray, " some"]) -> Iterator[tuple[Column, Any]]:
        """Columns behind wide intervals and novelty, and the main source."""
        inputs, prediction = self.inputs, self.inputs.prediction
        wide, unlike = inputs.wide_because, prediction.novel_columns or [()] * inputs.n_rows
        named = {
            "wide_because_of": [wide.get(row, ()) for row in rows.tolist()],
            "novel_columns": [unlike[row] for row in rows.tolist()],
        }
        texts = {
            name: [
                inputs.values_text(row, of) for row, of in zip(rows.tolist(), columns, strict=True)
            ]
            for name, columns in named.items()
        }
        doubts = self.side[rows].tolist(), self.is_stretched[rows].tolist()
        why = [_why(*of_row) for of_row in zip(*texts.values(), *doubts, strict=True)]
        if any(why):
            yield Column("why", "why", help=WHY), why
        for name, values in texts.items():
            yield Column(name, ""), values
        if prediction.novelty is not None:
            yield Column("novelty_p", ""), prediction.novelty[rows]
        if len(self.mean_shares) > 1:
            meaning = "the largest source of the row's uncertainty, and its share of the variance"
            yield Column("main_source", "mainly from", help=meaning), self._main_sources(rows)
        for source, share in self.shares.items():
            yield Column(f"{source}_share", ""), share[rows]

    def _main_sources(self, rows: Int[np.ndarray, " some"]) -> list[str]:
        names, shares = list(self.shares), np.array([s[rows] for s in self.shares.values()])
        largest = np.nan_to_num(shares).argmax(axis=0)
        parts = [(SOURCES[names[k]].name, shares[k, i]) for i, k in enumerate(largest)]
        return [f"{name} {percent(share)}".replace(" %", "\u00a0%") for name, share in parts]

    def _id_columns(self, rows: Int[np.ndarray, " some"]) -> Iterator[tuple[Column, Any]]:
        for name, values in () if self.inputs.ids is None else self.inputs.ids.items():
            yield Column(str(name)), values.to_numpy()[rows]

    def _feature_columns(self, rows: Int[np.ndarray, " some"]) -> Iterator[tuple[Column, Any]]:
        for feature in self.features[:MOST_COLUMNS]:
            some_rows = replace(feature, column=feature.column.iloc[rows])
            values = some_rows.column if feature.kind == "number" else some_rows.texts()
            yield Column(feature.name, format=feature.number_format), np.asarray(values)


def _why(wide: str, unlike: str, side: int, is_stretched: bool) -> str:
    """Why to look at a row; nothing else matters where it is unlike the training data."""
    if unlike:
        return f"unlike training data: {unlike}"
    found = [f"wide: {wide}"] if wide else []
    if side:
        found.append(f"prediction probably too {'high' if side > 0 else 'low'}")
    return "; ".join(found + ["widened"] * is_stretched)


def _from_file(
    values_of: dict[str, Any], columns: Iterable[tuple[Column, Any]], **changes: str
) -> Iterator[Column]:
    """Columns from a file, under names that no other column has; their values are added."""
    for column, values in columns:
        name, i = column.name, 1
        while name in values_of:
            i += 1
            name = f"{column.name} ({i})"
        values_of[name] = values
        yield replace(column, name=name, heading=column.name, **changes)
