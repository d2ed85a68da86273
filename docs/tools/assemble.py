"""Lays out the pages of the documentation site as they lie in the repository.

The site's folder of pages is a mirror of the repository's own, so a link that works there works on
the site, and nothing is written twice. One page is made here: `results/README.md`, the
reproduction, gets the tables and figures that its text links to, read from `results/paper`. And
each script of `examples/` is shown as a page, to which links to the script lead.

    python docs/tools/assemble.py build/pages
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "*.md",
    "LICENSE",
    "CITATION.cff",
    "docs/**/*",
    "results/**/*",
    "benchmarks/*.md",
    "examples/*.py",
)
TABLE = re.compile(r"\]\((paper/tables/[\w-]+\.md)\)")
FIGURE = re.compile(r"\[([^]]*)\]\((paper/figures/[\w-]+\.svg)\)")
EXAMPLE = re.compile(r"(\]\([\w./]*examples/\w+)\.py\)")
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a block prints is a table, which scrolls, or if it has longer lines prose, which wraps.
LONGEST_LINE = 100
# The long table of all numbers stays a page of its own.
LONGEST_TABLE = 60


def assemble(target: Path) -> None:
    """The pages of the site, in `target`, which is made anew."""
    shutil.rmtree(target, ignore_errors=True)
    for pattern in PAGES:
        for path in ROOT.glob(pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = target / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
    page = target / "results" / "README.md"
    page.write_text(reproduction(page.read_text(), ROOT / "results"))
    for script in (target / "examples").glob("*.py"):
        picture = ROOT / "docs" / "pictures" / f"{script.stem}.png"
        script.with_suffix(".md").write_text(example_page(script, picture.exists()))
    for page in target.rglob("*.md"):
        text = EXAMPLE.sub(r"\1.md)", page.read_text())
        page.write_text(OUTPUT.sub(shown_output, text))


def reproduction(text: str, results: Path) -> str:
    """The text, with each table and figure below the paragraph that first links to it."""
    shown: set[str] = set()
    blocks = []
    for block in text.split("\n\n"):
        blocks.append(block)
        for title, path in FIGURE.findall(block):
            if path not in shown:
                shown.add(path)
                blocks.append(f"![{title}]({path})")
        for path in TABLE.findall(block):
            caption, table = (results / path).read_text().rstrip().split("\n\n", maxsplit=1)
            if path not in shown and table.count("\n") <= LONGEST_TABLE:
                shown.add(path)
                blocks.append(folded(caption, table))
    return "\n\n".join(blocks)


def shown_output(block: re.Match[str]) -> str:
    """What a block prints; prose gets a class by which the style wraps it."""
    lines = block[1].splitlines()
    prose = max(map(len, lines), default=0) > LONGEST_LINE
    return f"```{{.text .prose}}\n{block[1]}```" if prose else block[0]


def folded(caption: str, table: str) -> str:
    """A table that opens at a click."""
    title = caption.replace('"', "'")
    indented = "\n".join(f"    {line}" for line in table.splitlines())
    return f'??? table "{title}"\n\n{indented}'


def example_page(script: Path, has_picture: bool) -> str:
    """A script in cells as a page: words as they are, code as blocks, the picture above it."""
    blocks = []
    for cell in re.split(r"^# %%", script.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = cell.partition("\n")
        if title.strip() == "[markdown]":
            blocks.append(re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip())
            if has_picture:
                blocks.append(f"![Its picture](../docs/pictures/{script.stem}.png)")
        else:
            blocks += [title.strip(), f"```python\n{body.strip()}\n```"]
    return "\n\n".join(filter(None, blocks)) + "\n"


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
