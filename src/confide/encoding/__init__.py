"""Tables as they are: pandas, polars and pyarrow in, one matrix of numbers out.

Read `columns.py` for what becomes of a column of each kind, `reading.py` for how the three
libraries' columns are read alike, `texts.py` for text that is dates, or was perhaps meant as
numbers or dates, `encoder.py` for the table as a whole.
"""

from confide.encoding.columns import Column
from confide.encoding.encoder import EncodedTable, Encoder, Unseen
from confide.encoding.reading import (
    column_names,
    is_table,
    refuse_unreadable_tables,
    rows_of,
)
from confide.encoding.texts import series_with_dates_read

__all__ = [
    "Column",
    "EncodedTable",
    "Encoder",
    "Unseen",
    "column_names",
    "is_table",
    "refuse_unreadable_tables",
    "rows_of",
    "series_with_dates_read",
]
