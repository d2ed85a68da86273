"""Files of tables: CSV, TSV, Parquet, Arrow; read and written in blocks, nothing in them is run."""

from confide.tables.recognise import CSV
from confide.tables.table_file import TableFile, read_blocks, read_table
from confide.tables.words import reads_as_number
from confide.tables.write import write_blocks

__all__ = ["CSV", "TableFile", "read_blocks", "read_table", "reads_as_number", "write_blocks"]
