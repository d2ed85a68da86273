"""Writes what the blocks of a page print below them, as it is today.

    python tools/pages.py                       # says which pages differ
    python tools/pages.py --write README.md     # puts the new numbers into this page

The tests run the same blocks and compare all but the numbers, which differ between machines.
"""

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.markdown_blocks import (  # noqa: E402
    blocks_of,
    fill_readers_folder,
    printed_by_blocks,
)


def refreshed(name: str) -> str:
    """The text of a page with what its blocks print."""
    page = (ROOT / name).read_text()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        fill_readers_folder(Path(folder))
        for block, printed in printed_by_blocks(name, blocks_of(page)):
            if block.output is not None:
                before, now = (f"```text\n{text.rstrip()}\n```" for text in (block.output, printed))
                page = page.replace(before, now, 1)
        os.chdir(ROOT)
    return page


def main() -> None:
    """Runs the pages that are asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    pages = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    parser.add_argument("pages", nargs="*", default=["README.md", *pages], metavar="PAGE")
    parser.add_argument("--write", action="store_true", help="write the new text")
    options = parser.parse_args()
    for name in options.pages:
        page = refreshed(name)
        if page == (ROOT / name).read_text():
            continue
        print(f"{name}: other numbers", flush=True)
        if options.write:
            (ROOT / name).write_text(page)


if __name__ == "__main__":
    main()
