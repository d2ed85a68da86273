"""The default engine: this process, one cell after the other, each on all cores."""

import time
from collections.abc import Sequence

from confide.experiments.cell import Cell
from confide.experiments.engines.compute import computed
from confide.experiments.engines.protocol import Observer
from confide.experiments.store import RunFolder

# How long to wait before looking again at cells that other processes work at.
SECONDS_BETWEEN_LOOKS = 1.0


class InProcess:
    """Cells one after the other; several processes may share a folder, and then share the work."""

    def run(self, cells: Sequence[Cell], folder: RunFolder, observer: Observer) -> None:
        """Returns when every cell is in the folder, by this process or by another."""
        left = list(cells)
        while left:
            elsewhere = [cell for cell in left if not _run_one(cell, folder, observer)]
            if len(elsewhere) == len(left):  # all at work in other processes
                time.sleep(SECONDS_BETWEEN_LOOKS)
            left = elsewhere


def _run_one(cell: Cell, folder: RunFolder, observer: Observer) -> bool:
    """Whether the cell is in the folder now."""
    with folder.claimed(cell) as mine:
        if not mine:
            return False
        saved = folder.saved(cell)
        if saved is None:
            observer.started(cell)
            content = computed(cell, lambda done: observer.advanced(cell, done / cell.steps))
            saved = folder.save(cell, content)
    observer.finished(cell, saved)
    return True
