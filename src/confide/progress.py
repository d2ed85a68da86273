"""A progress bar for long work: on standard error, only where it is asked for."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, TypeAlias

Work: TypeAlias = int | Fraction
Progress: TypeAlias = Callable[[Work], None]
"""Called with the amount of work just done, possibly from a worker thread."""

_none_shown: ContextVar[bool] = ContextVar("no bars", default=False)


@contextmanager
def without_bars() -> Iterator[None]:
    """Shows no bars until the block ends: those of calls side by side would fall on each other."""
    token = _none_shown.set(True)
    try:
        yield
    finally:
        _none_shown.reset(token)


@contextmanager
def progress_bar(description: str, total: int, *, shown: bool) -> Iterator[Progress | None]:
    """A function to call with the amount of work just done, or None when nothing is shown."""
    if not shown or _none_shown.get():
        yield None
        return
    from rich.console import Console  # here, so that a quiet library does not pay for it

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_lines(console.print, description, total)
        return
    with bar_with_times(console, "{task.description}") as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, float(done))


def bar_with_times(console: Any, before: str, after: str = "") -> Any:
    """A bar of rich with the time it has taken and the time left, between two texts."""
    from rich import progress as rich

    return rich.Progress(
        rich.TextColumn(before),
        rich.BarColumn(),
        rich.TextColumn("{task.percentage:>3.0f} %"),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
        *([rich.TextColumn(after)] if after else []),
        console=console,
    )


def _plain_lines(say: Callable[[str], None], description: str, total: int) -> Progress:
    """A line for every quarter of the work, for logs and pipes."""

    def report(before: Work, done: Work) -> None:
        if 4 * done // total > 4 * before // total:
            say(f"{description}: {100 * done // total} %")

    return _counting(report)


def rescaled(progress: Progress | None, total: int, announced: int) -> Progress | None:
    """Tells `progress` of `announced` units of work in all, while `total` units are done."""
    if progress is None or total == announced:
        return progress

    def report(before: Work, done: Work) -> None:
        progress(announced * done // total - announced * before // total)

    return _counting(report)


def _counting(report: Callable[[Work, Work], None]) -> Progress:
    """Adds up the work done, and reports it before and after each piece; threads take turns."""
    done: Work = 0
    lock = threading.Lock()

    def advance(more: Work) -> None:
        nonlocal done
        with lock:
            before, done = done, done + more
            report(before, done)

    return advance


@contextmanager
def row_counter(
    description: str, *, shown: bool
) -> "Iterator[Callable[[Iterable[Any]], Iterator[Any]]]":
    """Counts the rows of tables that pass through, on standard error where that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}: {task.completed:,} rows"),
        TimeElapsedColumn(),
    )
    with RichProgress(
        *columns, console=console, disable=not (shown and console.is_terminal)
    ) as bar:
        task = bar.add_task(description, total=None)

        def counted(tables: Iterable[Any]) -> Iterator[Any]:
            for table in tables:
                yield table
                bar.advance(task, len(table))

        yield counted
