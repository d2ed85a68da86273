"""One cell computed: its table, and where it comes from, as the content of its file."""

import time
from datetime import UTC, datetime

from confide.experiments.cell import Cell
from confide.experiments.provenance import provenance
from confide.experiments.store import as_parquet
from confide.progress import Progress


def computed(cell: Cell, progress: Progress | None) -> bytes:
    """The cell's table as Parquet, with settings, commit, versions and durations."""
    source = provenance()  # before the work, so that it is the code that runs
    wall, cpu = time.monotonic(), time.process_time()
    frame = cell.compute(cell.settings, progress)
    durations = {
        "seconds": round(time.monotonic() - wall, 3),
        # Of the whole process: where cells share it, their sum is too large.
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return as_parquet(frame, cell.settings, {**source, **durations})
