"""Fits to a folder of Parquet files that is larger than memory should be: time, and peak memory.

    python benchmarks/long_table.py [--rows 10000000] [--members 2] [-o results/long_table.md]

Folders of many and of few rows of 20 columns of numbers are written to a temporary folder. Each is
fitted in a process of its own, whose peak memory `resource.getrusage` tells. The runtime is the
peak of such a process that has imported confide and fitted a table of 1,000 rows: what any fit
takes. The default networks are trained, without a choice of dropout and smoothness and without
twins, which take no more memory than the sample does.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_COLUMNS = 20
ROWS_PER_FILE = 500_000
FIT = """
import resource, sys, time
import numpy as np
import pyarrow as pa
import confide
folder, n_members = sys.argv[1], int(sys.argv[2])
model = confide.BootstrappedDeepEnsembleRegressor(
    n_members=n_members, dropout=0.0, smooth=False, calibration=None, random_state=0, verbose=True
)
start = time.perf_counter()
model.fit(folder, "y")
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
X = np.random.default_rng(7).normal(size=(10_000, int(sys.argv[3])))
table = pa.table({f"x{i}": column for i, column in enumerate(X.T)})
error = model.predict(table) - (X[:, 0] + np.abs(X[:, 1]) * X[:, 2])
print(seconds, peak, np.sqrt(np.mean(error**2)), model.max_epochs_)
"""


def write_folder(folder: Path, n_rows: int) -> None:
    """Files of rows whose true function and noise are known, each with rows of its own."""
    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(min(ROWS_PER_FILE, n_rows - start), N_COLUMNS))
        y = X[:, 0] + np.abs(X[:, 1]) * X[:, 2] + rng.normal(0, 0.5, len(X))
        table = pa.table({**{f"x{i}": X[:, i] for i in range(N_COLUMNS)}, "y": y})
        pq.write_table(table, folder / f"part-{number:04}.parquet")


def fitted(folder: Path, n_members: int) -> list[float]:
    """Seconds, peak bytes, error to the true function and epochs of a fit in its own process."""
    arguments = [sys.executable, "-c", FIT, str(folder), str(n_members), str(N_COLUMNS)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True)
    seconds, peak, error, epochs = map(float, done.stdout.split())
    return [seconds, peak * (1 if platform.system() == "Darwin" else 1024), error, epochs]


def main() -> None:
    """Measures all and prints Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    lines = [
        "| rows | seconds | peak memory | beyond the runtime | epochs | RMSE to the truth |",
        "|---|---|---|---|---|---|",
    ]
    runtime = None
    for n_rows in (1_000, arguments.rows // 10, arguments.rows):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "rows"
            write_folder(folder, n_rows)
            seconds, peak, error, epochs = fitted(folder, arguments.members)
        runtime = peak if runtime is None else runtime
        lines.append(
            f"| {n_rows:,} | {seconds:,.0f} | {peak / 1e6:,.0f} MB | "
            f"{(peak - runtime) / 1e6:,.0f} MB | {epochs:.0f} | {error:.3f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)


if __name__ == "__main__":
    main()
