"""Parquet files at addresses, in the S3 of a server that plays Amazon's."""

import pyarrow as pa
import pytest
from support import s3

from confide.errors import TableFileError
from confide.tables import TableFile, file_name, is_address, is_folder, public, read_table
from confide.workflow import matching_files, outputs_of

ROWS = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "name": ["a", "b", "c", "d"]})
FILES = ("part-0.parquet", "year=2021/part 1.parquet")
OTHERS = ("_SUCCESS", "readme.txt", "_temporary/part-9.parquet")
FOLDER = "s3://lake/folder"


@pytest.fixture(scope="module")
def lake():
    """A bucket with a folder of two files of a table, and others."""
    with s3.bucket("lake") as system:
        for number, file in enumerate(FILES):
            s3.write(system, f"lake/folder/{file}", ROWS.slice(2 * number, 2))
        for file in OTHERS:
            s3.write(system, f"lake/folder/{file}", ROWS)
        yield system


@pytest.mark.parametrize("ending", ["", "/", "?region=eu-west-1"])
def test_a_folder_is_one_table_in_the_order_of_names(lake, ending):
    table = TableFile(FOLDER + ending)
    assert table.about_rows == 4
    assert table.read().equals(ROWS)
    assert pa.concat_tables(table.blocks(3)).equals(ROWS)  # again, from its beginning
    assert "no 'year'" in table.note


def test_a_pattern_has_the_files_of_its_own_folders(lake):
    assert read_table(f"{FOLDER}/*.parquet").equals(ROWS.slice(0, 2))
    assert read_table(f"{FOLDER}/*/part*.parquet").equals(ROWS.slice(2))
    assert read_table(f"{FOLDER}/year=2021/part *.parquet").equals(ROWS.slice(2))


def test_one_file_is_a_table(lake):
    assert read_table(f"{FOLDER}/part-0.parquet").equals(ROWS.slice(0, 2))
    assert read_table(f"{FOLDER}/year=2021/part%201.parquet").equals(ROWS.slice(2))
    assert read_table(f"{FOLDER}/_temporary/part-9.parquet").equals(ROWS)  # by its own name


def test_each_file_of_a_pattern_has_an_output_of_its_name(lake, tmp_path):
    found = matching_files(f"{FOLDER}/*/*.parquet")
    assert [read_table(file).num_rows for file in found] == [2]
    assert outputs_of(found, tmp_path) == [tmp_path / "part 1.parquet"]
    assert matching_files(FOLDER) == [FOLDER]
    with pytest.raises(TableFileError, match=r"No file matches 's3://lake/folder/z\*.parquet'"):
        matching_files(f"{FOLDER}/z*.parquet?region=eu")


@pytest.mark.parametrize("name", ["x*z", "a[1]b", "a+b", "é,(&)", "a%b", "what?", "#1"])
def test_a_name_stands_for_itself(lake, name):
    folder = f"lake/odd-{ord(name[0])}-{ord(name[1])}"
    s3.write(lake, f"{folder}/{name}/{name}.parquet", ROWS)
    s3.write(lake, f"{folder}/{name}/xyz.parquet", ROWS.slice(0, 1))
    *_, odd = sorted(
        matching_files(f"s3://{folder}/*/*.parquet"), key=lambda file: "xyz" not in file
    )
    assert read_table(odd).equals(ROWS)
    assert file_name(odd) == f"{name}.parquet"
    assert read_table(odd.rsplit("/", 1)[0]).num_rows == 5


def test_rows_are_in_the_order_of_names_not_of_their_spelling(lake):
    for number, name in enumerate(["a", "b+", "b-", "z", "é"]):
        s3.write(lake, f"lake/ordered/{name}.parquet", pa.table({"x": [number]}))
    assert read_table("s3://lake/ordered")["x"].to_pylist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"{FOLDER}/part-*.csv", "is an address without a Parquet file"),
        (f"{FOLDER}/readme.txt", "only these are read from an address. Copy it"),
        (f"{FOLDER}/*", "folder/readme.txt is not a Parquet file"),
        (f"{FOLDER}/nothing/", r"s3://lake/folder/nothing/ cannot be read \(.*Path does not exist"),
        ("s3://no-such/folder", "s3://no-such/folder cannot be read"),
    ],
)
def test_what_is_not_there_is_said_without_secrets(lake, address, message):
    with pytest.raises(TableFileError, match=message) as told:
        TableFile(address + "?region=eu-west-1")
    assert "eu-west" not in str(told.value)


def test_keys_in_an_address_are_used_and_not_said(lake):
    address = FOLDER.replace("lake", "key:sec%2Fret@lake")
    table = TableFile(address)
    assert table.read().equals(ROWS)
    assert table.name == FOLDER
    with pytest.raises(TableFileError, match="does not exist") as told:
        TableFile(f"{address}/nothing/")
    assert "ret" not in str(told.value)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/x?password=secret", r"ftp://host/x cannot be read \(Unrecognized"),
        ("s3://key:secret@b[]u/x", r"s3://b\[\]u/x cannot be read \("),
        ("file:///x/y.parquet", "file:///x/y.parquet is on this machine. Pass its path, /x/y.parq"),
    ],
)
def test_other_kinds_of_address_are_refused(address, message):
    with pytest.raises(TableFileError, match=message) as told:
        TableFile(address)
    assert "secret" not in str(told.value)


def test_addresses_are_told_from_paths():
    address = "s3://key:secret@lake/folder/part%201.parquet?secret_key=abc"
    assert is_address(address)
    assert not is_address("folder/a:b.csv")
    assert public(address) == "s3://lake/folder/part%201.parquet"
    assert public("folder/what?.csv") == "folder/what?.csv"
    assert file_name(address) == "part 1.parquet"
    assert file_name("folder/what?.csv") == "what?.csv"
    assert file_name("s3://key:secret@lake") == "lake"
    assert is_folder(FOLDER)
    assert not is_folder(address)
    assert not is_folder(f"{FOLDER}/*")
