"""Columns of pandas, polars and pyarrow, read alike."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
from jaxtyping import Bool, Float64

from confide.errors import RowError

Kind: TypeAlias = Literal["number", "boolean", "category", "date", "time", "duration", "missing"]
Rows: TypeAlias = Float64[np.ndarray, " row"]
Series: TypeAlias = nw.Series[Any]

_KINDS: dict[Any, Kind] = {
    nw.Boolean: "boolean",
    nw.String: "category",
    nw.Categorical: "category",
    nw.Enum: "category",
    nw.Date: "date",
    nw.Datetime: "date",
    nw.Time: "time",
    nw.Duration: "duration",
}
# What pandas says of a column of Python objects.
_KINDS_OF_OBJECTS: dict[str, Kind] = {
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "date",
    "datetime64": "date",
    "time": "time",
    "timedelta": "duration",
    "timedelta64": "duration",
    "string": "category",
    "empty": "missing",
}


class DateOrder(NamedTuple):
    """The order of year, month and day in dates as text: "month first", "day first", "year first".

    Attributes:
        order: which of them.
        is_guess: whether two orders fit, and nothing decides between them.
    """

    order: str
    is_guess: bool


class Written(NamedTuple):
    """How numbers are written as text that programs do not read.

    Attributes:
        decimal: what stands before the decimals; the other of point and comma groups thousands.
        sign: of the currency, or per cent, or nothing.
        is_guess: whether the commas could be before decimals too.
    """

    decimal: str
    sign: str
    is_guess: bool = False


@dataclass(frozen=True)
class Source:
    """A column as it was given.

    Attributes:
        name: its name.
        kind: what its values are, "missing" where there are none; None for what is not taken.
        dtype: its type in the words of its library.
        series: its values, as their kind needs them.
        objects: where they came as Python objects of several types, those.
        date_order: of dates that were text in another order than that of ISO 8601.
        written: of numbers that were text, how.
        zone: of dates that are read as those of UTC, since narwhals does not know their own.
    """

    name: str
    kind: Kind | None
    dtype: str
    series: Series
    objects: Series | None = None
    date_order: DateOrder | None = None
    written: Written | None = None
    zone: str | None = None

    @property
    def time_zone(self) -> str | None:
        """The zone of dates that have one."""
        return self.zone or getattr(self.series.dtype, "time_zone", None)

    @property
    def is_text(self) -> bool:
        """Whether it can be read as text: categories, whole numbers, or objects with either."""
        if self.kind in {"number", "boolean"}:
            return self.objects is not None or self.series.dtype.is_integer()
        return self.kind in {"category", "missing"}

    @property
    def is_free_text(self) -> bool:
        """Whether it is text that its library does not call categories."""
        is_text = self.kind == "category" and self.series.dtype == nw.String
        return is_text and self.objects is None and self.dtype != "category"

    @property
    def are_called_categories(self) -> bool:
        """Whether its library calls the values categories."""
        return self.dtype == "category" or self.series.dtype in (nw.Categorical, nw.Enum)

    def texts(self) -> Series:
        """The values as text, with nulls."""
        if self.objects is not None:
            return _texts_of_objects(self.objects)
        return self.series if self.series.dtype == nw.String else self.series.cast(nw.String)

    def numbers(self, zone: str | None = None) -> Rows:
        """The values as numbers, not a number where they are missing.

        Days since 1970 for dates, seconds for durations and for times of the day.

        Args:
            zone: dates that have a zone are read on the clock of this one.

        Raises:
            RowError: a number is infinite.
        """
        if self.kind == "missing":
            return np.full(len(self.series), np.nan)
        if self.kind == "date":
            return _days(self.series, zone)
        if self.kind == "duration":
            return _float64(self.series.dt.total_microseconds()) / 1e6
        if self.kind == "time":
            return np.array([_seconds(time) for time in self.series.to_list()], np.float64)
        values = _float64(self.series)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise RowError(
                f"X must be finite, but column {self.name} is {values[row]} at row {{row}}. Drop "
                "or correct such rows.",
                row,
            )
        return values


def is_table(X: Any) -> bool:
    """Whether X is a table of pandas, polars or pyarrow."""
    is_of = nw.dependencies
    return is_of.is_pandas_dataframe(X) or is_of.is_polars_dataframe(X) or is_of.is_pyarrow_table(X)


def column_names(table: Any) -> list[Any]:
    """The names of a table's columns as they are: in pandas they may be of any type."""
    is_arrow = nw.dependencies.is_pyarrow_table(table)
    return list(table.column_names if is_arrow else table.columns)


def labels_of(table: Any, name: Any) -> list[str]:
    """The values of a column as text, alike in all libraries; "missing" where there is none."""
    # narwhals would take a number for that of a row.
    is_pandas = nw.dependencies.is_pandas_dataframe(table)
    column = table[name] if is_pandas else nw.from_native(table, eager_only=True)[name]
    return [_label(value) for value in column.to_list()]


