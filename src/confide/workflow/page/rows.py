"""The rows that the page draws and lists, one value for figures, tables and words alike."""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from jaxtyping import Float64, Int

from confide.diagnostics import SOURCES, mean_shares
from confide.document import Column, Table
from confide.drawing import some, widening_of
from confide.errors import NoSuchIntervalError
from confide.workflow.page.features import Feature, telling_features
from confide.workflow.page.inputs import PageInputs
from confide.workflow.page.judgement import unseen_rows
from confide.workflow.page.text import decimals_for, level_text

Row = Float64[np.ndarray, " row"]
Interval = Float64[np.ndarray, "row 2"]

# Rows in figures and in the table that brushes filter: more fill a page and not a reader.
MOST_DRAWN = 500
# The table that brushes filter.
ROWS = "rows"
# Features with a panel and a column of their own.
MOST_FEATURES = 6
# The same for where confidence intervals became wider.
MOST_WIDENING_FEATURES = 4


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
        riskiest: all rows, novel ones first, in each part the widest prediction interval first.
        drawn: all rows, or `MOST_DRAWN` of them drawn by chance, in the file's order; those that
            judge the model come first.
        features: those that go most with the predictions or their widths.
        widening_features: those that the widening goes with most.
        number_format: of predictions and bounds.
    """

    def __init__(self, inputs: PageInputs) -> None:
        prediction, level, frame = inputs.prediction, inputs.level, inputs.frame
        self.inputs = inputs
        self.confidence_interval: Interval | None = None
        self.own_confidence_interval: Interval | None = None
        self.widening: Row | None = None
        with warnings.catch_warnings():  # the page says itself where bounds are infinite
            warnings.simplefilter("ignore", UserWarning)
            self.prediction_interval = prediction.prediction_interval(level)
            with suppress(NoSuchIntervalError):
                self.confidence_interval = prediction.confidence_interval(level)
            if self.confidence_is_calibrated and prediction.uncalibrated is not None:
                self.own_confidence_interval = prediction.uncalibrated.confidence_interval(level)
                self.widening = widening_of(prediction, level).times
        self.width = np.ptp(self.prediction_interval, axis=1)
        self.shares: dict[str, Row] = {}
        self.mean_shares: dict[str, float] = {}
        with suppress(NoSuchIntervalError):
            self.shares, means = prediction.shares, mean_shares(prediction.sources)
            self.mean_shares = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        self.riskiest = np.lexsort((-self.width, ~inputs.novel))
        unseen = unseen_rows(inputs)
        first = some(np.flatnonzero(unseen), MOST_DRAWN)
        others = some(np.flatnonzero(~unseen), MOST_DRAWN - len(first))
        self.drawn = np.sort(np.concatenate([first, others]))
        self.number_format = decimals_for(self.width, prediction.mean)
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
    def whose(self) -> str:
        """Where the widths of the confidence intervals come from, in words."""
        if self.confidence_is_calibrated:
            return "calibrated on simulated twins of the training data"
        return "not calibrated"

    def table(self, name: str, caption: str, rows: Int[np.ndarray, " some"]) -> Table:
        """Some rows as a table, in that order."""
        import pandas as pd

        values_of: dict[str, Any] = {}
        columns = []
        for key, heading, values, number_format, meaning in self._columns():
            title, i = key, 1
            while title in values_of:  # a feature may have the name of a column of ours
                i += 1
                title = f"{key} ({i})"
            values_of[title] = values
            columns.append(Column(title, heading, number_format, help=meaning))
        return Table(name, caption, pd.DataFrame(values_of).iloc[rows], columns)

    def _columns(self) -> Iterator[tuple[str, str, Any, str, str]]:
        """Each column's name, heading, values, format of numbers and meaning."""
        inputs, of_target = self.inputs, self.number_format
        yield "row", "row", inputs.numbers, "", "number of the row in the file"
        for name, values in () if inputs.ids is None else inputs.ids.items():
            yield str(name), str(name), values.to_numpy(), "", "names the row"
        yield "prediction", "prediction", inputs.prediction.mean, of_target, ""
        if inputs.y is not None:
            yield "observed", "observed", inputs.observed, of_target, ""
        for kind, interval, of in (
            ("prediction", self.prediction_interval, "a new observation"),
            ("confidence", self.confidence_interval, f"the true function; {self.whose}"),
        ):
            meaning = f"{level_text(inputs.level)} {kind} interval, for {of}"
            bounds = () if interval is None else zip(("lower", "upper"), interval.T, strict=True)
            for end, bound in bounds:
                yield f"{kind}_{end}", f"{kind} {end}", bound, of_target, meaning
        if self.widening is not None:
            meaning = "width of the confidence interval over its width before calibration"
            yield "widening", "confidence, times as wide", self.widening, ".2g", meaning
        if inputs.prediction.novelty is not None:
            meaning = "small where the row is unlike the training data"
            yield "novelty_p", "novelty p", inputs.prediction.novelty, ".3g", meaning
        if inputs.prediction.novel_columns is not None and inputs.novel.any():
            meaning = "columns that make a novel row unlike the training data"
            named = enumerate(inputs.prediction.novel_columns)
            values = [", ".join(inputs.value_text(i, name) for name in of) for i, of in named]
            yield "novel_columns", "unlike in", values, "", meaning
        for key, share in self.shares.items():
            meaning = f"share of the variance: {SOURCES[key].meaning}"
            yield f"{key}_share", SOURCES[key].name, share, ".0%", meaning
        yield "status", "status", list(inputs.status), "", "what the model did with the row"
        for feature in self.features:
            values = feature.column if feature.kind == "number" else feature.texts()
            yield feature.name, feature.name, values, feature.number_format, ""
