"""Every example runs, and draws its picture where it has one."""

import runpy

import matplotlib.pyplot as plt
import pytest
from support.markdown_blocks import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr("sys.argv", [str(path), str(picture)])
    runpy.run_path(str(path))
    plt.close("all")
    assert "savefig" not in path.read_text() or picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_in_cells_and_says_what_it_shows(path):
    assert path.read_text().startswith("# %% [markdown]\n# # ")


def test_every_picture_of_the_documentation_is_drawn_by_an_example():
    drawn = {path.stem for path in EXAMPLES}
    assert {path.stem for path in (ROOT / "docs" / "pictures").glob("*.png")} <= drawn
