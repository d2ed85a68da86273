"""The page of `confide report`: a file's predictions as one document that a person can judge."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics import NOVEL, SOURCES
from confide.document import Column, Document, Figure, Part, Section, Table
from confide.prediction import KINDS
from confide.workflow.accuracy import Score
from confide.workflow.page import answers, figures, judgement, words
from confide.workflow.page.calibration import calibration_parts
from confide.workflow.page.effects import effect_parts
from confide.workflow.page.inputs import MOST_LISTED, TRAINED, PageInputs
from confide.workflow.page.rows import ROWS, Rows
from confide.workflow.page.text import level_text, plain, rows_text
from confide.workflow.page.what_if import what_if

if TYPE_CHECKING:
    import pandas as pd

WIDEST = "Rows with the widest prediction intervals"
ABOUT_WIDEST = (
    "A wide interval is not a mistake. It is wide because rows like this one scatter, because "
    "there are few of them, or because the model seems to be off there: *why* says which, as far "
    "as it is known. If *why* says that a prediction is probably too high or too low, trust its "
    "intervals more than the prediction. Intervals may be wrong at rows unlike the training data, "
    "see *Novelty*."
)
MOVES = "What moves the prediction"
BRUSH = " Drag sideways to select rows."
BESIDE = (
    " Where a prediction lies outside of its confidence interval, it is probably too high or too "
    "low: the interval is corrected for that, and the prediction is not."
)
ABOUT_NOVELTY = (
    "A model predicts any row, even one that is unlike all its training data. You cannot trust "
    "its intervals there. A row's p-value is the share of ordinary rows that are at least as "
    "far from the training data. A small p-value means that the row is novel."
)
ABOUT_CURVE = (
    "How often prediction intervals of each level contained the observed value. Bars are 95 % "
    "confidence intervals of that share (Wilson's). On the dotted line, intervals cover as "
    "often as they should. Below it they are too narrow, above it wider than needed. All "
    "points use the same rows, so their errors are related."
)
ABOUT_GRADES = (
    "slightly off: chance hardly explains the difference; not: it is also large, half as many "
    "values again outside as promised"
)


def page_document(inputs: PageInputs) -> Document:
    """The page: the answers first, then what they rest on; `render_page` makes HTML of it."""
    rows = Rows(inputs)
    scores = judgement.accuracy(inputs) if judgement.why_not(inputs) is None else []
    coverage = judgement.coverage_frame(inputs, sorted({*judgement.TABLE_LEVELS, inputs.level}))
    sections = [
        Section("Predictions", list(_predictions(rows))),
        *([] if inputs.what_if is None else [Section("What if", [what_if(rows)])]),
        Section(WIDEST, list(_widest(rows))),
        *([] if inputs.effects is None else [Section(MOVES, list(effect_parts(rows)))]),
        Section("Where the uncertainty comes from", list(_split(rows))),
        Section("Novelty", list(_novelty(rows)), folded=True),
        Section("Accuracy and coverage", list(_judgement(rows, scores, coverage)), folded=True),
    ]
    if rows.features:
        sections.insert(-2, Section("Predictions by feature", [_by_feature(rows)], folded=True))
    if rows.widening is not None:
        parts = list(calibration_parts(rows))
        sections.append(Section("Calibration of the confidence intervals", parts, folded=True))
    title = f"Predictions of {plain(inputs.title, 160)}"
    settings = {plain(name, 80): plain(value, 2000) for name, value in inputs.settings.items()}
    found = answers.look_at(rows, scores)
    hold = answers.confidence(rows)
    purposes = " ".join(text for text in (words.purpose_words(rows), hold) if text is not None)
    lines = [line for line in (purposes, words.careful_words(rows)) if line]
    lines += [f"**Look at:** {text}" for text in found[:1]]
    if len(found) > 1:
        warnings = "\n".join(f"- {text}" for text in found[1:])
        sections.insert(1, Section("Further warnings", [warnings]))
    first = answers.headlines(rows, scores, coverage)
    return Document(title, "\n\n".join(lines), sections, settings, first)


def _judgement(rows: Rows, scores: list[Score], coverage: "pd.DataFrame") -> Iterator[Part]:
    import pandas as pd

    if not scores:
        yield words.not_judged_words(rows)
        return
    columns = [
        Column("score"),
        Column("value", "value ± standard error", ".4g", "standard_error"),
        Column("meaning", "what it is"),
    ]
    caption = (
        "Accuracy on rows that the model was not trained on. Standard errors assume independent "
        "rows."
    )
    frame = pd.DataFrame(scores).rename(columns={"name": "score"})
    yield Table("accuracy", caption, frame, columns)
    if len(coverage):
        columns = [
            Column("nominal", "promised"),
            Column("coverage", "observed", ".1%", "standard_error", "share of values inside"),
            Column("verdict", "so", help=ABOUT_GRADES),
            Column("mean_width", "mean width", rows.number_format),
            Column("rows", "rows", ","),
        ]
        if set(coverage["intervals"]) != {judgement.ONLY}:
            columns.insert(1, Column("intervals", "which"))
        caption = (
            "How often prediction intervals contained the observed value, on rows that the "
            "model was not trained on and, for calibrated intervals, not calibrated on. The "
            "standard error is that of intervals that are exactly right."
        )
        nominal = [level_text(level) for level in coverage["level"]]
        yield Table("coverage", caption, coverage.assign(nominal=nominal), columns)
    if judgement.only_calibrated_on(rows.inputs):
        yield words.ALL_CALIBRATED_ON
    curve = judgement.coverage_frame(rows.inputs, judgement.CURVE_LEVELS)
    if len(set(curve["level"])) > 1:
        yield Figure("calibration", ABOUT_CURVE, figures.calibration(curve))
    yield words.not_seen_words(rows)


def _predictions(rows: Rows) -> Iterator[Part]:
    inputs, kinds = rows.inputs, "prediction intervals"
    if rows.confidence_interval is not None:
        kinds = "prediction intervals (for a new observation) and confidence intervals (for the "
        kinds += f"true function; {rows.whose})"
    which = "" if rows.all_are_drawn else " of rows drawn at random"
    if figures.enough_to_judge(rows):
        which = " of rows that the model was not trained on"
    caption = f"Predictions{which} with their {level_text(inputs.level)} {kinds}, sorted"
    caption += " and with observed values." if inputs.y is not None else "."
    if np.isinf(rows.width).any():
        caption += " A prediction interval without a bound ends at the edge of the figure."
    if rows.side.any():
        caption += BESIDE
    if n := int(rows.is_stretched.sum()):
        caption += (
            f" In {n:,} of the {rows_text(inputs.n_rows)} of this page, the prediction interval "
            "was widened to contain the confidence interval."
        )
    if n := figures.n_outside(rows):
        caption += f" {n} observed or predicted value{'s lie' if n > 1 else ' lies'} outside of it."
    yield Figure("predictions", caption + BRUSH, figures.sorted_predictions(rows), ROWS)
    yield words.rows_words(rows)


def _by_feature(rows: Rows) -> Figure:
    n = len(rows.features)
    caption = (
        f"The same by {'the feature' if n == 1 else f'the {n} features'} most related to the "
        "predictions or to the widths of prediction intervals. A row without a value has no "
        f"mark there. Categories are strips.{BRUSH} If you select in several panels, the "
        "rows that are in all of them stay."
    )
    return Figure("by-feature", caption, figures.predictions_by_feature(rows), ROWS)


def _split(rows: Rows) -> Iterator[Part]:
    import pandas as pd

    if len(rows.mean_shares) < 2:
        yield words.source_words(rows)
    else:
        lines = [
            (
                SOURCES[source].name,
                share,
                *np.nanquantile(rows.shares[source], [0.1, 0.9]),
                SOURCES[source].meaning,
            )
            for source, share in rows.mean_shares.items()
        ]
        columns = [
            Column("source"),
            Column("share", "mean share", ".1%"),
            Column("tenth", "a tenth of rows is below", ".1%"),
            Column("nine_tenths", "a tenth is above", ".1%"),
            Column("meaning", "what it is"),
        ]
        frame = pd.DataFrame(lines, columns=[column.name for column in columns])
        caption = "Shares of the variance of a new observation, over all rows."
        if rows.confidence_is_calibrated:
            caption += (
                " They are those before calibration. A calibrated confidence interval counts "
                "systematic errors too, so it is often wider than these shares say."
            )
        yield Table("split", caption, frame, columns)
        yield Figure("split", f"The same shares, row by row.{BRUSH}", figures.split(rows), ROWS)
    advice: list[Part] = [rows.inputs.advice] if rows.inputs.advice else []
    if rows.inputs.levers is not None:
        advice.append(_levers(rows, rows.inputs.levers.copy()))
    if advice:
        yield Section("What would help, in numbers", advice, folded=True)


def _levers(rows: Rows, frame: "pd.DataFrame") -> Table:
    """A table of `Lever`s: factors of widths with their standard errors."""
    columns = [Column("change", "with")]
    for kind in KINDS:
        error = f"{kind}_width_se"
        frame[error] = frame[error].where(frame[error] > 0)  # what is exact has none
        heading = f"{kind} intervals' width, as a share of today's"
        columns.append(Column(f"{kind}_width", heading, ".0%", error))
    caption = (
        "What each change would do to the widths, on average over rows. Standard errors come from "
        "how fast variances fall as rows are added. A number without one follows from the method's "
        "formula."
    )
    calibrated = [kind for kind in KINDS if rows.inputs.prediction.is_calibrated(kind)]
    if calibrated:
        kinds = " and ".join(calibrated).capitalize()
        caption += f" {kinds} intervals are those before calibration."
    return Table("levers", caption, frame, columns)


def _widest(rows: Rows) -> Iterator[Part]:
    widest, which = rows.inputs.widest, "All rows"
    if not rows.all_are_drawn:
        which = "The rows in the figures"
    yield ABOUT_WIDEST
    if len(rows.drawn) > MOST_LISTED:
        caption = f"The {MOST_LISTED} rows with the widest prediction intervals."
        yield rows.table("widest", caption, widest[:MOST_LISTED])
    caption = (
        f"{which}, the widest prediction interval first. Row 1 is the first row of data. If you "
        "select rows in a figure, the table shows only these."
    )
    table = rows.table(ROWS, caption, widest[np.isin(widest, rows.drawn)])
    if len(rows.drawn) > MOST_LISTED:
        yield Section(which, [table], folded=True)
    else:
        yield table


def _novelty(rows: Rows) -> Iterator[Part]:
    inputs = rows.inputs
    novelty = inputs.prediction.novelty
    if novelty is None:
        yield words.novelty_words(rows)
        return
    yield f"{words.novelty_words(rows)} {ABOUT_NOVELTY}"
    unseen = ~inputs.has_status(TRAINED)
    some_are_unseen = bool(unseen.any())
    p_values = novelty[unseen] if some_are_unseen else novelty
    which = "rows that the model was not trained on" if some_are_unseen else "rows"
    caption = (
        f"P-values of {which}. Rows like the training data fall evenly into "
        "all bars, as the dashed line shows. If the first bar is high, many rows are unlike it."
    )
    if not some_are_unseen:
        caption += (
            " The model was trained on all of these, so they look more ordinary than new rows "
            "would."
        )
    yield Figure("novelty", caption, figures.novelty(p_values))
    novel = inputs.widest[inputs.novel[inputs.widest]]
    if len(novel):
        order = novel[np.argsort(novelty[novel], kind="stable")][:MOST_LISTED]
        caption = f"Rows with a p-value below {NOVEL:g}, the least like the training data first."
        if len(novel) > len(order):
            caption += f" The first {len(order)} of {len(novel):,}."
        yield rows.table("novel", caption, order)
