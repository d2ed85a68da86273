"""What the page answers with: three large figures, and one thing to look at."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics import Grade
from confide.document import Headline, rounded_alike
from confide.errors import enumerated
from confide.workflow.accuracy import Score, Worth, worth
from confide.workflow.page import judgement
from confide.workflow.page.inputs import TRAINED, PageInputs
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import level_text, literal, rows_text
from confide.workflow.page.words import narrower_words, tested_words
from confide.workflow.verdict import (
    Held,
    confidence_words,
    held_in,
    help_words,
    others_in,
    worth_in,
    worthless,
    worthless_words,
)

if TYPE_CHECKING:
    import pandas as pd

# The kinds of intervals that are spoken of, the first that there is.
SPOKEN_OF = (judgement.AFTER_CALIBRATION, judgement.ONLY)
# Whether a grade is good; None where it is neither.
GOOD = {Grade.HOLD: True, Grade.SLIGHTLY_OFF: None, Grade.DO_NOT_HOLD: False}
# The same for what a model is worth.
WORTHY = {Worth.BETTER: True, Worth.NO_BETTER: None, Worth.WORSE: False}
NO_BETTER = "no better than predicting the mean"
# Of the rows, beyond what chance would flag.
MANY_NOVEL = 0.03


def headlines(rows: Rows, scores: list[Score], coverage: "pd.DataFrame") -> list[Headline]:
    """How accurate, whether the prediction intervals hold, and how many rows are too new."""
    return [_accuracy(rows.inputs, scores), _coverage(rows.inputs, coverage), _novelty(rows.inputs)]


def confidence(rows: Rows) -> str | None:
    """Whether the confidence intervals hold, in Markdown; None for a method without them."""
    if rows.confidence_interval is None:
        return None
    from confide.calibration import CalibrationSummary  # here, because importing it is slow

    on_twins = rows.inputs.summary
    if on_twins is None and rows.confidence_is_calibrated:
        on_twins = CalibrationSummary.empty()
    return confidence_words(on_twins).replace("Confidence intervals", "**Confidence intervals**", 1)


def look_at(rows: Rows, scores: list[Score]) -> list[str]:
    """What to look at, in Markdown, the most important first; what would help, if nothing is wrong.

    Args:
        rows: of the page.
        scores: on unseen rows, or none.
    """
    inputs = rows.inputs
    found = list(inputs.warnings)
    # The fit has put its own judgement behind what may have caused it.
    judgement_here = [text for text in _worthless(inputs, scores) if text not in found]
    found = [literal(text, 1000) for text in [*judgement_here, *found]]
    if (narrower := narrower_words(rows)) is not None:
        found.insert(_n_graver(inputs, scores), narrower)
    shares = {f"{name}_share": share for name, share in rows.mean_shares.items()}
    if len(shares) < 2:
        return found
    # The same share as the fit gave.
    of_fit = inputs.judged if _uses_fit(inputs) else {}
    return found or [help_words(shares | {n: of_fit[n] for n in shares if n in of_fit})]


def _worthless(inputs: PageInputs, scores: list[Score]) -> list[str]:
    """A warning of a model that is no better than a guess, on the rows that the page judges by."""
    if _uses_fit(inputs):
        return worthless(inputs.judged)
    found = _worth_here(inputs, scores)
    return [] if found is None else worthless_words(found)


def _worth_here(inputs: PageInputs, scores: list[Score]) -> Worth | None:
    """What the model is worth on the page's own rows; None where they are too few to tell."""
    if not any(score.name == "R²" for score in scores):
        return None
    return worth(scores[0].value, scores[0].standard_error, _spread(inputs))


def _spread(inputs: PageInputs) -> float:
    """The error of guessing the mean of the rows that judge the model."""
    return float(np.std(inputs.observed[judgement.unseen_rows(inputs)]))


def _n_graver(inputs: PageInputs, scores: list[Score]) -> int:
    """How many warnings come before that of narrow intervals: all of a model without worth."""
    warnings = list(inputs.warnings)
    found = _worthless(inputs, scores)[:1]
    return 0 if not found else 1 + (warnings.index(found[0]) if found[0] in warnings else 0)


def _uses_fit(inputs: PageInputs) -> bool:
    """Whether the numbers of the fit are those to give: no row here could judge it better."""
    unseen = judgement.unseen_rows(inputs)
    held_out = np.zeros(inputs.n_rows, bool) if inputs.held_out is None else inputs.held_out
    return bool(inputs.judged) and not (unseen & ~held_out).any()


