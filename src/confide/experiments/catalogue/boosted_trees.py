"""Confidence intervals of boosted trees, raw and calibrated, beside those of networks."""

from collections.abc import Sequence
from typing import ClassVar

from confide.experiments.coverage.comparison import of
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved
from confide.experiments.honest.cells import nested_cell
from confide.experiments.honest.numbers import (
    costs,
    entries_of,
    in_nested_numbers,
    nested_headline,
)
from confide.experiments.honest.problems import AUTO, BDE, RAW, SMALL, Contender, Problem
from confide.experiments.honest.report import table_of_costs, table_of_scores
from confide.experiments.simulated import blocks_of

LEVEL = 0.8
DATA_SETS_PER_CELL = 5
TREES = "BootstrappedEnsembleRegressor"
CONTENDERS = (
    Contender("BDE", BDE, (RAW, AUTO)),
    Contender("XGB", TREES, (RAW, AUTO), {"learner": "xgboost"}),
    Contender("LGBM", TREES, (RAW, AUTO), {"learner": "lightgbm"}),
)
METHODS = tuple(contender.method for contender in CONTENDERS)


class BoostedTrees(Experiment):
    """The bootstrap around XGBoost (XGB) and LightGBM (LGBM), on truths that are forests."""

    name = "boosted-trees"
    title = "Confidence intervals of boosted trees"
    place = 11
    paper = "not in the paper; its truths of Experiment 1 (Algorithm 3)"
    whole: ClassVar = Options(simulations=20, sets=SMALL, methods=METHODS, levels=(LEVEL,))
    quick: ClassVar = Options(simulations=2, sets=("yacht",), methods=METHODS, levels=(LEVEL,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one truth, contender and five outer data sets."""
        return [
            nested_cell(Problem(name, "random_forest"), contender, block, options)
            for block in blocks_of(options.simulations, DATA_SETS_PER_CELL)
            for name in options.sets
            for contender in CONTENDERS
            if contender.method in options.methods
        ]

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width of each variant."""
        return nested_headline(saved)

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Both kinds of intervals, and what calibration costs."""
        entries = entries_of(finished)
        numbers = in_nested_numbers(entries)
        confidence = of(numbers, "confidence", LEVEL)
        words = [
            f"- {method}, {variant}: 80 % confidence intervals cover {rows['coverage'].min():.0%} "
            f"to {rows['coverage'].max():.0%} from set to set, Brier score "
            f"{rows['brier'].mean():.2g} on average."
            for (method, variant), rows in confidence.groupby(["method", "variant"], sort=False)
        ]
        tables = [
            table_of_scores(
                f"boosted-trees-{kind}-80",
                f"80 % {kind} intervals: boosted trees and networks on the same data sets.",
                of(numbers, kind, LEVEL),
            )
            for kind in ("confidence", "prediction")
        ]
        tables.append(table_of_costs("boosted-trees-costs", costs(entries)))
        return Findings("\n".join(words), [table for table in tables if len(table.frame)])
