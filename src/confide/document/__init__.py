"""Documents of words, tables and figures, as one page that works offline.

    >>> import pandas as pd
    >>> from confide.document import Column, Document, Section, Table, to_markdown
    >>> frame = pd.DataFrame({"method": ["ours"], "brier": [0.01234], "brier_se": [0.0004]})
    >>> columns = [Column("method"), Column("brier", "Brier score", error="brier_se")]
    >>> table = Table("brier", "Lower is better.", frame, columns)
    >>> document = Document("Coverage", "What was found.", [Section("Scores", [table])])
    >>> print(to_markdown(document.tables[0]), end="")
    Lower is better.
    <BLANKLINE>
    | method | Brier score |
    | --- | ---: |
    | ours | 0.0123 ± 0.0004 |

`write_document(document, folder)` writes it all. Charts, the page and its files need the extra
`confide[report]`.
"""

from confide.document import parts
from confide.document.brushes import brush
from confide.document.charts import bands, lines_with_errors, scatter_against
from confide.document.distributions import histograms, violins
from confide.document.document import Column, Document, Figure, Part, Section, Table
from confide.document.files import to_svg, write_document
from confide.document.look import (
    COLOURS,
    HEIGHT,
    INK,
    WIDTH,
    colours,
    fitted_width,
    in_order,
    shapes,
    unread,
)
from confide.document.page import render_page
from confide.document.tables import to_csv, to_markdown, with_error

__all__ = [
    "COLOURS",
    "HEIGHT",
    "INK",
    "WIDTH",
    "Column",
    "Document",
    "Figure",
    "Part",
    "Section",
    "Table",
    "bands",
    "brush",
    "colours",
    "fitted_width",
    "histograms",
    "in_order",
    "lines_with_errors",
    "parts",
    "render_page",
    "scatter_against",
    "shapes",
    "to_csv",
    "to_markdown",
    "to_svg",
    "unread",
    "violins",
    "with_error",
    "write_document",
]
