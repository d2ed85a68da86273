"""What calibrated confidence intervals cost: fits, processor time, prediction time, file size.

`python benchmarks/calibration_cost.py` fits the default estimator to some tables with and without
its calibration, in turns and in one process whose programs are compiled before, and prints what the
one takes over what the other takes. Processor time counts, so that other work on the machine
matters less. The sets are looked for in CONFIDE_DATA.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor
from confide.calibration import usual_simulations
from confide.datasets import NAMES, load

MOST_ROWS, N_TURNS, ROWS_PREDICTED = 2_000, 3, (1, 1_000)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of some work, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def costs(X: np.ndarray, y: np.ndarray, seed: int, calibration: str | None) -> list[float]:
    """Seconds of a fit and of predictions, and bytes of its file."""
    model = BootstrappedDeepEnsembleRegressor(calibration=calibration, random_state=seed)
    own = [seconds(lambda: model.fit(X, y))[0]]
    for n_rows in ROWS_PREDICTED:
        rows = np.resize(X, (n_rows, X.shape[1]))
        ask = lambda rows=rows: model.predict_interval(rows, 0.9, kind="confidence")  # noqa: E731
        ask()
        own.append(min(seconds(ask)[0] for _ in range(5)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return [*own, path.stat().st_size]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["yacht", "concrete", "power"], choices=NAMES)
    options = parser.parse_args(arguments)
    print(f"# What calibration costs\n\n{provenance()}\n")
    asked = " | ".join(f"predicting {n:,}" for n in ROWS_PREDICTED)
    print(f"| table | rows | ensembles fitted more | fit, s | with it | {asked} | file |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.sets:
        table = load(name)
        rows = np.random.default_rng(0).permutation(len(table.y))[:MOST_ROWS]
        X, y = table.X[rows], table.y[rows]
        turns = [[costs(X, y, seed, how) for how in (None, "twins")] for seed in range(N_TURNS + 1)]
        without, with_it = np.median(turns[1:], axis=0)  # the first compiles
        ratios = " | ".join(f"{ratio:.2g}" for ratio in with_it / without)
        more = 2 * usual_simulations(len(y)) + 1
        print(f"| {name} | {len(y):,} | {more} | {without[0]:.3g} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
