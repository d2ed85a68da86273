"""What was found, as rows and as Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

MEGABYTE = 1e6
NOTHING = "-"


@dataclass(frozen=True)
class FitTime:
    """A warm fit, beside ours on the same table."""

    shape: str
    contender: str
    seconds: float | None = None
    ratio: float | None = None
    measured_epochs: str = ""
    fits: int = 0
    bootstrapped: bool = True
    problem: str | None = None


@dataclass(frozen=True)
class Efficiency:
    """How much of the machine's matrix-multiply peak a fit of ours uses."""

    shape: str
    n_members: int
    seconds: float
    training_seconds: float
    microseconds_per_member_and_step: float
    gigaflops: float
    peak_gigaflops: dict[str, float]

    @property
    def percent_of_peak(self) -> dict[str, float]:
        """Achieved rate while training in percent of each library's peak."""
        return {name: 100 * self.gigaflops / peak for name, peak in self.peak_gigaflops.items()}


@dataclass(frozen=True)
class ManyFits:
    """A hundred data sets with the same inputs, one way to fit them."""

    shape: str
    way: str
    seconds: float | None = None
    ratio: float | None = None
    measured: str = ""
    problem: str | None = None


@dataclass(frozen=True)
class ColdStart:
    """From asking for a process to its first fitted ensemble."""

    contender: str
    seconds: float | None = None
    ratio: float | None = None
    import_seconds: float | None = None
    fit_seconds: float | None = None
    processes: int = 0
    programs: int | None = None
    compiled: int | None = None
    problem: str | None = None


@dataclass(frozen=True)
class FitMemory:
    """Memory of a process that has made one fit."""

    shape: str
    contender: str
    imported_bytes: int | None = None
    beyond_bytes: int | None = None
    problem: str | None = None


@dataclass(frozen=True)
class TableMemory:
    """Memory of one call of ours on a large table, against the bytes of the table."""

    shape: str
    call: str
    seconds: float | None = None
    data_bytes: int | None = None
    beyond_import_bytes: int | None = None
    added_bytes: int | None = None
    problem: str | None = None


@dataclass(frozen=True)
class GrowthPoint:
    """A warm fit of ours along one axis of growth."""

    axis: str
    value: int
    seconds: float | None = None
    seconds_per_epoch: float | None = None
    problem: str | None = None


@dataclass
class Findings:
    """All rows of a run; a section that was not asked for stays empty."""

    peak_gigaflops: dict[str, float] = field(default_factory=dict)
    fit_times: list[FitTime] = field(default_factory=list)
    efficiency: list[Efficiency] = field(default_factory=list)
    many_fits: list[ManyFits] = field(default_factory=list)
    cold_starts: list[ColdStart] = field(default_factory=list)
    fit_memory: list[FitMemory] = field(default_factory=list)
    table_memory: list[TableMemory] = field(default_factory=list)
    growth: list[GrowthPoint] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def growth_along(self, axis: str) -> list[GrowthPoint]:
        """The points of one axis that were measured."""
        return [p for p in self.growth if p.axis == axis and p.seconds is not None]

    def as_json(self) -> dict[str, Any]:
        """Plain values, with what the properties add."""
        plain = asdict(self)
        for row, efficiency in zip(plain["efficiency"], self.efficiency, strict=True):
            row["percent_of_peak"] = efficiency.percent_of_peak
        return plain | {"rows_slope": slope(self.growth_along("rows"))}


Columns: TypeAlias = dict[str, Callable[[Any], str]]
"""Header of each column, and the text of its cell in a row."""


def slope(points: Sequence[GrowthPoint], from_value: int = 10_000) -> float | None:
    """Log-log slope of the seconds per epoch: 1 where twice the rows take twice as long.

    Example:
        >>> slope([GrowthPoint("rows", n, n / 1e5, n / 1e5) for n in (10_000, 1_000_000)])
        1.0
    """
    used = [
        (point.value, point.seconds_per_epoch)
        for point in points
        if point.value >= from_value and point.seconds_per_epoch
    ]
    if len(used) < 2:
        return None
    values, seconds = np.log(np.array(used)).T
    return round(float(np.polyfit(values, seconds, 1)[0]), 6)


def as_markdown(findings: Findings) -> str:
    """All tables that have rows, each under its heading and note."""
    sections = [
        ("Warm fit", _fit_time_table(findings.fit_times)),
        ("Share of the matrix-multiply peak", _efficiency_table(findings.efficiency)),
        ("Many simulations at once", _many_table(findings.many_fits)),
        ("Cold start", _cold_table(findings.cold_starts)),
        ("Memory of a fit", _fit_memory_table(findings.fit_memory)),
        ("Memory on a large table", _table_memory_table(findings.table_memory)),
        *[(f"Growth in {axis}", _growth_table(findings, axis)) for axis in axes(findings)],
    ]
    parts = []
    for heading, lines in sections:
        if lines:
            note = findings.notes.get(heading)
            parts += [f"## {heading}", *([note] if note else []), "\n".join(lines)]
    return "\n\n".join(parts)


