"""Text that is dates or times of the day: read as such, whoever read the file.

The reader of `confide.tables` turns such text into dates, `read_csv` of pandas and polars leaves it
as it is. The rule here is that of the reader (pyarrow's, for ISO 8601), and a test holds the two
together: the same file gives the same model.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

import narwhals as nw

from confide.encoding.reading import Source

if TYPE_CHECKING:
    import pandas as pd

_HOUR = r"([01]\d|2[0-3])"
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d([ T]{_HOUR}(:\d\d(:\d\d(\.\d{{1,9}})?)?)?(Z|[+-]\d\d(:?[0-5]\d)?)?)?",
    re.ASCII,
)
_TIME = re.compile(rf"{_HOUR}:\d\d(:\d\d)?", re.ASCII)


def as_dates(texts: Iterable[str]) -> dict[str, datetime] | None:
    """The date of each text, on the clock of UTC where they have a zone; None if they are not all.

    Example:
        >>> as_dates(["2020-03-25"])
        {'2020-03-25': datetime.datetime(2020, 3, 25, 0, 0)}
        >>> as_dates(["2020-03-25", "soon"])
    """
    found = {}
    for text in texts:
        if (date := _date(text)) is None:
            return None
        found[text] = date
    # A zone for some of them says nothing about the others.
    return found if len({date.tzinfo for date in found.values()}) == 1 else None


def as_times(texts: Iterable[str]) -> dict[str, time] | None:
    """The time of the day of each text; None if they are not all."""
    found = {}
    for text in texts:
        if (moment := _time(text)) is None:
            return None
        found[text] = moment
    return found or None


def is_date(text: str) -> bool:
    """Whether a text is a date."""
    return _date(text) is not None


def with_dates_read(source: Source) -> Source:
    """A column of text that is all dates, or all times of the day, as these; others as they are."""
    if not source.is_free_text:
        return source
    texts = source.texts()
    different = texts.drop_nulls().unique().to_list()
    if (dates := as_dates(different)) is not None:
        zone = "UTC" if next(iter(dates.values())).tzinfo is not None else None
        return _replaced(source, "date", dates, nw.Datetime("us", zone))
    if (times := as_times(different)) is not None:
        return _replaced(source, "time", times, None)
    return source


def series_with_dates_read(series: "pd.Series[Any]") -> "pd.Series[Any]":
    """The same for dates in a column of pandas, to show it as the networks see it."""
    import pandas as pd

    if pd.api.types.infer_dtype(series, skipna=True) != "string":
        return series
    dates = as_dates(series.dropna().unique())
    return series if dates is None else pd.to_datetime(series.astype(object).map(dates))


def _replaced(source: Source, kind: Any, values: dict[str, Any], dtype: Any) -> Source:
    texts = source.texts()
    read = [values.get(text) for text in texts.to_list()]  # what is missing is no key
    series = nw.new_series(source.name, read, dtype, backend=texts.implementation)
    return Source(source.name, kind, source.said, series)


def _date(text: str) -> datetime | None:
    bare = text.strip(" \t")
    if _DATE.fullmatch(bare) is None:
        return None
    try:
        date = datetime.fromisoformat(bare)
        return date if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or none in UTC
        return None


def _time(text: str) -> time | None:
    bare = text.strip(" \t")
    if _TIME.fullmatch(bare) is None:
        return None
    try:
        return time.fromisoformat(bare)
    except ValueError:
        return None
