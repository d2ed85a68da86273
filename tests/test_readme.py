"""Every block of Python in the README runs, and the examples do."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_readme_has_an_example():
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_readme_block_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert "mean_ci_lower" in capsys.readouterr().out


def test_readme_links_lead_somewhere():
    links = re.findall(r"\]\(((?!http)[^)]+)\)", (ROOT / "README.md").read_text())
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_its_picture(path, tmp_path, monkeypatch):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr("sys.argv", [str(path), str(picture)])
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")
    runpy.run_path(str(path))
    assert picture.read_bytes().startswith(b"\x89PNG")
