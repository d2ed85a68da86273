"""A progress bar for long work: on standard error, only where it is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from confide.learners import Progress


@contextmanager
def progress_bar(description: str, total: int, *, shown: bool) -> Iterator[Progress | None]:
    """A function to call with the amount of work just done, or None when nothing is shown."""
    if not shown:
        yield None
        return
    from rich.console import Console  # here, so that a quiet library does not pay for it
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)
