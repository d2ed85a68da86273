"""The first columns of the paper's Table 1: BDE and DE confidence intervals on simulated twins.

Run `python benchmarks/table1.py` (about ten minutes on two cores), or with `--simulations 10
--sets yacht` for a taste. The data sets must be on the machine: see `confide.datasets.load`.
Every number comes with its standard error over simulations (jackknife) and the ratio to print.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
from sklearn.model_selection import train_test_split

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.datasets import load
from confide.methods.bootstrapped_deep_ensemble import AS_PUBLISHED
from confide.metrics import brier_score, cicf
from confide.simulate import RandomForestTruth

LEVEL = 0.8
# Table 1 (`benchresults`): Brier-CI80 and Width CI80 of BDE and DE.
PRINTED = {
    "boston": {"BDE": (0.078, 3.4), "DE": (0.11, 3.0)},
    "concrete": {"BDE": (0.026, 8.7), "DE": (0.082, 6.4)},
    "energy": {"BDE": (0.040, 2.3), "DE": (0.067, 1.8)},
    "yacht": {"BDE": (0.11, 2.7), "DE": (0.14, 2.4)},
    "wine_red": {"BDE": (0.0089, 0.50), "DE": (0.026, 0.45)},
}
METHODS = {
    "BDE as published": BootstrappedDeepEnsembleRegressor(**AS_PUBLISHED),
    "BDE as described": BootstrappedDeepEnsembleRegressor(),
    "DE": DeepEnsembleRegressor(),
}


def simulate(name: str, n_simulations: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Brier score and mean width of each method on one set, each with its standard error."""
    data = load(name)
    truth = RandomForestTruth.from_data(data.X, data.y)
    X_train, X_test = train_test_split(data.X, test_size=0.2, random_state=1)
    intervals = {method: [] for method in METHODS}
    means = {method: [] for method in METHODS}
    for j in range(n_simulations):
        y_train = truth.draw(jax.random.key(j), X_train)
        for method, estimator in METHODS.items():
            estimator.set_params(random_state=j).fit(X_train, y_train)
            mean, interval = estimator.predict_interval(X_test, LEVEL, kind="confidence")
            intervals[method].append(interval)
            means[method].append(mean)
        if sys.stderr.isatty():
            print(f"\r{name}: {j + 1} of {n_simulations}", end="", file=sys.stderr)
    described, plain = (np.array(means[m]) for m in ("BDE as described", "DE"))
    if not np.array_equal(described, plain):
        raise AssertionError("a deep ensemble's prediction must equal the bootstrapped one's")
    true_mean = truth.mean(X_test)
    return {method: _summary(true_mean, np.array(each)) for method, each in intervals.items()}


def _summary(true_mean: np.ndarray, intervals: np.ndarray) -> dict[str, tuple[float, float]]:
    def brier(of: np.ndarray) -> float:
        return brier_score(cicf(true_mean, of), LEVEL)

    n = len(intervals)
    left_out = np.array([brier(np.delete(intervals, j, axis=0)) for j in range(n)])
    widths = np.diff(intervals, axis=-1).mean(axis=(1, 2))
    return {
        "brier": (brier(intervals), float(np.sqrt((n - 1) * left_out.var()))),
        "width": (float(widths.mean()), float(widths.std(ddof=1) / np.sqrt(n))),
        "coverage": (float(cicf(true_mean, intervals).mean()), float("nan")),
    }


def as_markdown(results: dict[str, dict[str, dict[str, tuple[float, float]]]]) -> str:
    """The table, print beside ours."""
    lines = [
        "| set | method | Brier-CI80 | print | ratio | width CI80 | print | ratio | coverage |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, methods in results.items():
        for method, measured in methods.items():
            printed = PRINTED[name][method.split()[0]]
            cells = [name, method]
            for (value, error), print_value in zip(
                (measured["brier"], measured["width"]), printed, strict=True
            ):
                cells += [
                    f"{value:.4g} ± {error:.2g}",
                    f"{print_value:g}",
                    f"{value / print_value:.2f}",
                ]
            lines.append(f"| {' | '.join([*cells, format(measured['coverage'][0], '.3f')])} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the sets asked for and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(PRINTED), choices=list(PRINTED))
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path, help="also write the table, with provenance")
    arguments = parser.parse_args()
    start = time.monotonic()
    results = {name: simulate(name, arguments.simulations) for name in arguments.sets}
    table = as_markdown(results)
    print(table)
    if arguments.output:
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True, text=True, check=False, cwd=Path(__file__).parent,
        ).stdout.strip()  # fmt: skip
        provenance = {
            "commit": commit, "simulations": arguments.simulations, "level": LEVEL,
            "jax": jax.__version__, "seconds": round(time.monotonic() - start),
        }  # fmt: skip
        arguments.output.write_text(f"{table}\n\n`{json.dumps(provenance)}`\n")


if __name__ == "__main__":
    main()
