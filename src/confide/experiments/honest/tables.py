"""Tables of the nested experiment, one for each question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.document import Column, Table
from confide.experiments.coverage.tables import of, table_of_all
from confide.experiments.honest.contenders import AUTO, RAW, SAID, SHOWN_SHIFTS
from confide.experiments.honest.verdict import LEVEL, Demand

if TYPE_CHECKING:
    import pandas as pd

WHO = [
    Column("set", "data set", help="a number after it: so many rows of it, drawn at random"),
    Column("condition", "truth", help="what was fitted to the set, or a formula"),
    Column("method"),
    Column("variant", "intervals"),
]
HOW_GOOD = [
    Column("brier", "Brier score", ".3g", error="brier_se", help="Eq. (5): 0 is perfect"),
    Column(
        "brier_attainable",
        "attainable",
        ".2g",
        help="what perfect intervals score with as many data sets",
    ),
    Column("coverage", "mean coverage", ".3f", error="coverage_se"),
    Column("width", "mean width", ".3g", error="width_se"),
    Column(
        "to_oracle",
        "width to oracle",
        ".2f",
        help="the oracle knows bias and spread of the method's predictions at each row",
    ),
    Column("to_raw_bde", "width to raw BDE", ".2f"),
    Column("simulations", "data sets", "d"),
]


def tables_of(
    numbers: "pd.DataFrame", costs: "pd.DataFrame", demands: Sequence[Demand]
) -> list[Table]:
    """All tables that have rows.

    Args:
        numbers: as `in_nested_numbers` gives them.
        costs: as `costs` gives them.
        demands: what was asked for.
    """
    confidence, prediction = (of(numbers, kind, LEVEL) for kind in ("confidence", "prediction"))
    default = confidence[confidence["variant"].isin([SAID[RAW], SAID[AUTO]])]
    default = default[(default["method"] == "BDE") | (default["variant"] == SAID[RAW])]
    found = [
        _verdict(demands),
        Table(
            "honest-confidence-80",
            "80 % confidence intervals: BDE calibrated as by default, against raw ones of three "
            "methods.",
            default,
            [*WHO, *HOW_GOOD],
        ),
        _every_level(numbers),
        Table(
            "honest-confidence-twins",
            "What the choice of twin, and a shift of the centre, do to 80 % confidence intervals. "
            "Calibrated: on twins that cross-validation chose. The truth itself as twin is what no "
            "user has: what is wrong with it is not the twin's fault.",
            _of_shown(confidence),
            [
                *WHO,
                *HOW_GOOD[:-1],
                Column(
                    "centre_rmse",
                    "centre to truth",
                    ".3g",
                    help="root mean squared distance of the intervals' centres from the function",
                ),
                HOW_GOOD[-1],
            ],
        ),
        Table(
            "honest-confidence-prediction-80",
            "80 % prediction intervals, raw and calibrated on twins. Their oracle knows the noise "
            "as well.",
            prediction[prediction["variant"].isin([SAID[RAW], SAID[AUTO]])],
            [*WHO, *HOW_GOOD],
        ),
        table_of_costs("honest-confidence-costs", costs),
        table_of_all(
            "honest-confidence-every-level",
            "Every truth, contender, kind and level.",
            numbers,
            condition="truth",
        ),
    ]
    return [table for table in found if len(table.frame)]


def _verdict(demands: Sequence[Demand]) -> Table:
    import pandas as pd

    rows = [(each.what, each.verdict, each.exceptions) for each in demands]
    return Table(
        "honest-confidence-verdict",
        "What was asked of BDE calibrated as by default, and whether it holds. A number after ± is "
        "its standard error: an exception within two of them may be chance, and so may a "
        "comparison that holds.",
        pd.DataFrame(rows, columns=["demand", "verdict", "exceptions"]),
        [Column("demand"), Column("verdict"), Column("exceptions")],
    )


def _every_level(numbers: "pd.DataFrame") -> Table:
    """Coverage at all levels beside each other, raw and calibrated."""
    shown = numbers[(numbers["kind"] == "confidence") & (numbers["method"] == "BDE")]
    shown = shown[shown["variant"].isin([SAID[RAW], SAID[AUTO]])]
    keys = [column.name for column in WHO]
    rows = shown[keys].drop_duplicates()
    columns = list(WHO)
    for level in sorted(shown["confidence_level"].unique()):
        name = f"coverage_{level:g}"
        at_level = shown.loc[
            shown["confidence_level"] == level, [*keys, "coverage", "coverage_se"]
        ].rename(columns={"coverage": name, "coverage_se": f"{name}_se"})
        rows = rows.merge(at_level, on=keys, how="left")
        columns.append(Column(name, f"coverage at {level:.0%}", ".3f", error=f"{name}_se"))
    caption = "Mean coverage of BDE's confidence intervals at every level, raw and calibrated."
    return Table("honest-confidence-levels", caption, rows, columns)


def _of_shown(numbers: "pd.DataFrame") -> "pd.DataFrame":
    """Rows of problems where several twins, methods or shifts were tried."""
    shown = {(problem.set, problem.truth) for problem in SHOWN_SHIFTS}
    keys = zip(numbers["set"], numbers["condition"], strict=True)
    rows = numbers[[key in shown for key in keys]]
    return rows[rows["method"].isin(["BDE", "DE"])]


def table_of_costs(name: str, costs: "pd.DataFrame") -> Table:
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
        Column("biased_share", "biased rows", ".0%", help="as the calibration itself tells"),
        Column("simulations", "data sets", "d"),
    ]
    caption = "What a calibration costs, and which twins it chose from the data."
    return Table(name, caption, costs, columns)
