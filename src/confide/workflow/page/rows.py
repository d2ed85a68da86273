"""The rows that the page draws and lists, one frame for figures and tables alike."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64, Int

from confide.diagnostics import WORDS as SOURCES
from confide.document import Column, Table
from confide.errors import NoSuchIntervalError
from confide.workflow.page.features import Feature, telling_features
from confide.workflow.page.inputs import PageInputs
from confide.workflow.page.text import decimals_for, level_text

if TYPE_CHECKING:
    import pandas as pd

# Rows in figures and in the table that brushes filter: more fill a page and not a reader.
MOST_DRAWN = 500
# The table that brushes filter.
ROWS = "rows"
# Features with a panel and a column of their own.
MOST_FEATURES = 6
# The same for where confidence intervals became wider.
MOST_WIDENING_FEATURES = 4
# Whose confidence intervals are shown.
CALIBRATED, OWN = "calibrated on simulated twins of the training data", "not calibrated"
# What is behind each source of uncertainty.
MEANINGS = {
    "aleatoric": "scatter of the target that these features do not explain, or that the networks "
    "have not learnt",
    "classical": "other data of the same kind would have taught the model something else",
    "optimisation": "training again by chance would have ended elsewhere",
    "epistemic": "finite data and random training, which this method does not tell apart",
}


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of the page, worked out once.

    Attributes:
        inputs: of the page.
    """

    inputs: PageInputs

    @cached_property
    def prediction_interval(self) -> Float64[np.ndarray, "row 2"]:
        """Bounds for a new observation; the page itself says where they are infinite."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return self.inputs.prediction.prediction_interval(self.inputs.level)

    @cached_property
    def confidence_interval(self) -> Float64[np.ndarray, "row 2"] | None:
        """Bounds for the true function, or None where the method has none."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                return self.inputs.prediction.confidence_interval(self.inputs.level)
        except NoSuchIntervalError:
            return None

    @property
    def confidence_is_calibrated(self) -> bool:
        """Whether the confidence intervals are calibrated, on simulated twins of the data."""
        return self.inputs.prediction.twin_errors is not None

    @property
    def whose(self) -> str:
        """Where the widths of the confidence intervals come from, in words."""
        return CALIBRATED if self.confidence_is_calibrated else OWN

    @cached_property
    def own_confidence_interval(self) -> Float64[np.ndarray, "row 2"] | None:
        """The method's own where they are calibrated, or None."""
        own = self.inputs.prediction.uncalibrated
        if not self.confidence_is_calibrated or own is None:
            return None
        return own.confidence_interval(self.inputs.level)

    @cached_property
    def widening(self) -> Float64[np.ndarray, " row"] | None:
        """How many times as wide as the method's own confidence intervals are; NaN for 0 of 0."""
        if self.own_confidence_interval is None or self.confidence_interval is None:
            return None
        widths = (np.diff(self.confidence_interval), np.diff(self.own_confidence_interval))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(*widths)[:, 0]

    @cached_property
    def shares(self) -> dict[str, Float64[np.ndarray, " row"]]:
        """Share of each source in the variance; empty where the method has no variances."""
        try:
            with np.errstate(invalid="ignore"):  # no variance at all has no shares
                return self.inputs.prediction.shares
        except NoSuchIntervalError:
            return {}

    @cached_property
    def width(self) -> Float64[np.ndarray, " row"]:
        """That of the prediction intervals."""
        return self.prediction_interval[:, 1] - self.prediction_interval[:, 0]

    @property
    def prediction_is_narrower(self) -> float:
        """Share of rows whose prediction interval is narrower than the confidence interval."""
        if self.confidence_interval is None:
            return 0.0
        return float(np.mean(self.width < np.diff(self.confidence_interval)[:, 0]))

    @cached_property
    def number_format(self) -> str:
        """Of predictions and bounds."""
        return decimals_for(self.width)

    @cached_property
    def riskiest(self) -> Int[np.ndarray, " row"]:
        """All rows: the novel ones first, in each part the widest prediction interval first."""
        return np.lexsort((-self.width, ~self.inputs.novel))

    @cached_property
    def drawn(self) -> Int[np.ndarray, " drawn"]:
        """All rows, or so many drawn by chance, in the file's order."""
        if self.all_are_drawn:
            return np.arange(self.inputs.n_rows)
        generator = np.random.default_rng(0)
        return np.sort(generator.choice(self.inputs.n_rows, MOST_DRAWN, replace=False))

    @property
    def all_are_drawn(self) -> bool:
        """Whether figures and tables hold every row."""
        return self.inputs.n_rows <= MOST_DRAWN

    @cached_property
    def features(self) -> list[Feature]:
        """Those that go most with the predictions or their widths."""
        inputs = self.inputs
        return telling_features(
            inputs.frame, inputs.prediction.mean, self.width, most=MOST_FEATURES
        )

    @cached_property
    def widening_features(self) -> list[Feature]:
        """Those that the widening of the confidence intervals goes with most."""
        if self.widening is None:
            return []
        return telling_features(
            self.inputs.frame, np.nan_to_num(self.widening, nan=1.0), most=MOST_WIDENING_FEATURES
        )

    def table(self, name: str, caption: str, rows: Int[np.ndarray, " some"]) -> Table:
        """Some rows as a table, in that order."""
        frame, columns = self._own_columns()
        used = set(frame.columns)
        for feature in self.features:
            title = _unused(feature.name, used)
            if feature.kind == "number":
                frame[title] = feature.column
                columns.append(Column(title, feature.name, _feature_format(feature.column)))
            else:
                frame[title] = feature.texts()
                columns.append(Column(title, feature.name))
        return Table(name, caption, frame.iloc[rows], columns)

    def _own_columns(self) -> tuple["pd.DataFrame", list[Column]]:
        import pandas as pd

        inputs, shape = self.inputs, self.number_format
        level = level_text(inputs.level)
        values: dict[str, object] = {"row": inputs.numbers, "prediction": inputs.prediction.mean}
        columns = [
            Column("row", help="number of the row in the file"),
            Column("prediction", format=shape),
        ]

        def add(
            name: str, heading: str, of_rows: object, shape: str = shape, meaning: str = ""
        ) -> None:
            values[name] = of_rows
            columns.append(Column(name, heading, shape, help=meaning))

        if inputs.y is not None:
            add("observed", "observed", inputs.observed)
        bounds = [("prediction", "a new observation", self.prediction_interval)]
        if self.confidence_interval is not None:
            bounds.append(("confidence", "the true function", self.confidence_interval))
        for kind, of, interval in bounds:
            meaning = f"{level} {kind} interval, for {of}"
            if kind == "confidence":
                meaning += f"; {self.whose}"
            for i, end in enumerate(("lower", "upper")):
                add(f"{kind}_{end}", f"{kind} {end}", interval[:, i], meaning=meaning)
        if self.widening is not None:
            meaning = "width of the confidence interval over its width before calibration"
            add("widening", "confidence, times as wide", self.widening, ".2g", meaning)
        if inputs.prediction.novelty is not None:
            meaning = "small where the row is unlike the training data"
            add("novelty_p", "novelty p", inputs.prediction.novelty, ".3g", meaning)
        for source, share in self.shares.items():
            meaning = f"share of the variance: {MEANINGS[source]}"
            add(f"{source}_share", SOURCES[source], share, ".0%", meaning)
        add("status", "status", list(inputs.status), "", "what the model did with the row")
        return pd.DataFrame(values), columns


def _feature_format(values: "pd.Series[float]") -> str:
    there = values.dropna()
    if bool((there == there.round()).all()) and bool((there.abs() < 1e15).all()):
        return ".0f"
    return ".4g"


def _unused(name: str, used: set[str]) -> str:
    """The name, or one like it that no other column has."""
    title, i = name, 1
    while title in used:
        i += 1
        title = f"{name} ({i})"
    used.add(title)
    return title
