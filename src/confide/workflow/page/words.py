"""What the page says in words: what is known, what is not, and why."""

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.diagnostics import WORDS as SOURCES
from confide.diagnostics import largest_words
from confide.document import with_error
from confide.prediction import NOVEL
from confide.workflow.accuracy import Score, is_no_better_than_mean, is_worse_than_mean
from confide.workflow.page.inputs import TRAINED
from confide.workflow.page.judgement import (
    AFTER_CALIBRATION,
    NARROW,
    ON_TWINS,
    ONLY,
    RAW,
    RIGHT,
    WIDE,
    only_calibrated_on,
    unseen_rows,
    verdict,
    why_not,
)
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import level_text, listed, literal, number, percent, rows_text

if TYPE_CHECKING:
    import pandas as pd

NOT_SEEN_ON_DATA = (
    "Whether *confidence* intervals hold the true function cannot be seen on any data, as nobody "
    "observes that function; "
)
# How they stand to it, for confidence intervals that are not calibrated, and those that are.
SIMULATED = (
    "`confide check` simulates it on data like these, and `confide fit --calibrate-confidence` "
    "calibrates them so."
)
ON_SIMULATED_TWINS = (
    "here they are calibrated on simulated twins of the training data, where it is known."
)
ALL_CALIBRATED_ON = (
    "The prediction intervals are calibrated on every unseen row of this file, so these rows "
    "cannot judge them: a new row like these lies in its calibrated interval with the promised "
    "probability, on average over such rows."
)
# Share of rows whose calibrated prediction interval may be narrower than the confidence interval.
MOST_NARROWER = 0.05
# What a verdict means for the reader.
SAID = {
    RIGHT: "as promised, within chance",
    NARROW: "fewer than promised, so they are too narrow",
    WIDE: "more than promised, so they are wider than needed",
}


def summary(rows: Rows, scores: "list[Score]", coverage: "pd.DataFrame") -> str:
    """The page in words, as a list in Markdown."""
    items = [
        ("What it predicts", _what(rows)),
        ("How accurate it is", accuracy_words(rows, scores)),
        ("Whether prediction intervals hold what they promise", coverage_words(rows, coverage)),
        *_honesty(rows),
        ("Where the uncertainty comes from", source_words(rows)),
        ("When not to trust it", novelty_words(rows)),
    ]
    what, *others = (f"- **{head}.** {text}" for head, text in items)
    warnings = [*_warnings(rows, scores), *(literal(text, 1000) for text in rows.inputs.warnings)]
    return "\n".join([what, *map(warning_item, warnings), *others])


def warning_item(text: str) -> str:
    """A warning, as an item of a list in Markdown."""
    return f"- **Warning.** {text}"


def accuracy_words(rows: Rows, scores: "list[Score]") -> str:
    """How accurate predictions are on unseen rows, or why that cannot be said."""
    reason = why_not(rows.inputs)
    if reason is not None:
        return (
            f"It cannot be judged here: {reason}. Report on a file of rows with their target that "
            "the model has not seen."
        )
    n = int(unseen_rows(rows.inputs).sum())
    said = {score.name: score for score in scores}
    text = (
        f"On {rows_text(n)} that the model was not trained on it is typically off by "
        f"{_with_error(said['RMSE'])} (root mean squared error; mean absolute error "
        f"{_with_error(said['MAE'])})"
    )
    if "R²" in said:
        text += _explained(said["R²"])
    return f"{text}. {_trained_on(rows)}".rstrip()


def coverage_words(rows: Rows, coverage: "pd.DataFrame") -> str:
    """How often prediction intervals hold observed values, or why that cannot be said."""
    inputs = rows.inputs
    if why_not(inputs) is not None:
        return f"It cannot be judged here, for the same reason. {not_seen_words(rows)}"
    level = level_text(inputs.level)
    at_level = coverage[np.isclose(coverage["level"], inputs.level)]
    said = [
        _coverage_sentence(name, level, row, _other_levels(coverage, row))
        for name in (ONLY, AFTER_CALIBRATION, ON_TWINS, RAW)
        for row in at_level[at_level["intervals"] == name].to_dict(orient="records")
    ]
    if only_calibrated_on(inputs):
        said.insert(0, ALL_CALIBRATED_ON)
    return " ".join([*said, not_seen_words(rows)])