def axes(findings: Findings) -> list[str]:
    """The axes of growth, in the order in which they were measured."""
    return list(dict.fromkeys(point.axis for point in findings.growth))


def _fit_time_table(rows: Sequence[FitTime]) -> list[str]:
    columns: Columns = {
        "table": lambda row: row.shape,
        "fit": lambda row: row.contender,
        "seconds": lambda row: row.problem or _number(row.seconds),
        "times confide": lambda row: _number(row.ratio),
        "measured epochs": lambda row: row.measured_epochs,
        "fits": lambda row: str(row.fits or NOTHING),
    }
    return _table(columns, rows)


def _efficiency_table(rows: Sequence[Efficiency]) -> list[str]:
    columns: Columns = {
        "table": lambda row: row.shape,
        "members": lambda row: str(row.n_members),
        "fit, seconds": lambda row: _number(row.seconds),
        "training, seconds": lambda row: _number(row.training_seconds),
        "µs per member and step": lambda row: _number(row.microseconds_per_member_and_step),
        "GFLOP/s": lambda row: _number(row.gigaflops),
    }
    for library in rows[0].peak_gigaflops if rows else ():
        columns[f"share of {library}'s peak"] = partial(_share, library)
    return _table(columns, rows)


def _share(library: str, row: Efficiency) -> str:
    return f"{row.percent_of_peak[library]:.1f} %"


def _many_table(rows: Sequence[ManyFits]) -> list[str]:
    columns: Columns = {
        "table": lambda row: row.shape,
        "fits": lambda row: row.way,
        "seconds": lambda row: row.problem or _number(row.seconds),
        "times as long": lambda row: _number(row.ratio),
        "measured": lambda row: row.measured,
    }
    return _table(columns, rows)


def _cold_table(rows: Sequence[ColdStart]) -> list[str]:
    columns: Columns = {
        "process": lambda row: row.contender,
        "seconds": lambda row: row.problem or _number(row.seconds),
        "times confide": lambda row: _number(row.ratio),
        "import": lambda row: _number(row.import_seconds),
        "first fit": lambda row: _number(row.fit_seconds),
        "processes": lambda row: str(row.processes or NOTHING),
        "programs": lambda row: _count(row.programs),
        "compiled": lambda row: _count(row.compiled),
    }
    return _table(columns, rows)


def _fit_memory_table(rows: Sequence[FitMemory]) -> list[str]:
    columns: Columns = {
        "table": lambda row: row.shape,
        "fit": lambda row: row.contender,
        "imported runtime, MB": lambda row: row.problem or _megabytes(row.imported_bytes),
        "peak beyond it, MB": lambda row: _megabytes(row.beyond_bytes),
    }
    return _table(columns, rows)


def _table_memory_table(rows: Sequence[TableMemory]) -> list[str]:
    columns: Columns = {
        "table": lambda row: row.shape,
        "call": lambda row: f"`{row.call}`",
        "seconds": lambda row: row.problem or _number(row.seconds),
        "data, MB": lambda row: _megabytes(row.data_bytes),
        "peak beyond imports, MB": lambda row: _megabytes(row.beyond_import_bytes),
        "beyond imports / data": lambda row: _number(
            _ratio(row.beyond_import_bytes, row.data_bytes)
        ),
        "added by the call, MB": lambda row: _megabytes(row.added_bytes),
        "added / data": lambda row: _number(_ratio(row.added_bytes, row.data_bytes)),
    }
    return _table(columns, rows)


def _growth_table(findings: Findings, axis: str) -> list[str]:
    points = [point for point in findings.growth if point.axis == axis]
    first = next((point.seconds for point in points if point.seconds), None)
    columns: Columns = {
        axis: lambda point: f"{point.value:,}",
        "seconds": lambda point: point.problem or _number(point.seconds),
        "times the first": lambda point: _number(_ratio(point.seconds, first)),
        "ms per epoch": lambda point: _number(_ratio(point.seconds_per_epoch, 1e-3)),
    }
    exponent = slope(points) if axis == "rows" else None
    last = [] if exponent is None else ["", f"Log-log slope from 10,000 rows on: {exponent:.2f}."]
    return _table(columns, points) + last


def _table(columns: Columns, rows: Sequence[Any]) -> list[str]:
    if not rows:
        return []
    body = [[cell(row).replace("|", "/") for cell in columns.values()] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in (list(columns), ["---"] * len(columns), *body)]


def _number(value: float | None) -> str:
    """Three digits that count.

    Example:
        >>> _number(1234.5), _number(12.345), _number(0.012345), _number(None)
        ('1,234', '12.3', '0.0123', '-')
    """
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _megabytes(value: int | None) -> str:
    return NOTHING if value is None else f"{value / MEGABYTE:,.0f}"


def _count(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base
