"""Confidence intervals of any regressor, where the truth is known: `ConfidenceRegressor` on ten.

Data sets are drawn from ten truths of the experiment "honest-confidence"; each regressor sees one
data set alone, and its 80 % confidence intervals are held against the truth at test rows. Finished
cells are kept (`--store`), and a run that was stopped goes on where it was. The table goes to
stdout, progress to stderr.

    pip install 'confide[peers,tables]'
    python benchmarks/any_regressor.py --data-sets 5
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison.store import Cell, Store
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from speed.provenance import provenance

from confide import ConfidenceRegressor
from confide.experiments.honest.problems import Problem
from confide.experiments.simulated import seeds_of

LEVEL = 0.8
NEAR = (0.76, 0.85)
PROBLEMS = [
    *(Problem(name, "random_forest") for name in ("boston", "energy", "yacht")),
    *(Problem(name, "formula") for name in ("friedman1", "sine", "steps", "interactions")),
    *(Problem(name, "gradient_boosting") for name in ("boston", "concrete")),
    Problem("boston", "network"),
]


def gaussian_process() -> Any:
    """With a length for all columns and the noise, both by their likelihood."""
    kernel = ConstantKernel() * RBF(3.0) + WhiteKernel(0.1)
    return make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel, normalize_y=True))


def catboost() -> Any:
    """With fewer trees than by default, which would take ten times as long."""
    from catboost import CatBoostRegressor

    how = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostRegressor(iterations=200, random_state=0, **how)


REGRESSORS: dict[str, Callable[[], Any]] = {
    "HistGradientBoosting": HistGradientBoostingRegressor,
    "random forest": RandomForestRegressor,
    "Gaussian process": gaussian_process,
    "CatBoost": catboost,
}


def judged(problem: Problem, data_set: int, regressor: Any) -> dict[str, float]:
    """Coverage, width over what the regressor's true errors would need, and processor time."""
    settings = {"set": problem.set, "seed": 0, "simulations": [data_set, data_set + 1]}
    twin = problem.twin
    (y,) = twin.targets(seeds_of(settings, "targets"))
    start = time.process_time()
    model = ConfidenceRegressor(regressor, random_state=data_set).fit(twin.X_train, y)
    seconds = time.process_time() - start
    mean, bounds = model.predict_interval(twin.X_test, LEVEL, "confidence")
    true = twin.truth.mean(twin.X_test)
    # As wide for all rows as it takes to hold so many of them: a user could not know it.
    needed = 2 * np.quantile(np.abs(mean - true), LEVEL)
    return {
        "coverage": float(np.mean((bounds[:, 0] <= true) & (true <= bounds[:, 1]))),
        "width": float(np.mean(np.ptp(bounds, axis=1)) / needed),
        "seconds": seconds,
    }


def report(found: dict[Cell, dict[str, Any]], todo: Sequence[Cell]) -> None:
    """Prints a row for each truth: coverage, in percent, and width."""
    print("| truth | " + " | ".join(REGRESSORS) + " |\n| --- |" + " ---: |" * len(REGRESSORS))
    means: dict[str, list[float]] = {name: [] for name in REGRESSORS}
    for data in dict.fromkeys(cell.data for cell in todo):
        texts = []
        for name in REGRESSORS:
            lines = [found[c] for c in todo if (c.data, c.contender) == (data, name) and c in found]
            if not lines:
                texts.append("–")
                continue
            shares, widths = ([line[k] for line in lines] for k in ("coverage", "width"))
            means[name].append(float(np.mean(shares)))
            error = np.std(shares, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
            texts.append(f"{100 * means[name][-1]:.0f} ± {100 * error:.0f} ({np.mean(widths):.2f})")
        print(f"| {data} | " + " | ".join(texts) + " |")
    low, high = NEAR
    near = [f"{sum(low <= m <= high for m in own)} of {len(own)}" for own in means.values()]
    print(f"| {100 * low:.0f} to {100 * high:.0f} % | " + " | ".join(near) + " |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is not done yet, and prints all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-sets", type=int, default=5, help="of each truth")
    parser.add_argument("--only", nargs="+", choices=REGRESSORS, default=list(REGRESSORS))
    parser.add_argument("--store", type=Path, default=Path("runs/any_regressor.jsonl"))
    options = parser.parse_args(arguments)
    store = Store(options.store)
    todo = {
        Cell(name, f"{problem.set}, {problem.truth}", data_set, "default", problem.n_train): problem
        for data_set in range(options.data_sets)
        for name in options.only
        for problem in PROBLEMS
    }
    warnings.simplefilter("ignore")
    for cell, problem in todo.items():
        if cell in store.read():
            continue
        line = judged(problem, cell.repeat, REGRESSORS[cell.contender]())
        store.add(cell, {**line, "commit": provenance()["commit"]})
        print(f"{cell.data}, {cell.contender}: {line}", file=sys.stderr, flush=True)
    print(f"# Any regressor with confidence intervals\n\n{provenance()}\n")
    print(
        f"{100 * LEVEL:.0f} % confidence intervals, {options.data_sets} data sets of each truth: "
        "coverage in percent ± standard error over data sets; in brackets the mean width, over "
        "the one constant width that would hold as many of the truth's values.\n"
    )
    report(store.read(), list(todo))


if __name__ == "__main__":
    main()
