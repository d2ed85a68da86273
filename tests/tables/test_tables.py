"""Files of tables: every format reads back as it was written, and bad files are said to be so."""

import errno
import gzip
import io
import json
import math
import os
import pickle
import sqlite3
import stat
import string
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="tables need confide[tables]")
import pyarrow.parquet as pq  # noqa: E402

from confide import extras, persistence  # noqa: E402
from confide.errors import (  # noqa: E402
    NoRoomError,
    TableFileError,
    TooLargeError,
    WouldOverwriteError,
)
from confide.tables import (  # noqa: E402
    TableFile,
    read_blocks,
    read_table,
    separated,
    write_blocks,
)

TABLE = pa.table({"x": [1.5, None, 3.0], "n": [1, 2, 3], "text": ["a", "b, c", None]})


def as_csv(text, tmp_path, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def of_text(text, tmp_path):
    return read_table(as_csv(text, tmp_path)).to_pydict()


def refused(path, words, **how):
    with pytest.raises(TableFileError, match=words):
        TableFile(path, **how).read()


def in_small_blocks(path):
    """Lines are refused at 64 bytes, and types are those of the first 64."""
    return TableFile(path, block_bytes=64)


class Stdin:
    """Standard input that gives a few bytes at a time, as a pipe does."""

    def __init__(self, content):
        self.buffer = Trickle(content)

    def isatty(self):
        return False


class Trickle(io.BytesIO):
    def read(self, size=-1):
        return super().read(min(size, 7) if size >= 0 else -1)


# Formats


@pytest.mark.parametrize(
    "ending",
    [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".arrow", ".feather", ".arrows", ".pq"],
)
def test_what_is_written_is_read_from_files_and_from_standard_input(ending, tmp_path, monkeypatch):
    path = tmp_path / f"table{ending}"
    assert write_blocks([TABLE, TABLE], path) == 6
    twice = pa.concat_tables([TABLE, TABLE]).combine_chunks()
    assert read_table(path).combine_chunks() == twice
    monkeypatch.setattr(sys, "stdin", Stdin(path.read_bytes()))
    assert read_table("-").combine_chunks() == twice
    assert not sys.stdin.buffer.closed


@pytest.mark.parametrize("codec", ["gzip", "zstd", "bz2"])
@pytest.mark.parametrize("ending", [".csv", ".arrow", ".arrows", ".parquet"])
def test_compression_is_known_by_content(ending, codec, tmp_path):
    plain, packed = tmp_path / f"table{ending}", tmp_path / f"packed{ending}"
    write_blocks([TABLE], plain)
    with pa.CompressedOutputStream(str(packed), codec) as sink:
        sink.write(plain.read_bytes())
    assert read_table(packed).combine_chunks() == TABLE


def test_content_beats_the_ending(tmp_path):
    path = tmp_path / "table.csv"
    pq.write_table(TABLE, path)
    assert TableFile(path).format == "Parquet"
    assert read_table(path) == TABLE


def test_columns_named_as_a_format_starts_are_text(tmp_path):
    assert of_text("PAR1,PAR2\n1,2\n", tmp_path) == {"PAR1": [1], "PAR2": [2]}
    assert of_text("BZh9,ORC\n1,2\n", tmp_path) == {"BZh9": [1], "ORC": [2]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are Unix's")
def test_a_named_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["/bin/sh", "-c", f"printf 'a,b\\n1,2\\n' > '{pipe}'"])
    table = TableFile(pipe)
    assert table.schema.names == ["a", "b"]
    assert table.read().to_pydict() == {"a": [1], "b": [2]}
    assert writer.wait() == 0
    with pytest.raises(TableFileError, match="has been read"):
        table.read()


def test_a_file_is_read_as_often_as_asked(tmp_path):
    for ending in (".csv", ".parquet", ".arrows"):
        path = tmp_path / f"table{ending}"
        write_blocks([TABLE], path)
        table = TableFile(path)
        assert table.read() == table.read() == pa.concat_tables(table.blocks(2))


# Blocks


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".arrows"])
@pytest.mark.parametrize("rows", [1, 4, 10, 11])
def test_blocks_have_the_size_that_was_asked_for(ending, rows, tmp_path):
    path = tmp_path / f"table{ending}"
    whole = pa.table({"x": np.arange(10.0) + 0.5})
    write_blocks([whole.slice(0, 7), whole.slice(7)], path)
    blocks = list(read_blocks(path, rows))
    assert [b.num_rows for b in blocks] == [rows] * (10 // rows) + [10 % rows] * (10 % rows > 0)
    assert pa.concat_tables(blocks).to_pydict() == whole.to_pydict()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".arrows"])
