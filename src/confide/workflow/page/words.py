"""What the page says in words: what is known, what is not, and why."""

from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics import SOURCES, largest_words
from confide.document import number_text, with_error
from confide.errors import enumerated
from confide.prediction import NOVEL
from confide.workflow.accuracy import TOO_FAR, Score, is_no_better_than_mean, is_worse_than_mean
from confide.workflow.page import judgement
from confide.workflow.page.inputs import TRAINED
from confide.workflow.page.rows import Interval, Rows
from confide.workflow.page.text import level_text, literal, percent, rows_text

if TYPE_CHECKING:
    import pandas as pd

NOT_SEEN_ON_DATA = (
    "No data can show whether *confidence* intervals contain the true function, because nobody "
    "observes that function. "
)
# What can be done about it, for confidence intervals that are not calibrated; what was, for others.
SIMULATED = (
    "`confide check` tests them on simulated data, and `confide fit --calibrate-confidence` "
    "calibrates them."
)
ON_SIMULATED_TWINS = (
    "Here they are calibrated on simulated twins of the training data, whose true function is "
    "known."
)
ALL_CALIBRATED_ON = (
    "The prediction intervals are calibrated on every row of this file that the model was not "
    "trained on, so these rows cannot judge them. By construction, a calibrated interval "
    "contains a new observation like these as often as its level says, on average over such "
    "rows."
)
WORSE_THAN_MEAN = (
    "The model is worse than predicting the mean of the target on rows it has not seen: do not use "
    "it."
)
# What to do where prediction intervals are narrower than confidence intervals that are calibrated,
# and that are not.
NARROWER_THAN_CALIBRATED = (
    "There, use the confidence interval for both purposes: it is calibrated row by row on "
    "simulated twins, and prediction intervals only on average over rows."
)
NARROWER_THAN_OWN = (
    "There, use the wider one, the confidence interval, for both purposes, to be safe: prediction "
    "intervals are calibrated only on average over rows, and confidence intervals are not "
    "calibrated."
)
# Share of rows whose calibrated prediction interval may be narrower than the confidence interval.
MOST_NARROWER = 0.05
# How a sentence about coverage begins, in the order of the sentences.
HELD = {
    judgement.ONLY: "The {level} prediction intervals",
    judgement.AFTER_CALIBRATION: "The calibrated {level} prediction intervals",
    judgement.ON_TWINS: "The {level} prediction intervals, calibrated on simulated twins,",
    judgement.RAW: "Before calibration they",
}


def summary(rows: Rows, scores: list[Score], coverage: "pd.DataFrame") -> str:
    """The page in words, as a list in Markdown."""
    warnings = [literal(text, 1000) for text in rows.inputs.warnings]
    if (narrower := narrower_words(rows)) is not None:
        warnings.insert(0, narrower)
    if any(score.name == "R²" and is_worse_than_mean(score) for score in scores):
        warnings.insert(0, WORSE_THAN_MEAN)
    items = [
        ("What it predicts", _what(rows)),
        *(("Warning", text) for text in warnings),
        ("How accurate it is", accuracy_words(rows, scores)),
        ("How often prediction intervals are right", _coverage_words(rows, coverage)),
        ("Calibrated confidence intervals", _widening_words(rows)),
        ("Where the uncertainty comes from", source_words(rows)),
        ("When not to trust it", novelty_words(rows)),
    ]
    return "\n".join(f"- **{head}.** {text}" for head, text in items if text)


