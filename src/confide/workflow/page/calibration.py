"""The section on confidence intervals that were calibrated on simulated twins, and its charts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.calibration import SYSTEMATIC
from confide.diagnostics import LARGE, UNLIKELY, VERY_UNLIKELY
from confide.document import INK, Column, Figure, Part, Table, brush, parts
from confide.drawing import BIASED, COLOURS, UNBIASED, widening_of
from confide.workflow.page.axes import sorted_axis
from confide.workflow.page.figures import drawn_frame, panels, rounded, row_tooltips, texts
from confide.workflow.page.rows import ROWS, Rows
from confide.workflow.page.text import level_text, literal, percent
from confide.workflow.page.words import narrower_words

if TYPE_CHECKING:
    import pandas as pd

    from confide.calibration import CalibrationSummary

alt = parts.alt
LOOKS = {
    UNBIASED: (COLOURS["confidence"], "circle"),
    BIASED: (COLOURS["biased"], "triangle-up"),
}
# Marks of the logarithmic axis.
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
IDEA = (
    "Models err systematically where the true function is rough, and a single fit does not show "
    "it. So the fit was repeated on simulated twins of the training data, whose true function is "
    "known. Each row's confidence interval is now as wide as it had to be there, and moved where "
    "the model is biased. "
    "The intervals are honest (they cover as often as their level says) if the twins are like "
    "the true function. No simulation can show whether they are."
)
RATIO = (
    "size of the model's residuals on the twin, divided by that on your data: 1 is equal, "
    f"{1 / LARGE:.2g} to {LARGE:g} is close"
)
P_VALUE = (
    f"how often chance alone makes residuals this different: below {UNLIKELY:g} chance hardly "
    f"explains it, below {VERY_UNLIKELY:g} it does not"
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
        "confidence interval became. On the dashed line nothing changed. Drag sideways to select "
        "rows."
    )
    yield Figure("widening", caption, sorted_widening(rows), ROWS)
    if rows.widening_features:
        caption = (
            "The same by the features most related to it. It shows where confidence intervals "
            "were too narrow before. Drag sideways to select rows."
        )
        yield Figure("widening-by-feature", caption, widening_by_feature(rows), ROWS)


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
        which = "training rows"
        lines = [(which, level_text(at), *ends) for at, ends in calibration.widening.items()]
        biased += f" ({percent(calibration.biased)} of {which})"
    ends = np.nanquantile(widening, [0.05, 0.5, 0.95]).tolist()
    lines.append(("rows of this page", level_text(rows.inputs.level), *ends))
    caption = "How many times as wide as before calibration confidence intervals became."
    frame = pd.DataFrame(lines, columns=[column.name for column in WIDENING_COLUMNS])
    yield Table("widening", caption, frame, WIDENING_COLUMNS)
    yield f"{biased} {SYSTEMATIC}"


def sorted_widening(rows: Rows) -> Any:
    """The factor of each row with its error, of rows in its order."""
    frame = _frame(rows)
    frame["x"] = frame["times"].rank(method="first").astype(int)
    x = sorted_axis(len(rows.drawn), "rows, sorted by how much wider")
    title = "times as wide as before"
    return parts.whole(*_layers(frame, x, title, row_tooltips(rows), brush()))


def widening_by_feature(rows: Rows) -> Any:
    """The same by each of the features that it goes with most, a panel each."""
    frame = _frame(rows)

    def layers(x: Any, tooltip: list[Any], brushed: Any) -> list[Any]:
        return _layers(frame, x, "times as wide", row_tooltips(rows), brushed, tooltip)

    return panels(frame, rows.widening_features, frame["row"].to_numpy(), layers)


def _frame(rows: Rows) -> "pd.DataFrame":
    """The drawn rows that have a factor; the others had no width before."""
    prediction, drawn = rows.inputs.prediction, rows.drawn
    assert prediction.twin_errors is not None  # noqa: S101
    widening = widening_of(prediction, rows.inputs.level)[drawn]
    frame = drawn_frame(rows)
    frame["row"] = drawn
    frame["times"] = rounded(widening.times)
    frame["category"] = np.where(widening.biased, BIASED, UNBIASED)
    frame["bias_text"] = texts(rows, prediction.twin_errors.bias[drawn])
    # The few that are biased are drawn last, upon the others.
    last = np.argsort(widening.biased, kind="stable")
    known = np.isfinite(widening.times) & (widening.times > 0)
    return frame.iloc[last[known[last]]].reset_index(drop=True)


def _layers(
    frame: "pd.DataFrame",
    x: Any,
    title: str,
    of_rows: list[Any],
    brushed: Any,
    of_feature: list[Any] | None = None,
) -> list[Any]:
    """Points, and the line where nothing changed."""
    import pandas as pd

    ends = frame["times"].to_numpy(float)
    top = max(float(ends.max(initial=1.0)) * 1.3, 1.5)
    bottom = min(float(ends.min(initial=1.0)) / 1.3, 0.75)
    scale = alt.Scale(type="log", domain=[bottom, top], nice=False)
    axis = alt.Axis(format="~g", values=[tick for tick in TICKS if bottom <= tick <= top])
    one, y = (
        alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis) for field in ("one", "times")
    )
    names = [name for name in LOOKS if name in set(frame["category"])]
    colour, shape = (
        alt.Scale(domain=names, range=[LOOKS[name][i] for name in names]) for i in (0, 1)
    )
    base = alt.Chart(frame).encode(x=x)
    is_biased = f"datum.category == '{BIASED}'"
    points = base.mark_point(filled=True, stroke=INK, opacity=0.9, clip=True).encode(
        y=y,
        color=alt.Color("category:N", title=None, scale=colour),
        size=alt.condition(is_biased, alt.value(90), alt.value(26)),
        strokeWidth=alt.condition(is_biased, alt.value(0.8), alt.value(0)),
        shape=alt.Shape("category:N", title=None, scale=shape),
        tooltip=[
            *(of_feature or []),
            *parts.tooltips(("times:Q", "times as wide", ".2f"), ("bias_text:N", "estimated bias")),
            *of_rows,
        ],
    )
    line = parts.dashed(alt.Chart(pd.DataFrame({"one": [1.0]})), y=one)
    return [line, points.add_params(brushed)]
