"""How honest confidence intervals are: what simulated twins of the data say, on the page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confide.calibration import BEYOND_CHANCE, SYSTEMATIC, UNLIKE
from confide.document import Column, Figure, Part, Table
from confide.workflow.page import calibration_figures as figures
from confide.workflow.page.rows import ROWS, Rows
from confide.workflow.page.text import level_text, literal, percent
from confide.workflow.page.words import narrower_words, warning_item

if TYPE_CHECKING:
    from confide.calibration import CalibrationSummary

IDEA = (
    "Networks err systematically where the true function is rough, and nothing in one fit shows "
    "it. So the whole procedure was repeated on simulated twins of the training data, whose true "
    "function is known, and each row's confidence interval is now as wide as would have been right "
    "there. What it promises is as good as the twins: where the unknown function differs from "
    "them, no simulation can tell."
)


def honesty(rows: Rows) -> Iterator[Part]:
    """The section on confidence intervals that were calibrated on simulated twins."""
    summary = rows.inputs.summary
    if summary is not None:
        advice, reasons = summary.verdict.split(":", 1)
        yield f"**{advice}:** {literal(reasons, 4000)}"
    if warnings := list(_warnings(rows, summary)):
        yield "\n".join(map(warning_item, warnings))
    yield IDEA
    if summary is not None:
        yield _twins(summary)
    yield _widening(rows, summary)
    yield _how_sure(rows, summary)
    caption = (
        f"How many times as wide as before calibration each {level_text(rows.inputs.level)} "
        "confidence interval became, with bars of one standard error: so many simulations tell it "
        "no better. On the dashed line nothing changed. Drag sideways to brush rows."
    )
    yield Figure("widening", caption, figures.sorted_widening(rows), ROWS)
    if rows.widening_features:
        caption = (
            "The same by the features that it goes with most: where confidence intervals "
            "were too narrow before. Drag sideways to brush rows."
        )
        yield Figure("widening-by-feature", caption, figures.widening_by_feature(rows), ROWS)


def _warnings(rows: Rows, summary: "CalibrationSummary | None") -> Iterator[str]:
    """What to beware of, in Markdown."""
    if summary is not None:
        yield from (literal(text, 1000) for text in summary.warnings)
    if (narrower := narrower_words(rows)) is not None:
        yield narrower


def _twins(summary: "CalibrationSummary") -> Table:
    """Which functions data were simulated from, and how well they resemble the data."""
    frame = summary.to_frame()
    for column in ("rmse", "behind", "kept", "n_simulations", "ratio", "p_value"):
        if column not in frame:  # a truth that was given has not been chosen
            frame[column] = np.nan
    frame["kind"] = [kind.replace("_", " ") for kind in frame["kind"]]
    frame["used"] = [
        "no" if np.isnan(n) else f"{n:.0f} simulations" for n in frame["n_simulations"]
    ]
    columns = [
        Column("kind", "twin"),
        Column("rmse", "held-out RMSE", ".4g", help="typical error on held-out rows"),
        Column(
            "behind",
            "behind the best",
            ".2g",
            help="how much worse than the best, in standard errors: up to 1 may be chance",
        ),
        Column("used", help="data were simulated from those at most 1 behind the best"),
        Column(
            "ratio",
            "residuals, times the data's",
            ".2g",
            help="size of the model's residuals on the twin over that on your data: 1 is alike, "
            f"beyond {1 / UNLIKE:.2g} to {UNLIKE:g} is not",
        ),
        Column(
            "p_value",
            "p-value",
            ".2g",
            help="how often chance alone makes residuals as different as this: below "
            f"{BEYOND_CHANCE:g} it is not put down to chance",
        ),
    ]
    caption = (
        "Functions that resemble the training data: those that predict held-out rows as well as "
        "the best, within one standard error, were simulated from. The model's residuals on such a "
        "twin should look like those on the data; two samples of them are compared "
        "(Kolmogorov-Smirnov)."
    )
    return Table("twins", caption, frame, columns)


def _widening(rows: Rows, summary: "CalibrationSummary | None") -> Table:
    import pandas as pd

    found = [] if summary is None else _of_training(summary)
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
    caption = "How many times as wide as before calibration confidence intervals became."
    return Table("widening", caption, pd.DataFrame(found, columns=names), columns)


def _of_training(summary: "CalibrationSummary") -> list[tuple[object, ...]]:
    which = f"{summary.n_rows:,} trained on"
    return [(which, level_text(level), *of_rows) for level, of_rows in summary.widening.items()]


def _how_sure(rows: Rows, summary: "CalibrationSummary | None") -> str:
    simulated = rows.inputs.prediction.twin_errors
    assert simulated is not None  # noqa: S101
    biased = f"{percent(float(simulated.is_biased.mean()))} of the rows of this page"
    if summary is not None:
        biased += f" ({percent(summary.biased)} of {summary.n_rows:,} trained on)"
    return (
        f"At {biased} {SYSTEMATIC} From {simulated.n_simulations} simulations the width in a "
        f"typical row is known to about ± {percent(float(np.median(simulated.factor_error)))}."
    )
