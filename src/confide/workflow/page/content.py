"""The page of `confide report`: a file's predictions as one document that a person can judge."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics import WORDS as SOURCES
from confide.document import Column, Document, Figure, Part, Section, Table
from confide.prediction import KINDS, NOVEL
from confide.workflow.accuracy import Score
from confide.workflow.page import figures
from confide.workflow.page.calibration import honesty
from confide.workflow.page.inputs import TRAINED, PageInputs
from confide.workflow.page.judgement import (
    CURVE_LEVELS,
    ONLY,
    accuracy,
    coverage_frame,
    only_calibrated_on,
    table_levels,
    verdict,
    why_not,
)
from confide.workflow.page.rows import MEANINGS, MOST_DRAWN, ROWS, Rows
from confide.workflow.page.text import level_text, plain, rows_text
from confide.workflow.page.words import (
    ALL_CALIBRATED_ON,
    accuracy_words,
    mean_shares,
    not_seen_words,
    novelty_words,
    source_words,
    summary,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PageInputs", "page_document"]

# Rows of the tables of riskiest and of novel rows, where a file has more than are drawn.
MOST_LISTED = 100


def page_document(inputs: PageInputs) -> Document:
    """The page: a summary in words, then what it rests on; `render_page` makes HTML of it."""
    rows = Rows(inputs)
    judged = why_not(inputs) is None
    scores = accuracy(inputs) if judged else []
    coverage = coverage_frame(inputs, table_levels(inputs))
    sections = [
        Section("Accuracy and coverage", list(_judgement(rows, scores, coverage))),
        *_calibration(rows),
        *_honesty(rows),
        Section("Predictions", list(_predictions(rows))),
        Section("Where the uncertainty comes from", list(_split(rows))),
        Section("Riskiest rows", list(_riskiest(rows))),
        Section("Novelty", list(_novelty(rows))),
    ]
    title = f"Predictions of {plain(inputs.title, 160)}"
    return Document(title, summary(rows, scores, coverage), sections, _settings(inputs.settings))


def _judgement(rows: Rows, scores: list[Score], coverage: "pd.DataFrame") -> Iterator[Part]:
    import pandas as pd

    if not scores:
        yield accuracy_words(rows, scores)
        return
    frame = pd.DataFrame(
        {
            "score": [score.name for score in scores],
            "value": [score.value for score in scores],
            "standard_error": [score.standard_error for score in scores],
            "meaning": [score.meaning for score in scores],
        }
    )
    columns = [
        Column("score"),
        Column("value", "value ± standard error", ".4g", "standard_error"),
        Column("meaning", "what it is"),
    ]
    caption = "Accuracy on rows that the model was not trained on. Rows are taken as independent."
    yield Table("accuracy", caption, frame, columns)
    if len(coverage):
        yield _coverage_table(rows, coverage)
    if only_calibrated_on(rows.inputs):
        yield ALL_CALIBRATED_ON
    yield not_seen_words(rows)


def _coverage_table(rows: Rows, coverage: "pd.DataFrame") -> Table:
    found = coverage.assign(
        nominal=[level_text(level) for level in coverage["level"]],
        verdict=[
            verdict(*each)
            for each in zip(
                coverage["coverage"], coverage["level"], coverage["standard_error"], strict=True
            )
        ],
    )
    columns = [
        Column("nominal", "promised"),
        Column("coverage", "observed", ".1%", "standard_error", "share of observed values held"),
        Column("verdict", "so they are", help="chance: within two standard errors"),
        Column("mean_width", "mean width", rows.number_format),
        Column("rows", "rows", ","),
    ]
    if set(coverage["intervals"]) != {ONLY}:
        columns.insert(1, Column("intervals", "which"))
    caption = (
        "How often prediction intervals held the observed value, on rows that the model was not "
        "trained on (calibrated ones: nor calibrated on). The standard error is that of intervals "
        "that are exactly right."
    )
    return Table("coverage", caption, found, columns)


def _calibration(rows: Rows) -> Iterator[Section]:
    inputs = rows.inputs
    curve = coverage_frame(inputs, CURVE_LEVELS)
    if curve["level"].nunique() < 2:
        return
    caption = (
        "Share of observed values that prediction intervals of each level held, with bars of 95 % "
        "confidence for that share (Wilson's). On the dotted line they are held as often as "
        "promised; below it prediction intervals are too narrow, above it wider than needed. All "
        "points are of the same rows, so they err together."
    )
    figure = Figure("calibration", caption, figures.calibration(curve))
    yield Section("Calibration curve", [figure])


def _honesty(rows: Rows) -> Iterator[Section]:
    if rows.widening is not None:
        yield Section("How honest are the confidence intervals", list(honesty(rows)))


def _predictions(rows: Rows) -> Iterator[Part]:
    inputs = rows.inputs
    level = level_text(inputs.level)
    whose = ""
    if rows.confidence_interval is not None:
        whose = f" Confidence intervals are {rows.whose}."
    yield (
        "A *prediction interval* is for a new observation: it has room for noise. A *confidence "
        "interval* is for the true function, the average of many observations at such a row: it "
        f"narrows as data and members grow.{whose}"
    )
    if not rows.all_are_drawn:
        yield (
            f"Figures show {rows_text(MOST_DRAWN)} of {inputs.n_rows:,}, drawn by chance and "
            "always the same."
        )
    kinds = "prediction intervals"
    if rows.confidence_interval is not None:
        kinds = "prediction and confidence intervals"
    caption = f"Predictions with their {level} {kinds}, sorted"
    caption += " and with observed values." if inputs.y is not None else "."
    caption += _cut_off(rows) + " Drag sideways to brush rows."
    yield Figure("predictions", caption, figures.sorted_predictions(rows), ROWS)
    if rows.features:
        n = len(rows.features)
        which = "the feature" if n == 1 else f"the {n} features"
        caption = (
            f"The same by {which} that predictions or the widths of prediction intervals go with "
            "most. A row without a value has no mark there; categories are strips. Drag sideways "
            "to brush rows; brushes in several panels leave the rows that are in all of them."
        )
        yield Figure("by-feature", caption, figures.predictions_by_feature(rows), ROWS)


def _cut_off(rows: Rows) -> str:
    if np.isinf(rows.width).any():
        return " A prediction interval without a bound ends at the edge of the figure."
    return ""


def _split(rows: Rows) -> Iterator[Part]:
    import pandas as pd

    shares = mean_shares(rows)
    if len(shares) < 2:
        yield source_words(rows)
    else:
        frame = pd.DataFrame(
            {
                "source": [SOURCES[source] for source in shares],
                "share": list(shares.values()),
                "tenth": [float(np.nanquantile(rows.shares[s], 0.1)) for s in shares],
                "nine_tenths": [float(np.nanquantile(rows.shares[s], 0.9)) for s in shares],
                "meaning": [MEANINGS[source] for source in shares],
            }
        )
        columns = [
            Column("source"),
            Column("share", "mean share", ".1%"),
            Column("tenth", "a tenth of rows is below", ".1%"),
            Column("nine_tenths", "a tenth is above", ".1%"),
            Column("meaning", "what it is"),
        ]
        caption = "Shares of the variance of a new observation, over all rows."
        yield Table("split", caption, frame, columns)
        caption = "The same for each row. Drag sideways to brush rows."
        yield Figure("split", caption, figures.split(rows), ROWS)
    if rows.inputs.advice:
        yield rows.inputs.advice
    if rows.inputs.levers is not None:
        yield _levers(rows)


def _levers(rows: Rows) -> Table:
    """A table of `Lever`s: factors of widths with their standard errors."""
    assert rows.inputs.levers is not None  # noqa: S101
    frame = rows.inputs.levers.copy()
    columns = [Column("change", "with")]
    for kind in ("confidence", "prediction"):
        name, error = f"{kind}_width", f"{kind}_width_se"
        frame[error] = frame[error].where(frame[error] > 0)  # what is exact has none
        columns.append(
            Column(name, f"{kind} intervals' width, as a share of today's", ".0%", error)
        )
    caption = (
        "What each change would do to the widths, on average over rows. Standard errors are those "
        "of how fast variances fall as rows are added; what has none follows from the method's "
        "formula."
    )
    calibrated = [kind for kind in KINDS if rows.inputs.prediction.is_calibrated(kind)]
    if calibrated:
        kinds = " and ".join(calibrated).capitalize()
        caption += f" {kinds} intervals are those before calibration."
    return Table("levers", caption, frame, columns)


def _riskiest(rows: Rows) -> Iterator[Part]:
    inputs = rows.inputs
    listed = rows.riskiest[:MOST_LISTED]
    order = "novel rows first" if inputs.prediction.novelty is not None else ""
    order = f"{order}, then the widest prediction interval first".removeprefix(", then ")
    if not rows.all_are_drawn:
        caption = f"The {len(listed)} riskiest of all {rows_text(inputs.n_rows)}: {order}."
        yield rows.table("riskiest", caption, listed)
    drawn = np.isin(rows.riskiest, rows.drawn)
    which = "All rows" if rows.all_are_drawn else "The rows in the figures"
    caption = (
        f"{which}: {order}. Row 1 is the first row of data. Brushing a figure above leaves the "
        "brushed rows."
    )
    yield rows.table(ROWS, caption, rows.riskiest[drawn])


def _novelty(rows: Rows) -> Iterator[Part]:
    inputs = rows.inputs
    novelty = inputs.prediction.novelty
    if novelty is None:
        yield novelty_words(rows)
        return
    yield (
        "A model answers for any row, also for one unlike all that it has learned from; there its "
        "intervals are guesses. The p-value of a row says how many rows like the training data "
        "would be as far from it, or farther: a small one means that the row is novel."
    )
    unseen = ~inputs.has_status(TRAINED)
    looked_at = unseen if unseen.any() else np.ones(inputs.n_rows, bool)
    which = "rows that the model was not trained on" if unseen.any() else "rows"
    caption = (
        f"P-values of the {int(looked_at.sum()):,} {which}. Rows like the training data fall "
        "evenly into all bars, as the dashed line shows; many in the first bar are rows unlike it."
    )
    if not unseen.any():
        caption += " The model was trained on all of these, so they look more alike than new ones."
    yield Figure("novelty", caption, figures.novelty(novelty[looked_at]))
    novel = rows.riskiest[inputs.novel[rows.riskiest]]
    if len(novel):
        order = novel[np.argsort(novelty[novel], kind="stable")][:MOST_LISTED]
        caption = f"Rows with a p-value below {NOVEL:g}, the least like the training data first."
        if len(novel) > len(order):
            caption += f" The first {len(order)} of {len(novel):,}."
        yield rows.table("novel", caption, order)


def _settings(settings: Mapping[str, str]) -> dict[str, str]:
    return {plain(name, 80): plain(value, 2000) for name, value in settings.items()}
