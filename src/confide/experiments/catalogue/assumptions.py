"""The check of Assumptions 3.1 and 3.2: errors of a member, and its shift when retrained."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from confide.document import Column, Figure, Part, Table, histograms
from confide.estimators import IntervalRegressor
from confide.experiments.coverage.report import SET, VARIANT
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved, tables_by
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import blocks_of, n_rows_of, seeds_of, twin_of
from confide.methods import bootstrapped_deep_ensemble
from confide.progress import Progress

SIMULATIONS_PER_CELL = 25
# The paper's figure has the first 28 test rows.
N_PANELS, N_BINS = 28, 20
# Below this many simulations a test of normality has no power to speak of.
ENOUGH_FOR_NORMALITY = 8
RELATIVE_BIAS = "bias / standard deviation"
VARIANTS: dict[str, dict[str, Any]] = {
    "as published": dict(bootstrapped_deep_ensemble.AS_PUBLISHED),
    "as described": {},
}

CAPTION = (
    "Assumptions 3.1 and 3.2 over all test rows: is the error of one network normal and without "
    "bias, and how large is the variance of its shift when retrained? The shift stands for new "
    "data alone; the error also contains random training."
)


class Assumptions(Experiment):
    """The first member's error, and its shift when retrained, at each test row."""

    name = "assumptions"
    title = "Are errors normal and without bias, and how large is the shift when retrained?"
    place = 4
    paper = "Experiment 1, the histograms of errors (the paper's are of boston)"
    whole: ClassVar = Options(
        simulations=100, sets=("boston", "concrete", "energy", "yacht", "wine_red")
    )
    quick: ClassVar = Options(simulations=10, sets=("boston",))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, variant and 25 simulations."""
        return [
            Cell(
                f"{name}/{variant.replace(' ', '-')}/{first:03d}-{stop - 1:03d}",
                errors_and_shifts,
                {
                    "set": name,
                    "variant": variant,
                    "parameters": parameters,
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=(steps := (stop - first) * _estimator(parameters).member_epochs(1)),
                work=float(steps * n_rows_of(name)[0]),
            )
            for name in options.sets
            for variant, parameters in VARIANTS.items()
            for first, stop in blocks_of(options.simulations, SIMULATIONS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """Standard deviations of both."""
        spread = saved.frame[["error", "shift"]].std()
        return f"errors {spread['error']:.3g}, shifts {spread['shift']:.3g}"

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Normality, bias and size over all test rows, and the paper's histograms."""
        tables = tables_by(finished, "set", "variant")
        together = {
            key: tables[key]
            for key in itertools.product(self.whole.sets, VARIANTS)
            if key in tables
        }
        every_row = pd.concat(
            [
                at_each_row(frame).assign(set=name, variant=variant)
                for (name, variant), frame in together.items()
            ],
            ignore_index=True,
        )
        summary = _summary(every_row)
        columns = [SET, VARIANT, *(column for column, _ in STATISTICS)]
        table = Table("assumptions", CAPTION, summary, columns)
        parts: list[Part] = [table, _bias_figure(_described(every_row))]
        if (of_paper := together.get(("boston", "as described"))) is not None:
            parts.append(_histograms(of_paper))
        return Findings(_words(_described(summary)), parts)


