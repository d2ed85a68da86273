"""What readers of a page see and do, in a browser."""

import shutil
from types import SimpleNamespace

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Milliseconds: a busy machine is slow, not wrong.
PATIENCE = 120_000
# What is folded is drawn when it is opened.
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
ALL_DRAWN = "[...document.querySelectorAll('figure.chart')].every(f => f.dataset.drawnAt)"
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


def browser_path():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no chromium on this machine")
    return path


def opened(page, address):
    """The page once all is drawn, with what it complains about and asks for."""
    page.set_default_timeout(PATIENCE)
    seen = SimpleNamespace(page=page, complaints=[], requests=[])
    page.on("console", lambda message: seen.complaints.append(message.text))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(address)
    page.evaluate(UNFOLD)
    until(page, ALL_DRAWN)
    return seen


def until(page, expression):
    """Waits for it; from outside, as the page's policy forbids what would wait inside."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"{expression} did not become true in {PATIENCE / 1000:g} seconds")


def outside_requests(seen):
    return [url for url in seen.requests if not url.startswith(("file:", "data:"))]


def column(page, table, index):
    """What the cells of a column say, of the rows that are shown."""
    cells = page.locator(f"#table-{table} tbody tr:not([hidden]) > :nth-child({index})")
    return [text.strip() for text in cells.all_inner_texts()]


def drawn(page):
    """For each figure, how many marks it shows."""
    return page.evaluate(
        """Object.fromEntries([...document.querySelectorAll('figure.chart')].map(f =>
        [f.id, f.querySelectorAll('svg .role-mark > :is(path, line, rect)').length]))"""
    )
