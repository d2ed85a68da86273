"""What an engine is, and who watches it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from confide.experiments.cell import Cell
from confide.experiments.store import RunFolder, Saved


class Observer(Protocol):
    """Hears how the work goes. Its methods may be called from several threads."""

    def started(self, cell: Cell) -> None:
        """Work at a cell has begun."""

    def advanced(self, cell: Cell, share: float) -> None:
        """Such a share of a cell's work has just been done."""

    def finished(self, cell: Cell, saved: Saved) -> None:
        """A cell is in the folder."""


@runtime_checkable
class Engine(Protocol):
    """Runs cells and keeps their results in the folder; the numbers do not depend on it."""

    def run(self, cells: Sequence[Cell], folder: RunFolder, observer: Observer) -> None:
        """Returns when every cell is in the folder."""
