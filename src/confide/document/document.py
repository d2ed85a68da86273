"""What a document is made of: words, tables and figures, in sections."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from confide.errors import nearest
from confide.extras import require

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

# Names become file names and anchors: nothing in them needs quoting, and none leaves its folder.
NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


# Levels of sections: headings go from 2 to 4.
DEEPEST = 3
# What brushes are called, so that the page finds them: "brush", or "brush_" and a number.
BRUSH = "brush"


def is_brush(name: str) -> bool:
    """Whether a chart's parameter of that name is a brush."""
    return name.split("_", maxsplit=1)[0] == BRUSH


@dataclass(frozen=True)
class Column:
    """A column of a frame, as readers see it.

    Attributes:
        name: of the frame's column.
        heading: what stands above it, or None for its name.
        format: of its numbers, such as ".3g"; used where they have no standard error.
        error: name of the frame's column with its standard errors, shown in the same cell.
        to: name of the frame's column with the upper ends of intervals, of which this one has the
            lower ends: one cell shows both.
        help: what the heading means, shown when it is pointed at.
        marked: name of a boolean column of the frame: where it is true, the cell carries a mark.
    """

    name: str
    heading: str | None = None
    format: str = ""
    error: str | None = None
    help: str = ""
    marked: str | None = None
    to: str | None = None

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.name if self.heading is None else self.heading

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the frame's columns that it shows."""
        names = (self.name, self.to, self.error, self.marked)
        return tuple(name for name in names if name is not None)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a frame under a caption.

    Attributes:
        name: of its files and its anchor.
        caption: one or two sentences of plain text.
        frame: the numbers; columns that are not named in `columns` are not shown.
        columns: what is shown, from left to right.
        mark: what the mark of a marked cell means; needed where a column has marks.
        only_in_csv: columns of the frame that readers do not see, and programs do.
    """

    name: str
    caption: str
    frame: "pd.DataFrame"
    columns: Sequence[Column]
    mark: str = ""
    only_in_csv: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_name("table", self.name)
        if not self.columns:
            raise ValueError(f"Table {self.name!r} needs a column to show, got none.")
        there = [str(column) for column in self.frame.columns]
        for name in self.sources:
            if name not in there:
                message = f"Table {self.name!r}: its frame has no column {name!r}, it has {there}."
                raise ValueError(f"{message} {nearest(name, there)}".rstrip())
        if not self.mark and any(column.marked is not None for column in self.columns):
            raise ValueError(
                f"Table {self.name!r} has marked cells: say in `mark` what the mark means."
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the frame's columns that are in its CSV, each once, from left to right."""
        shown = [name for column in self.columns for name in column.sources]
        return tuple(dict.fromkeys([*shown, *self.only_in_csv]))


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart under a caption, which is also what a screen reader says.

    Attributes:
        name: of its file and its anchor.
        caption: one or two sentences of plain text.
        chart: an Altair chart, such as those of `confide.document`.
        filters: name of a table whose rows a brush in the chart picks out, or None. Such a chart
            has `brush`es (see `confide.document.brush`), and its data the column `key`, which holds
            what stands in the first column of the table.
    """

    name: str
    caption: str
    chart: "alt.TopLevelMixin"
    filters: str | None = None

    def __post_init__(self) -> None:
        _check_name("figure", self.name)

    @cached_property  # it is checked against a schema, which takes a while
    def specification(self) -> dict[str, Any]:
        """The chart as Vega-Lite, the caption as its description."""
        alt = require("altair", "report")
        with alt.data_transformers.enable("default", max_rows=None):
            specification = {**self.chart.to_dict(), "description": self.caption}
        if self.filters is not None:
            _check_brush(self.name, specification)
        return specification


@dataclass(frozen=True, eq=False)
class Panel:
    """Something that readers can try out, drawn by a script of its own.

    Attributes:
        name: of its anchor.
        caption: one or two sentences of plain text.
        script: JavaScript of ours, with nothing in it from outside. It finds the elements whose
            id begins with `panel-` and its name, draws in their `.stage` and reads their JSON. A
            page has it once.
        data: what JSON can hold; what comes from outside belongs here.
    """

    name: str
    caption: str
    script: str
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        _check_name("panel", self.name)


@dataclass(frozen=True)
class Headline:
    """A number that a page answers with, in large type.

    Attributes:
        value: the number as text.
        label: what it is.
        beside: what to compare it with, a line each.
        good: whether that is good; None where it is neither.
    """

    value: str
    label: str
    beside: Sequence[str] = ()
    good: bool | None = None


@dataclass(frozen=True)
class Headlines:
    """The answers of a section, side by side."""

    answers: Sequence[Headline]


Part: TypeAlias = "str | Table | Figure | Panel | Headlines | Section"


@dataclass(frozen=True, eq=False)
class Section:
    """Parts under a title: Markdown, tables, figures, panels and sections, in their order.

    Sections are at most three deep.

    Attributes:
        title: its heading.
        parts: what is in it.
        folded: whether the reader sees only the heading until it is opened.
    """

    title: str
    parts: Sequence[Part]
    folded: bool = False

    def __post_init__(self) -> None:
        if self.depth > DEEPEST:
            raise ValueError(
                f"Section {self.title!r} contains sections of {self.depth} levels, but only "
                f"{DEEPEST} are possible: move the innermost one up."
            )

    @property
    def depth(self) -> int:
        """How many levels of sections there are, with its own."""
        return 1 + max((section.depth for section in self.subsections), default=0)

    @property
    def subsections(self) -> tuple["Section", ...]:
        """The sections among its parts."""
        return tuple(part for part in self.parts if isinstance(part, Section))


@dataclass(frozen=True, eq=False)
class Document:
    """A page: what was found, in plain language, then the sections, then where it comes from.

    Attributes:
        title: its heading.
        summary: Markdown.
        sections: in their order.
        provenance: such as versions, seeds and dates; shown at the end.
        headlines: the answers, above the summary.
    """

    title: str
    summary: str
    sections: Sequence[Section]
    provenance: Mapping[str, str] = field(default_factory=dict)
    headlines: Sequence[Headline] = ()

    def __post_init__(self) -> None:
        _check_no_name_twice("tables", (table.name for table in self.tables))
        _check_no_name_twice("figures", (figure.name for figure in self.figures))
        _check_no_name_twice("panels", (panel.name for panel in self.panels))
        there = [table.name for table in self.tables]
        for figure in self.figures:
            if figure.filters is not None and figure.filters not in there:
                message = f"Figure {figure.name!r} filters the table {figure.filters!r}, which the "
                message += f"document does not have; it has {there}."
                raise ValueError(f"{message} {nearest(figure.filters, there)}".rstrip())

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, from top to bottom."""
        return tuple(part for part in _leaves(self.sections) if isinstance(part, Table))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, from top to bottom."""
        return tuple(part for part in _leaves(self.sections) if isinstance(part, Figure))

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels, from top to bottom."""
        return tuple(part for part in _leaves(self.sections) if isinstance(part, Panel))

    @property
    def filtered(self) -> frozenset[str]:
        """Names of the tables that some figure filters."""
        return frozenset(figure.filters for figure in self.figures if figure.filters is not None)


def _leaves(parts: Iterable[Part]) -> Iterator[str | Table | Figure | Panel | Headlines]:
    for part in parts:
        if isinstance(part, Section):
            yield from _leaves(part.parts)
        else:
            yield part


def _check_name(kind: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(
            f"The name of a {kind} becomes a file name: it needs small letters and digits, joined "
            f"by - or _, got {name!r}. Pass one such as 'coverage-of-boston'."
        )


def _check_brush(name: str, specification: Mapping[str, Any]) -> None:
    brushes = [p for p in specification.get("params", ()) if is_brush(p["name"])]
    rows = [row for rows in specification.get("datasets", {}).values() for row in rows]
    if not brushes or not any("key" in row for row in rows):
        raise ValueError(
            f"Figure {name!r} filters a table: its chart needs a brush and data with the column "
            "'key', and lacks one of them. Make the brush with `confide.document.brush`."
        )


def _check_no_name_twice(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"Two {kind} are named {name!r}, and one file would replace the other: rename one."
            )
        seen.add(name)
