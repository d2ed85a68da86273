"""Whether blocks of time as `groups` matter, on simulated tables whose level drifts.

The level of each table is an autoregressive process that the date alone tells of, beside two
columns and noise. A model is fitted to the first four fifths of the rows: with rows left out at
random, and with five blocks of time left out in turn (`groups=`). Then the last fifth judges it,
before any calibration. Rows left out at random are foretold from the days around them, which the
future is not. Tables go to stdout, progress to stderr.

    python benchmarks/time_order.py --tables 10 --rows 400
"""

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from scipy.signal import lfilter
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor

COLUMNS = ("RMSE / noise", "claimed sd / noise", "PICP, 80 %", "PICP, 95 %")
LEVELS = (0.8, 0.95)
N_BLOCKS, PHI = 5, 0.98


def drifting(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A day for each row, two columns, and a target with noise of sd 1 about a drift of sd 3."""
    generator = np.random.default_rng(seed)
    drift = lfilter([3 * np.sqrt(1 - PHI**2)], [1, -PHI], generator.normal(size=2 * n))[n:]
    day = np.sort(generator.integers(0, n, n))
    X = np.column_stack([day, generator.normal(size=(n, 2))])
    return X, drift[day] + np.sin(2 * X[:, 1]) + X[:, 2] + generator.normal(size=n)


def scores(X: np.ndarray, y: np.ndarray, groups: np.ndarray | None) -> list[float]:
    """The columns of one fit, on the rows after it."""
    n = 4 * len(y) // 5
    own = None if groups is None else groups[:n]
    model = BootstrappedDeepEnsembleRegressor(random_state=0).fit(X[:n], y[:n], groups=own)
    prediction, observed = model.get_prediction(X[n:]), y[n:]
    bounds = (prediction.interval("prediction", level).T for level in LEVELS)
    covered = [np.mean((low <= observed) & (observed <= high)) for low, high in bounds]
    rmse = np.sqrt(np.mean((observed - prediction.mean) ** 2))
    return [rmse, np.sqrt(prediction.total_variance.mean()), *covered]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints means over tables, with their standard errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--rows", type=int, default=400)
    options = parser.parse_args(arguments)
    print(f"# Blocks of time left out in turn\n\n{provenance()}\n")
    print(f"{options.tables} tables of {options.rows} rows; mean ± standard error over tables.\n")
    print("| left out | " + " | ".join(COLUMNS) + " |\n| --- |" + " ---: |" * len(COLUMNS))
    blocks = np.arange(options.rows) // (4 * options.rows // 5 // N_BLOCKS)
    for name, groups in {"rows at random": None, "blocks of time": blocks}.items():
        found = []
        for seed in range(options.tables):
            found.append(scores(*drifting(seed, options.rows), groups))
            print(name, seed, found[-1], file=sys.stderr, flush=True)
        errors = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        means = np.mean(found, axis=0)
        cells = (f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
