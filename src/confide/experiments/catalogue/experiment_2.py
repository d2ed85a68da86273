"""Experiment 2: how much random targets and random training add to a network's variance."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from confide.document import Column, Figure, Part, Section, Table, lines_with_errors
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved, tables_by
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import blocks_of, seeds_of, twin_of
from confide.progress import Progress

N_TEST = 5000
NETWORKS_PER_CELL = 25
# The text says 80 epochs, the published code 40.
EPOCHS = {"as published": 40, "as described": 80}
TARGETS = ("random", "same")


class Experiment2(Experiment):
    """Networks trained on new targets each, against networks trained on the same targets."""

    name = "experiment-2"
    title = "Variance due to random targets and to random training, as the data grow"
    place = 2
    paper = "Experiment 2, the learning curve; the number of simulations is that of the networks"
    whole: ClassVar = Options(
        simulations=100, sets=("protein",), rows=(500, 5_000, 10_000, 20_000, 30_000)
    )
    quick: ClassVar = Options(simulations=8, sets=("protein",), rows=(500, 1_000, 2_000))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one size of the data, one kind of targets and 25 networks."""
        return [
            Cell(
                f"{name}/{epochs}-epochs/{n_rows}-rows/{targets}/{first:03d}-{stop - 1:03d}",
                predictions,
                {
                    "set": name,
                    "variant": variant,
                    "epochs": epochs,
                    "rows": n_rows,
                    "targets": targets,
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=epochs * (stop - first),
                work=float(n_rows * epochs * (stop - first)),
            )
            for name in options.sets
            for variant, epochs in EPOCHS.items()
            for n_rows in options.rows
            for targets in TARGETS
            for first, stop in blocks_of(options.simulations, NETWORKS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """The variance between the cell's networks."""
        spread = saved.frame.groupby("row")["mean"].var().mean()
        return f"variance between networks {spread:.3g}"

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Both variances against the number of rows, and how fast they fall."""
        parts: list[Part] = []
        words = []
        for variant, epochs in EPOCHS.items():
            variances = _variances([s for s in finished if s.settings["variant"] == variant])
            if variances.empty:
                continue
            decay = _decay(variances)
            parts.append(_section(variant, epochs, variances, decay))
            words += _words(variant, epochs, variances, decay)
        return Findings("\n".join(words) or "No size has both kinds of networks yet.", parts)


def predictions(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """What each network predicts at the test rows."""
    twin = twin_of(settings["set"], test_size=N_TEST)
    n_rows = settings["rows"]  # nested: a larger training set holds the smaller ones
    data_seeds = seeds_of(settings, "targets")
    if settings["targets"] == "same":
        data_seeds = seeds_of({**settings, "simulations": [0, 1]}, "targets") * len(data_seeds)
    network = paper_estimator("DeepEnsembleRegressor", n_members=1, max_epochs=settings["epochs"])
    fits = network.fit_many(
        twin.X_train[:n_rows],
        twin.targets(data_seeds)[:, :n_rows],
        seeds_of(settings, f"{settings['targets']} fits"),
        progress=progress,
    )
    means = np.array([fitted.predict(twin.X_test) for fitted in fits], np.float32)
    return pd.DataFrame(
        {
            "network": np.repeat(np.arange(*settings["simulations"], dtype=np.int32), N_TEST),
            "row": np.tile(np.arange(N_TEST, dtype=np.int32), len(means)),
            "mean": means.ravel(),
        }
    )


def _variances(finished: Sequence[Saved]) -> pd.DataFrame:
    """For each size, the mean variance at a test row, by source, with standard errors."""
    spread = {}
    for key, frame in tables_by(finished, "rows", "targets").items():
        by_network = frame.pivot_table(index="network", columns="row", values="mean")
        spread[key] = mean_variance(by_network.to_numpy(np.float64))
    rows = []
    for n_rows in sorted({n for n, _ in spread}):
        if not {(n_rows, "random"), (n_rows, "same")} <= set(spread):
            continue
        (both, both_se), (training, training_se) = spread[n_rows, "random"], spread[n_rows, "same"]
        targets, targets_se = both - training, float(np.hypot(both_se, training_se))
        share_se = float(np.hypot(training_se / both, training * both_se / both**2))
        rows += [
            (n_rows, "both", both, both_se, np.nan, np.nan),
            (n_rows, "random training", training, training_se, training / both, share_se),
            (n_rows, "random targets", targets, targets_se, targets / both, share_se),
        ]
    columns = ["rows", "source", "variance", "variance_se", "share", "share_se"]
    return pd.DataFrame(rows, columns=columns)


def mean_variance(means: np.ndarray) -> tuple[float, float]:
    """Sample variance between networks, averaged over rows, and its standard error.

    Rows share their networks and so err together: the error is that of the jackknife over networks.

    Args:
        means: [network, row].
    """
    n = len(means)
    if n < 3:  # without one of two networks there is no variance
        return float(np.var(means, axis=0, ddof=1).mean()) if n == 2 else np.nan, np.nan
    squared = (means - means.mean(axis=0)) ** 2
    # The sum of squares without network i is that of all, less n / (n - 1) times its own.
    without = (squared.sum(axis=0) - squared * n / (n - 1)) / (n - 2)
    left_out = without.mean(axis=1)
    return float(squared.sum(axis=0).mean() / (n - 1)), float(np.sqrt((n - 1) * np.var(left_out)))


def _decay(variances: pd.DataFrame) -> pd.DataFrame:
    """The law c N^-a for each source, by weighted least squares of the logarithms."""
    rows = []
    for source, of_source in variances.groupby("source", sort=False):
        usable = of_source[(of_source["variance"] > 0) & (of_source["variance_se"] > 0)]
        points = usable[["rows", "variance", "variance_se"]].to_numpy(np.float64)
        rows.append((source, *power_law(*points.T), len(usable)))
    return pd.DataFrame(rows, columns=["source", "exponent", "exponent_se", "constant", "sizes"])


def power_law(n: np.ndarray, value: np.ndarray, error: np.ndarray) -> tuple[float, float, float]:
    """Exponent a of c n^-a with its standard error, and c; not a number with fewer than 3 points.

    The error allows for points that do not lie on such a line: it is stretched by the scatter about
    it, where that is larger than the points' own errors.
    """
    if len(n) < 3:
        return np.nan, np.nan, np.nan
    x, y, weight = np.log(n), np.log(value), (value / error) ** 2
    centre = np.average(x, weights=weight)
    spread = np.sum(weight * (x - centre) ** 2)
    slope = np.sum(weight * (x - centre) * y) / spread
    intercept = np.average(y, weights=weight) - slope * centre
    scatter = np.sum(weight * (y - intercept - slope * x) ** 2) / (len(n) - 2)
    return float(-slope), float(np.sqrt(max(scatter, 1.0) / spread)), float(np.exp(intercept))


def _section(variant: str, epochs: int, variances: pd.DataFrame, decay: pd.DataFrame) -> Section:
    name = f"experiment-2-{variant.rsplit(maxsplit=1)[-1]}"
    # A difference may come out below zero by chance: it stays in the table.
    drawn = variances[variances["variance"] > 0].join(decay.set_index("source"), on="source")
    drawn = drawn.assign(fitted=drawn["constant"] * drawn["rows"] ** -drawn["exponent"])
    chart = lines_with_errors(
        drawn,
        x="rows",
        y="variance",
        error="variance_se",
        category="source",
        log_x=True,
        log_y=True,
        fitted="fitted" if drawn["fitted"].notna().all() else None,
    )
    figure = Figure(
        name,
        f"Variance of one network's prediction against the number of training rows, networks "
        f"{variant} ({epochs} epochs). Bars are standard errors; dashed: fitted powers of N. "
        "Differences below zero are not drawn.",
        chart,
    )
    table = Table(
        name,
        "Mean variance over 5,000 test rows; random targets is the difference of the two.",
        variances,
        [
            Column("rows", "training rows", ","),
            Column("source"),
            Column("variance", "variance", ".3g", error="variance_se"),
            Column("share", "share of both", ".2f", error="share_se"),
        ],
    )
    laws = Table(
        name.replace("2-", "2-decay-"),
        "How fast the variance falls: the exponent a of a law c / N^a. Larger training sets hold "
        "the smaller ones; the errors take their variances as independent.",
        decay,
        [
            Column("source"),
            Column("exponent", "exponent a", ".2f", error="exponent_se"),
            Column("sizes", "sizes", "d"),
        ],
    )
    return Section(f"{variant.capitalize()}: {epochs} epochs", [figure, table, laws])


def _words(variant: str, epochs: int, variances: pd.DataFrame, decay: pd.DataFrame) -> list[str]:
    targets = variances[variances["source"] == "random targets"]
    first, last = (
        f"{100 * row['share']:.0f} ± {100 * row['share_se']:.0f} %"
        for _, row in targets.iloc[[0, -1]].iterrows()
    )
    fewest, most = targets["rows"].iloc[[0, -1]]
    share = (
        f"- Networks {variant} ({epochs} epochs): random targets make up {first} of a network's "
        f"variance with {fewest:,} rows, {last} with {most:,}."
    )
    if decay["exponent"].isna().any():
        return [share]
    powers = {
        law["source"]: f"{-law['exponent']:.2f} ± {law['exponent_se']:.2f}"
        for _, law in decay.iterrows()
    }
    decay_in_words = (
        f"  Their variance falls as N to the power {powers['random targets']}, that of random "
        f"training as {powers['random training']}."
    )
    return [share, decay_in_words]
