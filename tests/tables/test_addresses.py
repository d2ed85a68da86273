"""Parquet files at addresses: on this machine, and in the S3 of a server that plays Amazon's."""

import os

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

from confide.errors import TableFileError
from confide.tables import TableFile, file_name, is_address, read_table
from confide.workflow import matching_files, outputs_of

ROWS = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "name": ["a", "b", "c", "d"]})
FILES = ("part-0.parquet", "year=2021/part 1.parquet")
OTHERS = ("_SUCCESS", "readme.txt", "_temporary/part-9.parquet")


@pytest.fixture(scope="module", params=["file", "s3"])
def address(request, tmp_path_factory):
    """The address of a folder with two files of a table, and others."""
    if request.param == "file":
        folder = tmp_path_factory.mktemp("lake") / "folder"
        system, path, name = pa.fs.LocalFileSystem(), str(folder), f"file://{folder}"
    else:
        system, path, name = request.getfixturevalue("s3"), "lake/folder", "s3://lake/folder"
    for number, file in enumerate(FILES):
        _write(system, f"{path}/{file}", ROWS.slice(2 * number, 2))
    for file in OTHERS:
        _write(system, f"{path}/{file}", ROWS)
    return name


def _write(system, path, table):
    system.create_dir(path.rsplit("/", 1)[0])
    with system.open_output_stream(path) as file:
        pq.write_table(table, file)


@pytest.fixture(scope="module")
def s3():
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "anyone")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        options = f"scheme=http&endpoint_override=127.0.0.1:{port}&allow_bucket_creation=true"
        system, _ = pa.fs.FileSystem.from_uri(f"s3://lake?{options}")
        system.create_dir("lake")
        yield system
    server.stop()


def test_a_folder_is_one_table_in_the_order_of_names(address):
    table = TableFile(address)
    assert table.about_rows == 4
    assert table.read().equals(ROWS)
    assert pa.concat_tables(table.blocks(3)).equals(ROWS)  # again, from its beginning
    assert TableFile(f"{address}/").read().equals(ROWS)
    assert "no 'year'" in table.note


def test_a_pattern_has_the_files_of_its_own_folders(address):
    assert read_table(f"{address}/*.parquet").equals(ROWS.slice(0, 2))
    assert read_table(f"{address}/*/part*.parquet").equals(ROWS.slice(2))
    assert read_table(f"{address}/year=2021/part *.parquet").equals(ROWS.slice(2))


def test_one_file_is_a_table(address):
    assert read_table(f"{address}/part-0.parquet").equals(ROWS.slice(0, 2))
    assert read_table(f"{address}/year=2021/part%201.parquet").equals(ROWS.slice(2))
    assert read_table(f"{address}/_temporary/part-9.parquet").equals(ROWS)  # by its own name


def test_each_file_of_a_pattern_has_an_output_of_its_name(address, tmp_path):
    found = matching_files(f"{address}/*/*.parquet")
    assert [read_table(file).num_rows for file in found] == [2]
    assert outputs_of(found, tmp_path) == [tmp_path / "part 1.parquet"]
    assert matching_files(address) == [address]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("nothing/", "is an address without a Parquet file"),
        ("part-*.csv", "is an address without a Parquet file"),
        ("readme.txt", "only these are read from an address. Copy it"),
    ],
)
def test_what_is_not_there_is_said(address, rest, message):
    with pytest.raises(TableFileError, match=message):
        TableFile(f"{address}/{rest}")


def test_an_unknown_kind_of_address_is_said():
    with pytest.raises(TableFileError, match=r"ftp://host/x cannot be read \(Unrecognized"):
        TableFile("ftp://host/x?password=secret")


def test_secrets_in_an_address_are_not_in_the_name_of_the_file():
    address = "s3://lake/folder/part%201.parquet?secret_key=abc"
    assert file_name(address) == "part 1.parquet"
    assert file_name(os.path.join("folder", "what?.csv")) == "what?.csv"  # noqa: PTH118
    assert is_address(address)
    assert not is_address("folder/a:b.csv")
