"""Text that is dates or times of the day, and text that was perhaps meant as numbers or dates.

The reader of `confide.tables` turns such text into dates, `read_csv` of pandas and polars leaves it
as it is. The rule here is that of the reader (pyarrow's, for ISO 8601), and a test holds the two
together: the same file gives the same model.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw

from confide.encoding.reading import Source
from confide.errors import listed

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")
_HOUR = r"([01]\d|2[0-3])"
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d([ T]{_HOUR}(:\d\d(:\d\d(\.\d{{1,9}})?)?)?(Z|[+-]\d\d(:?[0-5]\d)?)?)?",
    re.ASCII,
)
_TIME = re.compile(rf"{_HOUR}:\d\d(:\d\d)?", re.ASCII)
# What may stand around a number; the value is not needed, only that there is one.
_SIGNS = re.compile(r"[%$€£\s]")
_NUMBER = re.compile(
    r"[+-]?(\d+([.,]\d*)?|[.,]\d+|\d{1,3}(,\d{3})+(\.\d*)?|\d{1,3}(\.\d{3})+(,\d*)?)(e[+-]?\d+)?",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A postal code, say: not a number, though all digits.
_CODE = re.compile(r"0\d+")
_LOOKS_LIKE_DATE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{1,2}/\d{1,2}/\d\d|\d{4}([./-])\d{1,2}\3\d{1,2})([ T].*)?"
)
# A few values of another kind do not hide what the rest is.
_MOST = 0.9


def as_dates(texts: Iterable[str]) -> dict[str, datetime] | None:
    """The date of each text, on the clock of UTC where they have a zone; None if they are not all.

    Example:
        >>> as_dates(["2020-03-25"])
        {'2020-03-25': datetime.datetime(2020, 3, 25, 0, 0)}
        >>> as_dates(["2020-03-25", "soon"])
    """
    dates = _all_read(texts, _date)
    # A zone for some of them says nothing about the others.
    return dates if dates and len({date.tzinfo for date in dates.values()}) == 1 else None


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
    if times := _all_read(different, lambda text: _parsed(text, _TIME, time.fromisoformat)):
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
    return Source(source.name, kind, source.dtype, series)


def _all_read(texts: Iterable[str], read: Callable[[str], Value | None]) -> dict[str, Value] | None:
    """What each text is read as; None at the first that cannot be."""
    values = {}
    for text in texts:
        if (value := read(text)) is None:
            return None
        values[text] = value
    return values


def _date(text: str) -> datetime | None:
    date = _parsed(text, _DATE, datetime.fromisoformat)
    with suppress(OverflowError):  # no such day in UTC
        return date if date is None or date.tzinfo is None else date.astimezone(UTC)
    return None


def _parsed(text: str, form: re.Pattern[str], parse: Callable[[str], Value]) -> Value | None:
    bare = text.strip(" \t")
    with suppress(ValueError):  # no such day, no such minute
        return parse(bare) if form.fullmatch(bare) else None
    return None


def hint(texts: Sequence[str]) -> str | None:
    """What different texts look like, and how to write them so that they are read as that.

    Example:
        >>> hint(["95", "110", "88", "90", "105", "75", "68", "80", "97", "?"])
        "most values look like numbers, but not '?': write those as empty"
        >>> hint(["03/25/2020", "03/26/2020"])
        'it looks like dates: write them as 2020-03-25'
    """
    odd = sorted(text for text in texts if not is_date(text))
    if texts and len(texts) - len(odd) >= _MOST * len(texts):
        if odd:
            return f"most values look like dates, but not {listed(odd, 3)}: write those as empty"
        return "it looks like dates: pass them as dates"
    if _most_are(_LOOKS_LIKE_DATE, texts):
        return "it looks like dates: write them as 2020-03-25"
    bare = {text: _SIGNS.sub("", text) for text in texts}
    if not _most_are(_NUMBER, list(bare.values())) or any(map(_CODE.fullmatch, bare.values())):
        return None
    odd = sorted(text for text in texts if not _NUMBER.fullmatch(bare[text]))
    if not odd:
        return "they look like numbers: pass them as numbers, such as 1234.5"
    others = (text for text in texts if text not in odd)
    form = "" if all(map(_PLAIN.fullmatch, others)) else ", and the numbers as 1234.5"
    return f"most values look like numbers, but not {listed(odd, 3)}: write those as empty{form}"


def are_plain_numbers(texts: Sequence[str]) -> bool:
    """Whether all are numbers as programs write them, such as the names of shops may be."""
    return all(map(_PLAIN.fullmatch, texts))


def _most_are(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    count = sum(pattern.fullmatch(text.strip()) is not None for text in texts)
    return count > 0 and count >= _MOST * len(texts)
