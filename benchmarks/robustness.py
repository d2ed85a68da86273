"""Tables that break other fits: no divergence, no wild prediction, and seeds that agree.

Each table is fitted with several seeds. A fit fails if it raises; a prediction is wild if it lies
beyond the range of the training targets plus its width, also for rows far away from all others. The
spread of seeds is the standard deviation of their test errors (RMSE), relative to the mean. The fit
with the first seed is calibrated on twins, as by default; those with the others are not, which
moves no prediction. Tables go to stdout, progress to stderr.

    python benchmarks/robustness.py --only cauchy "10 rows" --seeds 2
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor
from confide.datasets import NAMES, load
from confide.errors import SlowerTrainingWarning

Table = tuple[np.ndarray, np.ndarray]
COLUMNS = ("rows", "columns", "RMSE / sd", "spread of seeds", "wild", "slower", "failed", "s")


def smooth(n: int = 500, n_columns: int = 5, noise: float = 0.3) -> Table:
    """A sum of a sine and a product."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, n_columns))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2 % n_columns]
    return X, y + noise * generator.normal(size=n)


def changed(change: Callable[[np.ndarray, np.ndarray], Table], **how: int) -> Callable[[], Table]:
    """The smooth table after some change."""
    return lambda: change(*smooth(**how))


def delays(n: int = 20_000) -> Table:
    """Like flights: dates, routes, and delays with a long tail that few columns tell of."""
    generator = np.random.default_rng(0)
    late = generator.gamma(0.4, 60, n) * (generator.random(n) < 0.4)
    before = late + 10 * generator.normal(size=n)
    columns = [generator.integers(1, 13, n), generator.integers(0, 24, n), before]
    columns += [generator.exponential(800, n), *generator.integers(0, 2, (12, n))]
    return np.column_stack(columns), late - 10 + 12 * generator.standard_t(3, n)


def gas(n: int = 2565, n_columns: int = 128) -> Table:
    """Like gas sensors: many columns that say the same, with outliers."""
    generator = np.random.default_rng(0)
    hidden = generator.normal(size=(n, 3))
    X = np.exp(hidden @ generator.normal(size=(3, n_columns)))
    X[generator.random(X.shape) < 0.002] *= 1e4
    return X, np.exp(hidden[:, 0]) + 0.05 * generator.normal(size=n)


def with_outliers(X: np.ndarray, y: np.ndarray) -> Table:
    """Ten targets that are far off."""
    return X, np.where(np.arange(len(y)) % 50 == 0, 1e4 * y, y)


def uncommon() -> dict[str, Callable[[], Table]]:
    """Tables by name."""
    generator = np.random.default_rng(1)
    n = 500
    return {
        "few useful of 32": changed(lambda X, y: (X, y), n_columns=32),
        "1e12 offsets": changed(lambda X, y: (X + 1e12, y + 1e12)),
        "1e-12 scales": changed(lambda X, y: (1e-12 * X, 1e-12 * y)),
        "1e12 scales": changed(lambda X, y: (1e12 * X, 1e12 * y)),
        "cauchy columns": changed(lambda X, y: (np.tan(X), y)),
        "cauchy": changed(lambda X, y: (X, y + generator.standard_cauchy(n))),
        "outliers": changed(with_outliers),
        "constant columns": changed(lambda X, y: (np.hstack([X, np.ones_like(X)]), y)),
        "duplicate columns": changed(lambda X, y: (np.hstack([X, X, X]), y)),
        "duplicate rows": changed(lambda X, y: (np.repeat(X, 4, 0), np.repeat(y, 4)), n=150),
        "10 rows": changed(lambda X, y: (X, y), n=13),
        "30 rows": changed(lambda X, y: (X, y), n=38),
        "one column": changed(lambda X, y: (X[:, :1], y)),
        "5,000 columns": changed(lambda X, y: (X, y), n=200, n_columns=5000),
        "no signal": changed(lambda X, y: (X, generator.permutation(y))),
        "no noise": changed(lambda X, _: (X, np.sin(2 * X[:, 0]))),
        "two target values": changed(lambda X, y: (X, (y > 0).astype(float))),
        "counts": changed(lambda X, y: (X, generator.poisson(np.exp(y)).astype(float))),
        "lognormal": changed(lambda X, y: (X, np.exp(3 * y))),
        "sparse columns": changed(lambda X, y: (X * (np.abs(X) > 1.5), y)),
        "steps": changed(lambda X, y: (X, np.floor(2 * X[:, 0]) + 0.1 * y)),
        "many levels": changed(lambda X, y: (np.round(1e6 * X), y)),
        "gas": gas,
        "delays": delays,
    }


def tables() -> dict[str, Callable[[], Table]]:
    """All: uncommon ones, and those of the benchmarks, thinned."""

    def thinned(name: str) -> Table:
        table = load(name)
        rows = np.random.default_rng(0).permutation(len(table.y))[:1000]
        return table.X[rows], table.y[rows]

    return {**uncommon(), **{name: lambda name=name: thinned(name) for name in NAMES}}


def row(X: np.ndarray, y: np.ndarray, n_seeds: int) -> list[float]:
    """The columns of one table."""
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    low, high, start = y[train].min(), y[train].max(), time.perf_counter()
    width = high - low
    far = X[test] + 1e3 * (X[train].std(axis=0) + 1) * np.sign(X[test])
    errors, n_wild, n_slower, n_failed = [], 0, 0, 0
    for seed in range(n_seeds):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                calibration = "twins" if seed == 0 else None
                how = {"random_state": seed, "calibration": calibration}
                model = BootstrappedDeepEnsembleRegressor(**how).fit(X[train], y[train])
            except Exception as error:  # noqa: BLE001 - all are counted
                print(type(error).__name__, error, file=sys.stderr, flush=True)
                n_failed += 1
                continue
        n_slower += any(issubclass(one.category, SlowerTrainingWarning) for one in said)
        predicted = model.predict(np.concatenate([X[test], far]))
        beyond = (predicted < low - width) | (predicted > high + width)
        n_wild += int(np.sum(beyond | ~np.isfinite(predicted)))
        errors.append(np.sqrt(np.mean((predicted[: len(test)] - y[test]) ** 2)))
    scale = y[test].std() or 1.0
    spread = np.std(errors, ddof=1) / np.mean(errors) if len(errors) > 1 and any(errors) else 0.0
    seconds = time.perf_counter() - start
    error = np.mean(errors) / scale if errors else np.nan
    return [*X.shape, error, spread, n_wild, n_slower, n_failed, seconds]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=tables())
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"# Robustness\n\n{provenance()}\n\n{options.seeds} seeds.\n")
    print("| table | " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " ---: |" * len(COLUMNS))
    for name, make in tables().items():
        if options.only is None or name in options.only:
            cells = " | ".join(f"{value:.3g}" for value in row(*make(), options.seeds))
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