def not_seen_words(rows: Rows) -> str:
    """What can be known about confidence intervals, and what not."""
    known = ON_SIMULATED_TWINS if rows.confidence_is_calibrated else SIMULATED
    return NOT_SEEN_ON_DATA + known


def source_words(rows: Rows) -> str:
    """The average share of each source, and what would shrink the largest."""
    shares = mean_shares(rows)
    if len(shares) < 2:
        return (
            "This method does not split its uncertainty into sources; a bootstrapped deep ensemble "
            "does."
        )
    together = listed([f"{percent(share)} {SOURCES[source]}" for source, share in shares.items()])
    return (
        f"On average over rows, the variance of a new observation is {together}. "
        f"{largest_words(shares)}"
    )


def novelty_words(rows: Rows) -> str:
    """How many rows are novel, and what that means."""
    inputs = rows.inputs
    if inputs.prediction.novelty is None:
        return (
            "Intervals cannot be trusted far from the training data, and how far these rows are "
            "was not asked for."
        )
    unseen = ~inputs.has_status(TRAINED)
    n_rows, n = int(unseen.sum()), int((inputs.novel & unseen).sum())
    if n_rows == 0:
        return "The model was trained on every row, so none of them is new to it."
    seen = " that the model was not trained on" if n_rows < inputs.n_rows else ""
    # With fewer than 99 reference rows, only what is farther out than all of them is called so.
    about = (
        f"about {level_text(NOVEL)} of rows like the training data would be called so by chance, "
        "fewer where the training table is small"
    )
    if n == 0:
        of = f" of the {rows_text(n_rows)}{seen}" if seen else ""
        return f"No row{of} is unlike the training data (p-value below {NOVEL:g}); {about}."
    verb = "is" if n == 1 else "are"
    share = "" if n == n_rows else f" ({percent(n / n_rows)})"
    return (
        f"{n:,} of {rows_text(n_rows)}{seen}{share} {verb} unlike the training data (p-value "
        f"below {NOVEL:g}); {about}. Neither interval can be trusted for rows unlike all that "
        "the model has seen."
    )


def mean_shares(rows: Rows) -> dict[str, float]:
    """The mean over rows of each source's share."""
    found = {}
    for source, share in rows.shares.items():
        there = share[np.isfinite(share)]
        if len(there):
            found[source] = float(there.mean())
    return found


def _warnings(rows: Rows, scores: "list[Score]") -> Iterator[str]:
    """What the page itself warns of."""
    if any(score.name == "R²" and is_worse_than_mean(score) for score in scores):
        yield (
            "The model is worse than predicting the mean of the target on rows it has not seen: do "
            "not use it."
        )
    if (narrower := narrower_words(rows)) is not None:
        yield narrower


def narrower_words(rows: Rows) -> str | None:
    """What to do where prediction intervals are narrower than confidence intervals, if many are."""
    narrower = rows.prediction_is_narrower
    if not rows.inputs.prediction.is_calibrated("prediction") or narrower <= MOST_NARROWER:
        return None
    because = (
        "At these rows take the confidence interval for both: it is calibrated row by row, on "
        "simulated twins, and prediction intervals only on average over rows"
        if rows.confidence_is_calibrated
        else "At these rows take the wider one, the confidence interval, for both, to be safe: "
        "prediction intervals are calibrated on average over rows only, and confidence intervals "
        "are not calibrated"
    )
    return (
        f"In {percent(narrower)} of rows the calibrated prediction interval is narrower than the "
        f"confidence interval, and both cannot be right there. {because}."
    )


def _honesty(rows: Rows) -> Iterator[tuple[str, str]]:
    if (wider := widening_words(rows)) is not None:
        yield "How honest confidence intervals are", wider


def widening_words(rows: Rows) -> str | None:
    """What calibration on twins did to the confidence intervals of these rows, if it was done."""
    simulated, widening = rows.inputs.prediction.twin_errors, rows.widening
    if simulated is None or widening is None:
        return None
    middle = number(float(np.nanmedian(widening)), ".2g")
    low, high = (number(float(v), ".2g") for v in np.nanquantile(widening, [0.05, 0.95]))
    summary = rows.inputs.summary
    advice = "" if summary is None else f" Verdict: {summary.advice.lower()}."
    return (
        f"They are calibrated on {simulated.n_simulations} simulated twins of the training data, "
        f"which makes them {middle} times as wide as before in the typical row, and {low} to "
        f"{high} times in nine of ten. They are as honest as the twins resemble the true "
        f"function.{advice}"
    )


