"""The check of Assumptions 3.1 and 3.2: errors of a member, and its shift when retrained."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.document import Column, Figure, Part, Table, histograms
from confide.estimators import IntervalRegressor
from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment, Findings
from confide.experiments.options import Options
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import blocks_of, n_rows_of, seeds_of, twin_of
from confide.experiments.store import Saved
from confide.methods import bootstrapped_deep_ensemble
from confide.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

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
                steps=(stop - first) * _epochs(parameters),
                work=float((stop - first) * _epochs(parameters) * n_rows_of(name)[0]),
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
        import pandas as pd

        pointwise, parts = [], list[Part]()
        for name in self.whole.sets:
            for variant in VARIANTS:
                cells = [
                    s
                    for s in finished
                    if (s.settings["set"], s.settings["variant"]) == (name, variant)
                ]
                if not cells:
                    continue
                frame = pd.concat([cell.frame for cell in cells], ignore_index=True)
                rows = at_each_row(frame)
                pointwise.append(rows.assign(set=name, variant=variant))
                if (name, variant) == ("boston", "as described"):
                    parts.append(_histograms(name, variant, frame))
        every_row = pd.concat(pointwise, ignore_index=True)
        summary = _summary(every_row)
        return Findings(_words(summary), [_summary_table(summary), _bias_figure(every_row), *parts])


def errors_and_shifts(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """The first member's error, and its shift when retrained, in each simulation."""
    import pandas as pd

    twin = twin_of(settings["set"])
    estimator = _estimator(settings["parameters"])
    fits = estimator.fit_many(
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


def _epochs(parameters: Mapping[str, Any]) -> int:
    return _estimator(parameters).member_epochs(1)


def _estimator(parameters: Mapping[str, Any]) -> IntervalRegressor:
    return paper_estimator("BootstrappedDeepEnsembleRegressor", **parameters)


def at_each_row(frame: "pd.DataFrame") -> "pd.DataFrame":
    """For each test row: bias, both standard deviations and p-values of normality."""
    import pandas as pd
    from scipy.stats import shapiro

    rows = []
    for row, each in frame.groupby("row"):
        error, shift = each["error"].to_numpy(), each["shift"].to_numpy()
        n, spread = len(each), float(np.std(error, ddof=1))
        enough = n >= ENOUGH_FOR_NORMALITY
        rows.append(
            {
                "row": row,
                "simulations": n,
                "bias": float(error.mean()),
                "bias_in_std": float(error.mean() / spread),
                "bias_significant": abs(error.mean()) > 1.96 * spread / np.sqrt(n),
                "variance_ratio": float(np.var(shift, ddof=1) / spread**2),
                "error_p": float(shapiro(error).pvalue) if enough else np.nan,
                "shift_p": float(shapiro(shift).pvalue) if enough else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _summary(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Over all test rows of each set and variant."""
    import pandas as pd

    def share(values: "pd.Series") -> float:
        return float(values.mean())

    def share_below(p_values: "pd.Series", level: float) -> float:
        return share(p_values.dropna() < level)  # not a number where there was no test

    return pd.DataFrame(
        [
            {
                "set": name,
                "variant": variant,
                "rows": len(each),
                "simulations": int(each["simulations"].iloc[0]),
                "errors_not_normal": share_below(each["error_p"], 0.05),
                "shifts_not_normal": share_below(each["shift_p"], 0.05),
                "median_bias": float(each["bias_in_std"].abs().median()),
                "biased": share(each["bias_significant"]),
                "bias_above_std": share(each["bias_in_std"].abs() > 1),
                "median_variance_ratio": float(each["variance_ratio"].median()),
                "shift_smaller": share(each["variance_ratio"] < 1),
            }
            for (name, variant), each in rows.groupby(["set", "variant"], sort=False)
        ]
    )


def _summary_table(summary: "pd.DataFrame") -> Table:
    columns = [
        Column("set", "data set"),
        Column("variant"),
        Column(
            "errors_not_normal",
            "errors not normal",
            ".0%",
            help="share of test rows where Shapiro and Wilk reject at 5 %: 5 % by chance",
        ),
        Column("shifts_not_normal", "shifts not normal", ".0%", help="the same of the shifts"),
        Column(
            "biased",
            "bias shown",
            ".0%",
            help="rows whose mean error is beyond 1.96 standard errors",
        ),
        Column("median_bias", "median bias / std", ".2f", help="of one network's prediction"),
        Column("bias_above_std", "bias above std", ".0%", help="rows with more bias than spread"),
        Column(
            "median_variance_ratio",
            "variance of shift / of error",
            ".2f",
            help="median over rows; below 1 because errors include random training",
        ),
        Column("shift_smaller", "shift varies less", ".0%", help="share of test rows"),
        Column("rows", "test rows", "d"),
        Column("simulations", "simulations", "d"),
    ]
    caption = (
        "Assumptions 3.1 and 3.2 over all test rows: is the error of one network normal and "
        "without bias, and how much of its variance does the shift when retrained have? The shift "
        "stands for new data alone, the error also holds random training."
    )
    return Table("assumptions", caption, summary, columns)


def _bias_figure(rows: "pd.DataFrame") -> Figure:
    import pandas as pd

    described = rows[rows["variant"] == "as described"]
    described = rows if described.empty else described
    edges = np.linspace(-4, 4, 33)
    frames = []
    for name, each in described.groupby("set", sort=False):
        counts, _ = np.histogram(np.clip(each["bias_in_std"], -3.999, 3.999), edges)
        binned = {RELATIVE_BIAS: edges[:-1], "end": edges[1:], "test rows": counts}
        frames.append(pd.DataFrame({**binned, "set": name, "what": "one network"}))
    return Figure(
        "assumptions-bias",
        "Bias of one network's prediction over its standard deviation, at all test rows of each "
        "set (beyond 4 counted at the edge). Assumption 3.1 asks for zero.",
        histograms(
            pd.concat(frames, ignore_index=True),
            bin_start=RELATIVE_BIAS,
            bin_end="end",
            count="test rows",
            category="what",
            facet="set",
        ),
    )


def _histograms(name: str, variant: str, frame: "pd.DataFrame") -> Figure:
    import pandas as pd

    frames = []
    for row in sorted(frame["row"].unique())[:N_PANELS]:
        each = frame[frame["row"] == row]
        edges = np.histogram_bin_edges(each[["error", "shift"]].to_numpy(), N_BINS)
        for column, title in (("error", "member - truth"), ("shift", "retrained - member")):
            counts, _ = np.histogram(each[column], edges)
            binned = {"difference": edges[:-1], "end": edges[1:], "simulations": counts}
            panel = f"test row {row + 1}"
            frames.append(pd.DataFrame({**binned, "what": title, "panel": panel}))
    return Figure(
        f"assumptions-{name}",
        f"Errors of the first member and its shifts when retrained, over the simulations of {name} "
        f"({variant}), at the first test rows. The assumptions hold where both are normal about "
        "zero; the shifts should be narrower, as the errors hold random training too.",
        histograms(
            pd.concat(frames, ignore_index=True),
            bin_start="difference",
            bin_end="end",
            count="simulations",
            category="what",
            facet="panel",
        ),
    )


def _words(summary: "pd.DataFrame") -> str:
    described = summary[summary["variant"] == "as described"]
    lines = []
    for _, row in (summary if described.empty else described).iterrows():
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
