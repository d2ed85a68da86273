"""Experiment 1: eight simulated data sets, five methods, as published and as described."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from confide.document import Column, Figure, Section, Table, scatter_against
from confide.experiments.cell import Cell
from confide.experiments.coverage import (
    CONTENDERS,
    DESCRIBED,
    PUBLISHED,
    Condition,
    Judged,
    beside_print,
    in_numbers,
    judged,
    of,
    of_variant,
    study_cells,
    study_headline,
    table_beside_print,
    table_of_all,
    violins_of,
)
from confide.experiments.experiment import Experiment, Findings
from confide.experiments.options import Options
from confide.experiments.store import Saved
from confide.metrics import (
    at_equal_mean_width,
    brier_score,
    brier_score_standard_error,
    covered,
    mean_width,
)
from confide.prediction import Kind

if TYPE_CHECKING:
    import pandas as pd

SETS = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "yacht", "wine_red")
METHODS = ("BDE", "DE", "NB", "CD", "QDE")
LEVELS = (0.7, 0.8, 0.9, 0.95)
TABLE_1_LEVEL = 0.8
VARIANTS = {"published": PUBLISHED, "described": DESCRIBED}
# The paper prints no prediction intervals of the naive bootstrap.
KINDS = {"confidence": ("BDE", "DE", "NB", "CD"), "prediction": ("BDE", "DE", "QDE", "CD")}


class Experiment1(Experiment):
    """Pointwise coverage of both intervals on simulated twins of the benchmark sets."""

    name = "experiment-1"
    title = "Coverage of five methods on simulated twins of eight data sets"
    place = 1
    paper = "Experiment 1; Table 1 (benchresults), RMSEvalues, the violin and scatter plots"
    whole: ClassVar = Options(simulations=100, sets=SETS, methods=METHODS, levels=LEVELS)
    quick: ClassVar = Options(simulations=4, sets=("yacht",), methods=METHODS, levels=(0.8,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, contender and 25 simulations."""
        return study_cells(options, [Condition()], CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Table 1 and the table of RMSE beside print, all levels, and the figures."""
        entries = sorted(judged(finished), key=_place)
        numbers = in_numbers(entries)
        parts = [
            *(_section_of(kind, entries, numbers) for kind in KINDS),
            Section("Accuracy", [_rmse_table(numbers)]),
            Section("Every level", [_table_of_every_level(numbers)]),
        ]
        return Findings(_words(numbers), parts)


def _place(entry: Judged) -> tuple[int, int, str]:
    s = entry.settings
    return SETS.index(s["set"]), METHODS.index(s["method"]), s["variant"]


def _section_of(kind: str, entries: Sequence[Judged], numbers: "pd.DataFrame") -> Section:
    parts: list[str | Table | Figure] = []
    at_level = of(numbers, kind, TABLE_1_LEVEL)
    at_level = at_level[at_level["method"].isin(KINDS[kind])]
    if len(at_level):
        parts.append(
            table_beside_print(
                f"table-1-{kind}",
                f"Table 1 (benchresults): 80 % {kind} intervals, as printed, as published and as "
                "described.",
                at_level,
                table="benchresults",
            )
        )
        parts += [
            figure
            for name, variant in VARIANTS.items()
            if (figure := _scatter(kind, name, variant, at_level)) is not None
        ]
        if kind == "confidence":
            parts += _equal_width_table(entries)
    for level in (0.8, 0.95):
        for name, variant in VARIANTS.items():
            mine = [e for e in entries if e.settings["method"] in KINDS[kind]]
            if (figure := violins_of(mine, kind, level, variant, name=name)) is not None:
                parts.append(figure)
    return Section(f"{kind.capitalize()} intervals", parts)


def _scatter(kind: str, name: str, variant: str, at_level: "pd.DataFrame") -> Figure | None:
    of_one = of_variant(at_level, variant)
    columns = ["set", "brier", "brier_se"]
    ours = of_one.loc[of_one["method"] == "BDE", columns]
    others = of_one.loc[of_one["method"] != "BDE", ["method", *columns]]
    pairs = ours.merge(others, on="set", suffixes=("_bde", "_other"))
    if pairs.empty:
        return None
    pairs = pairs.rename(
        columns={
            "brier_bde": "Brier score of BDE",
            "brier_other": "Brier score of the other method",
            "brier_se_bde": "BDE's standard error",
            "brier_se_other": "the other's standard error",
        }
    )
    return Figure(
        f"brier-against-brier-{kind}-{name}",
        f"Brier scores of 80 % {kind} intervals, {variant}: BDE against the other methods, a point "
        "for each data set. BDE is better above the diagonal. Bars are standard errors.",
        scatter_against(
            pairs,
            x="Brier score of BDE",
            y="Brier score of the other method",
            category="method",
            label="set",
            x_error="BDE's standard error",
            y_error="the other's standard error",
        ),
    )


def _equal_width_table(entries: Sequence[Judged]) -> list[Table]:
    """Is a method better, or only wider? Confidence intervals stretched to BDE's mean width."""
    import pandas as pd

    asked: tuple[Kind, float] = ("confidence", TABLE_1_LEVEL)
    rows = []
    for name in dict.fromkeys(entry.settings["set"] for entry in entries):
        of_set = {
            entry.settings["method"]: entry
            for entry in entries
            if entry.settings["set"] == name
            and entry.settings["variant"] == DESCRIBED
            and asked in entry.answers.intervals
        }
        if "BDE" not in of_set or len(of_set) < 2:
            continue
        intervals = {method: e.answers.intervals[asked] for method, e in of_set.items()}
        n = min(len(each) for each in intervals.values())
        stretched = at_equal_mean_width(
            {method: each[:n] for method, each in intervals.items()},
            mean_width(intervals["BDE"][:n]),
        )
        for method, own in intervals.items():
            row = {"set": name, "method": method, "width": mean_width(own[:n])}
            for how, each in (("own", own[:n]), ("equal", stretched[method])):
                held = covered(of_set[method].true_mean, each)
                row |= {
                    f"{how}_brier": brier_score(held.mean(axis=0), TABLE_1_LEVEL),
                    f"{how}_brier_se": brier_score_standard_error(held, TABLE_1_LEVEL)
                    if n > 1
                    else np.nan,
                    f"{how}_coverage": float(held.mean()),
                }
            rows.append(row)
    if not rows:
        return []
    columns = [
        Column("set", "data set"),
        Column("method"),
        Column("width", "mean width", ".3g"),
        Column("own_brier", "Brier score", ".3g", error="own_brier_se"),
        Column("own_coverage", "coverage", ".3f"),
        Column("equal_brier", "Brier score at BDE's width", ".3g", error="equal_brier_se"),
        Column("equal_coverage", "coverage at BDE's width", ".3f"),
    ]
    caption = (
        "Better, or only wider? 80 % confidence intervals as described, stretched about their "
        "centres by one factor for each method and set, so that all have BDE's mean width."
    )
    return [Table("equal-width", caption, pd.DataFrame(rows), columns)]


def _rmse_table(numbers: "pd.DataFrame") -> Table:
    # Quality-driven ensembles have one for each level; the paper prints none.
    one_row_each = numbers[numbers["method"] != "QDE"].drop_duplicates(["set", "method", "variant"])
    return table_beside_print(
        "rmse",
        "RMSE against new targets of the test rows (RMSEvalues). Ours is the expected one, from "
        "the true function and noise; BDE's prediction is DE's.",
        one_row_each,
        table="RMSEvalues",
        quantities=("rmse",),
    )


def _table_of_every_level(numbers: "pd.DataFrame") -> Table:
    return table_of_all(
        "experiment-1", "Every data set, method, kind and level of Experiment 1.", numbers
    )


def _words(numbers: "pd.DataFrame") -> str:
    """What Table 1 says, counted."""
    confidence = of(numbers, "confidence", TABLE_1_LEVEL)
    if confidence.empty:
        return "No 80 % confidence intervals yet."
    said = []
    for kind, methods in KINDS.items():
        at_level = of(numbers, kind, TABLE_1_LEVEL)
        said += _near_print(kind, at_level[at_level["method"].isin(methods)])
        for variant in VARIANTS.values():
            of_one = of_variant(at_level, variant)
            scores = of_one.pivot_table(index="set", columns="method", values="brier")
            if "BDE" not in scores:
                continue
            errors = of_one.pivot_table(index="set", columns="method", values="brier_se")
            against = [
                _counted(method, both["BDE"], both[method], errors)
                for method in methods[1:]
                if method in scores and len(both := scores[["BDE", method]].dropna())
            ]
            if against:
                said.append(
                    f"- 80 % {kind} intervals, methods {variant}: BDE has a lower Brier score than "
                    f"{', than '.join(against)} sets."
                )
    coverage = of_variant(confidence, DESCRIBED).groupby("method")["coverage"]
    low, high = coverage.min(), coverage.max()
    ranges = ", ".join(
        f"{method} {100 * low[method]:.0f} to {100 * high[method]:.0f} %"
        for method in METHODS
        if method in low
    )
    said.append(f"- 80 % confidence intervals as described cover, from set to set: {ranges}.")
    return "\n".join(said)


def _counted(method: str, ours: "pd.Series", other: "pd.Series", errors: "pd.DataFrame") -> str:
    """On how many sets BDE's score is lower, and on how many of those clearly so.

    Both methods saw the same simulations, so that the error of the difference is smaller than
    taken here.
    """
    lower = ours < other
    words = f"{method} on {lower.sum()} of {len(ours)}"
    if {"BDE", method} <= set(errors):
        error = np.hypot(errors["BDE"], errors[method]).reindex(ours.index)
        clear = lower & (other - ours > 2 * error)
        words += f" ({clear.sum()} by more than two standard errors)"
    return words


def _near_print(kind: str, at_level: "pd.DataFrame") -> list[str]:
    """How many of the printed numbers are met, counted for each method."""
    if at_level.empty:
        return []
    quantities = ("brier", "width")
    rows = beside_print(at_level, "benchresults", quantities, keys=["set", "method"])
    counted = []
    for method, each in rows.groupby("method", sort=False):
        compared = [each[f"{q}_ratio"].notna() for q in quantities]
        far = [each[f"{q}_far"] for q in quantities]
        n, n_far = (int(sum(flags.sum() for flags in several)) for several in (compared, far))
        if n:
            counted.append(f"{method} {n - n_far} of {n}")
    if not counted:
        return []
    words = (
        f"- 80 % {kind} intervals, methods as published: Brier scores and widths within 20 % of "
        f"print, rounding allowed for: {', '.join(counted)}."
    )
    return [words]
