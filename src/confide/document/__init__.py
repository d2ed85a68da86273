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

from confide.document import parts as parts
from confide.document.charts import bands as bands
from confide.document.charts import lines_with_errors as lines_with_errors
from confide.document.charts import scatter_against as scatter_against
from confide.document.distributions import histograms as histograms
from confide.document.distributions import violins as violins
from confide.document.document import Column as Column
from confide.document.document import Document as Document
from confide.document.document import Figure as Figure
from confide.document.document import Headline as Headline
from confide.document.document import Headlines as Headlines
from confide.document.document import Panel as Panel
from confide.document.document import Part as Part
from confide.document.document import Section as Section
from confide.document.document import Table as Table
from confide.document.files import to_svg as to_svg
from confide.document.files import write_document as write_document
from confide.document.look import COLOURS as COLOURS
from confide.document.look import HEIGHT as HEIGHT
from confide.document.look import INK as INK
from confide.document.look import WIDTH as WIDTH
from confide.document.look import colours as colours
from confide.document.look import fitted_width as fitted_width
from confide.document.look import in_order as in_order
from confide.document.look import shapes as shapes
from confide.document.look import unread as unread
from confide.document.page import render_page as render_page
from confide.document.parts import brush as brush
from confide.document.tables import for_people as for_people
from confide.document.tables import number_text as number_text
from confide.document.tables import rounded_alike as rounded_alike
from confide.document.tables import separator as separator
from confide.document.tables import to_csv as to_csv
from confide.document.tables import to_markdown as to_markdown
from confide.document.tables import with_error as with_error
