"""Tables as they are: pandas, polars and pyarrow in, one matrix of numbers out.

Read `columns.py` for what becomes of a column of each kind, `fitted_columns.py` for how the kind is
chosen, `reading.py` for how the three libraries' columns are read alike, `texts.py` for text that
is dates, or was perhaps meant as numbers or dates, `words.py` for free text, `identifiers.py` for
numbers that only name the rows, `encoder.py` for the table as a whole.
"""

from confide.encoding.amounts import series_with_amounts_read as series_with_amounts_read
from confide.encoding.amounts import with_amounts_read as with_amounts_read
from confide.encoding.columns import CYCLES as CYCLES
from confide.encoding.columns import CategoryColumn as CategoryColumn
from confide.encoding.columns import Column as Column
from confide.encoding.columns import ManyCategoriesColumn as ManyCategoriesColumn
from confide.encoding.columns import NumericColumn as NumericColumn
from confide.encoding.columns import WordsColumn as WordsColumn
from confide.encoding.encoder import EncodedTable as EncodedTable
from confide.encoding.encoder import Encoder as Encoder
from confide.encoding.encoder import Unseen as Unseen
from confide.encoding.identifiers import named_thing as named_thing
from confide.encoding.long_table import ROWS_IN_MEMORY as ROWS_IN_MEMORY
from confide.encoding.long_table import LongTable as LongTable
from confide.encoding.reading import Source as Source
from confide.encoding.reading import column_names as column_names
from confide.encoding.reading import index_of as index_of
from confide.encoding.reading import is_table as is_table
from confide.encoding.reading import labels_of as labels_of
from confide.encoding.reading import refuse_unreadable_tables as refuse_unreadable_tables
from confide.encoding.reading import rows_of as rows_of
from confide.encoding.reading import sources as sources
from confide.encoding.texts import series_with_dates_read as series_with_dates_read
from confide.encoding.texts import with_dates_read as with_dates_read
from confide.encoding.texts import with_written_dates_read as with_written_dates_read
