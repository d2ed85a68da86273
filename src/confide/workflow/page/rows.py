"""The rows that the page draws and lists, one value for figures, tables and words alike."""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int

from confide.diagnostics import SOURCES, mean_shares
from confide.document import Column, Table
from confide.errors import NoSuchIntervalError
from confide.workflow.page.features import Feature, some, telling_features
from confide.workflow.page.inputs import PageInputs
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


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of the page, worked out once by `Rows.of`.

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
        drawn: all rows, or `MOST_DRAWN` of them drawn by chance, in the file's order.
        features: those that go most with the predictions or their widths.
        widening_features: those that the widening goes with most.
        number_format: of predictions and bounds.
    """

    inputs: PageInputs
    prediction_interval: Interval
    confidence_interval: Interval | None
    own_confidence_interval: Interval | None
    width: Row
    widening: Row | None
    shares: dict[str, Row]
    mean_shares: dict[str, float]
    riskiest: Int[np.ndarray, " row"]
    drawn: Int[np.ndarray, " drawn"]
    features: list[Feature]
    widening_features: list[Feature]
    number_format: str

    @classmethod
    def of(cls, inputs: PageInputs) -> "Rows":
        """From what the page is given."""
        prediction, level, frame = inputs.prediction, inputs.level, inputs.frame
        confidence = own = widening = None
        with warnings.catch_warnings():  # the page says itself where bounds are infinite
            warnings.simplefilter("ignore", UserWarning)
            interval = prediction.prediction_interval(level)
            with suppress(NoSuchIntervalError):
                confidence = prediction.confidence_interval(level)
            if prediction.twin_errors is not None and prediction.uncalibrated is not None:
                own = prediction.uncalibrated.confidence_interval(level)
        width = np.ptp(interval, axis=1)
        if confidence is not None and own is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                widening = np.ptp(confidence, axis=1) / np.ptp(own, axis=1)
        shares, means = {}, {}
        with suppress(NoSuchIntervalError):
            shares, means = prediction.shares, mean_shares(prediction.sources)
        widening_features = []
        if widening is not None:
            times = np.nan_to_num(widening, nan=1.0)
            widening_features = telling_features(frame, times, most=MOST_WIDENING_FEATURES)
        return cls(
            inputs=inputs,
            prediction_interval=interval,
            confidence_interval=confidence,
            own_confidence_interval=own,
            width=width,
            widening=widening,
            shares=shares,
            mean_shares={name: share for name, share in means.items() if not np.isnan(share)},
            riskiest=np.lexsort((-width, ~inputs.novel)),
            drawn=some(np.arange(inputs.n_rows), MOST_DRAWN),
            features=telling_features(frame, prediction.mean, width, most=MOST_FEATURES),
            widening_features=widening_features,
            number_format=decimals_for(width),
        )

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
        for key, share in self.shares.items():
            meaning = f"share of the variance: {SOURCES[key].meaning}"
            yield f"{key}_share", SOURCES[key].name, share, ".0%", meaning
        yield "status", "status", list(inputs.status), "", "what the model did with the row"
        for feature in self.features:
            values = feature.column if feature.kind == "number" else feature.texts()
            yield feature.name, feature.name, values, feature.number_format, ""
