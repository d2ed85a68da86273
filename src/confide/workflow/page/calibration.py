"""The section on confidence intervals that were calibrated on simulated twins of the data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confide.calibration import BEYOND_CHANCE, SYSTEMATIC, UNLIKE
from confide.document import Column, Figure, Part, Table
from confide.workflow.page import calibration_figures as figures
from confide.workflow.page.rows import ROWS, Rows
from confide.workflow.page.text import level_text, literal, percent
from confide.workflow.page.words import narrower_words

if TYPE_CHECKING:
    from confide.calibration import CalibrationSummary

IDEA = (
    "Models err systematically where the true function is rough, and a single fit does not show "
    "it. So the whole fit was repeated on simulated twins of the training data, whose true "
    "function is known. Each row's confidence interval is now as wide as it had to be there. "
    "The intervals are honest (they cover as often as their level says) if the twins are like "
    "the true function. No simulation can show whether they are."
)
RATIO = (
    "size of the model's residuals on the twin, divided by that on your data: 1 is equal, "
    f"{1 / UNLIKE:.2g} to {UNLIKE:g} is close"
)
P_VALUE = (
    f"how often chance alone makes residuals this different: below {BEYOND_CHANCE:g} chance does "
    "not explain it"
)
TWIN_COLUMNS = (
    Column("kind", "twin"),
    Column("rmse", "held-out RMSE", ".4g", help="typical error on held-out rows"),
    Column("behind", "behind the best", ".2g", help="in standard errors: up to 1 may be chance"),
    Column("used", help="data were simulated from those at most 1 behind the best"),
    Column("ratio", "residuals, relative to the data's", ".2g", help=RATIO),
    Column("p_value", "p-value", ".2g", help=P_VALUE),
)
WIDENING_COLUMNS = (
    Column("rows", "rows"),
    Column("level", help="of the confidence intervals"),
    Column("low", "5 % are below", ".2g"),
    Column("middle", "typical", ".2g"),
    Column("high", "5 % are above", ".2g"),
)


def calibration_parts(rows: Rows) -> Iterator[Part]:
    """The verdict first, then the twins, and how much wider they made the intervals."""
    calibration = rows.inputs.summary
    warnings = []
    if calibration is not None:
        advice, reasons = calibration.verdict.split(":", 1)
        yield f"**{advice}:** {literal(reasons, 4000)}"
        warnings = [literal(text, 1000) for text in calibration.warnings]
    if (narrower := narrower_words(rows)) is not None:
        warnings.append(narrower)
    if warnings:
        yield "\n".join(f"- **Warning.** {text}" for text in warnings)
    yield IDEA
    if calibration is not None:
        yield _twins(calibration)
    yield from _widening(rows, calibration)
    caption = (
        f"How many times as wide as before calibration each {level_text(rows.inputs.level)} "
        "confidence interval became. Bars are one standard error long on each side, from the "
        "number of simulations. On the dashed line nothing changed. Drag sideways to select "
        "rows."
    )
    yield Figure("widening", caption, figures.sorted_widening(rows), ROWS)
    if rows.widening_features:
        caption = (
            "The same by the features most related to it. It shows where confidence intervals "
            "were too narrow before. Drag sideways to select rows."
        )
        yield Figure("widening-by-feature", caption, figures.widening_by_feature(rows), ROWS)


def _twins(calibration: "CalibrationSummary") -> Table:
    """Which functions data were simulated from, and how well they resemble the data."""
    # A truth that was given has not been chosen: some of these are missing then.
    names = ["kind", "rmse", "behind", "n_simulations", "ratio", "p_value"]
    frame = calibration.to_frame().reindex(columns=names)
    frame["kind"] = [kind.replace("_", " ") for kind in frame["kind"]]
    frame["used"] = [
        "no" if np.isnan(n) else f"{n:.0f} simulations" for n in frame["n_simulations"]
    ]
    caption = (
        "Functions fitted to the training data. Data were simulated from those that predict "
        "held-out rows as well as the best, within one standard error. On such a twin, the model's "
        "residuals should look like those on the data; the Kolmogorov-Smirnov test compares them."
    )
    return Table("twins", caption, frame, TWIN_COLUMNS)


def _widening(rows: Rows, calibration: "CalibrationSummary | None") -> Iterator[Part]:
    """How much wider the intervals became, at how many rows the model errs, and how sure it is."""
    import pandas as pd

    errors, widening = rows.inputs.prediction.twin_errors, rows.widening
    assert errors is not None  # noqa: S101
    assert widening is not None  # noqa: S101
    lines: list[tuple[object, ...]] = []
    biased = f"At {percent(float(errors.is_biased.mean()))} of the rows of this page"
    if calibration is not None:
        which = f"{calibration.n_rows:,} trained on"
        lines = [(which, level_text(at), *ends) for at, ends in calibration.widening.items()]
        biased += f" ({percent(calibration.biased)} of {which})"
    ends = np.nanquantile(widening, [0.05, 0.5, 0.95]).tolist()
    lines.append((f"{len(widening):,} of this page", level_text(rows.inputs.level), *ends))
    caption = "How many times as wide as before calibration confidence intervals became."
    frame = pd.DataFrame(lines, columns=[column.name for column in WIDENING_COLUMNS])
    yield Table("widening", caption, frame, WIDENING_COLUMNS)
    yield (
        f"{biased} {SYSTEMATIC} From {errors.n_simulations} simulations, the width in a typical "
        f"row is known to about ± {percent(float(np.median(errors.factor_error)))}."
    )
