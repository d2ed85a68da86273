"""The page: tables of all numbers, one picture, and who is the right choice when."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from confide.document import Column, Document, Figure, Section, Table, to_markdown

from .answers import LEVELS, MIDPOINTS
from .choice import choice
from .contenders import CONTENDERS, REFERENCE
from .data import DATA, MOST_ROWS, SIMULATED_ROWS
from .picture import ratio_chart
from .store import Cell
from .summary import COSTS, SCORES, TRUTH_SCORES, difference, frame_of, is_current, means, pointwise

NO_INTERVAL = "has none"
CONFIDENCE = {
    "coverage": "confidence coverage",
    "brier": "Brier score",
    "confidence_width": "confidence width",
}
INTRODUCTION = f"""\
Other libraries and confide on the same rows, each fit in a process of its own. Errors and widths
are in standard deviations of the target. The CRPS is made of {len(MIDPOINTS)} quantiles for
everyone alike, also for those who have a law: twice the mean pinball loss at 2.5 %, 7.5 %, ...,
97.5 %. *PICP* is the share of test targets in their prediction interval; the interval score adds
to the width of the prediction interval what falls outside. A fifth of the rows is held out; tables
longer than {MOST_ROWS:,} rows are thinned to {MOST_ROWS:,}, other ones in each repeat. A number
after ± is a standard error over repeats.

