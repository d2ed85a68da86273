"""Tables of a coverage study as the report shows them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.document import Column, Table
from confide.experiments.coverage.comparison import MARK_IN_WORDS, beside_print

if TYPE_CHECKING:
    import pandas as pd

QUANTITIES = {"brier": "Brier score", "width": "width", "rmse": "RMSE"}
HEADINGS = {"set": "data set", "condition": "condition", "method": "method"}


def table_beside_print(
    name: str,
    caption: str,
    numbers: "pd.DataFrame",
    *,
    table: str,
    quantities: Sequence[str] = ("brier", "width"),
    keys: Sequence[str] = ("set", "method"),
    condition: str = "condition",
) -> Table:
    """Print, ours as published with its ratio to print, and ours as described.

    Args:
        name: of its files.
        caption: what it shows.
        numbers: of one kind and level.
        table: label of the paper's table.
        quantities: "brier", "width" or "rmse".
        keys: what tells its rows apart.
        condition: what the study's conditions are, as a heading.
    """
    frame = beside_print(numbers, table, quantities, keys=keys)
    columns = [Column(key, condition if key == "condition" else HEADINGS[key]) for key in keys]
    for quantity in quantities:
        title = QUANTITIES[quantity]
        columns += [
            Column(
                f"{quantity}_print",
                f"{title}: print",
                ".3g",
                marked=f"{quantity}_slip",
                help="as the paper prints it",
            ),
            Column(
                f"{quantity}_published",
                f"{title}: ours as published",
                ".3g",
                error=f"{quantity}_published_se",
                marked=f"{quantity}_far",
                help="with the settings of the code that the paper's tables were made with",
            ),
            Column(f"{quantity}_ratio", f"{title}: published to print", ".2f"),
            Column(
                f"{quantity}_described",
                f"{title}: ours as described",
                ".3g",
                error=f"{quantity}_described_se",
                help="the method as its inventors describe it: confide's default",
            ),
        ]
    return Table(name, caption, frame, columns, mark=MARK_IN_WORDS)


def table_of_all(
    name: str, caption: str, numbers: "pd.DataFrame", *, condition: str | None = None
) -> Table:
    """Every set, condition, contender, kind and level."""
    columns = [
        Column("set", "data set"),
        *([] if condition is None else [Column("condition", condition)]),
        Column("method"),
        Column("variant"),
        Column("kind", "interval for", help="confidence: true function; prediction: new target"),
        Column("confidence_level", "level", ".0%"),
        Column("coverage", "mean coverage", ".3f", error="coverage_se"),
        Column("brier", "Brier score", ".3g", error="brier_se", help="Eq. (5): 0 is perfect"),
        Column(
            "brier_attainable",
            "attainable",
            ".2g",
            help="what perfect intervals score with as many simulations",
        ),
        Column("width", "mean width", ".3g", error="width_se"),
        Column("rmse", "RMSE", ".3g", error="rmse_se", help="against new targets, expected"),
        Column("simulations", "simulations", "d"),
    ]
    return Table(name, caption, numbers, columns)


def of(numbers: "pd.DataFrame", kind: str, level: float) -> "pd.DataFrame":
    """The rows of one kind and level."""
    return numbers[(numbers["kind"] == kind) & (numbers["confidence_level"] == level)]
