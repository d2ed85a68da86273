"""A folder of Parquet files predicted through Ray Data: rows a second, and memory of the workers.

    python benchmarks/ray_data.py [--rows 10000000] [--actors 2] [-o results/ray_data.md]

The model and the rows are those of `benchmarks/stream.py`, in files of 500,000 rows. Actors of Ray
Data load the model once each, and predict the files block by block into another folder. The
memory of every process of Ray is looked at twice a second. A tenth of the rows goes first: memory
that does not grow from there to all rows is bounded.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq
import ray
from stream import BLOCK, table_of

import confide
from confide.workflow import BatchPredictor, fit_table

ROWS_PER_FILE = 500_000


def write_folder(folder: Path, n_rows: int) -> None:
    """The rows to predict; all files but the last are equal."""
    folder.mkdir()
    piece = table_of(min(ROWS_PER_FILE, n_rows), seed=1)
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        rows = piece.slice(0, min(ROWS_PER_FILE, n_rows - start))
        pq.write_table(rows, folder / f"part-{number:04}.parquet")


class Watch(threading.Thread):
    """Looks at the memory of Ray's processes until it is stopped.

    Attributes:
        largest: of one worker, in MB, without what it shares with others.
        total: of all workers, in MB; the object store has its own limit.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest, self.total, self.stopped = 0.0, 0.0, threading.Event()

    def run(self) -> None:
        """Until `stopped` is set."""
        while not self.stopped.wait(0.5):
            own = [used for used in map(_own_memory, psutil.process_iter()) if used]
            self.largest = max([self.largest, *own])
            self.total = max(self.total, sum(own))


def _own_memory(process: psutil.Process) -> float:
    """MB that a worker of Ray holds alone; zero for other processes."""
    try:
        if not process.name().startswith("ray::"):
            return 0.0
        memory = process.memory_info()
    except psutil.Error:  # it has ended
        return 0.0
    return float(memory.rss - memory.shared) / 1e6


def predicted(model: Path, rows: Path, output: Path, n_actors: int) -> dict[str, float]:
    """Seconds and memory of a prediction of all files."""
    watch = Watch()
    watch.start()
    start = time.perf_counter()
    ray.data.read_parquet(str(rows)).map_batches(
        BatchPredictor,
        fn_constructor_args=[str(model)],
        batch_format="pyarrow",
        batch_size=BLOCK,
        concurrency=n_actors,
    ).write_parquet(str(output))
    seconds = time.perf_counter() - start
    watch.stopped.set()
    watch.join()
    return {"seconds": seconds, "largest": watch.largest, "total": watch.total}


def main() -> None:
    """Measures both lengths and prints Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    ray.init(
        num_cpus=arguments.actors + 1,  # one reads and writes
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=500_000_000,
    )
    lines = [
        "| rows | seconds | rows/s | largest worker | all workers |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        estimator = confide.BootstrappedDeepEnsembleRegressor(max_epochs=20, random_state=0)
        fit_table(table_of(2000, seed=0), "y", estimator).model.save(folder / "model.confide")
        for n_rows in (arguments.rows // 10, arguments.rows):
            rows, output = folder / f"rows-{n_rows}", folder / f"predicted-{n_rows}"
            write_folder(rows, n_rows)
            used = predicted(folder / "model.confide", rows, output, arguments.actors)
            check(output, n_rows)
            lines.append(
                f"| {n_rows:,} | {used['seconds']:,.0f} | {n_rows / used['seconds']:,.0f} | "
                f"{used['largest']:,.0f} MB | {used['total']:,.0f} MB |"
            )
            print(lines[-1], flush=True)
    ray.shutdown()
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n")


def check(output: Path, n_rows: int) -> None:
    """Every row has a prediction, and it is a number."""
    files: Any = pq.ParquetDataset(output).fragments
    found = sum(file.count_rows() for file in files)
    mean = pq.read_table(output, columns=["mean"])["mean"].to_numpy()
    if found != n_rows or not np.isfinite(mean).all():
        raise RuntimeError(f"{found:,} of {n_rows:,} rows have predictions")


if __name__ == "__main__":
    main()
