"""A column of a table, as numbers, dates or categories that an axis can show."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from confide.encoding import (
    column_names,
    is_table,
    series_with_amounts_read,
    series_with_dates_read,
)
from confide.errors import nearest

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 12
MISSING, OTHERS = "(missing)", "(others)"


@dataclass(frozen=True, eq=False)
class Values:
    """What a column holds in each row.

    Attributes:
        entries: numbers or dates, NaN or NaT where one is missing; of categories, their numbers.
        categories: the categories' names in order; none for numbers and dates.
    """

    entries: np.ndarray
    categories: tuple[str, ...] = ()

    @property
    def known(self) -> Bool[np.ndarray, " row"]:
        """Which rows have a value; to be missing is a category, too."""
        return ~np.isnan(self.entries)


def feature_of(X: Any, feature: str | int) -> tuple[str, Any]:
    """The name and the column of a feature, by its name or its position.

    Example:
        >>> feature_of(np.array([[1, 2], [3, 4]]), 1)
        ('feature 1', array([2, 4]))
    """
    names = column_names(X) if is_table(X) else None
    if len(np.shape(X)) != 2:
        raise ValueError(
            f"X must be a table of rows and features, got shape {np.shape(X)}. Pass the rows that "
            "were predicted."
        )
    if names is not None and feature in names:
        return str(feature), _column(X, names.index(feature))
    n_features = len(names) if names is not None else np.shape(X)[1]
    if isinstance(feature, int | np.integer) and -n_features <= feature < n_features:
        position = int(feature) % n_features
        name = f"feature {position}" if names is None else str(names[position])
        return name, _column(X, position)
    if names is None:
        raise ValueError(
            f"X has no column names, so `feature` must be a position from 0 to {n_features - 1}, "
            f"got {feature!r}. Pass a position, or X as a frame."
        )
    listed = [str(name) for name in names]
    raise ValueError(
        f"`feature` must be one of the columns {', '.join(listed)} or a position from 0 to "
        f"{n_features - 1}, got {feature!r}. {nearest(feature, listed) or 'Pass one of those.'}"
    )


def _column(X: Any, position: int) -> Any:
    if hasattr(X, "iloc"):  # pandas, where names may come twice
        return X.iloc[:, position]
    if hasattr(X, "column_names"):  # Arrow
        return X.column(position)
    return (X if is_table(X) else np.asarray(X))[:, position]


def as_values(column: ArrayLike) -> Values:
    """Numbers and dates as they are; other text, booleans and all else as categories."""
    from pandas.api import types

    series = series_with_amounts_read(series_with_dates_read(_series(column)))
    kind = types.infer_dtype(series, skipna=True)
    if kind in {"date", "datetime", "datetime64"}:
        return Values(_dates(series))
    if kind in {"integer", "floating", "mixed-integer-float", "decimal"}:
        return Values(series.to_numpy(dtype="float64", na_value=np.nan))
    return _categories(series)


def few_values_as_categories(values: Values) -> Values:
    """Numbers that take few values, many times each, as categories: grades, counts, codes."""
    known = values.entries[values.known]
    if values.categories or known.dtype.kind == "M" or not len(known):
        return values
    distinct, codes = np.unique(values.entries, return_inverse=True)  # one NaN, at the end
    if len(distinct) > MOST_CATEGORIES or len(values.entries) < 2 * len(distinct):
        return values
    names = tuple(MISSING if np.isnan(value) else f"{value:g}" for value in distinct)
    return Values(codes, names)


def _series(column: Any) -> "pd.Series":
    import pandas as pd  # here, because importing it is slow

    if isinstance(column, pd.Series):
        return column.reset_index(drop=True)
    if isinstance(column, pd.api.extensions.ExtensionArray):  # keeps the order of categories
        return pd.Series(column)
    return pd.Series(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _dates(series: "pd.Series") -> np.ndarray:
    """Dates as the clock on the wall shows them: an axis knows no time zones."""
    import pandas as pd

    dates = pd.to_datetime(series)
    if dates.dt.tz is not None:
        dates = dates.dt.tz_localize(None)
    return dates.to_numpy(dtype="datetime64[us]")


def _categories(series: "pd.Series") -> Values:
    """Categories in their own order or else sorted; the rarest of many are put together."""
    import pandas as pd

    words = series.astype(object).map(str, na_action="ignore").fillna(MISSING)
    own = [str(name) for name in series.cat.categories] if hasattr(series, "cat") else None
    names = own if own is not None else sorted(set(words) - {MISSING})
    names = [name for name in names if (words == name).any() and name != MISSING]
    if len(names) > MOST_CATEGORIES:
        common = set(words[words != MISSING].value_counts(sort=True).index[: MOST_CATEGORIES - 1])
        words = words.where(words.isin(common | {MISSING}), OTHERS)
        names = [name for name in names if name in common] + [OTHERS]
    if (words == MISSING).any():
        names.append(MISSING)
    return Values(pd.Index(names).get_indexer(words), tuple(names))
