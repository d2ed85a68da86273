"""The page: tables of all numbers, one picture, and who is the right choice when."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from confide.document import Column, Document, Figure, Section, Table, to_markdown

from .answers import LEVELS, MIDPOINTS
from .choice import choice
from .contenders import CONTENDERS
from .data import DATA, MOST_ROWS, SHARE_OF_HOLES, SIMULATED_ROWS
from .picture import ratio_chart
from .store import Cell
from .summary import (
    COSTS,
    SCORES,
    TRUTH_SCORES,
    best_overall,
    difference,
    frame_of,
    is_current,
    mean_ratio,
    means,
    pointwise,
    ratios_to_best,
)

NO_INTERVAL = "has none"
NEAR_BEST = 0.1
"""A score counts as near the best if it is larger by no more than this share."""

NEAR_LEVEL = 0.06
"""A coverage counts as near its level if it is off by no more than this."""

_LEVELS = tuple(f"{100 * level:g}" for level in LEVELS)
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
HOLED = f"""\
Variants of some tables: columns that are categories by nature are given as such, and
{100 * SHARE_OF_HOLES:g} % of the cells, drawn by chance, are empty. confide, CatBoost and LightGBM
get the table as it is. For the others, categories are encoded one-hot and empty cells by the median
with a flag.
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
    real = frame[[DATA[name].is_table for name in frame["data"]]]
    holed = frame[[DATA[name].holed for name in frame["data"]]]
    simulated = frame[[DATA[name].simulated for name in frame["data"]]]
    sections = []
    if not real.empty:
        sections.append(Section("Overview", [*_picture(real), *_overview(real)]))
        sections.append(Section("Each table", [_score_table(real, name) for name in _data(real)]))
    if not holed.empty:
        tables = [_score_table(holed, name) for name in _data(holed)]
        parts = [HOLED, _matrix(holed, "crps"), *tables]
        sections.append(Section("Tables with categories and holes", parts))
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
    """How near each contender comes to the best of every table, and the CRPS of each."""
    every = means(real, [*SCORES, *COSTS])
    crps, rmse = (ratios_to_best(real, score) for score in ("crps", "rmse"))
    best = best_overall(crps)
    rows = []
    for name in _contenders(real):
        own = every[every["contender"] == name].set_index("data")
        rows.append(
            {
                "contender": CONTENDERS[name].label,
                "tables": len(own),
                "crps": mean_ratio(crps)[name],
                "crps_overall": mean_ratio(crps.loc[[name]] / crps.loc[best])[name],
                "crps_near": _near_best(crps.loc[name]),
                "rmse": mean_ratio(rmse)[name],
                "rmse_near": _near_best(rmse.loc[name]),
                **{f"picp_{level}": own[f"picp_{level}"].mean() for level in _LEVELS},
                **{f"held_{level}": _near_level(own, level) for level in _LEVELS},
                **{cost: own[cost].median() for cost in COSTS if own[cost].notna().any()},
            }
        )
    frame = pd.DataFrame(rows).sort_values("crps", kind="stable")
    return [
        Table(
            "overview",
            "All tables together, the lowest CRPS first. Ratios are geometric means over tables of "
            "a score divided by that of the best contender: of each table, which no contender is "
            f"on all, or of the best one overall, {CONTENDERS[best].label}. A table is near if its "
            f"score is at most {1 + NEAR_BEST:g} times the lowest, or its coverage at most "
            f"{100 * NEAR_LEVEL:g} points off. Ratios are of the repeats that all contenders of a "
            "table have.",
            frame,
            [
                Column("contender"),
                Column("tables"),
                Column("crps", "CRPS, to the best of each table", ".2f"),
                Column("crps_overall", "... to the best overall", ".2f"),
                Column("crps_near", "... near on"),
                Column("rmse", "RMSE, to the best of each table", ".2f"),
                Column("rmse_near", "... near on"),
                *(
                    column
                    for level in _LEVELS
                    for column in (
                        Column(f"picp_{level}", f"PICP, {level} %", ".1%"),
                        Column(f"held_{level}", "... near on"),
                    )
                ),
            ],
        ),
        Table(
            "cost",
            "Time and memory, the median over the tables.",
            frame,
            [Column("contender"), *_cost_columns()],
        ),
        *(_matrix(real, score) for score in ("crps", "rmse")),
    ]


def _near_best(ratios: "pd.Series[float]") -> int:
    return int((ratios <= 1 + NEAR_BEST).sum())


def _near_level(own: pd.DataFrame, level: str) -> int:
    """On how many tables a contender's prediction intervals hold about what they promise."""
    return int(((own[f"picp_{level}"] - float(level) / 100).abs() <= NEAR_LEVEL).sum())


def _matrix(real: pd.DataFrame, score: str) -> Table:
    """A score of each contender on each table, as a ratio to the best."""
    ratios = ratios_to_best(real, score)
    best = ratios.idxmin()
    rows: list[dict[str, Any]] = []
    for name in _contenders(real):
        row: dict[str, Any] = {"contender": CONTENDERS[name].label}
        for data in ratios:
            found = difference(real, data, name, best[data], score)
            row[data] = ratios.loc[name, data]
            row[f"{data}_differs"] = found is not None and found.matters
        rows.append(row)
    columns = [Column(data, DATA[data].label, ".2f", marked=f"{data}_differs") for data in ratios]
    return Table(
        f"{score}-by-table{'-holes' if DATA[ratios.columns[0]].holed else ''}",
        f"{score.upper()} divided by the lowest of the table.",
        pd.DataFrame(rows),
        [Column("contender"), *columns],
        mark="differs from the lowest by a paired t test over repeats at 5 %",
    )


def _picture(real: pd.DataFrame) -> list[Figure]:
    if len(set(real["contender"])) == 1:
        return []
    caption = (
        "CRPS divided by the lowest of the table: a line for each table, a dot for their geometric "
        "mean."
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