def _what(rows: Rows) -> str:
    inputs, shape = rows.inputs, rows.number_format
    mean, width = inputs.prediction.mean, float(np.median(rows.width))
    law = inputs.prediction.prediction_law
    low, high = (number(float(v), shape) for v in (mean.min(), mean.max()))
    target, level = literal(inputs.target), level_text(inputs.level)
    text = f"The target *{target}*, for {rows_text(inputs.n_rows)}: "
    text += f"{low} in all of them" if low == high else f"from {low} to {high}"
    if inputs.n_rows == 1:
        text = text.replace(" in all of them", "")
    bounds = f"Its {level} prediction interval, for a new observation, is"
    typically = "" if inputs.n_rows == 1 else " typically"
    plural = bounds if inputs.n_rows == 1 else bounds.replace("Its", "A")
    text += f". {plural}{typically} {number(width, shape)} wide"
    if np.isinf(rows.width).any():
        few = "rows" if law.origin == "held_out" else "simulated errors"
        text += f" (without bound, because it was calibrated on too few {few} for that level)"
    confidence = rows.confidence_interval
    if confidence is None:
        return f"{text}; this model has no confidence interval, for the true function."
    narrow = number(float(np.median(confidence[:, 1] - confidence[:, 0])), shape)
    text += f", and the confidence interval, for the true function, {narrow}"
    if (own := rows.own_confidence_interval) is not None:
        claimed = number(float(np.median(np.diff(own))), shape)
        text += f" (calibrated on simulated twins; {claimed} before that)"
    return f"{text}."


def _trained_on(rows: Rows) -> str:
    inputs = rows.inputs
    n = int((inputs.has_status(TRAINED) & np.isfinite(inputs.observed)).sum())
    if n == 0:
        return ""
    was = "was" if n == 1 else "were"
    return f"The {rows_text(n)} that it was trained on {was} left out of this."


def _coverage_sentence(name: str, level: str, row: dict[Hashable, Any], others: str) -> str:
    which = {
        ONLY: f"The {level} prediction intervals",
        AFTER_CALIBRATION: f"The calibrated {level} prediction intervals",
        ON_TWINS: f"The {level} prediction intervals, calibrated on simulated twins,",
        RAW: "Before calibration they",
    }[name]
    share = with_error(100 * row["coverage"], 100 * row["standard_error"])
    found = SAID[_verdict(row)] + others
    if name == RAW:
        found = found.replace("they are", "they were")
    return (
        f"{which} held {int(row['held']):,} of {int(row['rows']):,} observed values, {share} %: "
        f"{found}."
    )


def _other_levels(coverage: "pd.DataFrame", row: dict[Hashable, Any]) -> str:
    """What is wrong at other levels, if half of them or more have another verdict than this one."""
    same = coverage[(coverage["intervals"] == row["intervals"])]
    others = [each for each in same.to_dict(orient="records") if each["level"] != row["level"]]
    wrong: dict[str, list[str]] = {}
    for each in others:
        if (found := _verdict(each)) not in {RIGHT, _verdict(row)}:
            wrong.setdefault(found, []).append(level_text(each["level"]).removesuffix(" %"))
    if not wrong or 2 * sum(map(len, wrong.values())) < len(others):
        return ""
    said = [f"at {listed(levels)} % they are {found}" for found, levels in wrong.items()]
    return f", but {' and '.join(said)}"


def _verdict(row: dict[Hashable, Any]) -> str:
    return verdict(row["coverage"], row["level"], row["standard_error"])


def _explained(r_squared: Score) -> str:
    """What R² says; below zero it is no share."""
    if is_worse_than_mean(r_squared):
        return ": it is worse than always predicting the mean"
    text = ""
    if r_squared.value >= 0:
        text = f" and explains {_percent_with_error(r_squared)} of the target's variance"
    if is_no_better_than_mean(r_squared):
        text += ": it is no better than always predicting the mean, within chance"
    return text


def _with_error(score: "Score") -> str:
    if np.isnan(score.standard_error):
        return f"{score.value:.4g}"
    return with_error(score.value, score.standard_error)


def _percent_with_error(score: "Score") -> str:
    if np.isnan(score.standard_error):
        return percent(score.value)
    return f"{with_error(100 * score.value, 100 * score.standard_error)} %"
