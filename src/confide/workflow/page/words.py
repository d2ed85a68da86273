"""What the page says in words: what is known, what is not, and why."""

import numpy as np

from confide.diagnostics import NOVEL, SOURCES, largest_words
from confide.document import rounded_alike
from confide.errors import enumerated
from confide.workflow.page import judgement
from confide.workflow.page.inputs import TRAINED
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import level_text, literal, percent, plain, rows_text

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
    "contains a new observation like these at least as often as its level says, on average over "
    "new rows and over draws of these."
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


def not_judged_words(rows: Rows) -> str:
    """Why accuracy cannot be judged on these rows."""
    return (
        f"It cannot be judged here: {judgement.why_not(rows.inputs)}. To judge it, report on a "
        "file of rows that the model has not seen, with their target."
    )


def not_seen_words(rows: Rows) -> str:
    """What can be known about confidence intervals, and what not."""
    return NOT_SEEN_ON_DATA + (ON_SIMULATED_TWINS if rows.confidence_is_calibrated else SIMULATED)


def rows_words(rows: Rows) -> str:
    """How many rows there are, what the model did with them, and how many are drawn."""
    inputs = rows.inputs
    trained = inputs.has_status(TRAINED)
    held_out = np.zeros(inputs.n_rows, bool) if inputs.held_out is None else inputs.held_out
    counts = {
        "trained on": int(trained.sum()),
        "held out to judge the model": int((held_out & ~trained).sum()),
        "new to the model": int((~trained & ~held_out).sum()),
    }
    told = [
        f"{n:,} {what}" if n < inputs.n_rows else f"all {what}" for what, n in counts.items() if n
    ]
    said = f"This page is about {rows_text(inputs.n_rows)}: {enumerated(told)}."
    if rows.all_are_drawn:
        return said
    most = f"{len(rows.drawn):,} of them at most"
    return f"{said} Figures draw {most}, those that judge the model first."


def purpose_words(rows: Rows) -> str | None:
    """Which interval answers which question, and how far each typically reaches."""
    if rows.confidence_interval is None:
        return None
    of_kinds = (rows.width, np.ptp(rows.confidence_interval, axis=1))
    one, many = rounded_alike(*(float(np.median(width)) for width in of_kinds), digits=2)
    return (
        f"For **one new observation**, use the prediction interval (typically {one} wide). For the "
        f"**average of many like it**, use the confidence interval (typically {many} wide)."
    )


def careful_words(rows: Rows) -> str | None:
    """How many predictions are probably off, which is to be known at once; None if there are none.

    Rows unlike the training data have a large figure of their own.
    """
    n = int(np.count_nonzero(rows.side))
    if n == 0:
        return None
    return (
        f"**Be careful** with {n:,} of {rows_text(rows.inputs.n_rows)}: the prediction lies "
        "outside of its confidence interval, and so is probably too high or too low. Trust the "
        "interval more."
    )


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


def tested_words(n: int, by: str) -> str:
    """Why rows that are novel by what rows were held out by are no reason to mistrust intervals."""
    return f"{n:,} by {plain(by)} alone; the intervals were tested on just such rows"


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
    trust = "Do not trust either interval for such rows."
    if n_by := inputs.n_novel_by_order(unseen):
        trust = f"Of these, {literal(tested_words(n_by, str(inputs.held_out_by)))}."
    share = "" if n == n_rows else f" ({percent(n / n_rows)})"
    return (
        f"{n:,} of {rows_text(n_rows)}{seen}{share} {'is' if n == 1 else 'are'} unlike the "
        f"training data (p-value below {NOVEL:g}). {trust} {chance}"
    )
