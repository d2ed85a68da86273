"""What the appendix' repetitions of Experiment 1 share: BDE and DE under changed conditions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from confide.document import Part
from confide.experiments.cell import Cell
from confide.experiments.coverage.comparison import in_numbers, of_variant
from confide.experiments.coverage.contenders import CONTENDERS, DESCRIBED
from confide.experiments.coverage.figures import violins_of
from confide.experiments.coverage.study import Condition, judged, study_cells, study_headline
from confide.experiments.coverage.tables import of, table_beside_print, table_of_all
from confide.experiments.experiment import Experiment, Findings
from confide.experiments.options import Options
from confide.experiments.store import Saved

if TYPE_CHECKING:
    import pandas as pd


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
        order = sorted(
            judged(finished),
            key=lambda e: (e.settings["set"], names.index(e.settings["condition"])),
        )
        numbers = in_numbers(order)
        parts: list[Part] = []
        for kind, level, quantities in self.printed:
            at_level = of(numbers, kind, level)
            if len(at_level):
                parts.append(
                    table_beside_print(
                        f"{self.name}-{kind}-{100 * level:.0f}",
                        f"{self.table}: {100 * level:g} % {kind} intervals.",
                        at_level,
                        table=self.table,
                        quantities=quantities,
                        keys=("set", "condition", "method"),
                        condition=self.condition,
                    )
                )
        parts += [
            figure
            for kind, level in self.drawn
            if (figure := violins_of(order, kind, level, DESCRIBED, name=self.name)) is not None
        ]
        every = f"Every condition, kind and level of {self.name}."
        parts.append(table_of_all(self.name, every, numbers, condition=self.condition))
        return Findings(_words(numbers), parts)


def _words(numbers: "pd.DataFrame") -> str:
    """How often BDE is better, counted."""
    scores = of_variant(numbers, DESCRIBED).pivot_table(
        index=["set", "condition", "kind", "confidence_level"], columns="method", values="brier"
    )
    if not {"BDE", "DE"} <= set(scores):
        return _from_first_to_last(of_variant(numbers, DESCRIBED))
    better = [
        f"{(each['BDE'] < each['DE']).sum()} of {len(each)} comparisons of {kind} intervals"
        for kind, each in scores.dropna().groupby(level="kind")
    ]
    return (
        f"BDE as described has a lower Brier score than DE in {' and in '.join(better)} (sets, "
        "conditions and levels)."
    )


def _from_first_to_last(numbers: "pd.DataFrame") -> str:
    """How the confidence intervals of one method change with the condition."""
    level = min(numbers["confidence_level"], key=lambda each: abs(each - 0.8))
    shown = numbers[(numbers["kind"] == "confidence") & (numbers["confidence_level"] == level)]
    if shown.empty:
        return "No confidence intervals yet."
    said = [
        f"{row['condition']}: width {row['width']:.3g}, Brier score {row['brier']:.2g} ± "
        f"{row['brier_se']:.1g}"
        for _, row in shown.iterrows()
    ]
    method = shown["method"].iloc[0]
    return f"{100 * level:g} % confidence intervals of {method} as described: {'; '.join(said)}."