def test_columns_come_in_the_order_asked_for(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write_blocks([pa.table({"a": [1], "a.b": [2], "c": [3]})], path)
    (block,) = read_blocks(path, columns=["c", "a"])
    assert block.to_pydict() == {"c": [3], "a": [1]}
    assert read_table(path, columns=["a.b"]).to_pydict() == {"a.b": [2]}
    with pytest.raises(TableFileError, match=r"no column 'a_b'. Did you mean 'a.b'\? Its columns"):
        read_blocks(path, columns=["a_b"])


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".arrows"])
def test_no_rows_are_one_empty_block(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write_blocks([TABLE.slice(0, 0)], path)
    assert read_table(path).num_rows == 0
    (block,) = read_blocks(path, types={"x": pa.float64()})
    assert block.column_names == TABLE.column_names
    assert block.num_rows == 0
    assert block.schema.field("x").type == pa.float64()


def test_a_header_without_a_newline_is_a_table_without_rows(tmp_path):
    assert of_text("a,b", tmp_path) == {"a": [], "b": []}


# Text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter, tmp_path):
    rows = ["a,1", "b c", "d"], ["1.5", '"x,;|y"', "3"], ["2.5", "z", "4"]
    rows[0][0] = '"a,1"'
    text = "\n".join(delimiter.join(row) for row in rows)
    assert of_text(text, tmp_path) == {"a,1": [1.5, 2.5], "b c": ["x,;|y", "z"], "d": [3, 4]}


def test_text_with_commas_does_not_hide_the_delimiter(tmp_path):
    text = "place;size, in m\nRome, Italy;1\nParis;2\n"
    assert of_text(text, tmp_path) == {
        "place": ["Rome, Italy", "Paris"],
        "size, in m": [1, 2],
    }


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,b\n1,x\n2,y\n",
        "a,b\r\n1,x\r\n2,y\r\n",
        "a,b\n1,x\n2,y",
        "a,b\n\n1,x\n2,y\n\n  \n",
        '"a","b"\n"1","x"\n 2 ,"y"\n',
    ],
)
def test_text_as_programs_write_it(text, tmp_path):
    assert of_text(text, tmp_path) == {"a": [1, 2], "b": ["x", "y"]}


def test_fields_may_hold_newlines_and_quotes(tmp_path):
    assert of_text('a,b\n1,"x\n""y"""\n', tmp_path) == {"a": [1], "b": ['x\n"y"']}


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "null", "NULL", "N/A", "None", "<NA>"])
def test_missing_values(missing, tmp_path):
    text = f"x,text\n1.5,u\n{missing},{missing}\n2.5,v\n"
    assert of_text(text, tmp_path) == {"x": [1.5, None, 2.5], "text": ["u", None, "v"]}


def test_types_of_text_are_inferred_or_given(tmp_path):
    path = as_csv("n,x,yes,day,code\n1,1.5,true,2020-02-29,70\n", tmp_path)
    types = [pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.int64()]
    assert TableFile(path).schema.types == types
    given = read_table(path, types={"code": pa.string(), "n": pa.float64(), "other": pa.int8()})
    assert given["code"].to_pylist() == ["70"]
    assert given.schema.field("n").type == pa.float64()


LONG_CODE = "00" + "1" * 20  # too long for int64, so pyarrow takes it for a float


@pytest.mark.parametrize("codes", [["12345", "", "00501"], ["1", '"007"'], ["1.5", LONG_CODE]])
def test_a_column_with_codes_that_start_with_zero_is_text(codes, tmp_path):
    path = as_csv("n,code\n" + "".join(f"1,{code}\n" for code in codes), tmp_path)
    wanted = [code.strip('"') or None for code in codes]
    table = TableFile(path)
    assert table.schema.types == [pa.int64(), pa.string()]
    assert table.read()["code"].to_pylist() == wanted
    assert [row for block in table.blocks(1) for row in block["code"].to_pylist()] == wanted
    assert table.read(columns=["n"]).column_names == ["n"]
    assert table.read(columns=["code", "n"]).schema.types == [pa.string(), pa.int64()]
    as_numbers = table.read(types={"code": pa.float64()})["code"].to_pylist()
    assert as_numbers == [None if code is None else float(code) for code in wanted]


@pytest.mark.parametrize(
    ("value", "of_type"),
    [
        ("0", pa.int64()),
        ("-05", pa.int64()),
        ("0.5", pa.float64()),
        ("007.5", pa.float64()),
        ("00e1", pa.float64()),
        ("2024-01-05", pa.date32()),
        ("01:02:03", pa.time32("s")),
    ],
)
def test_what_has_a_zero_but_is_no_code_keeps_its_type(value, of_type, tmp_path):
    assert TableFile(as_csv(f"x,y\n{value},1\n", tmp_path)).schema.types == [of_type, pa.int64()]


