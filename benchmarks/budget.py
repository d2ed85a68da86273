"""Memory that fits and predictions take, for the constants of `confide.budget`.

    python benchmarks/budget.py

Each fit has a process of its own, with a table that is long, wide or both; its peak beyond that of
a small table is divided among cells, columns and rows. Some minutes.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import nnls

from confide import BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor
from confide.workflow import fit_table, prediction_blocks

SMALL = (100, 10)
SHAPES = ((60_000, 10), (100, 6_000), (2_000, 1_000))
LEARNERS = ("tabular", "paper", "trees")


def main() -> None:
    """Measures all, and prints bytes for each cell, column and row."""
    for learner in LEARNERS:
        small, *large = (measured(learner, *shape) for shape in (SMALL, *SHAPES))
        parts = np.array([[rows * columns, columns, rows] for rows, columns in SHAPES], float)
        for i, what in enumerate(("fit", "predict")):
            beyond = np.array([one[i] - small[i] for one in large], float)
            share, _ = nnls(parts / beyond[:, None].clip(1), np.ones(len(SHAPES)))
            of = ", ".join(
                f"{b:,.0f} a {n}" for b, n in zip(share, ("cell", "column", "row"), strict=True)
            )
            print(f"{learner}, {what}: {of} (peaks: {[f'{b / 1e6:,.0f} MB' for b in beyond]})")


def measured(learner: str, n_rows: int, n_columns: int) -> list[int]:
    """Peaks after a fit, and of a prediction beyond what was there before it."""
    words = [sys.executable, __file__, learner, str(n_rows), str(n_columns)]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    peaks: list[int] = json.loads(done.stdout.splitlines()[-1])
    return peaks


def measure(learner: str, n_rows: int, n_columns: int) -> None:
    """In a process of its own."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    table = pa.table({**{f"c{i}": X[:, i] for i in range(n_columns)}, "y": X[:, 0] + X[:, 1]})
    how: dict[str, Any] = {"max_epochs": 3, "random_state": 0}
    if learner == "trees":
        model: Any = BootstrappedEnsembleRegressor(learner="xgboost", **how)
    else:
        model = BootstrappedDeepEnsembleRegressor(recipe=learner, **how)
    fit_table(table, "y", model)
    after_fit = peak()
    start_anew()
    before = peak()
    for _ in prediction_blocks(model, [table]):
        pass
    print(json.dumps([after_fit, peak() - before]))


def peak() -> int:
    """Bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def start_anew() -> None:
    """Forgets the peak."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
