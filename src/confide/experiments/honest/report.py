"""Tables of the nested experiment, one for each question, and its figures."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from confide.document import Column, Figure, Table, violins
from confide.experiments.coverage.comparison import of
from confide.experiments.coverage.judged import Judged
from confide.experiments.coverage.report import (
    BRIER,
    COVERAGE,
    METHOD,
    SET,
    VARIANT,
    WIDTH,
    brier_scatter,
    pointwise,
    table_of_all,
)
from confide.experiments.honest.problems import AUTO, IN_WORDS, RAW, SHOWN_SHIFTS, Problem
from confide.experiments.honest.verdict import DEFAULT, LEVEL, Demand, of_contender

TRUTHS = {
    "random_forest": "random forests (Algorithm 3)",
    "formula": "formulas",
    "gradient_boosting": "gradient boosting",
    "network": "a network (Algorithm 4)",
}
WHO = [
    replace(SET, help="a number after it: so many rows of it, drawn at random"),
    Column("condition", "truth", help="what was fitted to the set, or a formula"),
    METHOD,
    replace(VARIANT, heading="intervals"),
]
DATA_SETS = Column("simulations", "data sets", "d")
SCORES = [
    *BRIER,
    COVERAGE,
    WIDTH,
    Column(
        "to_oracle",
        "width to oracle",
        ".2f",
        help="the oracle knows bias and spread of the method's predictions at each row",
    ),
    Column("to_raw_bde", "width to raw BDE", ".2f"),
]
CENTRE = Column(
    "centre_rmse",
    "centre to truth",
    ".3g",
    help="root mean squared distance of the intervals' centres from the function",
)


def tables_of(numbers: pd.DataFrame, costs: pd.DataFrame, demands: Sequence[Demand]) -> list[Table]:
    """All tables that have rows.

    Args:
        numbers: as `in_nested_numbers` gives them.
        costs: as `costs` gives them.
        demands: what was asked for.
    """
    confidence, prediction = (of(numbers, kind, LEVEL) for kind in ("confidence", "prediction"))
    tables = [
        _verdict(demands),
        table_of_scores(
            "honest-confidence-80",
            "80 % confidence intervals: BDE calibrated as by default, against raw ones of three "
            "methods.",
            _raw_and_default(confidence)[lambda rows: _is_raw(rows) | (rows["method"] == "BDE")],
        ),
        _every_level(_raw_and_default(numbers)),
        table_of_scores(
            "honest-confidence-twins",
            "What the choice of twin and the correction for bias do to 80 % confidence intervals. "
            "Calibrated: on twins that cross-validation chose. No user has the truth itself as "
            "twin: errors that are left with it do not come from the twin.",
            _of_shown(confidence),
            CENTRE,
        ),
        table_of_scores(
            "honest-confidence-prediction-80",
            "80 % prediction intervals, raw, and made to contain calibrated confidence intervals. "
            "Their oracle knows the noise as well.",
            _raw_and_default(prediction),
        ),
        table_of_costs("honest-confidence-costs", costs),
        table_of_all("honest-confidence-every-level", numbers, condition="truth"),
    ]
    return [table for table in tables if len(table.frame)]


def table_of_scores(name: str, caption: str, rows: pd.DataFrame, *more: Column) -> Table:
    """How good the intervals are, problem by problem."""
    return Table(name, caption, rows, [*WHO, *SCORES, *more, DATA_SETS])


def table_of_costs(name: str, costs: pd.DataFrame) -> Table:
    """What calibrations cost, and which twins they chose."""
    columns = [
        *WHO,
        Column(
            "cost",
            "cost in raw fits",
            ".1f",
            help="processor time of the calibration over that of the fit; median over data sets",
        ),
        Column("fit_cpu_seconds", "fit, seconds of one core", ".2g"),
        Column("calibration_cpu_seconds", "calibration, seconds of one core", ".3g"),
        Column("twins", "twins chosen", help="for which share of the data sets"),
        Column("biased_share", "biased rows", ".0%", help="as the calibration itself reports"),
        DATA_SETS,
    ]
    caption = "What a calibration costs, and which twins it chose from the data."
    known = costs.reindex(columns=[column.name for column in columns])  # none without calibrations
    return Table(name, caption, known, columns)


def _raw_and_default(numbers: pd.DataFrame) -> pd.DataFrame:
    return numbers[numbers["variant"].isin([IN_WORDS[RAW], IN_WORDS[AUTO]])]


def _is_raw(numbers: pd.DataFrame) -> "pd.Series[bool]":
    return numbers["variant"] == IN_WORDS[RAW]


def _verdict(demands: Sequence[Demand]) -> Table:
    rows = [(demand.what, demand.verdict, demand.exceptions) for demand in demands]
    names = ["demand", "verdict", "exceptions"]
    return Table(
        "honest-confidence-verdict",
        "What was asked of BDE calibrated as by default, and whether it holds. A number after ± is "
        "its standard error: an exception within two of them may be chance, and so may a "
        "comparison that holds.",
        pd.DataFrame(rows, columns=names),
        [Column(name) for name in names],
    )


def _every_level(numbers: pd.DataFrame) -> Table:
    """Coverage at all levels beside each other, raw and calibrated."""
    shown = numbers[(numbers["kind"] == "confidence") & (numbers["method"] == "BDE")]
    keys = [column.name for column in WHO]
    rows, columns = shown[keys].drop_duplicates(), list(WHO)
    for level, at_level in shown.groupby("confidence_level"):
        name = f"coverage_{level:g}"
        names = {"coverage": name, "coverage_se": f"{name}_se"}
        rows = rows.merge(at_level[[*keys, *names]].rename(columns=names), on=keys, how="left")
        columns.append(Column(name, f"coverage at {level:.0%}", ".3f", error=f"{name}_se"))
    caption = "Mean coverage of BDE's confidence intervals at every level, raw and calibrated."
    return Table("honest-confidence-levels", caption, rows, columns)


def _of_shown(numbers: pd.DataFrame) -> pd.DataFrame:
    """Rows of problems where several twins, methods or shifts were tried."""
    problems = map(Problem, numbers["set"], numbers["condition"])
    rows = numbers[[problem in SHOWN_SHIFTS for problem in problems]]
    return rows[rows["method"].isin(["BDE", "DE"])]


def figures_of(entries: Sequence[Judged], numbers: pd.DataFrame) -> list[Figure]:
    """Pointwise coverage before and after, a figure for each kind of truth; and Brier scores."""
    rows = _raw_and_default(pointwise(entries, "confidence", LEVEL))
    rows = rows[rows["method"] == "BDE"]
    rows = rows.assign(intervals=rows["method"] + " " + rows["variant"])
    rows = rows.rename(columns={"coverage": "CICF"})
    figures = [
        Figure(
            f"honest-cicf-80-{truth.replace('_', '-')}",
            f"CICF of 80 % confidence intervals over the test rows, raw and calibrated; truths are "
            f"{in_words}. The dashed line is the level that every row should have; chance alone "
            "spreads rows about it.",
            violins(of_truth, value="CICF", category="intervals", facet="set", level=LEVEL),
        )
        for truth, in_words in TRUTHS.items()
        if len(of_truth := rows[rows["condition"] == truth])
    ]
    at_level = of(numbers, "confidence", LEVEL)
    at_level = at_level.assign(
        truth=at_level["set"] + ", " + at_level["condition"].str.replace("_", " ")
    )
    raw = at_level[_is_raw(at_level)]
    return figures + brier_scatter(
        "honest-brier-against-brier",
        "Brier scores of 80 % confidence intervals: BDE calibrated as by default, against raw "
        "methods, a point for each truth. Calibrated is better above the diagonal.",
        of_contender(at_level, DEFAULT),
        raw.assign(method="raw " + raw["method"]),
        by="truth",
        titles=("Brier score of BDE, calibrated", "Brier score of raw intervals"),
    )
