"""Features of a file as the page shows them, and which of them tell most."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float64, Int

from confide.document import number_text, separator
from confide.drawing import some
from confide.encoding import series_with_amounts_read, series_with_dates_read
from confide.workflow.page.text import plain

if TYPE_CHECKING:
    import pandas as pd

# Categories with a strip of their own, and ranges of a number; the rest share one.
MOST_GROUPS = 8
# Rows that the choice of features looks at.
MOST_ROWS = 2000
OTHERS, MISSING = "(others)", "(missing)"


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of the file.

    Attributes:
        name: as readers see it.
        kind: what its values are.
        column: floats for numbers, moments in UTC for dates, texts for categories; or NaN.
    """

    name: str
    kind: Literal["number", "date", "category"]
    column: "pd.Series[Any]"

    def texts(self) -> list[str | None]:
        """Each row's value as text; None where it is missing."""
        if self.kind == "number":
            shape = self.number_format
            return [None if math.isnan(v) else number_text(v, shape) for v in self.column]
        if self.kind == "date":
            there = self.column.dropna()
            days = bool((there == there.dt.normalize()).all())
            shape = "%Y-%m-%d" if days else "%Y-%m-%d %H:%M:%S"
            return [None if v != v else v.strftime(shape) for v in self.column]  # noqa: PLR0124
        return [None if isinstance(v, float) else v for v in self.column]

    @property
    def number_format(self) -> str:
        """Whole numbers without a point, and thousands apart, but not those of years."""
        if self.kind != "number":
            return ""
        values = self.column.dropna()
        thousands = separator(values.abs().max())
        if bool(((values % 1 == 0) & (values.abs() < 1e15)).all()):
            return f"{thousands}.0f"
        # From here on, a format of six digits writes 1.23457e+06.
        return ",.0f" if values.abs().max() >= 1e6 else ",.6g" if thousands else ".4g"


def read_feature(name: object, column: "pd.Series[Any]") -> Feature:
    """A column as numbers, dates or categories."""
    import pandas as pd

    types = pd.api.types
    values = series_with_amounts_read(series_with_dates_read(column.reset_index(drop=True)))
    shown = plain(name) or "(no name)"
    if types.is_numeric_dtype(values) and not types.is_bool_dtype(values):
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        return Feature(shown, "number", pd.Series(np.where(np.isfinite(numbers), numbers, np.nan)))
    if types.is_datetime64_any_dtype(values) or (
        values.dtype == object and types.infer_dtype(values, skipna=True) in {"date", "datetime"}
    ):
        return Feature(shown, "date", pd.to_datetime(values, utc=True, errors="coerce"))
    texts = [str(value) for value in values.astype(object)]
    short = {text: plain(text) for text in set(texts)}  # each once: categories repeat
    column = pd.Series([short[text] for text in texts], dtype=object)
    return Feature(shown, "category", column.mask(values.isna(), np.nan))


def telling_features(
    frame: "pd.DataFrame", *answers: Float64[np.ndarray, " row"], most: int
) -> list[Feature]:
    """The features most related to the ranks of some answer, the strongest first.

    A feature's strength is the share of variance of an answer's ranks that lies between its groups
    (the adjusted correlation ratio): ranges of a number or a date, categories, and missing values.
    It sees relations of any form, and many groups alone do not make a feature strong.
    """
    from scipy.stats import rankdata

    rows = some(np.arange(len(frame)), MOST_ROWS)
    ranks = [rankdata(answer[rows]) for answer in answers]
    strengths = [
        _strength(read_feature(name, frame.iloc[rows, i]), ranks)
        for i, name in enumerate(frame.columns)
    ]
    order = np.argsort(-np.asarray(strengths, np.float64), kind="stable")[:most]
    return [read_feature(frame.columns[i], frame.iloc[:, i]) for i in order]


def strips(feature: Feature) -> tuple[Int[np.ndarray, " row"], list[str]]:
    """For each row the number of its strip, and the strips' names: the frequent categories."""
    counts = feature.column.value_counts()
    shown = sorted(map(str, counts.index[:MOST_GROUPS]))
    names = [*shown, *([OTHERS] if len(counts) > MOST_GROUPS else [])]
    names += [MISSING] if feature.column.isna().any() else []
    place: dict[Any, int] = {name: i for i, name in enumerate(shown)}
    others = place.get(OTHERS, len(shown))
    position = [
        len(names) - 1 if isinstance(v, float) else place.get(v, others) for v in feature.column
    ]
    return np.array(position, dtype=np.int64), names


def _strength(feature: Feature, ranks: Sequence[Float64[np.ndarray, " row"]]) -> float:
    """The largest share of variance between the feature's groups, of several answers' ranks."""
    groups = _groups(feature)
    counts = np.bincount(groups)
    n, n_groups = len(groups), int((counts > 0).sum())
    if len(counts) < 2 or n <= len(counts):
        return -math.inf  # a constant tells nothing
    strengths = []
    for of_rows in ranks:
        whole = ((of_rows - of_rows.mean()) ** 2).sum()
        means = np.bincount(groups, of_rows) / np.maximum(counts, 1)
        within = ((of_rows - means[groups]) ** 2).sum()
        strengths.append(1 - (within / (n - n_groups)) / (whole / (n - 1)) if whole else 0.0)
    return float(max(strengths))


def _groups(feature: Feature) -> Int[np.ndarray, " row"]:
    """For each row its group: a category, a value, or a range of values; or none."""
    import pandas as pd

    if feature.kind == "category":
        return strips(feature)[0]
    groups = feature.column
    if groups.nunique() > MOST_GROUPS:
        ranks = groups.rank(method="min")
        groups = pd.qcut(ranks, MOST_GROUPS, labels=False, duplicates="drop")
    return np.asarray(pd.factorize(groups, use_na_sentinel=False)[0], np.int64)
