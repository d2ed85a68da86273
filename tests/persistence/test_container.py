"""The container of model files knows arrays and JSON, and nothing of estimators."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from confide.errors import ModelFileError
from confide.persistence import Container, checked_fields, checked_json, container


@dataclass
class Whole:
    name: str
    numbers: tuple[float, ...]
    words: Mapping[str, str]
    arrays: object = None


PAYLOAD = {"name": "a", "numbers": [1.0, 2.0], "words": {"b": "c"}}


def written(path: Path) -> Container:
    header = {"format": "tests", "format_version": 1, "more": [1, None]}
    Container(header, {"x": np.arange(6.0).reshape(2, 3).T}).write(path)
    return Container.read(path, format="tests", versions=[1])


def test_what_was_written_is_read(tmp_path):
    file = written(tmp_path / "file")
    assert file.header["more"] == [1, None]
    np.testing.assert_array_equal(file.arrays["x"], np.arange(6.0).reshape(2, 3).T)
    assert file.is_as_written()


@pytest.mark.parametrize("where", ["header", "description"])
def test_a_header_of_very_many_values_is_not_read(tmp_path, monkeypatch, where):
    written(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    length = int.from_bytes(content[:8], "little")
    described = json.loads(content[8 : 8 + length])
    many = "[" + "[]," * 200_000 + "[]]"
    if where == "header":
        header = described["__metadata__"]["header"]
        described["__metadata__"]["header"] = f'{header[:-1]},"x":{many}}}'
        text = json.dumps(described)
    else:
        text = f'{json.dumps(described)[:-1]},"x":{many}}}'
    (tmp_path / "file").write_bytes(
        len(text).to_bytes(8, "little") + text.encode() + content[8 + length :]
    )
    monkeypatch.setattr(json, "loads", lambda _: pytest.fail("it is parsed"))
    monkeypatch.setattr(container, "BYTES_BEYOND_FILE", 10**7)
    with pytest.raises(ModelFileError, match="its header has too many values"):
        Container.read(tmp_path / "file", format="tests", versions=[1])


def test_a_header_that_would_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "BYTES_BEYOND_FILE", 0)
    with pytest.raises(ModelFileError, match="The model cannot be saved"):
        Container({"words": [""] * 1000}, {}).write(tmp_path / "file")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", ["header", "array", "name", "checksum"])
def test_a_change_shows(tmp_path, change):
    file = written(tmp_path / "file")
    if change == "header":
        file.header["more"] = [1, 0]
    elif change == "array":
        file.arrays["x"][0, 0] += 1
    elif change == "name":
        file.arrays["y"] = file.arrays.pop("x")
    else:
        del file.header["sha256"]
    assert not file.is_as_written()


def test_another_format_or_version_is_refused(tmp_path):
    written(tmp_path / "file")
    with pytest.raises(ModelFileError, match="is not a models"):
        Container.read(tmp_path / "file", format="models", versions=[1])
    with pytest.raises(
        ModelFileError, match="has format version 1, and this confide reads version"
    ):
        Container.read(tmp_path / "file", format="tests", versions=[2])


def test_fields_are_read_as_their_annotations_say():
    fields = checked_fields(Whole, PAYLOAD, besides=["arrays"])
    assert fields == {"name": "a", "numbers": (1.0, 2.0), "words": {"b": "c"}}


@pytest.mark.parametrize(
    "change",
    [
        {"name": 1},
        {"name": None},
        {"numbers": [1]},
        {"numbers": [True]},
        {"numbers": 1.0},
        {"numbers": {"0": 1.0}},
        {"words": [["b", "c"]]},
        {"words": {"b": 1}},
        {"more": 1},
        {"arrays": None},
    ],
    ids=str,
)
def test_fields_of_another_type_or_name_are_refused(change):
    with pytest.raises(ValueError, match=r"of the wrong type|lacks parts"):
        checked_fields(Whole, {**PAYLOAD, **change}, besides=["arrays"])


@pytest.mark.parametrize("payload", [None, [], "name", {}])
def test_what_is_no_object_with_all_fields_is_refused(payload):
    with pytest.raises(ValueError, match="lacks parts"):
        checked_fields(Whole, payload, besides=["arrays"])


def test_whole_numbers_are_no_booleans():
    with pytest.raises(ValueError, match="count is of the wrong type: True"):
        checked_json(int, value=True, name="count")


# Another process empties the file when its header has been read.
REWRITTEN = """
import os, sys
from pathlib import Path
from confide.errors import ModelFileError
from confide.persistence import container
from confide.persistence import Container, container

path = Path(sys.argv[1])
container._check_format = lambda *_: os.truncate(path, 0)
try:
    Container.read(path, format="tests", versions=[1])
except ModelFileError as error:
    print(error)
"""


def test_a_file_that_is_rewritten_in_place_while_it_is_read_does_not_end_the_process(tmp_path):
    path = tmp_path / "file"
    header = {"format": "tests", "format_version": 1}
    Container(header, {"x": np.ones(100_000)}).write(path)
    ran = subprocess.run(
        [sys.executable, "-c", REWRITTEN, str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0
    assert "It may be truncated" in ran.stdout


@pytest.mark.parametrize("size", [0, 5, 8, 100, 700])
def test_a_truncated_file_is_refused(tmp_path, size):
    path = tmp_path / "file"
    written(path)
    path.write_bytes(path.read_bytes()[:size] if size < 700 else path.read_bytes() + b"more")
    with pytest.raises(ModelFileError, match="not a whole tests"):
        Container.read(path, format="tests", versions=[1])


def test_a_device_or_a_pipe_is_no_model(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "zero").symlink_to("/dev/zero")  # read to its end, it would fill the memory
    for path in (pipe, tmp_path / "zero"):
        with pytest.raises(ModelFileError, match=r"is a device or a pipe: pass a file"):
            Container.read(path, format="tests", versions=[1])
