"""A cell: one independent piece of an experiment, a pure function to a table."""

import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pandas as pd

from confide.experiments.provenance import provenance
from confide.extras import require
from confide.progress import Progress

Compute: TypeAlias = Callable[[Mapping[str, Any], Progress | None], pd.DataFrame]
# Where a cell's file describes itself.
METADATA = b"confide"


@dataclass(frozen=True)
class Cell:
    """One independent piece of an experiment.

    Attributes:
        name: its file in the run's folder, such as "boston/BDE/000-024".
        compute: a function of a module, so that another process can find it: from the settings to
            a table, the same each time it is called.
        settings: everything that its numbers depend on, as JSON.
        steps: how much progress it reports in total.
        work: how long it takes, in any unit that cells of the experiment share.
    """

    name: str
    compute: Compute
    settings: Mapping[str, Any]
    steps: int
    work: float

    def computed(self, progress: Progress | None) -> bytes:
        """The cell's table as Parquet, with settings, commit, versions and durations."""
        source = provenance()  # before the work, so that it is the code that runs
        wall, cpu = time.monotonic(), time.process_time()
        frame = self.compute(self.settings, progress)
        durations = {
            "seconds": round(time.monotonic() - wall, 3),
            # Of the whole process: where cells share it, their sum is too large.
            "cpu_seconds": round(time.process_time() - cpu, 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        return as_parquet(frame, self.settings, {**source, **durations})


def as_parquet(
    frame: pd.DataFrame, settings: Mapping[str, Any], source: Mapping[str, Any]
) -> bytes:
    """The content of a finished cell's file."""
    pa, pq = (require(module, "experiments") for module in ("pyarrow", "pyarrow.parquet"))
    description = {"settings": dict(settings), "provenance": dict(source)}
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({METADATA: json.dumps(description).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()
