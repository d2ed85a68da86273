"""Pages of tables whose names and values are scripts, links and marks: opened in a browser."""

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import confide
from attacks.counts import Counts
from confide.document import render_page
from confide.workflow import fit_table, page_document, page_inputs

PAYLOADS = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    '"><iframe srcdoc="<script>parent.hacked=1</script>">',
    "javascript:window.hacked=1",
    "[a](javascript:window.hacked=1)",
    "![a](http://127.0.0.1:9/beacon.png)",
    "http://127.0.0.1:9/beacon.png",
    "<link rel=stylesheet href=http://127.0.0.1:9/a.css>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<style>@import 'http://127.0.0.1:9/a.css'</style>",
    "{{7*7}}",
    "{% raw %}",
    "datum.x; window.hacked=1",
    "'+window.hacked+'",
    "]]>",
    "<!--",
    "\u202egnp.exe",
    "\x1b[2J",
    "__proto__",
    "constructor",
    "a.b[0]",
    "=1+1",
    "`window.hacked=1`",
    "${window.hacked=1}",
    "&lt;script&gt;",
    "x" * 2000,
    "🚲" * 50,
]
N_ROWS = 60
# Marks of each kind of a page that the mouse is moved to.
HOVERS = 30
PATIENCE = 60_000
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
DRAWN = "[...document.querySelectorAll('figure.chart')].every(f => f.dataset.drawnAt)"
# The middle of every mark of every chart, from the top of the page.
BOXES = """[...document.querySelectorAll('svg .role-mark > :is(path, line, rect)')].map(mark => {
    const box = mark.getBoundingClientRect();
    return [box.x + box.width / 2 + scrollX, box.y + box.height / 2 + scrollY]})"""
# Whether a script of the table has run, or its marks have become elements, in tooltips too.
HARMED = """'hacked' in window || document.querySelector(
    ':is(main, #vg-tooltip-element) :is(iframe, link, style, meta, img[src^="http"], img[src="x"])')
    !== null"""


def pages(n: int, folder: Path, seed: int = 0) -> list[Path]:
    """Pages of models fitted to hostile tables."""
    generator = random.Random(seed)  # noqa: S311
    return [_page(generator, folder / f"hostile-{i}.html") for i in range(n)]


def _page(generator: random.Random, path: Path) -> Path:
    names = generator.sample(PAYLOADS, 4)
    numbers = np.random.default_rng(generator.randrange(2**32))
    x = numbers.normal(size=N_ROWS)
    table = pa.table(
        {
            names[0]: x,
            names[1]: [generator.choice(generator.sample(PAYLOADS, 3)) for _ in range(N_ROWS)],
            names[2]: numbers.choice(generator.sample(PAYLOADS, 3), N_ROWS),
            names[3]: x + numbers.normal(0, 0.1, N_ROWS),
        }
    )
    model = confide.BootstrappedDeepEnsembleRegressor(
        recipe="paper",
        n_members=2,
        hidden_layer_sizes=(4,),
        max_epochs=3,
        calibration=generator.choice((None, "twins")),
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = fit_table(table, names[3], model, file=generator.choice(PAYLOADS)).model
        inputs = page_inputs(fitted, table, file=generator.choice(PAYLOADS))
        path.write_text(render_page(page_document(inputs)), encoding="utf-8")
    return path


def attack(n: int, folder: Path, *, browser: str, seed: int = 0) -> list[Counts]:
    """Counts of hovers over `n` hostile pages."""
    from playwright.sync_api import sync_playwright

    asked = "no script of the table runs, nothing is fetched, no complaint"
    counts = Counts("pages: hovers", asked)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        for path in pages(n, folder, seed):
            _visit(chromium.new_page(), path, counts)
        chromium.close()
    return [counts]


def _visit(page: Any, path: Path, counts: Counts) -> None:
    """Opens a page, moves the mouse over its marks, and looks what happened."""
    faults: list[str] = []
    page.set_default_timeout(PATIENCE)
    page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
    page.on("console", lambda message: faults.append(f"complains: {message.text}"))
    page.on("pageerror", lambda error: faults.append(f"fails: {error}"))
    page.on("request", lambda request: faults.extend(_refused(request.url)))
    page.goto(path.resolve().as_uri())
    page.evaluate(UNFOLD)
    for _ in range(PATIENCE // 50):
        if page.evaluate(DRAWN):
            break
        page.wait_for_timeout(50)
    else:
        faults.append("is not drawn")
    boxes = page.evaluate(BOXES)
    for x, y in random.Random(0).sample(boxes, min(HOVERS, len(boxes))):  # noqa: S311
        page.evaluate(f"window.scrollTo(0, {y - 300})")
        page.mouse.move(x, y - page.evaluate("window.scrollY"))
        if page.evaluate(HARMED):
            faults.append("a script of the table has run, or its marks are alive")
        counts.add("harmless", f"{path.name}: {faults[0]}" if faults else None)
        faults.clear()
    page.close()


def _refused(address: str) -> list[str]:
    return [] if address.startswith(("file:", "data:", "blob:")) else [f"fetches {address}"]