def _what(rows: Rows) -> str:
    inputs, shape, own = rows.inputs, rows.number_format, rows.own_confidence_interval
    mean = inputs.prediction.mean
    low, high = (number_text(float(end), shape) for end in (mean.min(), mean.max()))

    def typical_width(interval: Interval) -> str:
        return number_text(float(np.median(np.ptp(interval, axis=1))), shape)

    owner, typically, values = "A", " typically", f"from {low} to {high}"
    if inputs.n_rows == 1:
        owner, typically, values = "Its", "", low
    elif low == high:
        values = f"{low} in all of them"
    text = (
        f"The target *{literal(inputs.target)}*, for {rows_text(inputs.n_rows)}: {values}. {owner} "
        f"{level_text(inputs.level)} prediction interval, for a new observation, is{typically} "
        f"{typical_width(rows.prediction_interval)} wide"
    )
    if np.isinf(rows.width).any():
        is_held_out = inputs.prediction.prediction_law.origin == "held_out"
        few = "rows" if is_held_out else "simulated errors"
        text += f" (without bound, because it was calibrated on too few {few} for that level)"
    if rows.confidence_interval is None:
        return f"{text}. This model has no confidence interval for the true function."
    typical = typical_width(rows.confidence_interval)
    text += f", and the confidence interval, for the true function, {typical}"
    if own is not None:
        text += f" (calibrated on simulated twins; {typical_width(own)} before that)"
    return f"{text}."


def accuracy_words(rows: Rows, scores: list[Score]) -> str:
    """How accurate predictions are on unseen rows, or why that cannot be said."""
    inputs, reason = rows.inputs, judgement.why_not(rows.inputs)
    if reason is not None:
        return (
            f"It cannot be judged here: {reason}. To judge it, report on a file of rows that the "
            "model has not seen, with their target."
        )
    score = {score.name: score for score in scores}
    rmse, mae = (_with_error(score[name]) for name in ("RMSE", "MAE"))
    unseen = rows_text(int(judgement.unseen_rows(inputs).sum()))
    text = (
        f"On {unseen} that the model was not trained on, it is typically off by {rmse} (root mean "
        f"squared error; the mean absolute error is {mae})."
    )
    if (r_squared := score.get("R²")) is not None:
        explains = f"It explains {_with_error(r_squared, 100)} % of the target's variance"
        if is_worse_than_mean(r_squared):
            text += " It is worse than always predicting the mean."
        elif not is_no_better_than_mean(r_squared):
            text += f" {explains}."
        else:
            start = f"{explains}, which is" if r_squared.value >= 0 else "It is"
            text += f" {start} no better than always predicting the mean, within chance."
    if n := int((inputs.has_status(TRAINED) & np.isfinite(inputs.observed)).sum()):
        text += f" This leaves out the {rows_text(n)} that it was trained on."
    return text


def _coverage_words(rows: Rows, coverage: "pd.DataFrame") -> str:
    """How often prediction intervals hold observed values, or why that cannot be said."""
    inputs = rows.inputs
    if judgement.why_not(inputs) is not None:
        return f"It cannot be judged here, for the same reason. {not_seen_words(rows)}"
    sentences = [ALL_CALIBRATED_ON] if judgement.only_calibrated_on(inputs) else []
    for name, which in HELD.items():
        kind = coverage[coverage["intervals"] == name]
        for row in kind[np.isclose(kind["level"], inputs.level)].itertuples():
            room = TOO_FAR * row.standard_error
            digits = 0 if row.standard_error >= 0.02 else 1
            share, low, high = (
                f"{100 * value:.{digits}f}"
                for value in (row.coverage, max(row.level - room, 0), min(row.level + room, 1))
            )
            sentences.append(
                f"{which.format(level=level_text(inputs.level))} contained {share} % of the "
                f"observed values ({row.held:,} of {row.rows:,}); {low} to {high} % would be "
                f"expected. So they {'were' if name == judgement.RAW else 'are'} "
                f"{row.verdict}{_other_levels(kind[kind['level'] != row.level], row.verdict)}."
            )
    return " ".join([*sentences, not_seen_words(rows)])


def _other_levels(others: "pd.DataFrame", verdict: str) -> str:
    """What is wrong at other levels, if half of them or more have another verdict than this one."""
    wrong = others[~others["verdict"].isin([judgement.RIGHT, verdict])]
    if not len(wrong) or 2 * len(wrong) < len(others):
        return ""
    parts = []
    for other, levels in wrong.groupby("verdict", sort=False)["level"]:
        numbers = [level_text(level).removesuffix(" %") for level in levels]
        parts.append(f"at {enumerated(numbers)} % they are {other}")
    return f", but {' and '.join(parts)}"


