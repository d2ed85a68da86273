"""What a file is, by its first bytes."""

from typing import TypeVar

from confide.errors import TableFileError

CSV, PARQUET, ARROW_FILE, ARROW_STREAM = "CSV", "Parquet", "Arrow file", "Arrow stream"
EXCEL = "Excel"

BINARY_ENDINGS = (".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc", ".xlsx", ".xlsm")

COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"} | {
    b"BZh%d1AY&SY" % size: "bz2" for size in range(1, 10)
}

# An Arrow stream starts with a marker of its messages, and the length of the first, its schema.
TABLES = {b"PAR1": PARQUET, b"ARROW1": ARROW_FILE, b"\xff\xff\xff\xff": ARROW_STREAM}

_FROM_PANDAS = "In Python, pandas.{reader} and DataFrame.to_parquet turn it into Parquet."
_SAVE = "Save it as .xlsx without a password, or as CSV."
_JSON = _FROM_PANDAS.format(reader="read_json")
_PICKLE = "A pickle can run code, so confide does not open it. Ask its author for Parquet."
_UTF16 = "Convert it: iconv -f utf-16 -t utf-8."
_UNPACK = "Unpack it, and give the file inside."

STRANGERS = {
    b"PARE": ("an encrypted Parquet file", "Decrypt it first."),
    b"FEA1": ("a Feather file of version 1", _FROM_PANDAS.format(reader="read_feather")),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook, or one with a password", _SAVE),
    b"SQLite format 3\0": ("an SQLite database", _FROM_PANDAS.format(reader="read_sql")),
    b"\x89HDF": ("an HDF5 file", _FROM_PANDAS.format(reader="read_hdf")),
    b"\x93NUMPY": ("a NumPy array", "Its columns need names: write it as CSV with a header line."),
    b"ORC": ("an ORC file", _FROM_PANDAS.format(reader="read_orc")),
    b"%PDF": ("a PDF document", "Export the table as CSV."),
    b"7z\xbc\xaf": ("a 7z archive", _UNPACK),
    b"\xfd7zXZ\0": ("an xz-compressed file", "Unpack it first: unxz."),
    b"\x04\x22\x4d\x18": ("an lz4-compressed file", "Unpack it first: unlz4."),
    b"\xff\xfe": ("text in UTF-16", _UTF16),
    b"\xfe\xff": ("text in UTF-16", _UTF16),
} | {bytes([0x80, version]): ("a Python pickle", _PICKLE) for version in range(2, 6)}


Value = TypeVar("Value")


def compression(start: bytes) -> str | None:
    """How the bytes are compressed, as pyarrow calls it."""
    return _of_start(COMPRESSIONS, start)


def table_format(start: bytes, name: str) -> str:
    """The format of the table that starts so, or an error that says what it is instead."""
    # A column may be called PAR1: what is all text is no binary file.
    form = _of_start(TABLES, start) if _is_binary(start) else None
    if form is not None:
        return form
    if start.startswith(b"PK\x03\x04") and (b"[Content_Types].xml" in start or b"xl/" in start):
        return EXCEL
    stranger = _archive(start) or _model(start) or _marked_up(start)
    if stranger is None and _is_binary(start):
        stranger = _of_start(STRANGERS, start)
    if stranger is not None:
        what, remedy = stranger
        raise TableFileError(f"{name} is {what}; CSV, Excel, Parquet or Arrow is needed. {remedy}")
    if not start.removeprefix(b"\xef\xbb\xbf").strip():
        raise TableFileError(f"{name} is empty. A table with a header line is needed.")
    if name.lower().endswith(BINARY_ENDINGS):
        raise TableFileError(
            f"{name} does not start like a file of its ending. Write it again; if it is CSV, "
            "let its name end in .csv."
        )
    return CSV


def _of_start(known: dict[bytes, Value], start: bytes) -> Value | None:
    return next((value for magic, value in known.items() if start.startswith(magic)), None)


def _is_binary(start: bytes) -> bool:
    """Whether there are bytes that text does not have: control characters, or no ASCII at first."""
    return start[:1] >= b"\x80" or any(byte < 9 or 13 < byte < 32 for byte in start[:512])


def _archive(start: bytes) -> tuple[str, str] | None:
    if start[257:262] == b"ustar":
        return "a tar archive", _UNPACK
    if not start.startswith(b"PK\x03\x04"):
        return None
    if b"opendocument.spreadsheet" in start:
        return "an OpenDocument spreadsheet", _SAVE
    return "a zip archive", _UNPACK


def _model(start: bytes) -> tuple[str, str] | None:
    """A safetensors file: the length of its header, then the header, which is JSON."""
    if start[6:9] != b"\0\0{":
        return None
    return "a model, not a table", "Pass the table; commands that need both take the model first."


def _marked_up(start: bytes) -> tuple[str, str] | None:
    text = b"".join(start[:512].removeprefix(b"\xef\xbb\xbf").split())
    if text[:2] in {b'{"', b"{}"} or (text[:1] == b"[" and text[1:2] in b'[]{"-0123456789'):
        return "JSON", _JSON
    if text.lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        return (
            "a web page or XML",
            "Was a page saved in place of the file? Export the table as CSV.",
        )
    return None
