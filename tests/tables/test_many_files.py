"""Folders and patterns of Parquet files, and datasets of pyarrow, as one table."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from confide.errors import TableFileError
from confide.tables import ArrowDataset, TableFile, read_table

ROWS = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "name": ["a", "b", "c", "d"]})


@pytest.fixture
def folder(tmp_path):
    for number in range(2):
        pq.write_table(ROWS.slice(2 * number, 2), tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").write_text("left by another program")
    (tmp_path / "readme.txt").write_text("not a table")
    return tmp_path


def test_a_folder_is_one_table_in_the_order_of_names(folder):
    table = TableFile(folder)
    assert table.about_rows == 4
    assert table.read().equals(ROWS)
    assert pa.concat_tables(table.blocks(3)).equals(ROWS)  # again, from its beginning


def test_columns_in_another_order_are_those_of_the_first_file(folder):
    pq.write_table(ROWS.slice(2, 2).select(["name", "x"]), folder / "part-1.parquet")
    table = TableFile(folder)
    assert table.read().equals(ROWS)
    assert pa.concat_tables(table.blocks(3)).equals(ROWS)


def test_files_deeper_in_a_folder_are_read_too(folder):
    deeper = folder / "year=2021"
    deeper.mkdir()
    pq.write_table(ROWS, deeper / "part.parquet")
    assert read_table(folder).num_rows == 8


@pytest.mark.parametrize("hidden", ["_temporary/0", "_delta_log", ".x"])
def test_files_in_folders_that_other_programs_keep_are_not_read(folder, hidden):
    (folder / hidden).mkdir(parents=True)
    pq.write_table(ROWS, folder / hidden / "part.parquet")
    assert read_table(folder).equals(ROWS)
    depth = "*/" * len(hidden.split("/"))
    with pytest.raises(TableFileError, match="a pattern without a Parquet file"):
        read_table(f"{folder}/{depth}*.parquet")
    assert read_table(folder / hidden).equals(ROWS)  # by its own name


def test_a_pattern_is_one_table(folder):
    assert read_table(f"{folder}/part-*.parquet").equals(ROWS)
    assert read_table(f"{folder}/part-[1].parquet").equals(ROWS.slice(2))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"x": [1.0]}, "it has no column 'name'"),
        ({"x": [1.0], "name": ["a"], "more": [1]}, "its column 'more' is not there"),
        ({"x": [1], "name": ["a"]}, "its column 'x' is int64 instead of double"),
    ],
)
def test_files_with_other_columns_are_refused(folder, other, message):
    pq.write_table(pa.table(other), folder / "part-9.parquet")
    with pytest.raises(TableFileError, match=f"part-9.*part-0.*{message}.*Write that file again"):
        TableFile(folder)
    with pytest.raises(TableFileError, match=f"part-9.*{message}"):
        ArrowDataset(ds.dataset(folder, format="parquet", exclude_invalid_files=True))
    assert len(list(folder.iterdir())) == 5


def test_an_empty_folder_says_what_is_needed(tmp_path):
    with pytest.raises(TableFileError, match=r"a folder without a Parquet file \(\*\.parquet\)"):
        TableFile(tmp_path)
    with pytest.raises(TableFileError, match="a pattern without a Parquet file"):
        TableFile(f"{tmp_path}/*.parquet")


def test_a_damaged_file_is_named(folder):
    (folder / "part-1.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(TableFileError, match=r"part-1\.parquet is damaged or cut short"):
        TableFile(folder)


def test_a_dataset_is_read_in_order(folder):
    files = sorted(map(str, folder.glob("*.parquet")))
    table = ArrowDataset(ds.dataset(files))
    assert table.schema.names == ["x", "name"]
    assert pa.concat_tables(table.blocks(3)).equals(ROWS)
    assert pa.concat_tables(table.blocks(3, columns=["x"])).equals(ROWS.select(["x"]))


@pytest.fixture
def hive(folder):
    for year in (2020, 2021):
        (folder / "hive" / f"year={year}").mkdir(parents=True)
        pq.write_table(ROWS, folder / "hive" / f"year={year}" / "part.parquet")
    return folder / "hive"


def test_columns_that_folders_stand_for_are_not_missed_in_files(hive):
    table = ArrowDataset(ds.dataset(hive, partitioning="hive"))
    years = pa.concat_tables(table.blocks(3, columns=["year"]))["year"].to_pylist()
    assert years == [2020] * 4 + [2021] * 4


def test_a_note_says_that_folders_are_no_columns(hive):
    for source in (hive, f"{hive}/*/part.parquet"):
        note = TableFile(source).note
        assert "such as year=2020 are not columns here, so the table has no 'year'" in note
        assert 'partitioning="hive"' in note
    assert TableFile(hive / "year=2020").note is None
    for path in hive.rglob("*.parquet"):  # some programs write such columns twice
        pq.write_table(ROWS.append_column("year", pa.array([2020] * 4)), path)
    assert TableFile(hive).note is None


def test_a_filtered_dataset_is_refused_with_what_to_do(folder):
    dataset = ds.dataset(sorted(map(str, folder.glob("*.parquet"))))
    with pytest.raises(TableFileError, match=r"it is filtered.* or pass dataset\.to_table\(\)"):
        ArrowDataset(dataset.filter(ds.field("x") > 2))
