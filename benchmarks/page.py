"""How large the page of a long table is, and how long it takes to open.

A small model is fitted to simulated rows, `confide report` makes its page of many of them, and
Chromium opens it: five times, each in a new browser. The page is open when its first figure is
drawn. Run it on an idle machine.

    pip install 'confide[report,test]'
    python benchmarks/page.py --rows 100000
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from playwright.sync_api import sync_playwright
from speed.provenance import provenance

import confide
from confide.document import render_page
from confide.workflow import fit_table, page_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST_IS_DRAWN = "document.querySelector('figure.chart')?.dataset.drawnAt !== undefined"
TRAINED_ON = 1000


def rows(n: int) -> pa.Table:
    """Ten numbers, two categories, and a target."""
    generator = np.random.default_rng(0)
    numbers = {f"x{i}": generator.normal(size=n) for i in range(10)}
    words = {f"c{i}": generator.choice(list("abcdefgh"), n) for i in range(2)}
    y = numbers["x0"] + np.abs(numbers["x1"]) + (words["c0"] == "a") + generator.normal(size=n)
    return pa.table({**numbers, **words, "y": y})


def seconds_to_open(path: Path) -> float:
    """Until the first figure is drawn, in a new browser."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        while not page.evaluate(FIRST_IS_DRAWN):
            page.wait_for_timeout(10)
        seconds = time.perf_counter() - start
        browser.close()
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the size and the seconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args(arguments)
    table = rows(options.rows)
    small = {"recipe": "paper", "n_members": 5, "random_state": 0}
    model = fit_table(
        table.slice(0, TRAINED_ON), "y", confide.BootstrappedDeepEnsembleRegressor(**small)
    ).model
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(render_page(page_of(model, table, file="rows.csv")), encoding="utf-8")
        megabytes = path.stat().st_size / 1e6
        opened = sorted(seconds_to_open(path) for _ in range(5))
    print(f"{provenance()}\n")
    print(f"{options.rows:,} rows: {megabytes:.1f} MB; opens in {opened[2]:.2f} s (the median), ")
    print(f"{opened[0]:.2f} to {opened[-1]:.2f} s.")


if __name__ == "__main__":
    main()