A first fit and prediction are timed in a fresh process, imports left out; *again* is the same once
more in that process, for those who compile programs the first time. A prediction is of all test
rows with all quantiles. Memory is the peak beyond what is held after the imports.
"""
TRUTHS = f"""\
The true function is known here, so confidence intervals can be judged: coverage is the share of
test rows whose confidence interval holds it, and the Brier score the mean squared distance of each
row's coverage over repeats from the level, chance's share taken off (0 is perfect, and chance may
take it below). Twins are random forests fitted to a table; friedman1 and ishigami are formulas
whose noise depends on the input, with {SIMULATED_ROWS} rows. Inputs stay the same in all repeats,
targets are drawn anew.
"""


def document_of(known: Mapping[Cell, dict[str, Any]], missing: Sequence[str]) -> Document:
    """The report of a store."""
    frame = frame_of(known)
    if frame.empty:
        raise ValueError("No cell is finished yet, so there is nothing to report.")
    real = frame[[not DATA[name].simulated for name in frame["data"]]]
    simulated = frame[[DATA[name].simulated for name in frame["data"]]]
    sections = []
    if not real.empty:
        sections.append(Section("Overview", [*_picture(real), *_overview(real)]))
        sections.append(Section("Each table", [_score_table(real, name) for name in _data(real)]))
    if not simulated.empty:
        tables = [_truth_table(simulated, name) for name in _data(simulated)]
        sections.append(Section("Simulated truths", [TRUTHS, *tables]))
    sections.append(Section("Contenders", [_contender_table(frame)]))
    if problems := _problems(known, missing):
        sections.append(Section("What was not measured", ["\n".join(problems)]))
    sections.append(Section("Which to choose", ["\n\n".join(choice(frame))]))
    return Document("confide among its peers", INTRODUCTION, sections, _provenance(known))


def markdown_of(document: Document, pictures: str = "") -> str:
    """The whole report as one Markdown text.

    Args:
        document: the report.
        pictures: how the addresses of its pictures begin; a figure's name and `.svg` follow.
    """
    parts = [f"# {document.title}", document.summary.strip()]
    for section in document.sections:
        parts.append(f"## {section.title}")
        for part in section.parts:
            if isinstance(part, Figure):
                parts.append(f"![{part.caption}]({pictures}{part.name}.svg)")
            else:
                parts.append((to_markdown(part) if isinstance(part, Table) else part).strip())
    made = "; ".join(f"{name}: {value}" for name, value in document.provenance.items())
    return "\n\n".join([*parts, f"{made}."]) + "\n"


def _overview(real: pd.DataFrame) -> list[Table]:
    """Ratios to the reference over all tables, and the CRPS of each."""
    every = means(real, [*SCORES, *COSTS])
    rows = []
    for name in _contenders(real):
        own = every[every["contender"] == name].set_index("data")
        row: dict[str, Any] = {"contender": CONTENDERS[name].label, "tables": len(own)}
        for score in ("rmse", "crps", "interval_score_95"):
            row[score] = _mean_ratio(every, name, score)
        compared = [difference(real, data, name, REFERENCE, "crps") for data in own.index]
        matter = [each.mean for each in compared if each is not None and each.matters]
        row["better"], row["worse"] = sum(m < 0 for m in matter), sum(m > 0 for m in matter)
        row |= {score: own[score].mean() for score in ("picp_80", "picp_95")}
        row |= {cost: own[cost].median() for cost in COSTS if own[cost].notna().any()}
        rows.append(row)
    label = CONTENDERS[REFERENCE].label
    frame = pd.DataFrame(rows)
    return [
        Table(
            "overview",
            f"All tables together. Ratios to {label} are geometric means over the tables, below 1 "
            "is better; a table counts as better or worse in CRPS if a paired t test over repeats, "
            "which allows for shared rows, says so at 5 %.",
            frame,
            [
                Column("contender"),
                Column("tables"),
                Column("rmse", "RMSE, ratio", ".2f"),
                Column("crps", "CRPS, ratio", ".2f"),
                Column("interval_score_95", "95 % interval score, ratio", ".2f"),
                Column("better", "CRPS better on"),
                Column("worse", "CRPS worse on"),
                Column("picp_80", "PICP, 80 %", ".1%"),
                Column("picp_95", "PICP, 95 %", ".1%"),
            ],
        ),
        Table(
            "cost",
            "Time and memory, the median over the tables.",
            frame,
            [Column("contender"), *_cost_columns()],
        ),
        _crps_matrix(real, every),
    ]


def _crps_matrix(real: pd.DataFrame, every: pd.DataFrame) -> Table:
    label = CONTENDERS[REFERENCE].label
    of = every.pivot_table(index="contender", columns="data", values="crps", sort=False)
    rows: list[dict[str, Any]] = []
    for name in _contenders(real):
        row: dict[str, Any] = {"contender": CONTENDERS[name].label}
        for data in _data(real):
            found = difference(real, data, name, REFERENCE, "crps")
            row[data] = of[data].get(name, np.nan) / of[data].get(REFERENCE, np.nan)
            row[f"{data}_differs"] = found is not None and found.matters
        rows.append(row)
    columns = [
        Column(data, DATA[data].label, ".2f", marked=f"{data}_differs") for data in _data(real)
    ]
    return Table(
        "crps-by-table",
        f"CRPS divided by that of {label}: below 1 is better than it.",
        pd.DataFrame(rows),
        [Column("contender"), *columns],
        mark="differs from it by a paired t test over repeats at 5 %",
    )


def _picture(real: pd.DataFrame) -> list[Figure]:
    if set(real["contender"]) == {REFERENCE} or REFERENCE not in set(real["contender"]):
        return []
    label = CONTENDERS[REFERENCE].label
    caption = (
        f"CRPS divided by that of {label}: a line for each table, a dot for their geometric mean. "
        f"Left of 1 is better than {label}."
    )
    return [Figure("crps", caption, ratio_chart(real))]


def _score_table(real: pd.DataFrame, data: str) -> Table:
    rows = means(real[real["data"] == data], [*SCORES, *COSTS])
    rows["contender"] = [CONTENDERS[name].label for name in rows["contender"]]
    return Table(
        f"table-{data.replace('_', '-')}",
        _caption(data, rows),
        rows,
        [
            Column("contender"),
            *(
                Column(score, _heading(score), ".1%" if "picp" in score else ".3f", f"{score}_se")
                for score in SCORES
            ),
            *_cost_columns(),
        ],
    )


def _truth_table(simulated: pd.DataFrame, data: str) -> Table:
    here = simulated[simulated["data"] == data]
    rows = means(here, [*TRUTH_SCORES, "crps", "picp_80", "picp_95"])
    for level in (f"{100 * level:g}" for level in LEVELS):
        found = [pointwise(here, data, name, float(level) / 100) for name in rows["contender"]]
        rows[f"brier_{level}"] = [np.nan if each is None else each.brier for each in found]
        rows[f"brier_{level}_se"] = [np.nan if each is None else each.brier_se for each in found]
        without = [not CONTENDERS[name].confidence for name in rows["contender"]]
        for column in (f"{score}_{level}" for score in CONFIDENCE):
            rows[column] = rows[column].astype(object).mask(without, NO_INTERVAL)
    rows["contender"] = [CONTENDERS[name].label for name in rows["contender"]]
    return Table(
        f"truth-{data}",
        _caption(data, rows),
        rows,
        [
            Column("contender"),
            Column("rmse_true", "RMSE to the true function", ".3f", "rmse_true_se"),
            *(_of_confidence(score, level) for level in LEVELS for score in CONFIDENCE),
            Column("crps", "CRPS", ".3f", "crps_se"),
            Column("picp_80", "PICP, 80 %", ".1%", "picp_80_se"),
            Column("picp_95", "PICP, 95 %", ".1%", "picp_95_se"),
        ],
    )


def _of_confidence(score: str, level: float) -> Column:
    name = f"{score}_{100 * level:g}"
    shown = ".1%" if score == "coverage" else ".3f"
    return Column(name, f"{CONFIDENCE[score]}, {100 * level:g} %", shown, f"{name}_se")


def _contender_table(frame: pd.DataFrame) -> Table:
    rows = [
        {
            "contender": CONTENDERS[name].label,
            "package": CONTENDERS[name].package,
            "settings": CONTENDERS[name].settings,
            "confidence": CONTENDERS[name].confidence or NO_INTERVAL,
        }
        for name in _contenders(frame)
    ]
    return Table(
        "contenders",
        "Who was compared, and how.",
        pd.DataFrame(rows),
        [
            Column("contender"),
            Column("package"),
            Column("settings"),
            Column("confidence", "confidence interval for the true function"),
        ],
    )


def _caption(data: str, rows: pd.DataFrame) -> str:
    n_rows, repeats = _range(rows["n_rows"]), _range(rows["repeats"])
    return f"{DATA[data].label}: {n_rows} training rows, repeats: {repeats}."


def _cost_columns() -> list[Column]:
    return [
        Column("fit", "first fit, s", ".2f"),
        Column("fit_again", "... again, s", ".2f"),
        Column("predict", "first predict, s", ".3f"),
        Column("predict_again", "... again, s", ".3f"),
        Column("memory", "memory, MB", ",.0f"),
    ]


def _heading(score: str) -> str:
    kind, _, level = score.rpartition("_")
    names = {"picp": "PICP", "width": "width", "interval_score": "interval score"}
    return f"{names[kind]}, {level} %" if kind else score.upper()


def _mean_ratio(every: pd.DataFrame, contender: str, score: str) -> float:
    """To the reference: the geometric mean over tables."""
    of = every.pivot_table(index="data", columns="contender", values=score)
    if REFERENCE not in of:
        return float("nan")
    return float(np.exp(np.log(of[contender] / of[REFERENCE]).mean()))


def _problems(known: Mapping[Cell, dict[str, Any]], missing: Sequence[str]) -> list[str]:
    failed = [
        f"- {CONTENDERS[cell.contender].label} on {DATA[cell.data].label}, repeat {cell.repeat}: "
        f"{line['problem']}"
        for cell, line in known.items()
        if is_current(cell) and "problem" in line
    ]
    return [*(f"- {each}" for each in missing), *failed]


def _provenance(known: Mapping[Cell, dict[str, Any]]) -> dict[str, str]:
    lines = [line for cell, line in known.items() if is_current(cell)]
    versions: dict[str, set[str]] = {}
    for line in lines:
        for package, version in line["versions"].items():
            versions.setdefault(package, set()).add(version)
    made = {
        name: ", ".join(sorted({str(line["made"][name]) for line in lines}))
        for name in ("commit", "python", "cpu", "cores")
    }
    dates = sorted(line["made"]["date"][:10] for line in lines)
    return {
        **made,
        "date": " to ".join(dict.fromkeys([dates[0], dates[-1]])),
        "cells": str(len(lines)),
        **{package: ", ".join(sorted(found)) for package, found in sorted(versions.items())},
    }


def _contenders(frame: pd.DataFrame) -> list[str]:
    there = set(frame["contender"])
    return [name for name in CONTENDERS if name in there]


def _data(frame: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(frame["data"]))


def _range(numbers: "pd.Series[int]") -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
