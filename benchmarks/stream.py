"""Predicting a Parquet file against calling the model on arrays: rows a second, and memory.

    python benchmarks/stream.py [--rows 10000000] [-o results/stream.md]

A model is fitted to a small table of 13 columns: ten of numbers, one with holes, a category and a
date. A Parquet file of many rows is written to a temporary folder, and `confide predict` reads it
and writes its predictions to Parquet and to CSV, each in a process of its own whose peak memory is
taken. Beside it, in one process, the same model is called on arrays of encoded rows in memory:
`get_prediction` and both kinds of intervals, block by block. A ratio of rates is what counts.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import confide
from confide.workflow import fit_table

BLOCK = 65_536
ROWS_FOR_RATE = 20 * BLOCK


def table_of(n_rows: int, seed: int) -> pa.Table:
    """Rows of 13 columns and a target."""
    rng = np.random.default_rng(seed)
    numbers = {f"x{i}": rng.normal(size=n_rows) for i in range(10)}
    holes = pa.array(rng.normal(size=n_rows), mask=rng.random(n_rows) < 0.1)
    colour = pa.array(["red", "green", "blue"]).take(pa.array(rng.integers(0, 3, n_rows)))
    days = pa.array(rng.integers(18_000, 19_000, n_rows).astype(np.int32)).cast(pa.date32())
    y = numbers["x0"] + np.abs(numbers["x1"]) + rng.normal(0, 0.3, n_rows)
    return pa.table({**numbers, "holes": holes, "colour": colour, "day": days, "y": y})


def write_rows(path: Path, n_rows: int) -> None:
    """The file to predict, written in pieces."""
    piece = table_of(2**20, seed=1)
    with pq.ParquetWriter(path, piece.schema) as writer:
        for start in range(0, n_rows, len(piece)):
            writer.write_table(piece.slice(0, min(len(piece), n_rows - start)))


# A process counts the memory of the one that started it, so a small one starts the command.
LAUNCHER = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, code, used = os.wait4(process.pid, 0)
print(code, time.perf_counter() - start, used.ru_maxrss)
"""


def command(model: Path, rows: Path, output: Path) -> dict[str, float]:
    """Seconds and peak memory of `confide predict` in a process of its own."""
    arguments = ["-m", "confide", "predict", model, rows, "-o", output, "--force"]
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, sys.executable, *map(str, arguments)],
        capture_output=True,
        check=True,
        text=True,
    )
    code, seconds, peak = done.stdout.split()
    if code != "0":
        raise RuntimeError("confide predict failed: run it by hand to see why")
    unit = 1 if platform.system() == "Darwin" else 1024
    return {"seconds": float(seconds), "peak_mb": float(peak) * unit / 1e6}


def array_rate(model: confide.BootstrappedDeepEnsembleRegressor) -> float:
    """Rows a second of the model on encoded rows in memory, both kinds of intervals included."""
    table = table_of(ROWS_FOR_RATE, seed=2).drop_columns(["y"])
    X = model.encoder_.encode(table)
    bare = confide.BootstrappedDeepEnsembleRegressor(**model.get_params())
    bare.__dict__.update(vars(model))
    bare.encoder_, bare.n_features_in_ = None, X.shape[1]
    del bare.feature_names_in_

    def once() -> float:
        start = time.perf_counter()
        for first in range(0, len(X), BLOCK):
            prediction = bare.get_prediction(X[first : first + BLOCK])
            prediction.confidence_interval(0.95), prediction.prediction_interval(0.95)
        return len(X) / (time.perf_counter() - start)

    once()
    return float(np.median([once() for _ in range(3)]))


def main() -> None:
    """Measures all and prints Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        estimator = confide.BootstrappedDeepEnsembleRegressor(max_epochs=20, random_state=0)
        model = fit_table(table_of(2000, seed=0), "y", estimator).model
        path = Path(folder) / "model.confide"
        model.save(path)
        rate = array_rate(model)
        lines = [
            "| rows | what | rows/s | of arrays | peak memory |",
            "|---|---|---|---|---|",
            f"| {ROWS_FOR_RATE:,} | the model on arrays in memory | {rate:,.0f} | 1 | |",
        ]
        for n_rows in sorted({arguments.rows // 10, arguments.rows}):
            rows = Path(folder) / "rows.parquet"
            write_rows(rows, n_rows)
            for ending in ("parquet", "csv"):
                used = command(path, rows, Path(folder) / f"predicted.{ending}")
                its_rate = n_rows / used["seconds"]
                lines.append(
                    f"| {n_rows:,} | `confide predict`, Parquet to {ending} | {its_rate:,.0f} | "
                    f"{its_rate / rate:.2f} | {used['peak_mb']:,.0f} MB |"
                )
                print(lines[-1], file=sys.stderr)
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)


if __name__ == "__main__":
    main()