def not_seen_words(rows: Rows) -> str:
    """What can be known about confidence intervals, and what not."""
    return NOT_SEEN_ON_DATA + (ON_SIMULATED_TWINS if rows.confidence_is_calibrated else SIMULATED)


def narrower_words(rows: Rows) -> str | None:
    """What to do where prediction intervals are narrower than confidence intervals, if many are."""
    confidence = rows.confidence_interval
    if confidence is None or not rows.inputs.prediction.is_calibrated("prediction"):
        return None
    share = float(np.mean(rows.width < np.ptp(confidence, axis=1)))
    if share <= MOST_NARROWER:
        return None
    advice = NARROWER_THAN_CALIBRATED if rows.confidence_is_calibrated else NARROWER_THAN_OWN
    return (
        f"In {percent(share)} of rows the calibrated prediction interval is narrower than the "
        f"confidence interval, and they cannot both be right. {advice}"
    )


def _widening_words(rows: Rows) -> str | None:
    """What calibration on twins did to the confidence intervals of these rows, if it was done."""
    errors, widening = rows.inputs.prediction.twin_errors, rows.widening
    if errors is None or widening is None:
        return None
    low, middle, high = (
        number_text(float(times), ".2g") for times in np.nanquantile(widening, [0.05, 0.5, 0.95])
    )
    text = (
        f"They are calibrated on {errors.n_simulations} simulated twins of the training data. "
        f"This made them {middle} times as wide as before in the typical row, and {low} to "
        f"{high} times as wide in nine rows of ten. They cover as often as their level says if "
        "the twins are like the true function."
    )
    calibration = rows.inputs.summary
    return text if calibration is None else f"{text} Verdict: {calibration.advice.lower()}."


def source_words(rows: Rows) -> str:
    """The average share of each source, and what would shrink the largest."""
    shares = rows.mean_shares
    if len(shares) < 2:
        return (
            "This method does not split its uncertainty into sources; a bootstrapped deep ensemble "
            "does."
        )
    parts = [f"{percent(share)} {SOURCES[key].name}" for key, share in shares.items()]
    return (
        f"On average over rows, the variance of a new observation is {enumerated(parts)}. "
        f"{largest_words(shares)}"
    )


def novelty_words(rows: Rows) -> str:
    """How many rows are novel, and what that means."""
    inputs = rows.inputs
    if inputs.prediction.novelty is None:
        return (
            "Intervals cannot be trusted far from the training data. How far away these rows "
            "are was not computed."
        )
    unseen = ~inputs.has_status(TRAINED)
    n_rows, n = int(unseen.sum()), int((inputs.novel & unseen).sum())
    if n_rows == 0:
        return "The model was trained on every row, so none of them is new to it."
    seen = " that the model was not trained on" if n_rows < inputs.n_rows else ""
    # With fewer than 99 reference rows, only what is farther out than all of them is called so.
    chance = (
        f"By chance, about {level_text(NOVEL)} of rows like the training data are flagged too, "
        "fewer if the training table is small."
    )
    if n == 0:
        of = f" of the {n_rows:,}{seen}" if seen else ""
        return f"No row{of} is unlike the training data (p-value below {NOVEL:g}). {chance}"
    share = "" if n == n_rows else f" ({percent(n / n_rows)})"
    return (
        f"{n:,} of {rows_text(n_rows)}{seen}{share} {'is' if n == 1 else 'are'} unlike the "
        f"training data (p-value below {NOVEL:g}). Do not trust either interval for such rows. "
        f"{chance}"
    )


def _with_error(score: Score, times: float = 1) -> str:
    """So many times the score, with its error if it has one."""
    if np.isnan(score.standard_error):
        return f"{times * score.value:.4g}"
    return with_error(times * score.value, times * score.standard_error)
