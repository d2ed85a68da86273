"""The engine for many machines: Ray hands out the cells, this process alone keeps the results."""

import logging
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from confide.experiments.cell import Cell
from confide.experiments.engines.compute import computed
from confide.experiments.engines.protocol import Observer
from confide.experiments.store import RunFolder
from confide.extras import require

# How long to wait for a result before looking again at cells that other processes work at.
SECONDS_BETWEEN_LOOKS = 1.0
# How often Ray starts a cell anew whose machine or process was lost; more often than machines are
# lost under one cell, and an end for a cell that is itself what kills its process.
MOST_LOSSES = 5
# What a worker must have as this process has it: where the data are, and where the code is.
PASSED_ON = ("CONFIDE_DATA", "PYTHONPATH")


class LostCellError(RuntimeError):
    """A cell whose process was lost again and again."""


@dataclass
class _AtWork:
    """A cell that Ray has, and the claim on it."""

    cell: Cell
    claim: ExitStack


@dataclass(frozen=True)
class RayCluster:
    """Cells as tasks of a Ray cluster.

    Workers send back the content of a cell's file and this process writes it, so that they need no
    disk in common and no result is kept twice. Ray itself starts a cell anew when its machine or
    process is lost.

    Attributes:
        address: of a cluster, as "auto" or "10.0.0.1:6379"; None uses the Ray of this process,
            or starts one on this machine and stops it at the end.
        cpus_per_cell: how many of the cluster's cores a cell counts for.
    """

    address: str | None = None
    cpus_per_cell: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cpus_per_cell) and self.cpus_per_cell > 0):
            raise ValueError(
                f"`cpus_per_cell` must be larger than 0, got {self.cpus_per_cell}. Pass for "
                "example 1."
            )
        _ray()

    def run(self, cells: Sequence[Cell], folder: RunFolder, observer: Observer) -> None:
        """Returns when every cell is in the folder, by this cluster or by another process."""
        ray = _ray()
        with self._connected(ray):
            work = _Work(ray, folder, observer, self._task(ray))
            left = list(cells)
            try:
                while left or work.running:
                    left = work.start(left, self._room(ray))
                    work.keep_finished()
            finally:
                work.stop()

    @contextmanager
    def _connected(self, ray: ModuleType) -> Iterator[None]:
        if ray.is_initialized():
            yield
            return
        ray.init(
            address=self.address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if self.address else {"include_dashboard": False}),
        )
        try:
            yield
        finally:
            ray.shutdown()

    def _task(self, ray: ModuleType) -> Any:
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return ray.remote(
            num_cpus=self.cpus_per_cell,
            max_retries=MOST_LOSSES,
            retry_exceptions=False,
            **({"runtime_env": {"env_vars": passed}} if passed else {}),
        )(_computed)

    def _room(self, ray: ModuleType) -> int:
        """How many cells Ray may have at once.

        Twice as many as can run, so that no core waits for this process; more would only keep
        other processes from them.
        """
        n_cpus = ray.cluster_resources().get("CPU", 0.0)
        return 2 * max(1, int(n_cpus / self.cpus_per_cell))


@dataclass
class _Work:
    """The cells that Ray has now."""

    ray: ModuleType
    folder: RunFolder
    observer: Observer
    task: Any
    running: dict[Any, _AtWork] = field(default_factory=dict)

    def start(self, cells: Sequence[Cell], room: int) -> list[Cell]:
        """Hands cells to Ray while there is room; returns those that are still to be done."""
        return [cell for cell in cells if len(self.running) >= room or not self._taken(cell)]

    def _taken(self, cell: Cell) -> bool:
        """Whether the cell is at work here or in the folder, and not claimed elsewhere."""
        with ExitStack() as claim:
            if not claim.enter_context(self.folder.claimed(cell)):
                return False
            saved = self.folder.saved(cell)
            if saved is None:
                self.observer.started(cell)
                self.running[self.task.remote(cell)] = _AtWork(cell, claim.pop_all())
                return True
        self.observer.finished(cell, saved)
        return True

    def keep_finished(self) -> None:
        """Writes what has come back, waiting a moment for it."""
        if not self.running:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            return
        ready, _ = self.ray.wait(list(self.running), timeout=SECONDS_BETWEEN_LOOKS)
        for reference in ready:
            at_work = self.running.pop(reference)
            with at_work.claim:
                saved = self.folder.save(at_work.cell, self._content(reference, at_work.cell))
            self.observer.finished(at_work.cell, saved)

    def _content(self, reference: Any, cell: Cell) -> bytes:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None  # the cell's own error; how Ray came by it says nothing
        except self.ray.exceptions.RayError as error:
            raise LostCellError(
                f"The process or machine of {cell.name} was lost {MOST_LOSSES + 1} times; Ray says "
                f"{type(error).__name__}. Finished cells are kept. See Ray's logs for what ends "
                "the process: too little memory, perhaps."
            ) from error

    def stop(self) -> None:
        """Cancels what runs and gives the claims back."""
        for reference, at_work in self.running.items():
            with at_work.claim:
                self.ray.cancel(reference, force=True)
        self.running.clear()


def _computed(cell: Cell) -> bytes:
    return computed(cell, None)


def _ray() -> ModuleType:
    return require("ray", "ray")
