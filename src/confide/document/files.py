"""A document as a folder: the page, and its tables and figures for other uses."""

import os
import re
from pathlib import Path

from confide.document import tables
from confide.document.document import Document, Figure
from confide.document.look import look
from confide.document.page import render_page, vegalite_version
from confide.extras import require
from confide.persistence import write_atomically

# Of much the same width on most machines, as the converter cannot know the reader's own.
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
# Pixels about a figure, for readers whose letters are wider than the converter's.
PADDING = 24


def write_document(document: Document, folder: str | os.PathLike[str]) -> Path:
    """Writes `index.html`, `tables/*.csv`, `tables/*.md` and `figures/*.svg`.

    The same document gives the same bytes. The folder is made where there is none; files of other
    names in it stay.

    Returns:
        The path of the page.
    """
    # All are made before the first is written: what cannot be drawn leaves the old files whole.
    files = {"index.html": render_page(document)}
    for table in document.tables:
        files[f"tables/{table.name}.csv"] = tables.to_csv(table)
        files[f"tables/{table.name}.md"] = tables.to_markdown(table)
    for figure in document.figures:
        files[f"figures/{figure.name}.svg"] = to_svg(figure)
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
    return Path(folder) / "index.html"


def to_svg(figure: Figure) -> str:
    """The figure alone, on white."""
    svg = require("vl_convert", "report").vegalite_to_svg(
        figure.specification,
        vl_version=vegalite_version(),
        config={**look(), "background": "white", "font": FONT, "padding": PADDING},
        allowed_base_urls=[],
    )
    return _renumbered(svg)


def _renumbered(svg: str) -> str:
    """Its clips counted from 0: the converter counts on from the figure before."""
    clips = list(dict.fromkeys(re.findall(r'id="(clip\d+)"', svg)))
    new = {clip: f"clip{i}" for i, clip in enumerate(clips)}
    return re.sub(r'(id="|url\(#)(clip\d+)', lambda m: m[1] + new.get(m[2], m[2]), svg)
