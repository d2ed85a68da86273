"""Documents of words, tables and figures, as one page that works offline.

    >>> import pandas as pd
    >>> from confide.report import Column, Document, Section, Table, to_markdown
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

from confide.report.brushes import brush
from confide.report.charts import bands, lines_with_errors, scatter_against
from confide.report.distributions import histograms, violins
from confide.report.document import Column, Document, Figure, Part, Section, Table
from confide.report.files import to_svg, write_document
from confide.report.page import render_page
from confide.report.tables import to_csv, to_markdown

__all__ = [
    "Column",
    "Document",
    "Figure",
    "Part",
    "Section",
    "Table",
    "bands",
    "brush",
    "histograms",
    "lines_with_errors",
    "render_page",
    "scatter_against",
    "to_csv",
    "to_markdown",
    "to_svg",
    "violins",
    "write_document",
]
