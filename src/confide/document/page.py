"""A document as one page of HTML that needs nothing but itself."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count
from typing import Any
from urllib.parse import quote

from confide.document import tables
from confide.document.document import (
    Column,
    Document,
    Figure,
    Headlines,
    Panel,
    Part,
    Section,
    Table,
)
from confide.document.look import look
from confide.extras import require


def render_page(document: Document) -> str:
    """The document as HTML: readable offline, in light and dark, on a phone and on paper.

    Everything is inside: styles, the drawing library, the charts' numbers, the tables as CSV. The
    page's own policy forbids requests to any host, and scripts other than its own.
    """
    own = dict.fromkeys(panel.script for panel in document.panels)
    scripts = [_without_end(script) for script in (_drawing_library(), _resource("page.js"), *own)]
    template = _environment().from_string(_resource("page.html.jinja"))
    return str(
        template.render(
            document=document,
            summary=_markdown(document.summary),
            sections=list(_blocks(document.sections, set(), document.filtered)),
            brushed=bool(document.filtered),
            policy=_policy(scripts),
            style=_markup(_resource("page.css")),
            scripts=[_markup(script) for script in scripts],
            look=_json(look()),
            mark=tables.MARK,
            missing=tables.MISSING,
        )
    )


def vegalite_version() -> str:
    """The version that Altair's charts are written for, such as '6.1'."""
    return ".".join(require("altair", "report").SCHEMA_VERSION.removeprefix("v").split(".")[:2])


@dataclass(frozen=True)
class _Block:
    """What the template shows of one part."""

    kind: str
    content: Any = None
    title: str = ""
    anchor: str = ""
    filters: str | None = None
    blocks: Sequence["_Block"] = ()
    folded: bool = False

    @property
    def sections(self) -> list["_Block"]:
        return [block for block in self.blocks if block.kind == "section"]


@dataclass(frozen=True)
class _Table:
    table: Table
    rows: list[tuple[tables.Cell, ...]]
    numeric: list[bool]
    download: str
    filtered: bool

    @property
    def has_marks(self) -> bool:
        return tables.has_marks(self.table)

    @property
    def columns(self) -> list[tuple[Column, bool]]:
        return list(zip(self.table.columns, self.numeric, strict=True))


def _blocks(parts: Sequence[Part], anchors: set[str], filtered: frozenset[str]) -> Iterator[_Block]:
    for part in parts:
        if isinstance(part, Section):
            anchor = _anchor(part.title, anchors)
            blocks = tuple(_blocks(part.parts, anchors, filtered))
            yield _Block("section", None, part.title, anchor, None, blocks, part.folded)
        elif isinstance(part, Table):
            yield _Block("table", _table(part, filtered), anchor=f"table-{part.name}")
        elif isinstance(part, Figure):
            specification = _json(part.specification)
            anchor = f"figure-{part.name}"
            yield _Block("figure", specification, part.caption, anchor, part.filters)
        elif isinstance(part, Panel):
            yield _Block("panel", _json(part.data), part.caption, f"panel-{part.name}")
        elif isinstance(part, Headlines):
            yield _Block("headlines", part.answers)
        else:
            yield _Block("words", _markdown(part))


def _table(table: Table, filtered: frozenset[str]) -> _Table:
    numeric = [tables.is_numeric(table, column) for column in table.columns]
    download = f"data:text/csv;charset=utf-8,{quote(tables.to_csv(table))}"
    rows = list(tables.cells(table))
    return _Table(table, rows, numeric, download, table.name in filtered)


def _anchor(title: str, anchors: set[str]) -> str:
    """Made of the title; where one is taken, it gets a number."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    names = (f"section-{slug}" + (f"-{n}" if n > 1 else "") for n in count(1))
    anchor = next(name for name in names if name not in anchors)
    anchors.add(anchor)
    return anchor


def _policy(scripts: Sequence[str]) -> str:
    """The page's Content-Security-Policy: nothing from outside, no script but these."""
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _drawing_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, which puts `vegaEmbed` on the window."""
    bundle = require("vl_convert", "report").javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=vegalite_version()
    )
    return str(bundle)


def _without_end(script: str) -> str:
    """A script that may stand between script tags, and that hashes there as it is."""
    if re.search(r"</script|<!--|\r", script, re.IGNORECASE):
        raise ValueError(
            "A script of a page must not have what ends it in HTML, and this one has. Change it, "
            "or use another version of vl-convert-python if it is the drawing library."
        )
    return script


def _environment() -> Any:
    jinja2 = require("jinja2", "report")
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _markup(text: str) -> Any:
    """Text that stands in the page as it is."""
    return require("markupsafe", "report").Markup(text)


def _markdown(text: str) -> Any:
    """Markdown without raw HTML, and without images, which would be asked for elsewhere."""
    parser = require("markdown_it", "report").MarkdownIt("commonmark", {"html": False})
    return _markup(parser.enable("table").disable("image").render(text))


def _json(value: Any) -> Any:
    """JSON that no script tag inside it can end."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return _markup(text.replace("<", "\\u003c"))


def _resource(name: str) -> str:
    return resources.files("confide.document").joinpath(name).read_text(encoding="utf-8")
