"""What the appendix' repetitions of Experiment 1 share: BDE and DE under changed conditions."""

from collections.abc import Sequence
from typing import ClassVar

import pandas as pd

from confide.document import Part
from confide.experiments.coverage.comparison import in_numbers, of, of_variant
from confide.experiments.coverage.judged import judged, study_headline
from confide.experiments.coverage.report import table_beside_print, table_of_all, violins_of
from confide.experiments.coverage.study import CONTENDERS, DESCRIBED, Condition, study_cells
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved


class Repetition(Experiment):
    """Experiment 1 under other conditions.

    Attributes:
        conditions: what is changed.
        condition: what the conditions are, as a heading.
        table: label of the paper's table.
        printed: kind, level and quantities of what the paper prints.
        drawn: kind and level of what the paper draws.
    """

    conditions: ClassVar[Sequence[Condition]]
    condition: ClassVar[str]
    table: ClassVar[str]
    printed: ClassVar[Sequence[tuple[str, float, Sequence[str]]]]
    drawn: ClassVar[Sequence[tuple[str, float]]] = ()

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, condition, contender and 25 simulations."""
        return study_cells(options, self.conditions, CONTENDERS)

    def headline(self, saved: Saved) -> str:
        """Mean coverage and width."""
        return study_headline(saved)

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """The paper's numbers beside ours, then all of ours."""
        names = [condition.name for condition in self.conditions]
        entries = sorted(
            judged(finished),
            key=lambda e: (e.settings["set"], names.index(e.settings["condition"])),
        )
        numbers = in_numbers(entries)
        parts: list[Part] = [
            table_beside_print(
                f"{self.name}-{kind}-{100 * level:.0f}",
                f"{self.table}: {100 * level:g} % {kind} intervals.",
                at_level,
                table=self.table,
                quantities=quantities,
                condition=self.condition,
            )
            for kind, level, quantities in self.printed
            if len(at_level := of(numbers, kind, level))
        ]
        for kind, level in self.drawn:
            parts += violins_of(entries, kind, level, DESCRIBED, name=self.name)
        parts.append(table_of_all(self.name, numbers, condition=self.condition))
        return Findings(_words(of_variant(numbers, DESCRIBED)), parts)


def _words(numbers: pd.DataFrame) -> str:
    """How often BDE is better, counted; of one method, how it changes with the condition."""
    scores = numbers.pivot_table(
        index=["set", "condition", "kind", "confidence_level"], columns="method", values="brier"
    )
    if {"BDE", "DE"} <= set(scores):
        better = [
            f"{(rows['BDE'] < rows['DE']).sum()} of {len(rows)} comparisons of {kind} intervals"
            for kind, rows in scores.dropna().groupby(level="kind")
        ]
        return (
            f"BDE as described has a lower Brier score than DE in {' and in '.join(better)} (sets, "
            "conditions and levels)."
        )
    level = min(numbers["confidence_level"], key=lambda level: abs(level - 0.8))
    shown = of(numbers, "confidence", level)
    if shown.empty:
        return "No confidence intervals yet."
    conditions = [
        f"{row['condition']}: width {row['width']:.3g}, Brier score {row['brier']:.2g} ± "
        f"{row['brier_se']:.1g}"
        for _, row in shown.iterrows()
    ]
    return (
        f"{100 * level:g} % confidence intervals of {shown['method'].iloc[0]} as described: "
        f"{'; '.join(conditions)}."
    )