def errors_and_shifts(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """The first member's error, and its shift when retrained, in each simulation."""
    twin = twin_of(settings["set"])
    fits = _estimator(settings["parameters"]).fit_many(
        twin.X_train,
        twin.targets(seeds_of(settings, "targets")),
        seeds_of(settings, "fits"),
        progress=progress,
    )
    true_mean, n_rows = twin.truth.mean(twin.X_test), len(twin.X_test)
    errors, shifts = [], []
    for fitted in fits:
        means, retrained = bootstrapped_deep_ensemble.member_means(fitted.fitted_, twin.X_test)
        errors.append(means[0] - true_mean)
        shifts.append(retrained[0, 0] - means[0])
    first, stop = settings["simulations"]
    return pd.DataFrame(
        {
            "simulation": np.repeat(np.arange(first, stop, dtype=np.int32), n_rows),
            "row": np.tile(np.arange(n_rows, dtype=np.int32), stop - first),
            "error": np.ravel(errors),
            "shift": np.ravel(shifts),
        }
    )


def _estimator(parameters: Mapping[str, Any]) -> IntervalRegressor:
    return paper_estimator("BootstrappedDeepEnsembleRegressor", **parameters)


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the method as described, or all while there are none."""
    described = rows[rows["variant"] == "as described"]
    return rows if described.empty else described


def at_each_row(frame: pd.DataFrame) -> pd.DataFrame:
    """For each test row: bias, both standard deviations and p-values of normality."""
    rows = []
    for row, at_row in frame.groupby("row"):
        error, shift = at_row["error"].to_numpy(), at_row["shift"].to_numpy()
        bias, spread, n = float(error.mean()), float(np.std(error, ddof=1)), len(at_row)
        rows.append(
            {
                "row": row,
                "simulations": n,
                "bias": bias,
                "bias_in_std": bias / spread,
                "bias_significant": abs(bias) > 1.96 * spread / np.sqrt(n),
                "variance_ratio": float(np.var(shift, ddof=1) / spread**2),
                "error_p": _normality_p(error),
                "shift_p": _normality_p(shift),
            }
        )
    return pd.DataFrame(rows)


def _normality_p(values: np.ndarray) -> float:
    """Of Shapiro and Wilk's test; not a number where there are too few values for it."""
    from scipy.stats import shapiro

    return float(shapiro(values).pvalue) if len(values) >= ENOUGH_FOR_NORMALITY else np.nan


def _share_rejected(p_values: pd.Series) -> float:
    return float((p_values.dropna() < 0.05).mean())  # not a number where there was no test


# What is said of all test rows of a set and variant: how it is shown, and what it is.
STATISTICS: Sequence[tuple[Column, Callable[[pd.DataFrame], float]]] = [
    (
        Column(
            "errors_not_normal",
            "errors not normal",
            ".0%",
            help="share of test rows where Shapiro and Wilk reject at 5 %: 5 % by chance",
        ),
        lambda rows: _share_rejected(rows["error_p"]),
    ),
    (
        Column("shifts_not_normal", "shifts not normal", ".0%", help="the same of the shifts"),
        lambda rows: _share_rejected(rows["shift_p"]),
    ),
    (
        Column("biased", "bias shown", ".0%", help="mean error beyond 1.96 standard errors"),
        lambda rows: rows["bias_significant"].mean(),
    ),
    (
        Column("median_bias", "median bias / std", ".2f", help="of one network's prediction"),
        lambda rows: rows["bias_in_std"].abs().median(),
    ),
    (
        Column("bias_above_std", "bias above std", ".0%", help="rows with more bias than spread"),
        lambda rows: (rows["bias_in_std"].abs() > 1).mean(),
    ),
    (
        Column(
            "median_variance_ratio",
            "variance of shift / of error",
            ".2f",
            help="median over rows; below 1 because errors include random training",
        ),
        lambda rows: rows["variance_ratio"].median(),
    ),
    (
        Column("shift_smaller", "shift varies less", ".0%", help="share of test rows"),
        lambda rows: (rows["variance_ratio"] < 1).mean(),
    ),
    (Column("rows", "test rows", "d"), len),
    (Column("simulations", "simulations", "d"), lambda rows: rows["simulations"].iloc[0]),
]


def _summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Over all test rows of each set and variant."""
    return pd.DataFrame(
        [
            {
                "set": name,
                "variant": variant,
                **{column.name: statistic(of_one) for column, statistic in STATISTICS},
            }
            for (name, variant), of_one in rows.groupby(["set", "variant"], sort=False)
        ]
    )


def _bias_figure(rows: pd.DataFrame) -> Figure:
    edges = np.linspace(-4, 4, 33)
    frames = [
        _binned(
            of_set["bias_in_std"].clip(-3.999, 3.999), edges, RELATIVE_BIAS, "test rows"
        ).assign(what="one network", panel=name)
        for name, of_set in rows.groupby("set", sort=False)
    ]
    return Figure(
        "assumptions-bias",
        "Bias of one network's prediction over its standard deviation, at all test rows of each "
        "set (beyond 4 counted at the edge). Assumption 3.1 asks for zero.",
        _histogram(frames, RELATIVE_BIAS, "test rows"),
    )


def _histograms(frame: pd.DataFrame) -> Figure:
    frames = []
    for row in sorted(frame["row"].unique())[:N_PANELS]:
        at_row = frame[frame["row"] == row]
        edges = np.histogram_bin_edges(at_row[["error", "shift"]].to_numpy(), N_BINS)
        frames += [
            _binned(at_row[column], edges, "difference", "simulations").assign(
                what=title, panel=f"test row {row + 1}"
            )
            for column, title in (("error", "member - truth"), ("shift", "retrained - member"))
        ]
    return Figure(
        "assumptions-boston",
        "Errors of the first member and its shifts when retrained, over the simulations of boston "
        "(as described), at the first test rows. The assumptions hold where both are normal about "
        "zero. The shifts should be narrower, because the errors also contain random training.",
        _histogram(frames, "difference", "simulations"),
    )


def _binned(values: pd.Series, edges: np.ndarray, start: str, count: str) -> pd.DataFrame:
    counts, _ = np.histogram(values, edges)
    return pd.DataFrame({start: edges[:-1], "end": edges[1:], count: counts})


def _histogram(frames: Sequence[pd.DataFrame], start: str, count: str) -> Any:
    return histograms(
        pd.concat(frames, ignore_index=True),
        bin_start=start,
        bin_end="end",
        count=count,
        category="what",
        facet="panel",
    )


def _words(summary: pd.DataFrame) -> str:
    lines = []
    for _, row in summary.iterrows():
        normality = (
            f"not normal at {100 * row['errors_not_normal']:.0f} % of the test rows (5 % by chance)"
            if row["simulations"] >= ENOUGH_FOR_NORMALITY
            else "of too few simulations to say whether they are normal"
        )
        lines.append(
            f"- {row['set']}: errors of one network are {normality}, biased at "
            f"{100 * row['biased']:.0f} %; the variance of the shifts is "
            f"{row['median_variance_ratio']:.2f} of that of the errors (median)."
        )
    return "\n".join(lines)
