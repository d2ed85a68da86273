"""Excel workbooks: the first sheet as a table, and what is refused."""

import datetime as dt
import gzip
import io
import sys
import zipfile

import openpyxl
import pyarrow as pa
import pytest

from confide.errors import TableFileError, TooLargeError
from confide.tables import TableFile, read_table
from confide.tables import excel as excel_module

HEADER = ["size", "rooms", "town", "sold", "at", "new", "code", "note"]
ROWS = [
    [1.5, 3, "Rome", dt.datetime(2020, 3, 25), dt.time(14, 30), True, "007", "a"],  # noqa: DTZ001
    [2, 4, None, dt.datetime(2020, 3, 26, 8, 30), None, False, "12", 5],  # noqa: DTZ001
    [None, 2, "NA", None, dt.time(8), None, None, "#N/A"],
]


def workbook(path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for i, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {i}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def refused(words, path, error=TableFileError):
    with pytest.raises(error, match=words):
        read_table(path)


@pytest.fixture
def homes(tmp_path):
    return workbook(tmp_path / "homes.xlsx", [HEADER, *ROWS])


def test_a_sheet_is_a_table_with_types(homes):
    table = read_table(homes)
    assert table.to_pydict() == {
        "size": [1.5, 2.0, None],
        "rooms": [3, 4, 2],
        "town": ["Rome", None, None],
        "sold": [*(row[3] for row in ROWS[:2]), None],
        "at": [dt.time(14, 30), None, dt.time(8)],
        "new": [True, False, None],
        "code": ["007", "12", None],
        "note": ["a", "5", None],
    }
    assert table.schema.field("rooms").type == pa.int64()
    assert TableFile(homes).note is None


def test_columns_blocks_and_types_are_those_asked_for(homes):
    source = TableFile(homes)
    assert (source.format, source.about_rows) == ("Excel", 3)
    blocks = list(source.blocks(2, columns=["rooms"], types={"rooms": pa.float64()}))
    assert [block.num_rows for block in blocks] == [2, 1]
    assert blocks[0].schema.field("rooms").type == pa.float64()
    with pytest.raises(TableFileError, match=r"column 'town': each value must be a number"):
        TableFile(homes).read(types={"town": pa.float64()})


def test_empty_rows_and_columns_at_the_edges_are_nothing(tmp_path):
    rows = [[None, None], ["a", "b", None], [None], [1, 2], [None, None, None]]
    assert read_table(workbook(tmp_path / "t.xlsx", rows)).to_pydict() == {"a": [1], "b": [2]}


def test_the_first_of_several_sheets_is_read_and_said(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [["a"], [1]], [["b"], [2]])
    source = TableFile(path)
    assert source.read().to_pydict() == {"a": [1]}
    assert source.note.endswith(
        "the sheet 'sheet 0' is read, the first of 2: 'sheet 0', 'sheet 1'."
    )


def test_a_compressed_workbook_is_read_too(homes, tmp_path):
    path = tmp_path / "homes.xlsx.gz"
    path.write_bytes(gzip.compress(homes.read_bytes()))
    assert read_table(path).equals(read_table(homes))


def test_row_numbers_of_pandas_are_left_out(tmp_path):
    source = TableFile(workbook(tmp_path / "a.xlsx", [[None, "x"], [0, 2.5], [1, 3.5]]))
    assert source.read().to_pydict() == {"x": [2.5, 3.5]}
    assert source.note.endswith("left out. It has no name, and only numbers the rows.")
    refused(r"no name for column 1", workbook(tmp_path / "b.xlsx", [[None, "x"], [5, 2], [6, 3]]))


def test_what_is_no_table_is_refused_in_words(tmp_path):
    refused(r"sheet 'sheet 0' is empty. A table with a header", workbook(tmp_path / "a.xlsx", []))
    refused(r"no name for column 2", workbook(tmp_path / "b.xlsx", [["x"], [1, 2]]))
    refused(r"more than one column called 'x'", workbook(tmp_path / "c.xlsx", [["x", "x"], [1, 2]]))
    (tmp_path / "d.xlsx").write_text("a,b\n1,2\n")
    refused(r"does not start like a file of its ending", tmp_path / "d.xlsx")


def test_damaged_workbooks_never_give_another_error(homes, tmp_path):
    content = homes.read_bytes()
    for i in range(0, len(content), 97):
        path = tmp_path / "damaged.xlsx"
        path.write_bytes(content[:i] + bytes([content[i] ^ 0xFF]) + content[i + 1 :])
        try:
            read_table(path)
        except TableFileError as error:
            assert str(error)  # noqa: PT017
    (tmp_path / "cut.xlsx").write_bytes(content[:-100])
    refused("is damaged or not an Excel workbook.*save it as CSV", tmp_path / "cut.xlsx")


def rewritten(path, name, change):
    """The workbook with one part of the archive changed."""
    source, target = zipfile.ZipFile(path), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in source.namelist():
            content = source.read(part)
            archive.writestr(part, change(content) if part == name else content)
    path.write_bytes(target.getvalue())
    return path


def test_a_bomb_is_refused_before_it_is_opened(homes, monkeypatch):
    def opened(*_, **__):
        pytest.fail("it was opened")

    monkeypatch.setattr("confide.budget.available_memory", lambda: 10 * 2**20)
    grown = rewritten(homes, "xl/worksheets/sheet1.xml", lambda content: content + b" " * 2**22)
    assert grown.stat().st_size < 20_000
    monkeypatch.setattr(openpyxl, "load_workbook", opened)
    refused("does not fit in memory", grown, TooLargeError)


def test_short_rows_under_a_long_header_are_refused_before_they_are_filled_up(homes, monkeypatch):
    monkeypatch.setattr("confide.budget.available_memory", lambda: 2**20)
    monkeypatch.setattr(excel_module.ExcelTable, "_check_content", lambda *_: None)
    wide = b'<row r="1"><c r="XFD1" t="inlineStr"><is><t>z</t></is></c></row>'
    cells = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (i, i) for i in range(9, 40))
    path = rewritten(
        homes,
        "xl/worksheets/sheet1.xml",
        lambda content: content.split(b"<row")[0] + wide + cells + b"</sheetData></worksheet>",
    )
    refused("does not fit in memory", path, TooLargeError)


def test_a_sheet_that_claims_to_be_wide_is_refused(homes, monkeypatch):
    monkeypatch.setattr("confide.budget.available_memory", lambda: 2**20)
    monkeypatch.setattr(excel_module.ExcelTable, "_check_content", lambda *_: None)
    cells = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(9, 40))
    path = rewritten(
        homes,
        "xl/worksheets/sheet1.xml",
        lambda content: content.replace(b"</sheetData>", cells + b"</sheetData>"),
    )
    refused("does not fit in memory", path, TooLargeError)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/_rels/workbook.xml.rels"])
def test_entities_are_refused(homes, part, encoding):
    declared = '<!DOCTYPE a [<!ENTITY b "bbbb">]>'
    path = rewritten(homes, part, lambda content: (declared + content.decode()).encode(encoding))
    refused("declares entities", path)


def test_without_openpyxl_the_extra_is_named(homes, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'confide\[excel\]'"):
        read_table(homes)