def test_a_late_code_finds_the_type_of_the_start(tmp_path):
    table = in_small_blocks(as_csv("a,b\n" + "01,2\n" * 20 + "1,02\n", tmp_path))
    assert table.schema.types == table.read().schema.types == [pa.string(), pa.int64()]
    assert table.read()["a"].to_pylist() == ["01"] * 20 + ["1"]
    assert pa.concat_tables(table.blocks(7)) == table.read()


LATE = "a,b\n" + "1,2\n" * 100 + "1.5,x\n"


def test_a_late_value_changes_the_type_of_a_whole_table(tmp_path):
    table = in_small_blocks(as_csv(LATE, tmp_path)).read()
    assert table.schema.types == [pa.float64(), pa.string()]
    assert table.num_rows == 101


def test_a_late_value_that_does_not_fit_is_named(tmp_path):
    path = as_csv(LATE, tmp_path)
    with pytest.raises(TableFileError, match=r"row 101 .*, column 'a': '1.5' is not a whole"):
        list(in_small_blocks(path).blocks())
    types = {"a": pa.float64(), "b": pa.float64()}
    with pytest.raises(TableFileError, match=r"row 101 .*, column 'b': 'x' is not a number"):
        list(in_small_blocks(path).blocks(types=types))
    with pytest.raises(TableFileError, match=r"row 101 .*, column 'b': 'x' is not a number"):
        list(in_small_blocks(path).blocks(types=types, columns=["b"]))
    types["b"] = pa.string()
    assert sum(block.num_rows for block in in_small_blocks(path).blocks(7, types=types)) == 101


@pytest.mark.parametrize(
    ("of_type", "words"),
    [
        (pa.float32(), "a number"),
        (pa.int8(), "a whole number"),
        (pa.bool_(), "true or false"),
        (pa.date32(), "a date such as 2020-03-25"),
        (pa.timestamp("s"), "a date and time such as 2020-03-25 14:30:00"),
        (pa.time32("s"), "a time such as 14:30:00"),
    ],
)
def test_a_value_of_another_type_is_named_in_words(of_type, words, tmp_path):
    path = as_csv("a,b\n1,\n2,seldom\n", tmp_path)
    whole = r"row 2 \(from 1 below the header\), column 'b': 'seldom' is not "
    with pytest.raises(
        TableFileError, match=f"{whole}{words}, as the column needs. Correct it, or"
    ):
        read_table(path, types={"b": of_type})
    if not pa.types.is_temporal(of_type):
        write_blocks([pa.table({"b": ["seldom"]})], tmp_path / "table.parquet")
        with pytest.raises(
            TableFileError, match=rf"'seldom' \(of type string\) is not {words}, as"
        ):
            read_table(tmp_path / "table.parquet", types={"b": of_type})


def test_the_schema_of_a_long_text_is_that_of_its_start(tmp_path):
    assert in_small_blocks(as_csv(LATE, tmp_path)).schema.types == [pa.int64(), pa.int64()]


# Arrow and Parquet


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows"])
def test_types_that_are_asked_for(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    text = pa.array([str(i) for i in range(100)] + ["77x"] + ["1"] * 9)
    numbers = pa.array([2**53 + 1] * 110)
    write_blocks([pa.table({"text": text, "n": numbers})], path)
    (block,) = read_blocks(path, types={"n": pa.float64(), "text": pa.large_string()})
    assert block.schema.types == [pa.large_string(), pa.float64()]
    assert block["n"][0].as_py() == 2.0**53
    with pytest.raises(TableFileError, match=r"row 101, column 'text': '77x' \(of type string\)"):
        list(read_blocks(path, 64, types={"text": pa.float64()}))
    with pytest.raises(TableFileError, match=r"row 1, column 'n'.* is not of type list"):
        list(read_blocks(path, types={"n": pa.list_(pa.int8())}))


@pytest.mark.parametrize("at", range(5))
def test_the_first_value_that_does_not_fit_is_found(at, tmp_path):
    path = tmp_path / "table.parquet"
    write_blocks([pa.table({"text": ["1"] * at + ["x"] + ["y"] * (4 - at)})], path)
    with pytest.raises(TableFileError, match=f"row {at + 1}, column 'text': 'x'"):
        read_table(path, types={"text": pa.float64()})


def test_row_labels_of_pandas_and_metadata_are_left_out(tmp_path):
    frame = TABLE.to_pandas().iloc[[2, 0, 1]]
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    assert "__index_level_0__" in pq.read_schema(path).names
    table = read_table(path)
    assert table.column_names == TABLE.column_names
    assert table.schema.metadata is None


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_extension_types_are_what_they_are_kept_as(ending, tmp_path):
    kept = pa.array([b"0" * 16], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), kept)
    path = tmp_path / f"table{ending}"
    write_blocks([pa.table({"u": column})], path)
    assert read_table(path)["u"].type == pa.binary(16)
    assert TableFile(path).schema.types == [pa.binary(16)]


