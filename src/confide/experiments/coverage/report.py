"""Tables and figures of a coverage study as the report shows them."""

from collections.abc import Sequence

import pandas as pd

from confide.document import Column, Figure, Table, scatter_against, violins
from confide.experiments.coverage.comparison import MARK_IN_WORDS, beside_print, of_variant
from confide.experiments.coverage.judged import Judged

QUANTITIES = {"brier": "Brier score", "width": "width", "rmse": "RMSE"}
SET, METHOD, VARIANT = Column("set", "data set"), Column("method"), Column("variant")
COVERAGE = Column("coverage", "mean coverage", ".3f", error="coverage_se")
WIDTH = Column("width", "mean width", ".3g", error="width_se")
BRIER = [
    Column("brier", "Brier score", ".3g", error="brier_se", help="Eq. (5): 0 is perfect"),
    Column(
        "brier_attainable",
        "attainable",
        ".2g",
        help="what perfect intervals score with as many simulations",
    ),
]


def table_beside_print(
    name: str,
    caption: str,
    numbers: pd.DataFrame,
    *,
    table: str,
    quantities: Sequence[str] = ("brier", "width"),
    condition: str | None = None,
) -> Table:
    """Print, ours as published with its ratio to print, and ours as described.

    Args:
        name: of its files.
        caption: what it shows.
        numbers: of one kind and level.
        table: label of the paper's table.
        quantities: "brier", "width" or "rmse".
        condition: what the study's conditions are, as a heading; None if it has one only.

    Returns:
        A row for each set, condition and method.
    """
    columns = _who(condition)
    frame = beside_print(numbers, table, quantities, keys=[column.name for column in columns])
    for q in quantities:
        title = QUANTITIES[q]
        columns += [
            Column(
                f"{q}_print",
                f"{title}: print",
                ".3g",
                marked=f"{q}_slip",
                help="as the paper prints it",
            ),
            Column(
                f"{q}_published",
                f"{title}: ours as published",
                ".3g",
                error=f"{q}_published_se",
                marked=f"{q}_far",
                help="with the settings of the code that the paper's tables were made with",
            ),
            Column(f"{q}_ratio", f"{title}: published to print", ".2f"),
            Column(
                f"{q}_described",
                f"{title}: ours as described",
                ".3g",
                error=f"{q}_described_se",
                help="the method as its authors describe it: confide's default",
            ),
        ]
    return Table(name, caption, frame, columns, mark=MARK_IN_WORDS)


def table_of_all(name: str, numbers: pd.DataFrame, *, condition: str | None = None) -> Table:
    """Every set, condition (with this heading), contender, kind and level."""
    columns = [
        *_who(condition),
        VARIANT,
        Column("kind", "interval for", help="confidence: true function; prediction: new target"),
        Column("confidence_level", "level", ".0%"),
        COVERAGE,
        *BRIER,
        WIDTH,
        Column("rmse", "RMSE", ".3g", error="rmse_se", help="against new targets, expected"),
        Column("simulations", "simulations", "d"),
    ]
    varied = "data set" if condition is None else f"data set, {condition}"
    return Table(name, f"Every {varied}, method, kind and level.", numbers, columns)


def _who(condition: str | None) -> list[Column]:
    conditions = [] if condition is None else [Column("condition", condition)]
    return [SET, *conditions, METHOD]


def pointwise(entries: Sequence[Judged], kind: str, level: float) -> pd.DataFrame:
    """Coverage at each test row, with its contender; no rows if nothing is of this kind."""
    frames = [
        pd.DataFrame({**entry.who, "coverage": coverage.pointwise})
        for entry in entries
        for coverage in entry.coverages
        if (coverage.kind, coverage.confidence_level) == (kind, level)
    ]
    none = pd.DataFrame(columns=["set", "condition", "method", "variant", "coverage"])
    return pd.concat(frames, ignore_index=True) if frames else none


def violins_of(
    entries: Sequence[Judged], kind: str, level: float, variant: str, *, name: str
) -> list[Figure]:
    """Pointwise coverage over the test rows, a panel for each set and condition.

    Args:
        entries: what is drawn, in its order.
        kind: "confidence" (CICF) or "prediction" (PICF).
        level: of the intervals.
        variant: of the methods.
        name: how the figure's own name ends.

    Returns:
        The figure, or none if there is nothing to draw.
    """
    short = "CICF" if kind == "confidence" else "PICF"
    rows = of_variant(pointwise(entries, kind, level), variant)
    if rows.empty:
        return []
    several = len({entry.settings["condition"] for entry in entries}) > 1
    panel = rows["set"] + ", " + rows["condition"] if several else rows["set"]
    rows = rows.assign(panel=panel).rename(columns={"coverage": short})
    figure = Figure(
        f"{short.lower()}-{100 * level:.0f}-{name}",
        f"{short} of {100 * level:g} % {kind} intervals over the test rows of each set, methods "
        f"{variant}. The dashed line is the level that every row should have.",
        violins(rows, value=short, category="method", facet="panel", level=level),
    )
    return [figure]


def brier_scatter(
    name: str,
    caption: str,
    ours: pd.DataFrame,
    others: pd.DataFrame,
    *,
    by: str,
    titles: tuple[str, str],
) -> list[Figure]:
    """Brier scores of one contender against those of others, a point for each problem.

    Args:
        name: of the figure.
        caption: its first sentences.
        ours: numbers of the contender on the horizontal axis.
        others: numbers of those on the vertical axis, told apart by their `method`.
        by: the column that names a problem.
        titles: of both axes.

    Returns:
        The figure, or none if no problem has both.
    """
    scores = ["brier", "brier_se"]
    pairs = ours[[by, *scores]].merge(
        others[[by, "method", *scores]], on=by, suffixes=("_ours", "_other")
    )
    pairs = pairs[(pairs["brier_ours"] > 0) & (pairs["brier_other"] > 0)]  # the axes are logarithms
    if pairs.empty:
        return []
    x, y = titles
    pairs = pairs.rename(columns={"brier_ours": x, "brier_other": y})
    chart = scatter_against(
        pairs,
        x=x,
        y=y,
        category="method",
        label=by,
        x_error="brier_se_ours",
        y_error="brier_se_other",
    )
    return [Figure(name, f"{caption} Bars are standard errors.", chart)]
