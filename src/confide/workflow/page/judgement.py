"""Accuracy and coverage on rows that a model has not seen, each with its standard error."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from confide.drawing import some
from confide.errors import NoSuchIntervalError
from confide.metrics import observed_coverage
from confide.prediction import Prediction
from confide.workflow.accuracy import Score, accuracy_scores
from confide.workflow.page.inputs import CALIBRATED, NEW, TRAINED, PageInputs
from confide.workflow.verdict import Held

if TYPE_CHECKING:
    import pandas as pd

Rows = Bool[np.ndarray, " row"]

# Levels of the calibration curve: 5 %, 10 %, ..., 95 %.
CURVE_LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 20))
# Levels of the table.
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
# Rows of which coverage is looked at: a standard error of 0.4 % and less.
MOST_JUDGED = 20_000

RAW, AFTER_CALIBRATION, ONLY = "before calibration", "calibrated", "prediction intervals"


def unseen_rows(inputs: PageInputs) -> Rows:
    """Rows that accuracy can be judged on: with a target, not trained on, and each once."""
    repeats = False if inputs.repeats is None else inputs.repeats
    return np.isfinite(inputs.observed) & ~inputs.has_status(TRAINED) & ~np.asarray(repeats)


def why_not(inputs: PageInputs) -> str | None:
    """Why accuracy cannot be judged here, without a full stop; None where it can."""
    if inputs.y is None:
        return "the file does not have the target, so there is nothing to compare predictions with"
    if not np.isfinite(inputs.observed).any():
        return "the target is missing in every row"
    if not unseen_rows(inputs).any():
        return (
            "the model was trained on every row whose target is known, and accuracy on those "
            "rows would be too good"
        )
    return None


def only_calibrated_on(inputs: PageInputs) -> bool:
    """Whether accuracy can be judged, and the calibrated intervals cannot."""
    rows = unseen_rows(inputs)
    calibrated = inputs.prediction.prediction_law.origin == "held_out"
    return bool(calibrated and rows.any() and inputs.has_status(CALIBRATED)[rows].all())


def accuracy(inputs: PageInputs) -> list[Score]:
    """Scores on unseen rows; needs at least one."""
    rows = unseen_rows(inputs)
    return accuracy_scores(inputs.observed[rows], inputs.prediction.mean[rows])


def coverage_frame(inputs: PageInputs, levels: Sequence[float]) -> "pd.DataFrame":
    """Coverage and mean width of prediction intervals on unseen rows, a row for each level.

    The standard error is that of a perfect method's coverage, with independent rows; `lower` and
    `upper` are Wilson's. Intervals that were calibrated on held-out rows are judged on new rows
    alone. Given the calibration rows, their true coverage is one draw from a beta law about the
    level; where their number m is known, the squared standard error has that part too, level
    (1 - level) / (m + 2).
    """
    import pandas as pd

    prediction, unseen = inputs.prediction, unseen_rows(inputs)
    raw = prediction.uncalibrated
    if raw is None or not prediction.is_calibrated("prediction"):
        return _coverage(inputs, prediction, unseen, ONLY, levels)
    parts = [
        _coverage(inputs, prediction, unseen & inputs.has_status(NEW), AFTER_CALIBRATION, levels),
        _coverage(inputs, raw, unseen, RAW, levels),
    ]
    # One without rows would make objects of the others' numbers, which tables show as text.
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _coverage(
    inputs: PageInputs, prediction: Prediction, rows: Rows, name: str, levels: Sequence[float]
) -> "pd.DataFrame":
    """That of one kind of intervals, at those of the levels that they have."""
    import pandas as pd

    drawn = some(np.flatnonzero(rows), MOST_JUDGED)
    law, bounds = prediction.prediction_law.take(drawn), {}
    with warnings.catch_warnings():  # the page says itself where they are infinite
        warnings.simplefilter("ignore", UserWarning)
        for level in levels:
            with suppress(NoSuchIntervalError):  # a method of few levels
                bounds[level] = law.interval(level)
    if not len(drawn) or not bounds:
        return pd.DataFrame(columns=["intervals", "level", "verdict"])
    intervals, answered = np.stack(list(bounds.values()), axis=-1), np.array(list(bounds))
    observed = observed_coverage(inputs.observed[drawn], intervals, answered)
    variance = observed.standard_error**2
    if name == AFTER_CALIBRATION and inputs.n_calibration_rows is not None:
        variance += answered * (1 - answered) / (inputs.n_calibration_rows + 2)
    error = np.sqrt(variance)
    return pd.DataFrame(
        {
            "intervals": name,
            "level": answered,
            "rows": len(drawn),
            "held": np.round(observed.shares * len(drawn)).astype(int),
            "coverage": observed.shares,
            "standard_error": error,
            "mean_width": np.mean(intervals[:, 1] - intervals[:, 0], axis=0),
            "lower": observed.lower,
            "upper": observed.upper,
            "verdict": [
                Held(*of_level).words(calibrated=False)
                for of_level in zip(answered, observed.shares, error, strict=True)
            ],
        }
    )
