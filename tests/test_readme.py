"""Every block of Python in the README runs, and the examples do."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
OUTPUTS = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_readme_has_an_example():
    assert BLOCKS


def test_readme_blocks_run_one_after_the_other(capsys):
    names: dict = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert "mean_ci_lower" in printed
    assert skeleton(printed) == skeleton("".join(OUTPUTS))


def skeleton(text: str) -> list[list[str]]:
    """The words of each line, without what another machine may round or choose otherwise."""
    text = re.sub(r"worst where .*? \(", "worst where ... (", text)
    text = re.sub(r"as they should on average|too seldom|too often[^;]*", "...", text)
    return [re.sub(r"-?\d[\d.]*", "0", line).split() for line in text.splitlines()]


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