# Memory


def peak_bytes(blocks):
    """The most that Arrow holds at the time of a block, which itself is dropped."""
    before, peak = pa.total_allocated_bytes(), 0
    for _ in blocks:
        peak = max(peak, pa.total_allocated_bytes() - before)
    return peak


def test_a_giant_row_group_is_read_page_by_page(tmp_path):
    path = tmp_path / "table.parquet"
    x = np.random.default_rng(0).normal(size=2**20)
    pq.write_table(pa.table({"x": x, "y": x}), path, row_group_size=2**20)
    # 16 MiB in one row group. A column has a buffer and pages of 1 MiB, compressed and not, and
    # the block: less than 4 MiB for both.
    assert peak_bytes(read_blocks(path, 4096)) < 8 * 2**20


def test_a_giant_batch_is_not_copied(tmp_path):
    path = tmp_path / "table.arrow"
    write_blocks([pa.table({"x": np.zeros(2**20)})], path)
    assert peak_bytes(read_blocks(path, 4096)) < 2**20


def test_a_block_of_long_texts_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "texts.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, "i4")), ["a" * 10_000])
    pq.write_table(pa.table({"text": texts.cast(pa.string())}), path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("confide.budget.available_memory", lambda: 400 * 10**6)
    with pytest.raises(TooLargeError, match="does not fit in memory"):
        list(TableFile(path).blocks())
    assert sum(block.num_rows for block in TableFile(path).blocks(1000)) == 20_000


def test_a_long_header_over_short_rows_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """Of 10,000 commas, pyarrow would take 150 MB."""
    monkeypatch.setattr("pyarrow.csv.open_csv", lambda *_, **__: pytest.fail("it is read"))
    names = ",".join(f"c{i}" for i in range(10_000))
    with pytest.raises(
        TableFileError, match=r"row 1 .*: 2 fields, but the header has 10000: '1,2'"
    ):
        read_table(as_csv(f"{names}\n1,2\n", tmp_path))


@pytest.mark.slow
def test_a_wide_table_is_read_in_few_pieces(tmp_path):
    """Each piece of each column takes time and memory of its own: of many, gigabytes."""
    names = [f"c{i}" for i in range(12_000)]
    line = ",".join(["1.5"] * len(names)) + "\n"
    path = as_csv(",".join(names) + "\n" + line * 175, tmp_path)
    assert path.stat().st_size > 4 * 2**21
    table = read_table(path)
    assert table.shape == (175, 12_000)
    assert table.column(0).num_chunks == 2


def test_a_gzip_bomb_is_read_in_bounded_memory(tmp_path):
    rows = as_csv(gzip.compress(b"a,b\n" + b"1,2\n" * 2**21), tmp_path, "rows.csv.gz")
    # 32 MiB as a table, against fifty blocks of 16 KiB.
    assert peak_bytes(TableFile(rows, block_bytes=2**14).blocks(4096)) < 4 * 2**20
    line = as_csv(gzip.compress(b"a,b\n" + b"0" * 2**25), tmp_path, "line.csv.gz")
    refused(line, "a line of more than", block_bytes=2**14)


# Bad files


def test_a_file_that_is_not_there(tmp_path):
    as_csv("a\n1\n", tmp_path, "prices.csv")
    refused(tmp_path / "price.csv", r"There is no file .*price.csv. Did you mean 'prices.csv'\?")
    refused(tmp_path / "no" / "price.csv", r"There is no folder .*no either")


def test_a_folder_without_tables(tmp_path):
    refused(tmp_path, "is a folder without a Parquet file")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = as_csv("a\n1\n", tmp_path)

    def forbidden(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    refused(path, r"cannot be opened: Permission denied. .*chmod u\+r")


def test_the_keyboard_is_no_table(monkeypatch):
    stdin = Stdin(b"")
    stdin.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", stdin)
    refused("-", "Standard input is the keyboard")


@pytest.mark.parametrize(
    "content", ["", "\n \n", "\n" * 10_000, "\ufeff", gzip.compress(b"", mtime=0)]
)
def test_an_empty_file(content, tmp_path):
    refused(as_csv(content, tmp_path), "is empty. A table with a header line is needed")


def test_an_empty_file_of_another_ending(tmp_path):
    refused(as_csv("", tmp_path, "table.parquet"), "is empty")
    refused(as_csv("PAR1", tmp_path, "table.parquet"), "does not start like a file of its ending")


def test_a_ragged_row(tmp_path):
    path = as_csv("a,b,c\n1,2,3\n4,5,6,7\n", tmp_path)
    refused(path, r"row 2 \(from 1 below the header\): 4 fields, but the header has 3: '4,5,6,7'")


def test_a_table_that_the_memory_cannot_hold(tmp_path, monkeypatch):
    def exhausted(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 2097152 failed")

    table = TableFile(as_csv("a,b\n1,2\n", tmp_path))
    monkeypatch.setattr("pyarrow.csv.read_csv", exhausted)
    with pytest.raises(
        MemoryError, match=r"table.csv does not fit into the memory .malloc"
    ) as caught:
        table.read()
    assert "CSV:" not in str(caught.value)


def test_a_header_is_needed(tmp_path):
    refused(as_csv("1.5,2\n3,4\n", tmp_path), r"starts with numbers \('1.5, 2'\), and a header")


def test_columns_need_names_of_their_own(tmp_path):
    refused(as_csv("a,b,a,b,c\n1,2,3,4,5\n", tmp_path), "more than one column called 'a', 'b'")
    refused(as_csv(",b,\n7,2,3\n", tmp_path), r"no name for column 1, 3\. .*index=False")
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"]), path)
    refused(path, "more than one column called 'a'")
    pq.write_table(pa.table({}), path)
    refused(path, "has no columns")


def with_note(text, tmp_path, **how):
    source = TableFile(as_csv(text, tmp_path), **how)
    return source.schema.names, source.read().to_pydict(), source.note


@pytest.mark.parametrize(
    "text", [",a,b\n0,2,x\n1,3,y\n", '"","a","b"\r\n"1",2,"x"\r\n"2",3,"y"\r\n']
)
def test_row_numbers_of_pandas_and_of_r_are_left_out(text, tmp_path):
    names, table, note = with_note(text, tmp_path)
    assert names == ["a", "b"]
    assert table == {"a": [2, 3], "b": ["x", "y"]}
    assert note.endswith("left out. It has no name, and only numbers the rows.")
    blocks = read_blocks(tmp_path / "table.csv", columns=["b"], types={"a": pa.float64()})
    assert [block.to_pydict() for block in blocks] == [{"b": ["x", "y"]}]


@pytest.mark.parametrize("values", ["0 2", "2 3", "1 1", "a b", "0 ", "0.5 1.5"])
def test_a_column_without_a_name_that_is_no_row_numbers(values, tmp_path):
    first, second = values.split(" ")
    refused(as_csv(f",a\n{first},2\n{second},3\n", tmp_path), "no name for column 1")


def test_errors_name_the_column_also_beside_row_numbers(tmp_path):
    rows = "".join(f"{i},1.5,x\n" for i in range(30))
    path = as_csv(f",a,b\n{rows}30,large,y\n", tmp_path)
    with pytest.raises(TableFileError, match=r"row 31 .*column 'a': 'large' is not a number"):
        list(in_small_blocks(path).blocks())


@pytest.mark.parametrize(("typed", "meant"), [("Y", "y"), ("y2", "Y2"), ("price", "PRICE")])
def test_a_name_in_another_case_is_answered_with_the_nearest(typed, meant, tmp_path):
    table = TableFile(as_csv("y,Y2,PRICE\n1,2,3\n", tmp_path))
    with pytest.raises(TableFileError, match=f"no column '{typed}'. Did you mean '{meant}'"):
        table.read(columns=[typed])


def test_text_that_is_not_utf_8(tmp_path):
    path = as_csv("a,b\n1,x\n2,caf\xe9\n".encode("latin-1"), tmp_path)
    refused(path, "not UTF-8 text: byte 0xe9 in line 3. .*iconv -f latin1 -t utf-8")
    refused(as_csv(b"a,b\n1,x\n2,\xc3", tmp_path), "byte 0xc3 in line 3")
    refused(as_csv("a,b\n1,2\n".encode("utf-16"), tmp_path), "is text in UTF-16.*iconv -f utf-16")


def test_text_that_is_not_utf_8_far_down(tmp_path):
    good = "a,b\n" + "1,é\n" * 1001
    assert in_small_blocks(as_csv(good, tmp_path)).read().num_rows == 1001
    refused(as_csv(good.encode() + b"2,\xe9\n", tmp_path), "byte 0xe9 in line 1003", block_bytes=64)
    refused(
        as_csv(good.encode() + b"2,\0\n", tmp_path),
        "NUL byte in line 1003. If it is UTF-16",
        block_bytes=64,
    )


def test_a_giant_line(tmp_path):
    refused(
        as_csv("a,b\n1,2\n3," + "4" * 500, tmp_path),
        "line of more than .* MiB, line 3",
        block_bytes=64,
    )
    refused(
        as_csv("a,b\n" + "1,2\n" * 99 + "3," + "4" * 500, tmp_path), "MiB, line 101", block_bytes=64
    )
    assert in_small_blocks(as_csv("a,b\n1,2\n3," + "4" * 40, tmp_path)).read().num_rows == 2


def test_a_quote_that_is_not_closed_for_long(tmp_path):
    path = as_csv("a,b\n" + "1,2\n" * 50 + '1,"2\n' + "1,2\n" * 100, tmp_path)
    refused(
        path, "row of more than .* Is there a quotation mark that is never closed", block_bytes=64
    )


def test_a_quote_that_is_never_closed(tmp_path):
    rows = "1,2\n" * 50_000  # longer than a field may be for the csv module
    refused(as_csv(f'a,b\n1,2\n1,"2\n{rows}', tmp_path), "line 3: a quotation mark that is never")
    refused(as_csv(f'a,b\n{rows}"1","2', tmp_path), "line 50002: a quotation mark that is never")
    refused(as_csv(f'a,"b\n{rows}', tmp_path), "line 1: a quotation mark that is never closed")


def test_marks_inside_fields_are_marks(tmp_path):
    assert of_text('a,b\n5" pipe,2\n"7 ""x""",3\n', tmp_path)["a"] == ['5" pipe', '7 "x"']
    long = "z" * 200_000
    assert of_text(f'a,b\n1,"{long}"\n', tmp_path) == {"a": [1], "b": [long]}


def test_a_start_that_ends_inside_quotes(tmp_path):
    fields = "".join(f'{i},"x\n\ny"\n' for i in range(10, 100))
    for width in range(1, 12):
        assert (
            in_small_blocks(as_csv("a" * width + ",b\n" + fields, tmp_path)).read().num_rows == 90
        )


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas(delimiter, tmp_path):
    text = "a;b;c\n1,5;x;1\n-2,25;y;2\n;z;3\n4;w;4\n".replace(";", delimiter)
    _, table, note = with_note(text, tmp_path)
    assert table["a"] == [1.5, -2.25, None, 4]
    assert table["c"] == [1, 2, 3, 4]
    assert note.endswith("'a' has decimal commas: 3,14 is read as 3.14.")
    path = tmp_path / "table.csv"
    assert read_table(path, types={"a": pa.float64()})["a"].to_pylist() == table["a"]
    assert read_table(path, types={"a": pa.string()})["a"][0].as_py() == "1,5"
    assert of_text("a;b\n1,5;x\nlarge;y\n", tmp_path)["a"] == ["1,5", "large"]


def test_decimal_commas_of_standard_input_and_of_compressed_files(monkeypatch, tmp_path):
    text = ";a;b\n" + "".join(f"{i};{i},5;x\n" for i in range(100))
    table = {"a": [i + 0.5 for i in range(100)], "b": ["x"] * 100}
    packed = as_csv(gzip.compress(text.encode()), tmp_path, "table.csv.gz")
    assert read_table(packed).to_pydict() == table
    monkeypatch.setattr(sys, "stdin", Stdin(text.encode()))
    blocks = TableFile("-", block_bytes=64).blocks(60)
    assert pa.concat_tables(blocks).to_pydict() == table


def test_decimal_commas_where_they_are_not_read(tmp_path):
    words = "column 'a': numbers with commas, such as '1,5'. .*decimal points"
    refused(as_csv('a,b\n"1,5",x\n"-2,25",y\n', tmp_path), words)
    late = as_csv("a;b\n" + "1;x\n" * 50 + "1,5;x\n", tmp_path)
    with pytest.raises(TableFileError, match=r"'1,5' is not a .*number.*decimal point instead"):
        list(in_small_blocks(late).blocks())


def test_decimal_commas_and_points_in_one_file(tmp_path):
    both = as_csv("a;b;c\n1,5;1.5;x\n2;3;y\n", tmp_path)
    refused(both, "numbers of 'a' have decimal commas, but those of 'b' have points. Write all")
    in_one = as_csv("a;b\n1,5;x\n2.5;y\n", tmp_path)
    refused(in_one, "'a': numbers with commas, such as '1,5' and with points, such as '2.5'. Write")
    late = as_csv("a;b\n" + "1,5;x\n" * 50 + "2.5;x\n", tmp_path)
    with pytest.raises(TableFileError, match=r"'2.5' is not a number.*a decimal comma instead"):
        list(in_small_blocks(late).blocks())


def zipped(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "content")
    return file.getvalue()


class Bomb:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped("[Content_Types].xml"), r"is damaged or not an Excel workbook.*save it as CSV"),
        (zipped("table.csv"), "is a zip archive.*Unpack"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
            "is an old Excel workbook, or one with a password; CSV, Excel.*without a password",
        ),
        (pickle.dumps(Bomb()), "is a Python pickle.*A pickle can run code.*does not open it"),
        (gzip.compress(pickle.dumps(Bomb())), "is a Python pickle"),
        (b'[{"a": 1}, {"a": 2}]', "is JSON.*read_json"),
        (b' {\n "a": [1, 2]}', "is JSON"),
        (b"<!DOCTYPE html><p>404", "is a web page or XML"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
        (b"\x93NUMPY\x01\x00v\x00", "is a NumPy array"),
        (b"FEA1\0\0\0\0", "is a Feather file of version 1"),
        (b"%PDF-1.4\n\x00", "is a PDF"),
        (bytes(257) + b"ustar\x00", "is a tar archive"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not UTF-8 text"),
    ],  # Archives have the time in them, and names of tests must not.
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_files_of_other_kinds_are_named(content, words, tmp_path):
    refused(as_csv(content, tmp_path), words)


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows"])
def test_code_that_a_type_brings_along_is_not_run(ending, tmp_path):
    brought = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickle.dumps(Bomb()),
    }
    schema = pa.schema([pa.field("x", pa.int64(), metadata=brought)])
    path = tmp_path / f"table{ending}"
    write_blocks([pa.table({"x": [1]}, schema=schema)], path)
    assert read_table(path).to_pydict() == {"x": [1]}


def test_a_database_is_named(tmp_path):
    path = tmp_path / "table.db"
    with sqlite3.connect(path) as database:
        database.execute("create table t (x)")
    database.close()
    refused(path, "is an SQLite database")


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows", ".csv.gz", ".tsv.gz"])
def test_a_file_that_was_cut_short_is_damaged(ending, tmp_path, monkeypatch):
    path = tmp_path / f"table{ending}"
    write_blocks([TABLE] * 50, path)
    content = path.read_bytes()
    # Within the last message of a stream: one that ends between messages is a shorter stream.
    half = as_csv(content[: len(content) // 2 - 1], tmp_path, f"half{ending}")
    refused(half, "damaged or cut short")
    monkeypatch.setattr(sys, "stdin", Stdin(half.read_bytes()))
    refused("-", "Standard input .*damaged or cut short")


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows", ".csv.gz", ".csv"])
def test_damaged_bytes_never_give_another_error(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write_blocks([TABLE], path)
    content = np.frombuffer(path.read_bytes(), np.uint8)
    generator = np.random.default_rng(0)
    refusals = 0
    for _ in range(150):
        damaged = content.copy()
        places = generator.integers(4, len(content), 3)
        damaged[places] = generator.integers(0, 256, 3)
        try:
            for block in read_blocks(as_csv(damaged.tobytes(), tmp_path, f"damaged{ending}")):
                block.validate(full=True)
        except TableFileError:
            refusals += 1
    assert refusals > 0


# Writing


def test_text_is_plain_on_standard_output(capfdbinary):
    write_blocks([TABLE], "-")
    assert capfdbinary.readouterr().out == b'x,n,text\n1.5,1,"a"\n,2,"b, c"\n3,3,\n'
    write_blocks([TABLE], "-", ending=".jsonl")
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert rows == TABLE.to_pylist()


STEERING = pa.table({"pe\x1bn": ["é\x1b[2J\x9b31m\u202e", "two\nlines\t\r"]})


@pytest.mark.parametrize("shown", [True, False])
def test_text_steers_no_terminal_and_a_pipe_has_it_as_it_is(tmp_path, monkeypatch, shown):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(out, "isatty", lambda: shown)
    monkeypatch.setattr("sys.stdout", out)
    write_blocks([STEERING], "-")
    plain = 'pe\\x1bn\n"é\\x1b[2J\\x9b31m\\u202e"\n"two\nlines\t\\r"\n'
    write_blocks([STEERING], tmp_path / "table.csv")
    raw = (tmp_path / "table.csv").read_bytes()
    assert b"\x1b[2J" in raw
    assert out.buffer.getvalue() == (plain.encode() if shown else raw)


def test_lines_of_json_steer_no_terminal_wherever_they_go(tmp_path):
    write_blocks([STEERING], tmp_path / "table.jsonl")
    text = (tmp_path / "table.jsonl").read_text(encoding="utf-8")
    assert text.startswith(r'{"pe\u001bn": "é\u001b[2J\u009b31m\u202e"}')
    assert [json.loads(line) for line in text.splitlines()] == STEERING.to_pylist()


def test_json_has_no_word_for_what_is_not_finite(tmp_path):
    path = tmp_path / "table.jsonl.gz"
    days = pa.array([1, 2, None], pa.date32())
    write_blocks([pa.table({"x": [math.nan, -math.inf, 0.1], "é": days})], path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines[0] == '{"x": null, "é": "1970-01-02"}'
    assert json.loads(lines[1]) == {"x": None, "é": "1970-01-03"}
    assert json.loads(lines[2]) == {"x": 0.1, "é": None}


def test_no_block_is_nothing_to_write(tmp_path):
    with pytest.raises(ValueError, match="no block to write"):
        write_blocks([], tmp_path / "table.csv")
    assert not list(tmp_path.iterdir())


def test_batches_are_as_good_as_tables(tmp_path):
    for ending in (".csv", ".parquet", ".arrow", ".jsonl"):
        tables, batches = tmp_path / f"tables{ending}", tmp_path / f"batches{ending}"
        write_blocks([TABLE], tables)
        write_blocks(TABLE.to_batches(), batches)
        assert tables.read_bytes() == batches.read_bytes()


def test_nothing_is_overwritten_or_asked_for_in_vain(tmp_path):
    def never():
        raise AssertionError
        yield

    path = as_csv("old", tmp_path)
    with pytest.raises(WouldOverwriteError, match=r"already exists.*--force"):
        write_blocks(never(), path)
    assert path.read_text() == "old"
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_blocks(never(), tmp_path / "no" / "table.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder, but the result is a file"):
        write_blocks(never(), tmp_path / "folder.csv", force=True)
    with pytest.raises(TableFileError, match=r"table.xlsx does not say which format.*\.csv"):
        write_blocks(never(), tmp_path / "table.xlsx")
    write_blocks([TABLE], path, force=True)
    assert read_table(path) == TABLE


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow", ".jsonl"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_an_error_leaves_the_old_file_and_no_part_of_the_new(ending, error, tmp_path):
    path = as_csv("old", tmp_path, f"table{ending}")

    def blocks():
        yield TABLE
        raise error

    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else NoRoomError
    with pytest.raises(expected):
        write_blocks(blocks(), path, force=True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("link", ["full.csv", "full.csv.gz", "full.parquet", "full.arrow"])
def test_a_full_disk_is_said_in_words(link, tmp_path):
    target = tmp_path / link
    target.symlink_to("/dev/full")
    with pytest.raises(NoRoomError, match=r"no space left to write .*full") as caught:
        write_blocks([TABLE], target)
    assert caught.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(target.stat().st_mode)


def test_a_reader_that_stops_is_a_broken_pipe():
    script = """
import sys, pyarrow as pa, itertools
from confide.tables import write_blocks
try:
    write_blocks(itertools.repeat(pa.table({"x": [1.0] * 1000})), "-")
except BrokenPipeError:
    sys.stderr.write("broken")
    sys.stderr.flush()
    import os; os._exit(0)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"x\n"
    process.stdout.close()
    assert process.stderr.read() == b"broken"
    process.stderr.close()
    assert process.wait() == 0


def test_atomic_files_are_not_there_until_whole(tmp_path):
    path = tmp_path / "file"
    with persistence.atomic_file(path) as file:
        file.write(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [path]


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    def missing(module):
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'confide\[tables\]'"):
        read_table(as_csv("a\n1\n", tmp_path))
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'confide\[tables\]'"):
        write_blocks([TABLE], tmp_path / "out.csv")


# Laws

NAMES = st.text(string.ascii_letters + " é,;'\"|\n\t", min_size=1).filter(lambda name: name.strip())
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)
COLUMNS = {
    "x": st.floats(allow_nan=False) | st.none(),
    "n": st.integers(-(2**63), 2**63 - 1) | st.none(),
    "text": WORDS | st.none(),
    "yes": st.booleans() | st.none(),
    "day": st.dates() | st.none(),
}
TYPES = {
    "x": pa.float64(),
    "n": pa.int64(),
    "text": pa.string(),
    "yes": pa.bool_(),
    "day": pa.date32(),
}


@pytest.mark.slow
@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), max_size=30), size=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_round_trip(tmp_path_factory, rows, size):
    folder = tmp_path_factory.mktemp("round_trip")
    written = pa.Table.from_pylist(rows, pa.schema(list(TYPES.items())))
    for ending in (".csv", ".tsv.gz", ".parquet", ".arrow", ".arrows"):
        write_blocks([written.slice(0, 3), written.slice(3)], folder / f"table{ending}")
        read = pa.concat_tables(read_blocks(folder / f"table{ending}", size, types=TYPES))
        expected = rows
        if ending in {".csv", ".tsv.gz"}:
            # Text has no word for a text that says it is missing.
            expected = [
                row | {"text": None if row["text"] in separated.MISSING else row["text"]}
                for row in rows
            ]
        assert read.to_pylist() == expected


@given(names=st.lists(NAMES, min_size=2, max_size=5, unique=True))
@settings(max_examples=60, deadline=None)
def test_names_of_columns_survive(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("names") / "table.csv"
    write_blocks([pa.table({name: ["u", "v"] for name in names})], path)
    assert read_table(path).to_pydict() == {name: ["u", "v"] for name in names}
