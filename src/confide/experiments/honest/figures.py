"""Figures of the nested experiment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.document import Figure, scatter_against, violins
from confide.experiments.coverage.tables import of
from confide.experiments.honest.contenders import AUTO, RAW, SAID
from confide.experiments.honest.entries import Entry
from confide.experiments.honest.verdict import LEVEL

if TYPE_CHECKING:
    import pandas as pd

TRUTHS = {
    "random_forest": "random forests (Algorithm 3)",
    "formula": "formulas",
    "gradient_boosting": "gradient boosting",
    "network": "a network (Algorithm 4)",
}


def figures_of(entries: Sequence[Entry], numbers: "pd.DataFrame") -> list[Figure]:
    """Pointwise coverage before and after, a figure for each kind of truth; and Brier scores."""
    found = [_violins(truth, entries) for truth in TRUTHS]
    found.append(_scatter(of(numbers, "confidence", LEVEL)))
    return [figure for figure in found if figure is not None]


def _violins(truth: str, entries: Sequence[Entry]) -> Figure | None:
    import pandas as pd

    frames = [
        pd.DataFrame(
            {
                "set": entry.problem.set,
                "intervals": f"{entry.method} {SAID[entry.variant]}",
                "CICF": coverage.pointwise,
            }
        )
        for entry in entries
        if entry.problem.truth == truth and entry.method == "BDE" and entry.variant in {RAW, AUTO}
        for coverage in entry.judged.coverages
        if (coverage.kind, coverage.confidence_level) == ("confidence", LEVEL)
    ]
    if not frames:
        return None
    rows = pd.concat(frames, ignore_index=True)
    return Figure(
        f"honest-cicf-80-{truth.replace('_', '-')}",
        f"CICF of 80 % confidence intervals over the test rows, raw and calibrated; truths are "
        f"{TRUTHS[truth]}. The dashed line is the level that every row should have; chance alone "
        "spreads rows about it.",
        violins(rows, value="CICF", category="intervals", facet="set", level=LEVEL),
    )


def _scatter(at_level: "pd.DataFrame") -> Figure | None:
    keys, scores = ["set", "condition"], ["brier", "brier_se"]
    is_default = (at_level["method"] == "BDE") & (at_level["variant"] == SAID[AUTO])
    ours = at_level.loc[is_default, [*keys, *scores]]
    others = at_level.loc[at_level["variant"] == SAID[RAW], [*keys, *scores, "method"]]
    pairs = ours.merge(others, on=keys, suffixes=("_ours", "_other"))
    pairs = pairs[(pairs["brier_ours"] > 0) & (pairs["brier_other"] > 0)]
    if pairs.empty:
        return None
    pairs = pairs.assign(
        truth=pairs["set"] + ", " + pairs["condition"].str.replace("_", " "),
        method="raw " + pairs["method"],
    ).rename(
        columns={
            "brier_ours": "Brier score of BDE, calibrated",
            "brier_other": "Brier score of raw intervals",
            "brier_se_ours": "standard error, calibrated",
            "brier_se_other": "standard error, raw",
        }
    )
    return Figure(
        "honest-brier-against-brier",
        "Brier scores of 80 % confidence intervals: BDE calibrated as by default, against raw "
        "methods, a point for each truth. Calibrated is better above the diagonal. Bars are "
        "standard errors.",
        scatter_against(
            pairs,
            x="Brier score of BDE, calibrated",
            y="Brier score of raw intervals",
            category="method",
            label="truth",
            x_error="standard error, calibrated",
            y_error="standard error, raw",
        ),
    )
