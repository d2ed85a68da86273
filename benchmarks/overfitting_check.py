"""Does the overfitting check fire where it should, and nowhere else?

On the paper's example (seven points of pure noise, networks that learn them by heart), on the
diabetes set with more and more epochs, and on the nine benchmark sets with the default settings.

    CONFIDE_DATA=... python benchmarks/overfitting_check.py -o results      # about 5 minutes
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from confide import BootstrappedDeepEnsembleRegressor, overfitting_check
from confide.datasets import NAMES, load
from confide.document import Column, Table
from confide.document.tables import to_markdown
from confide.experiments.catalogue.overfitting import NETWORK, NOISE_STD, X_TRAIN
from confide.experiments.provenance import provenance
from confide.plot import plot_intervals, plot_overfitting

EPOCHS = (20, 80, 400)
SPLITS = 3
# A long set says the same in every split.
LONG = 5000
LEVEL = 0.9


def example(n_sets: int) -> pd.DataFrame:
    """The check on data sets of pure noise."""
    targets = np.array(
        [np.random.default_rng(i).normal(0, NOISE_STD, len(X_TRAIN)) for i in range(n_sets)]
    )
    estimator = BootstrappedDeepEnsembleRegressor(**NETWORK)
    x = X_TRAIN[:, None]
    checks = [
        overfitting_check(each.get_prediction(x))
        for each in estimator.fit_many(x, targets, list(range(n_sets)))
    ]
    ratios = np.array([each.ratio for each in checks])
    low, middle, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    row = {"sets": n_sets, "fires": np.mean([each.fires for each in checks])}
    return pd.DataFrame([{**row, "least": ratios.min(), "low": low, "ratio": middle, "high": high}])


def real(name: str, X: np.ndarray, y: np.ndarray, epochs: int, splits: int) -> dict[str, object]:
    """The check over splits of a real set, and whether prediction intervals cover."""
    seen = []
    for seed in range(splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
        model = BootstrappedDeepEnsembleRegressor(max_epochs=epochs, random_state=seed)
        model.fit(X_train, y_train)
        training, held_out = model.get_prediction(X_train), model.get_prediction(X_test)
        alone = overfitting_check(training)
        both = overfitting_check(training, y_train, held_out, y_test)
        lower, upper = held_out.prediction_interval(LEVEL).T
        covered = np.mean((lower <= y_test) & (y_test <= upper))
        seen.append((alone.ratio, both.inflation, covered, alone.fires, both.fires))
        print(name, epochs, seed, *seen[-1], file=sys.stderr)
    means = np.mean(seen, axis=0)
    names = ["ratio", "inflation", "coverage", "fires_alone", "fires"]
    row = {"set": name, "epochs": epochs, "rows": len(y_train), "splits": splits}
    return {**row, **dict(zip(names, means.tolist(), strict=True))}


def picture(path: Path) -> None:
    """The paper's example as curves, and both fits' variances: one that overfits, one honest."""
    x, y = X_TRAIN[:, None], np.random.default_rng(0).normal(0, NOISE_STD, len(X_TRAIN))
    model = BootstrappedDeepEnsembleRegressor(**NETWORK, random_state=0).fit(x, y)
    line = np.linspace(0, 1, 200)
    X, target = load_diabetes(return_X_y=True)
    honest = BootstrappedDeepEnsembleRegressor(max_epochs=20, random_state=0).fit(X, target)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    plot_intervals(model.get_prediction(line[:, None]), line, confidence_level=LEVEL, ax=axes[0])
    axes[0].plot(X_TRAIN, y, "o", color="#D55E00", markersize=5, label="training rows")
    axes[0].legend(frameon=False, fontsize="small")
    axes[0].set_title("seven points of pure noise, learnt by heart", fontsize="medium")
    plot_overfitting(model.get_prediction(x), ax=axes[1])
    axes[1].set_title("the same fit: the check fires", fontsize="medium")
    plot_overfitting(honest.get_prediction(X), ax=axes[2])
    axes[2].set_title("diabetes, 20 epochs: silent", fontsize="medium")
    figure.savefig(path, dpi=110)


def tables(of_example: pd.DataFrame, of_sets: Sequence[dict[str, object]]) -> list[Table]:
    """What is printed."""
    return [
        Table(
            "example",
            "The paper's example: data sets of seven points of pure noise, networks 400-200-100, "
            "80 epochs, no penalty. Ratio: quantiles over the data sets.",
            of_example,
            [
                Column("sets", "data sets", "d"),
                Column("fires", "fires", ".0%"),
                Column("least", "least ratio", ".2f"),
                Column("low", "5 %", ".2f"),
                Column("ratio", "median", ".2f"),
                Column("high", "95 %", ".2f"),
            ],
        ),
        Table(
            "sets",
            "Real sets, a fifth of the rows held out: means over the splits. Fires: the share of "
            f"the splits, by the ratio alone and with held-out rows. Coverage: of {100 * LEVEL:g} "
            "% prediction intervals, on the held-out rows.",
            pd.DataFrame(of_sets),
            [
                Column("set"),
                Column("epochs", "epochs", "d"),
                Column("rows", "rows", ","),
                Column("splits", "splits", "d"),
                Column("ratio", "finite data / noise", ".2f"),
                Column("inflation", "held-out / training squares", ".2f"),
                Column("coverage", "coverage", ".2f"),
                Column("fires_alone", "fires, ratio alone", ".0%"),
                Column("fires", "fires, held-out rows", ".0%"),
            ],
        ),
    ]


def main() -> None:
    """Measures and writes tables and picture."""
    mpl.use("Agg")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder")
    parser.add_argument("--only-picture", action="store_true")
    arguments = parser.parse_args()
    picture(arguments.output / "overfitting_check.png")
    if arguments.only_picture:
        return
    of_example = example(100)
    rows = [real("diabetes", *load_diabetes(return_X_y=True), each, SPLITS) for each in EPOCHS]
    for name in NAMES:
        data = load(name).without_constant_columns()
        rows.append(real(name, data.X, data.y, 80, SPLITS if len(data.y) < LONG else 1))
    made = provenance()
    how = (
        f"Made by `benchmarks/overfitting_check.py`, commit {made['commit']}, JAX {made['jax']}; "
        "bootstrapped deep ensembles with default settings unless said otherwise.\n"
    )
    shown = "![Seven points of pure noise, and classical against aleatoric variance]"
    text = [
        "# Where the overfitting check fires\n",
        how,
        f"{shown}(overfitting_check.png)\n",
        *(to_markdown(table) for table in tables(of_example, rows)),
    ]
    (arguments.output / "overfitting_check.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
