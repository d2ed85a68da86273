"""Confidence intervals calibrated on simulated twins, on data whose truth is known."""

from collections.abc import Sequence
from typing import ClassVar

import pandas as pd

from confide.document import Part
from confide.experiments.coverage.comparison import of
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved
from confide.experiments.honest.cells import nested_cells
from confide.experiments.honest.numbers import (
    costs,
    entries_of,
    in_nested_numbers,
    nested_headline,
)
from confide.experiments.honest.problems import IN_WORDS, RAW, SETS
from confide.experiments.honest.report import figures_of, tables_of
from confide.experiments.honest.verdict import DEFAULT, LEVEL, NB, RAW_BDE, demands, of_contender

METHODS = ("BDE", "BDE of the paper", "DE", "NB")


class HonestConfidence(Experiment):
    """Raw and calibrated intervals on outer data sets, each with simulations of its own."""

    name = "honest-confidence"
    title = "Confidence intervals calibrated on simulated twins of the data"
    place = 10
    paper = "not in the paper; its truths of Experiment 1 (Algorithm 3) and of Algorithm 4"
    whole: ClassVar = Options(
        simulations=40, sets=SETS, methods=METHODS, levels=(0.7, 0.8, 0.9, 0.95)
    )
    quick: ClassVar = Options(simulations=4, sets=("sine",), methods=METHODS, levels=(0.8,))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one truth, contender and five outer data sets."""
        return nested_cells(options)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width of each variant."""
        return nested_headline(saved)

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """What was asked for, held against the numbers; a table for each question; figures."""
        entries = entries_of(finished)
        numbers, cost = in_nested_numbers(entries), costs(entries)
        asked = demands(numbers, cost)
        parts: list[Part] = [*tables_of(numbers, cost, asked), *figures_of(entries, numbers)]
        return Findings("\n".join([_in_short(numbers), *map(str, asked)]), parts)


def _in_short(numbers: pd.DataFrame) -> str:
    """From the best truth to the worst, for each contender that is judged everywhere."""
    at_level = of(numbers, "confidence", LEVEL)
    ranges = [
        f"{variant} {method} {rows['coverage'].min():.0%} to {rows['coverage'].max():.0%} "
        f"(Brier score {rows['brier'].mean():.2g} on average over {len(rows)} truths, "
        f"width {rows['to_oracle'].median():.2g} times the oracle's at the median)"
        for method, variant in (RAW_BDE, DEFAULT, ("BDE of the paper", IN_WORDS[RAW]), NB)
        if len(rows := of_contender(at_level, (method, variant)))
    ]
    if not ranges:
        return "- No 80 % confidence intervals yet."
    return f"- 80 % confidence intervals cover, from truth to truth: {'; '.join(ranges)}."
