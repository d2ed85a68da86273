"""Claimed against true variances: is the standard error of a prediction what it says?

A forest (or another truth) is fitted to a table, and new targets are drawn from it many times. Each
time a recipe is fitted anew. Over these fits the predictions have a true variance, which one fit
alone must have claimed. Of a row, random training leaves its share of the members' spread divided
by their number; the rest of the true variance is due to finite data. Intervals are those of one
fit, without calibration. A number after ± is a standard error: the jackknife over data sets. Tables
go to stdout, progress to stderr.

    python benchmarks/variances.py --sets boston yacht --simulations 20
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor, metrics
from confide.datasets import NAMES, load
from confide.metrics import jackknife_standard_error
from confide.randomness import key_from
from confide.simulate import GradientBoostingTruth, NetworkTruth, RandomForestTruth

TRUTHS = {
    "forest": RandomForestTruth.from_data,
    "boosting": GradientBoostingTruth.from_data,
    "network": partial(NetworkTruth.from_data, random_state=0),
}
SETS = tuple(name for name in NAMES if name != "protein")
RECIPES = ("paper", "tabular")
LEVEL = 0.8
COLUMNS = (
    "s.e., claimed / true",
    "finite data",
    "noise",
    "RMSE to f",
    "bias",
    "sd",
    "CICP, 80 %",
    "Brier",
    "width",
)


class Fits(NamedTuple):
    """What fits to many data sets say at the test rows; all are (simulation, row)."""

    mean: np.ndarray
    epistemic: np.ndarray
    classical: np.ndarray
    optimisation: np.ndarray
    aleatoric: np.ndarray
    low: np.ndarray
    high: np.ndarray


def fits(how: dict[str, Any], X: np.ndarray, targets: np.ndarray, X_test: np.ndarray) -> Fits:
    """Each data set fitted by itself, with all its choices."""
    answers = []
    for seed, y in enumerate(targets):
        model = BootstrappedDeepEnsembleRegressor(**how, random_state=seed).fit(X, y)
        said = model.get_prediction(X_test)
        answers.append(
            [
                said.mean,
                said.epistemic_variance,
                said.classical_variance,
                said.optimisation_variance,
                said.aleatoric_variance,
                *said.interval("confidence", LEVEL).T,
            ]
        )
        print(".", end="", file=sys.stderr, flush=True)
    return Fits(*np.moveaxis(np.array(answers), 1, 0))


def numbers(own: Fits, truth: np.ndarray, noise: np.ndarray, n_members: int = 5) -> list[float]:
    """The columns of one recipe on one truth."""
    true_variance = own.mean.var(axis=0, ddof=1).mean()
    finite_data = true_variance - own.optimisation.mean() / n_members
    bias = own.mean.mean(axis=0) - truth
    held = (own.low <= truth) & (truth <= own.high)
    scale = truth.std()
    return [
        np.sqrt(own.epistemic.mean() / true_variance),
        np.sqrt(own.classical.mean() / finite_data) if finite_data > 0 else np.nan,
        np.sqrt(own.aleatoric.mean() / np.mean(noise**2)),
        np.sqrt(np.mean((own.mean - truth) ** 2)) / scale,
        # The mean of a few fits is off by chance, which is no bias.
        np.sqrt(max(np.mean(bias**2) - true_variance / len(held), 0)) / scale,
        np.sqrt(true_variance) / scale,
        held.mean(),
        metrics.brier_score(held.mean(axis=0), LEVEL)
        - metrics.attainable_brier_score(LEVEL, len(held)),
        np.mean(own.high - own.low) / scale,
    ]


def with_errors(own: Fits, truth: np.ndarray, noise: np.ndarray) -> list[str]:
    """The columns with their standard errors, of the data sets that the fits are to."""
    of_all = numbers(own, truth, noise)
    if len(own.mean) < 3:  # a variance needs two that are left
        return [f"{value:.3g}" for value in of_all]
    without = [
        numbers(Fits(*(np.delete(each, i, axis=0) for each in own)), truth, noise)
        for i in range(len(own.mean))
    ]
    errors = [jackknife_standard_error(column) for column in np.transpose(without)]
    return [f"{value:.3g} ± {error:.2g}" for value, error in zip(of_all, errors, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each truth and recipe."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=NAMES)
    parser.add_argument("--truths", nargs="+", default=["forest"], choices=TRUTHS)
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=RECIPES)
    parser.add_argument("--retrain-fraction", type=float, help="instead of the recipe's")
    parser.add_argument("--simulations", type=int, default=12)
    parser.add_argument("--most-rows", type=int, default=1000, help="longer tables are thinned")
    options = parser.parse_args(arguments)
    print(f"# Claimed and true variances\n\n{provenance()}\n")
    print(f"{options.simulations} data sets, at most {options.most_rows} rows of a table.\n")
    print("| truth | table | recipe | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- | --- |" + " ---: |" * len(COLUMNS))
    for kind in options.truths:
        for name in options.sets:
            table = load(name)
            rows = np.random.default_rng(0).permutation(len(table.y))[: options.most_rows]
            n_train = round(0.8 * len(rows))
            X, X_test = table.X[rows[:n_train]], table.X[rows[n_train:]]
            truth = TRUTHS[kind](X, table.y[rows[:n_train]])
            keys = [key_from(seed) for seed in range(options.simulations)]
            targets = np.stack([truth.draw(key, X) for key in keys])
            for recipe in options.recipes:
                how = {"recipe": recipe, "retrain_fraction": options.retrain_fraction}
                own = fits({**how, "calibration": None}, X, targets, X_test)
                cells = " | ".join(with_errors(own, truth.mean(X_test), truth.std(X_test)))
                print(f"| {kind} | {name} | {recipe} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
