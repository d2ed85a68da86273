"""The progress of a run: a bar with the time left, and a line for each cell; or lines alone."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import TracebackType
from typing import Any, Self

from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment
from confide.experiments.store import Saved
from confide.progress import bar_with_times


class Display:
    """Shows the progress of a run on a console. Use it as a context manager.

    Args:
        experiment: what runs.
        cells: all cells of the run.
        missing: those that are still to be run.
        console: a console of rich.
    """

    def __init__(
        self, experiment: Experiment, cells: Sequence[Cell], missing: Sequence[Cell], console: Any
    ) -> None:
        self._experiment = experiment
        self._n_cells, self._n_done = len(cells), len(cells) - len(missing)
        self._work, self._work_done = sum(cell.work for cell in missing), 0.0
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._shares: dict[str, float] = {}
        self._console = console
        self._bar: AbstractContextManager[Any] = nullcontext()
        self._update: Callable[..., None] = lambda **_: None
        if console.is_terminal:
            bar = bar_with_times(console, experiment.name, "{task.description}")
            self._bar = bar
            self._update = partial(bar.update, bar.add_task("", total=self._work))

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, traceback)

    def started(self, cell: Cell) -> None:
        """Shows which cell runs."""
        self._update(description=cell.name)

    def advanced(self, cell: Cell, share: float) -> None:
        """Moves the bar."""
        with self._lock:
            self._shares[cell.name] = self._shares.get(cell.name, 0.0) + share
            self._work_done += share * cell.work
            done = self._work_done
        self._update(completed=done)

    def finished(self, cell: Cell, saved: Saved) -> None:
        """Prints a line: the cell's result, how long it took, how long the others will take."""
        self.advanced(cell, 1.0 - self._shares.get(cell.name, 0.0))
        headline = self._experiment.headline(saved)
        with self._lock:
            self._n_done += 1
            n_done, share = self._n_done, self._work_done / self._work if self._work else 1.0
        elapsed = time.monotonic() - self._start
        left = elapsed * (1 - share) / share if share else 0.0
        self._console.print(
            f"{n_done}/{self._n_cells} {cell.name}: {headline} "
            f"({saved.provenance['seconds']:.0f} s; {_duration(left)} left)",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _duration(seconds: float) -> str:
    """A duration for people.

    Example:
        >>> _duration(40), _duration(400), _duration(8000)
        ('40 s', '7 min', '2.2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