def _label(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return "missing"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{float(value):.12g}" if is_number else str(value)


def rows_of(table: Any, kept: Bool[np.ndarray, " row"]) -> Any:
    """The rows of a table where `kept` is true."""
    if nw.dependencies.is_pandas_dataframe(table):
        return table.loc[kept]
    return nw.from_native(table, eager_only=True).filter(kept.tolist()).to_native()


def index_of(X: Any) -> Any:
    """The index of rows of pandas, or None for rows that have none."""
    return X.index if nw.dependencies.is_pandas_dataframe(X) else None


def refuse_unreadable_tables(X: Any) -> None:
    """Refuses a table that is not there yet, or in which two columns have one name.

    Raises:
        ValueError: with what to do.
    """
    if nw.dependencies.is_polars_lazyframe(X):
        raise ValueError(
            "X must be a table with data, but a LazyFrame of polars is not computed yet. Call "
            "collect() first."
        )
    names = [str(name) for name in column_names(X)] if is_table(X) else []
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(
            "The columns of X must have different names, but these appear more than once: "
            f"{', '.join(twice)}. Rename or drop them."
        )


def sources(table: Any) -> list[Source]:
    """The columns of a table.

    Raises:
        ValueError: it cannot be read.
    """
    refuse_unreadable_tables(table)
    names = [str(name) for name in column_names(table)]
    if nw.dependencies.is_pandas_dataframe(table):
        table = table.set_axis(names, axis=1)
    frame = nw.from_native(table, eager_only=True)
    return [_source(name, frame.get_column(name)) for name in names]


def known_zone(zone: str) -> str:
    """The zone, if every library knows it; hours from UTC are read on the clock of UTC."""
    try:
        return ZoneInfo(zone).key
    except (KeyError, ValueError, OSError):
        return "UTC"


def _source(name: str, series: Series) -> Source:
    native = series.to_native()
    dtype = str(native.type if nw.dependencies.is_pyarrow_chunked_array(native) else native.dtype)
    if dtype == "object" and nw.dependencies.is_pandas_series(native):
        kind, settled, is_mixed = _settled_objects(native)
        objects, settled = series if is_mixed else None, _series(settled)
        if (zone := _unknown_zone(settled)) is not None:
            settled = _in_utc(settled)
        return Source(name, kind, dtype, settled, objects, zone=zone)
    if (taken := _as_taken(native)) is not native:  # a tenth of a millisecond, of each column
        series = _series(taken)
    if (zone := _unknown_zone(series)) is not None:
        return Source(name, "date", dtype, _in_utc(series), zone=zone)
    if series.dtype.is_numeric():
        return Source(name, "number", dtype, series)
    kind = next((kind for known, kind in _KINDS.items() if series.dtype == known), None)
    # A column of nothing has whatever type its library gives to nothing.
    if kind in {None, "category"} and not series.dtype.is_nested() and series.is_null().all():
        kind = "missing"
    return Source(name, kind, dtype, series)


def _series(native: Any) -> Series:
    return nw.from_native(native, series_only=True)


def _unknown_zone(series: Series) -> str | None:
    """The zone of dates in pandas whose name narwhals does not read, such as America/New_York."""
    own = getattr(series.to_native(), "dtype", None) if series.dtype == nw.Unknown else None
    zone = getattr(own, "tz", None)
    return None if zone is None else str(zone)


def _in_utc(series: Series) -> Series:
    return _series(series.to_native().dt.tz_convert("UTC"))


def _as_taken(native: Any) -> Any:
    """A column whose type narwhals does not take as it is, in one that it takes."""
    if nw.dependencies.is_pyarrow_chunked_array(native):
        import pyarrow as pa

        if native.type == pa.date64():
            return native.cast(pa.timestamp("ms"))
        return native.cast(pa.string()) if str(native.type) == "string_view" else native
    if nw.dependencies.is_pandas_series(native) and hasattr(native, "cat"):
        # Categories of pandas may be of any type, and turn to floats where some are missing.
        texts = [str(category) for category in native.cat.categories]
        return native.cat.rename_categories(texts).astype(object)
    return native


def _settled_objects(native: Any) -> tuple[Kind | None, Any, bool]:
    """What Python objects in pandas are, the column as its kind needs it, and if they are mixed."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(native, skipna=True)
    kind = _KINDS_OF_OBJECTS.get(inferred)
    if kind is None:
        types = set(map(type, native[native.notna()]))
        if all(issubclass(of_value, (Real, Decimal)) for of_value in types):
            kind = "number"
        elif all(issubclass(of_value, (str, Real, Decimal)) for of_value in types):
            kind = "category"
    if kind == "number":
        native = native.where(native.notna(), np.nan).astype(np.float64)
    elif kind == "boolean":
        native = native.astype("boolean")
    elif kind == "date":
        try:
            native = pd.to_datetime(native)
        except ValueError:  # more zones than one
            native = pd.to_datetime(native, utc=True)
    elif kind == "duration":
        native = pd.to_timedelta(native)
    return kind, native, inferred != "string"


def _texts_of_objects(series: Series) -> Series:
    native = series.to_native()
    missing = native.isna()
    texts = native.map(str).astype(object)
    texts[missing] = None
    return _series(texts.astype("string"))


def _days(series: Series, zone: str | None) -> Rows:
    if getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.convert_time_zone(zone or "UTC").dt.replace_time_zone(None)
    return _float64(series.dt.timestamp("us")) / (1e6 * 86_400)


def _float64(series: Series) -> Rows:
    native = series.to_native()
    if nw.dependencies.is_pyarrow_chunked_array(native):
        # As the other libraries do, numbers with more digits than a float has are rounded.
        return np.asarray(native.cast("float64", safe=False).to_numpy(), np.float64)
    if series.dtype != nw.Float64:
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy(), np.float64)


def _seconds(time: Any) -> float:
    """Seconds since midnight; missing times are None, or pandas' own."""
    if not hasattr(time, "hour") or time != time:  # noqa: PLR0124
        return np.nan
    return 3600 * time.hour + 60 * time.minute + time.second + 1e-6 * time.microsecond
