"""Experiment 1: eight simulated data sets, five methods, as published and as described."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pandas as pd

from confide.coverage import Coverage
from confide.document import Column, Part, Section, Table
from confide.experiments.coverage.comparison import beside_print, in_numbers, of, of_variant
from confide.experiments.coverage.judged import Judged, judged, study_headline
from confide.experiments.coverage.report import (
    METHOD,
    SET,
    brier_scatter,
    table_beside_print,
    table_of_all,
    violins_of,
)
from confide.experiments.coverage.study import (
    CONTENDERS,
    DESCRIBED,
    PUBLISHED,
    Condition,
    study_cells,
)
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved
from confide.metrics import at_equal_mean_width, covered, mean_width, pointwise_mean_width
from confide.prediction import Kind

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
            Section("Every level", [table_of_all("experiment-1", numbers)]),
        ]
        return Findings(_words(numbers), parts)


def _place(entry: Judged) -> tuple[int, int, str]:
    s = entry.settings
    return SETS.index(s["set"]), METHODS.index(s["method"]), s["variant"]


def _of_table_1(numbers: pd.DataFrame, kind: str) -> pd.DataFrame:
    at_level = of(numbers, kind, TABLE_1_LEVEL)
    return at_level[at_level["method"].isin(KINDS[kind])]


def _section_of(kind: str, entries: Sequence[Judged], numbers: pd.DataFrame) -> Section:
    parts: list[Part] = []
    at_level = _of_table_1(numbers, kind)
    if len(at_level):
        caption = (
            f"Table 1 (benchresults): 80 % {kind} intervals, as printed, as published and as "
            "described."
        )
        parts = [table_beside_print(f"table-1-{kind}", caption, at_level, table="benchresults")]
        for name, variant in VARIANTS.items():
            of_one = of_variant(at_level, variant)
            parts += brier_scatter(
                f"brier-against-brier-{kind}-{name}",
                f"Brier scores of 80 % {kind} intervals, {variant}: BDE against the other methods, "
                "a point for each data set. BDE is better above the diagonal.",
                of_one[of_one["method"] == "BDE"],
                of_one[of_one["method"] != "BDE"],
                by="set",
                titles=("Brier score of BDE", "Brier score of the other method"),
            )
        if kind == "confidence":
            parts += _equal_width_table(entries)
    shown = [entry for entry in entries if entry.settings["method"] in KINDS[kind]]
    for level in (0.8, 0.95):
        for name, variant in VARIANTS.items():
            parts += violins_of(shown, kind, level, variant, name=name)
    return Section(f"{kind.capitalize()} intervals", parts)


def _equal_width_table(entries: Sequence[Judged]) -> list[Table]:
    """Is a method better, or only wider? Confidence intervals stretched to BDE's mean width."""
    asked: tuple[Kind, float] = ("confidence", TABLE_1_LEVEL)
    by_set: dict[str, dict[str, Judged]] = {}
    for entry in entries:
        name, _, method, variant = entry.who.values()
        if variant == DESCRIBED and asked in entry.answers.intervals:
            by_set.setdefault(name, {})[method] = entry
    rows = []
    for name, of_set in by_set.items():
        if "BDE" not in of_set or len(of_set) < 2:
            continue
        n = min(entry.n_simulations for entry in of_set.values())
        own = {method: entry.answers.intervals[asked][:n] for method, entry in of_set.items()}
        equal = at_equal_mean_width(own, mean_width(own["BDE"]))
        for method, entry in of_set.items():
            row = {"set": name, "method": method, "width": mean_width(own[method])}
            for which, intervals in (("own", own[method]), ("equal", equal[method])):
                held = covered(entry.true_mean, intervals)
                judged = Coverage(method, *asked, held, pointwise_mean_width(intervals))
                row |= {f"{which}_brier": judged.brier, f"{which}_brier_se": judged.brier_se}
                row[f"{which}_coverage"] = judged.mean
            rows.append(row)
    if not rows:
        return []
    columns = [
        SET,
        METHOD,
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


def _rmse_table(numbers: pd.DataFrame) -> Table:
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


def _words(numbers: pd.DataFrame) -> str:
    """What Table 1 says, counted."""
    confidence = of(numbers, "confidence", TABLE_1_LEVEL)
    if confidence.empty:
        return "No 80 % confidence intervals yet."
    lines = []
    for kind in KINDS:
        at_level = _of_table_1(numbers, kind)
        lines += _near_print(kind, at_level)
        for variant in VARIANTS.values():
            if against := _against_others(kind, of_variant(at_level, variant)):
                lines.append(
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
    return "\n".join(
        [*lines, f"- 80 % confidence intervals as described cover, from set to set: {ranges}."]
    )


def _against_others(kind: str, numbers: pd.DataFrame) -> list[str]:
    """BDE against each other method, in words."""
    scores, errors = (
        numbers.pivot_table(index="set", columns="method", values=name)
        for name in ("brier", "brier_se")
    )
    if "BDE" not in scores:
        return []
    return [
        _counted(method, both["BDE"], both[method], errors)
        for method in KINDS[kind][1:]
        if method in scores and len(both := scores[["BDE", method]].dropna())
    ]


def _counted(method: str, ours: pd.Series, other: pd.Series, errors: pd.DataFrame) -> str:
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


def _near_print(kind: str, at_level: pd.DataFrame) -> list[str]:
    """How many of the printed numbers are met, counted for each method."""
    if at_level.empty:
        return []
    quantities = ["brier", "width"]
    rows = beside_print(at_level, "benchresults", quantities, keys=["set", "method"])
    counted = []
    for method, of_method in rows.groupby("method", sort=False):
        n = of_method[[f"{q}_ratio" for q in quantities]].notna().sum().sum()
        n_far = of_method[[f"{q}_far" for q in quantities]].sum().sum()
        if n:
            counted.append(f"{method} {n - n_far} of {n}")
    if not counted:
        return []
    words = (
        f"- 80 % {kind} intervals, methods as published: Brier scores and widths within 20 % of "
        f"print, rounding allowed for: {', '.join(counted)}."
    )
    return [words]
