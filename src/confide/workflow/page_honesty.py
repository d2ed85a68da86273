"""How honest confidence intervals are: what simulated twins of the data say, on the page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confide.report import Column, Figure, Part, Table
from confide.workflow import page_honesty_figures as figures
from confide.workflow.page_rows import ROWS, Rows
from confide.workflow.page_text import level_text, percent

if TYPE_CHECKING:
    from confide.honest import Account

IDEA = (
    "Networks err systematically where the true function is rough, and nothing in one fit shows "
    "it. So the whole procedure was repeated on simulated twins of the training data, whose true "
    "function is known, and each row's confidence interval is now as wide as would have been right "
    "there. What it promises is as good as the twins: where the unknown function differs from "
    "them, no simulation can tell."
)


def honesty(rows: Rows) -> Iterator[Part]:
    """The section on confidence intervals that were calibrated on simulated twins."""
    yield IDEA
    account = rows.inputs.account
    if account is not None:
        yield _twins(account)
    yield _widening(rows, account)
    yield _how_sure(rows, account)
    caption = (
        f"How many times as wide as the method's own each {level_text(rows.inputs.level)} "
        "confidence interval became, with bars of one standard error: so many simulations tell it "
        "no better. On the dashed line nothing changed. Drag sideways to brush rows."
    )
    yield Figure("widening", caption, figures.sorted_widening(rows), ROWS)
    if rows.widening_features:
        caption = (
            "The same by the features that it goes with most: where the method's own confidence "
            "intervals were too narrow. Drag sideways to brush rows."
        )
        yield Figure("widening-by-feature", caption, figures.widening_by_feature(rows), ROWS)


def _twins(account: "Account") -> Table:
    """Which functions data were simulated from, and how well they resemble the data."""
    frame = account.to_frame()
    for column in ("rmse", "behind", "kept", "n_simulations", "ratio", "p_value"):
        if column not in frame:  # a truth that was given has not been chosen
            frame[column] = np.nan
    frame["kind"] = [kind.replace("_", " ") for kind in frame["kind"]]
    frame["used"] = [
        "no" if np.isnan(n) else f"{n:.0f} simulations" for n in frame["n_simulations"]
    ]
    columns = [
        Column("kind", "twin"),
        Column("rmse", "held-out RMSE", ".4g", help="root mean squared error on held-out rows"),
        Column("behind", "behind the best", ".2g", help="in standard errors of the difference"),
        Column("used", help="those at most one standard error behind the best"),
        Column(
            "ratio", "residuals, times the data's", ".2g", help="near 1 where it resembles them"
        ),
        Column("p_value", "p-value", ".2g", help="small where its residuals have another law"),
    ]
    caption = (
        "Functions that resemble the training data: those that predict held-out rows as well as "
        "the best, within one standard error, were simulated from. The model's residuals on such a "
        "twin should look like those on the data; two samples of them are compared "
        "(Kolmogorov-Smirnov)."
    )
    return Table("twins", caption, frame, columns)


def _widening(rows: Rows, account: "Account | None") -> Table:
    import pandas as pd

    found = [] if account is None else _of_training(account)
    widening, level = rows.widening, rows.inputs.level
    assert widening is not None  # noqa: S101
    quantiles = np.nanquantile(widening, [0.05, 0.5, 0.95])
    found.append((f"{len(widening):,} of this page", level_text(level), *map(float, quantiles)))
    names = ["rows", "level", "low", "middle", "high"]
    columns = [
        Column("rows", "rows"),
        Column("level", help="of the confidence intervals"),
        Column("low", "5 % are below", ".2g"),
        Column("middle", "typical", ".2g"),
        Column("high", "5 % are above", ".2g"),
    ]
    caption = "How many times as wide as the method's own confidence intervals became."
    return Table("widening", caption, pd.DataFrame(found, columns=names), columns)


def _of_training(account: "Account") -> list[tuple[object, ...]]:
    which = f"{account.n_rows:,} trained on"
    return [(which, level_text(level), *of_rows) for level, of_rows in account.widening.items()]


def _how_sure(rows: Rows, account: "Account | None") -> str:
    simulated = rows.inputs.prediction.simulated
    assert simulated is not None  # noqa: S101
    biased = f"{percent(float(simulated.is_biased.mean()))} of the rows of this page"
    if account is not None:
        biased += f" ({percent(account.biased)} of {account.n_rows:,} trained on)"
    return (
        f"At {biased} the networks' systematic error exceeds chance, and what the method claims: "
        "no narrow confidence interval is honest there, and more members do not help. How many "
        f"times as wide is known to about {percent(float(np.median(simulated.factor_error)))} of "
        "it in the typical row."
    )
