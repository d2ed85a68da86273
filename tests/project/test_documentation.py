"""Every block of code in the README and the documentation runs, and every link leads somewhere."""

import re

import matplotlib.pyplot as plt
import pytest
from support.markdown_blocks import (
    ROOT,
    blocks_of,
    fill_readers_folder,
    printed_by_blocks,
    skeleton,
)

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = {path.relative_to(ROOT).as_posix(): blocks_of(path.read_text()) for path in PAGES}
WITH_CODE = [name for name, blocks in BLOCKS.items() if any(b.reason is None for b in blocks)]
# Blocks of hours, of a cluster, of another's file: few, or the rule means nothing.
MOST_NOT_RUN = 4
# Pages about what is an extra, and what they need of it.
NEEDS = {
    "docs/guides/your_pytorch_network.md": ("torch",),
    "docs/guides/your_boosted_trees.md": ("xgboost", "lightgbm"),
}


@pytest.fixture
def readers_folder(tmp_path, monkeypatch):
    """Where pages are followed."""
    monkeypatch.chdir(tmp_path)
    fill_readers_folder(tmp_path)
    yield tmp_path
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CODE)
def test_blocks_run_one_after_the_other_and_print_what_the_page_says(name, readers_folder):
    del readers_folder
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module, reason=f"the page is about an extra, and there is no {module}")
    for block, printed in printed_by_blocks(name, BLOCKS[name]):
        if block.output is not None:
            assert skeleton(printed) == skeleton(block.output), f"{name}:{block.line}"


def test_blocks_that_are_not_run_are_few_and_say_why():
    reasons = [block.reason for blocks in BLOCKS.values() for block in blocks if block.reason]
    assert len(reasons) <= MOST_NOT_RUN
    assert all(len(reason.split()) >= 4 for reason in reasons)
    marks = sum(path.read_text().count("\n<!-- not run") for path in PAGES)
    assert marks == len(reasons), "a mark stands above no block, or without its reason"


def test_every_fence_has_a_language_that_somebody_looks_at():
    for path in PAGES:
        opened = re.findall(r"^```(\S*)\n.*?^```$", path.read_text(), re.DOTALL | re.MULTILINE)
        # The picture of the rooms is looked at by tests/test_architecture.py.
        assert set(opened) <= {"python", "console", "text", "mermaid"}, path.name


def test_readme_shows_what_its_example_prints():
    (example, *_) = [block for block in BLOCKS["README.md"] if block.kind == "python"]
    assert "mean_ci_lower" in example.output
    assert len([line for line in example.text.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(((?!http)[^)#]+)[^)]*\)", path.read_text()):
        assert (path.parent / link).exists(), link


def test_blocks_are_found_with_their_reasons_and_outputs():
    page = (
        "Words.\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n"
        "<!-- not run: needs a cluster -->\n```console\nconfide x\n```\n\n```text\ntree\n"
        "```\n\nMore.\n\n```python\na = 1\n```\n\nSo:\n\n```text\nno output\n```\n"
    )
    first, second, third = blocks_of(page)
    assert (first.kind, first.text, first.output, first.line) == ("python", "print(1)\n", "1\n", 4)
    assert (second.kind, second.reason) == ("console", "needs a cluster")
    assert (third.output, third.reason) == (None, None)


def test_blocks_share_names_and_marked_ones_are_left_out():
    page = (
        "```python\na = 2\n```\n\n"
        "<!-- not run: it would divide by zero -->\n```python\n1 / 0\n```\n\n"
        "```python\nprint(a)\n```\n"
    )
    printed = [text for _, text in printed_by_blocks("page", blocks_of(page))]
    assert printed == ["", "2\n"]


def test_a_block_that_fails_is_told_with_its_line():
    page = "# Title\n\n```python\n\n1 / 0\n```\n"
    with pytest.raises(ZeroDivisionError) as caught:
        list(printed_by_blocks("page", blocks_of(page)))
    assert caught.traceback[-1].lineno == 4  # counted from zero


@pytest.mark.parametrize("line", ["confide nonsense", "rm -rf x"])
def test_a_command_that_fails_or_that_nobody_knows_is_told(line):
    with pytest.raises(AssertionError, match=line):
        list(printed_by_blocks("page", blocks_of(f"```console\n{line}\n```\n")))


def test_outputs_may_differ_in_digits_alone():
    assert skeleton("mean  117.2\n") == skeleton("mean 98.0\n")
    assert skeleton("mean 117.2\n") != skeleton("mode 117.2\n")
    assert skeleton("a 1\nb 2\n") != skeleton("a 1\n")
