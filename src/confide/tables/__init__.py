"""Files of tables: CSV, Excel, Parquet, Arrow; read in blocks, nothing in them is run."""

from confide.tables.addresses import file_name as file_name
from confide.tables.addresses import is_address as is_address
from confide.tables.addresses import is_pattern as is_pattern
from confide.tables.addresses import public as public
from confide.tables.dataset import ArrowDataset as ArrowDataset
from confide.tables.dataset import is_arrow_dataset as is_arrow_dataset
from confide.tables.dataset import is_folder as is_folder
from confide.tables.dataset import is_of_many_files as is_of_many_files
from confide.tables.dataset import parquet_files as parquet_files
from confide.tables.recognise import CSV as CSV
from confide.tables.recognise import PARQUET as PARQUET
from confide.tables.table_file import ROWS_PER_BLOCK as ROWS_PER_BLOCK
from confide.tables.table_file import TableFile as TableFile
from confide.tables.table_file import read_blocks as read_blocks
from confide.tables.table_file import read_table as read_table
from confide.tables.words import reads_as_number as reads_as_number
from confide.tables.write import checked_ending as checked_ending
from confide.tables.write import write_blocks as write_blocks
