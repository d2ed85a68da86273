"""Text that is dates or times of the day, and text that was perhaps meant as numbers or dates.

The reader of `confide.tables` turns dates of ISO 8601 into dates, `read_csv` of pandas and polars
leaves them as text. The rule here is that of the reader (pyarrow's), and a test holds the two
together: the same file gives the same model. Dates in other orders, as people write them, are text
to all readers, and read here alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw

from confide.encoding.reading import DateOrder, Source
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
# As people write dates: 12/31/2020, 31.12.20, 2020/12/31, with or without a time. A short year
# needs slashes, or points and two digits everywhere, because 1.2.20 may be a chapter.
_WRITTEN = re.compile(
    r"(?=\d{1,2}/\d{1,2}/\d\d|\d\d\.\d\d\.\d\d|\d{1,2}([./-])\d{1,2}\1\d{4}|\d{4})"
    r"(\d{1,4})([./-])(\d{1,2})\3(\d{1,4})"
    r"(?: (\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([AP])M)?)?",
    re.ASCII | re.IGNORECASE,
)
# With the name of an English month: Jan 31, 2023; 31 January 2023; 31-Jan-23.
_NAMED = re.compile(
    r"(?:([a-z]{3,9})\.? (\d{1,2})(?:,|, | )(?=\d{4})|(\d{1,2})([ -])([a-z]{3,9})\.?(?:\4|, ))"
    r"(\d{4}|\d\d)(?!\d)",
    re.ASCII | re.IGNORECASE,
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS = {"sept": 9} | {
    name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])
}
# Where year, month and day stand in dates of each order.
PLACES = {"month first": (2, 0, 1), "day first": (2, 1, 0), "year first": (0, 1, 2)}
# The same as people say it; None is the order of ISO 8601.
ORDERS = {
    None: "year-month-day",
    "month first": "month/day/year",
    "day first": "day/month/year",
    "year first": "year/month/day",
}
# Short years from here on are of the last century, as in POSIX.
_LAST_CENTURY = 69
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


def as_dates(texts: Iterable[str], order: str | None = None) -> dict[str, datetime] | None:
    """The date of each text, on the clock of UTC where they have a zone; None if they are not all.

    Args:
        texts: different ones.
        order: of year, month and day in dates that are not of ISO 8601; None if there are none.

    Returns:
        The dates by their text.

    Example:
        >>> as_dates(["2020-03-25"])
        {'2020-03-25': datetime.datetime(2020, 3, 25, 0, 0)}
        >>> as_dates(["2020-03-25", "soon"])
        >>> as_dates(["25.3.2020"], "day first")
        {'25.3.2020': datetime.datetime(2020, 3, 25, 0, 0)}
    """
    dates = _all_read(texts, lambda text: _date(text, order))
    # A zone for some of them says nothing about the others.
    return dates if dates and len({date.tzinfo for date in dates.values()}) == 1 else None


def date_order(texts: Sequence[str]) -> DateOrder | None:
    """The order of year, month and day in which all texts are dates; None if there is none.

    Where two orders fit, because no day is above 12, the one is taken in which the dates are
    sorted. Points stand for the day first. Otherwise it is a guess: the month first for slashes.

    Args:
        texts: different ones, in the order of the rows.

    Returns:
        The order, and whether it is a guess.

    Example:
        >>> date_order(["12/31/2020", "1/5/2021"])
        DateOrder(order='month first', is_guess=False)
    """
    may_be = _WRITTEN.match(_in_digits(texts[0].strip()))
    read = {order: as_dates(texts, order) for order in PLACES if may_be}
    fitting = {order: list(dates.values()) for order, dates in read.items() if dates is not None}
    if len(fitting) < 2:
        return DateOrder(next(iter(fitting)), is_guess=False) if fitting else None
    is_sorted = [order for order, dates in fitting.items() if dates in _sorted_both_ways(dates)]
    if len(is_sorted) == 1 and len(texts) > 2:
        return DateOrder(is_sorted[0], is_guess=False)
    if "." in texts[0]:
        return DateOrder("day first", is_guess=False)
    return DateOrder("month first" if "/" in texts[0] else "day first", is_guess=True)


def is_date(text: str, order: str | None = None) -> bool:
    """Whether a text is a date, of ISO 8601 or in an order."""
    return _date(text, order) is not None


def with_dates_read(source: Source, order: str | None = None) -> Source:
    """A column of text that is all dates, or all times of the day, as these; others as they are.

    Args:
        source: the column.
        order: in which training had its dates; None where this is training, or they were ISO's.

    Returns:
        The column.
    """
    if not source.is_free_text:
        return source
    different = source.texts().drop_nulls().unique(maintain_order=True).to_list()
    dates = as_dates(different, order)
    if dates is not None:
        zone = "UTC" if next(iter(dates.values())).tzinfo is not None else None
        return _replaced(source, "date", dates, nw.Datetime("us", zone))
    if times := _all_read(different, lambda text: _parsed(text, _TIME, time.fromisoformat)):
        return _replaced(source, "time", times, None)
    return source


def with_written_dates_read(source: Source) -> Source:
    """A column of the training table that is all dates as people write them, as dates."""
    if not source.is_free_text:
        return source
    different = source.texts().drop_nulls().unique(maintain_order=True).to_list()
    if (found := date_order(different)) is None:
        return source
    return replace(with_dates_read(source, found.order), date_order=found)


def series_with_dates_read(series: "pd.Series[Any]") -> "pd.Series[Any]":
    """The same for dates in a column of pandas, to show it as the networks see it."""
    import pandas as pd

    if pd.api.types.infer_dtype(series, skipna=True) != "string":
        return series
    texts = series.dropna().unique().tolist()
    dates = as_dates(texts)
    if dates is None and (found := date_order(texts)) is not None:
        dates = as_dates(texts, found.order)
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


def _date(text: str, order: str | None = None) -> datetime | None:
    date = _parsed(text, _DATE, datetime.fromisoformat)
    if date is None and order is not None:
        return _written_date(text, order)
    with suppress(OverflowError):  # no such day in UTC
        return date if date is None or date.tzinfo is None else date.astimezone(UTC)
    return None


def _written_date(text: str, order: str) -> datetime | None:
    if (found := _WRITTEN.fullmatch(_in_digits(text.strip()))) is None:
        return None
    *_, hour, minute, second, half = found.groups()
    year, month, day = (found.group(2, 4, 5)[place] for place in PLACES[order])
    if len(year) not in {2, 4} or max(len(month), len(day)) > 2:
        return None
    of_day = int(hour or 0)
    if half:
        of_day = of_day % 12 + 12 * (half in "pP") if 1 <= of_day <= 12 else 24
    with suppress(ValueError):  # no such day, no such minute
        date = _whole_year(year), int(month), int(day)
        return datetime(*date, of_day, int(minute or 0), int(second or 0))  # noqa: DTZ001
    return None


def _in_digits(text: str) -> str:
    """A text with a date such as Jan 31, 2023 at its start, with 2023-01-31; others as they are."""
    if (found := _NAMED.match(text)) is None:
        return text
    before, day_after, day_before, _, after, year = found.groups()
    month, day = _MONTH_NUMBERS.get((before or after).lower()), day_after or day_before
    if month is None:
        return text
    return f"{_whole_year(year):04}-{month:02}-{day:0>2}{text[found.end() :]}"


def _whole_year(year: str) -> int:
    century = 0 if len(year) == 4 else 1900 if int(year) >= _LAST_CENTURY else 2000
    return century + int(year)


def _sorted_both_ways(dates: list[datetime]) -> tuple[list[datetime], list[datetime]]:
    return sorted(dates), sorted(dates, reverse=True)


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
        >>> hint(["03/25/2020", "25/03/2020"])
        'it looks like dates: write them as 2020-03-25'
    """
    odd = sorted(text for text in texts if not is_date(text))
    if texts and not odd:
        return "it looks like dates: pass them as dates"
    if texts and len(texts) - len(odd) < _MOST * len(texts):
        looks = (_LOOKS_LIKE_DATE.fullmatch(_in_digits(text.strip())) for text in odd)
        odd = sorted(text for text, look in zip(odd, looks, strict=True) if not look)
    if len(texts) - len(odd) >= max(_MOST * len(texts), 1):
        if odd:
            return f"most values look like dates, but not {listed(odd, 3)}: write those as empty"
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
