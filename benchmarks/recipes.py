"""The recipes against one another: the network for tables beside the paper's, on the same rows.

In each split both fit the same rows with the same seed. Errors and CRPS are in standard deviations
of the test targets; the CRPS is twice the mean pinball loss of 20 quantiles. The recipe "tabular"
was chosen on the tables of `CHOSEN_ON`, and on further ones that this script does not load; the
others had no say. Tables go to stdout, progress to stderr.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import train_test_split
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor
from confide.datasets import NAMES, load

CHOSEN_ON = ("boston", "concrete", "energy", "wine_red", "yacht")
PROBABILITIES = np.arange(0.025, 1, 0.05)
RECIPES = ("paper", "tabular")
COLUMNS = ("RMSE", "CRPS", "PICP, 80 %", "PICP, 95 %", "processor s")


def score(recipe: str, name: str, split: int, most_rows: int) -> list[float]:
    """The columns of one fit."""
    table = load(name)
    rows = np.random.default_rng(split).permutation(len(table.y))[:most_rows]
    X, X_test, y, y_test = train_test_split(
        table.X[rows], table.y[rows], test_size=0.2, random_state=split
    )
    start = time.process_time()
    how = {"recipe": recipe, "calibration": None, "random_state": split}
    model = BootstrappedDeepEnsembleRegressor(**how).fit(X, y)
    seconds = time.process_time() - start
    prediction = model.get_prediction(X_test)
    error = y_test[:, None] - prediction.quantiles(PROBABILITIES)
    pinball = np.maximum(PROBABILITIES * error, (PROBABILITIES - 1) * error)
    covered = []
    for level in (0.8, 0.95):
        low, high = prediction.interval("prediction", level).T
        covered.append(np.mean((low <= y_test) & (y_test <= high)))
    rmse = np.sqrt(np.mean((y_test - prediction.mean) ** 2))
    return [rmse / y_test.std(), 2 * pinball.mean() / y_test.std(), *covered, seconds]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table of means over splits, and ratios of the recipes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--most-rows", type=int, default=1000, help="longer tables are thinned")
    options = parser.parse_args(arguments)
    print(f"# The recipes\n\n{provenance()}\n")
    print(f"{options.splits} splits, at most {options.most_rows} rows of a table.\n")
    print("| table | recipe | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- |" + " ---: |" * len(COLUMNS))
    ratios = {}
    for name in options.sets:
        means = {}
        for recipe in RECIPES:
            scores = [score(recipe, name, k, options.most_rows) for k in range(options.splits)]
            means[recipe] = np.mean(scores, axis=0)
            print(f"{name} {recipe}", file=sys.stderr, flush=True)
            cells = " | ".join(f"{value:.3g}" for value in means[recipe])
            print(f"| {name} | {recipe} | {cells} |", flush=True)
        ratios[name] = means["tabular"] / means["paper"]
    parts = {
        "chosen on": [name for name in ratios if name in CHOSEN_ON],
        "others": [name for name in ratios if name not in CHOSEN_ON],
    }
    print("\nRatios of tabular to paper, geometric means over tables.\n")
    print("| tables | number | RMSE | CRPS |\n| --- | ---: | ---: | ---: |")
    for title, names in parts.items():
        if names:
            rmse, crps = np.exp(np.mean([np.log(ratios[name][:2]) for name in names], axis=0))
            print(f"| {title} | {len(names)} | {rmse:.2f} | {crps:.2f} |")


if __name__ == "__main__":
    main()