def _accuracy(inputs: PageInputs, scores: list[Score]) -> Headline:
    label = "typical error (RMSE) on {}, which the model had not seen"
    if _uses_fit(inputs):
        judged = inputs.judged
        others = others_in(judged)
        rmse, *texts = rounded_alike(judged["rmse"], *others.values())
        named = [f"{text} by {name}" for name, text in zip(others, texts, strict=True)]
        verdict, good = _beside_others(judged, others)
        which = f"{rows_text(int(judged['rows']))} held out"
        return Headline(rmse, label.format(which), [*named, verdict], good)
    if not scores:
        return Headline("?", "typical error: not known", [_short_why(inputs)])
    unseen, spread = judgement.unseen_rows(inputs), _spread(inputs)
    rmse, mean, *fit = rounded_alike(
        scores[0].value, spread, *([inputs.judged["rmse"]] if inputs.judged else [])
    )
    beside = [f"{mean} by guessing the mean", *(f"held out at the fit {text}" for text in fit)]
    which = rows_text(int(unseen.sum()))
    found = _worth_here(inputs, scores)
    if found in {Worth.NO_BETTER, Worth.WORSE}:
        beside.append(NO_BETTER if found is Worth.NO_BETTER else "worse than guessing the mean")
    return Headline(rmse, label.format(which), beside, None if found is None else WORTHY[found])


def _beside_others(
    judged: Mapping[str, float], others: Mapping[str, float]
) -> tuple[str, bool | None]:
    """What the error is worth, in words, and whether it is good; None where chance may decide."""
    error, room = judged["rmse"], judged.get("rmse_se", 0.0)
    worse_than = [name for name, other in others.items() if error > other + room]
    found = [f"worse than {enumerated(worse_than)}"] if worse_than else []
    if worth_in(judged) is Worth.NO_BETTER:
        found.append(NO_BETTER)
    if found:
        return " and ".join(found), False if worse_than else None
    if near := [name for name, other in others.items() if error >= other]:
        return f"about as good as {enumerated(near)}", None
    return f"good: better than {'both' if len(others) > 1 else 'that'}", True


def _short_why(inputs: PageInputs) -> str:
    if inputs.y is None or not np.isfinite(inputs.observed).any():
        return "the file does not have the target"
    return "the model was trained on all of these rows"


def _coverage(inputs: PageInputs, coverage: "pd.DataFrame") -> Headline:
    if _uses_fit(inputs):
        held = held_in(inputs.judged, inputs.level)
        rows = int(inputs.judged["rows"])
        calibrated = inputs.prediction.prediction_law.origin == "held_out"
    else:
        held, rows = _held(inputs, coverage)
        calibrated = False
    if held is None:
        level = level_text(inputs.level)
        return Headline(
            "?", f"inside {level} prediction intervals: not known", [_short_why(inputs)]
        )
    label = f"of {rows_text(rows)} inside their {level_text(held.level)} prediction intervals"
    beside = [held.expected, held.words(calibrated=calibrated)]
    good = True if calibrated else GOOD[held.grade]
    return Headline(f"{100 * held.share:.0f} %", label, beside, good)


def _held(inputs: PageInputs, coverage: "pd.DataFrame") -> tuple[Held | None, int]:
    """How often intervals of the page's level held on its rows."""
    for name in SPOKEN_OF if len(coverage) else ():
        of_kind = coverage[coverage["intervals"] == name]
        for row in of_kind[np.isclose(of_kind["level"], inputs.level)].itertuples():
            return Held(row.level, row.coverage, row.standard_error), row.rows
    return None, 0


def _novelty(inputs: PageInputs) -> Headline:
    if inputs.prediction.novelty is None:
        return Headline("?", "rows unlike the training data: not known")
    unseen = ~inputs.has_status(TRAINED)
    n_rows, n = int(unseen.sum()), int((inputs.novel & unseen).sum())
    if n_rows == 0:
        return Headline("0", "rows unlike the training data", ["all of them were trained on"])
    few = n <= max(MANY_NOVEL * n_rows, 1)
    if not few and (n_by := inputs.n_novel_by_order(unseen)):
        beside = tested_words(n_by, str(inputs.held_out_by))
        return Headline(f"{n:,}", f"of {rows_text(n_rows)} unlike the training data", [beside])
    chance = "about 1 in 100 would be by chance"
    beside = chance if few else f"{chance}; trust neither interval of these rows"
    return Headline(f"{n:,}", f"of {rows_text(n_rows)} unlike the training data", [beside], few)
