"""Accuracy and coverage on rows that a model has not seen, each with its standard error."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64

from confide.errors import NoSuchIntervalError
from confide.metrics import crps_of_normal_mixture
from confide.prediction import Prediction
from confide.uncertainty import Law
from confide.workflow.page_inputs import CALIBRATED, NEW, TRAINED, PageInputs

if TYPE_CHECKING:
    import pandas as pd

Row = Float64[np.ndarray, " row"]
Rows = Bool[np.ndarray, " row"]

# Levels of the calibration curve: 5 %, 10 %, ..., 95 %.
CURVE_LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 20))
# Levels of the table.
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
# Rows of which the CRPS is worked out; it takes a thousand times as long as the other scores.
MOST_CRPS_ROWS = 5000
# Beyond so many standard errors, a coverage is called too low or too high.
TOO_FAR = 2.0

RIGHT, NARROW, WIDE = "right, within chance", "too narrow", "wider than needed"
RAW, AFTER_CALIBRATION, ONLY = "before calibration", "calibrated", "prediction intervals"


@dataclass(frozen=True)
class Score:
    """One number about the accuracy, with its standard error (NaN where one row gives none)."""

    name: str
    value: float
    standard_error: float
    meaning: str


def unseen_rows(inputs: PageInputs) -> Rows:
    """Rows that are honest about accuracy: with a target, and not trained on."""
    return np.isfinite(inputs.observed) & ~inputs.has_status(TRAINED)


def why_not(inputs: PageInputs) -> str | None:
    """Why accuracy cannot be judged here, without a full stop; None where it can."""
    if inputs.y is None:
        return "the file does not have the target, so there is nothing to compare predictions with"
    if not np.isfinite(inputs.observed).any():
        return "the target is missing in every row"
    if not unseen_rows(inputs).any():
        return (
            "the model was trained on every row whose target is known, and accuracy on those rows "
            "would flatter it"
        )
    return None


def accuracy(inputs: PageInputs) -> list[Score]:
    """Scores on unseen rows; needs at least one."""
    rows = unseen_rows(inputs)
    y, mean = inputs.observed[rows], inputs.prediction.mean[rows]
    error = mean - y
    n, squares, spread = len(y), error**2, (y - y.mean()) ** 2
    # Sums without each row in turn; that of squares about the mean also loses the row's pull on it.
    rest = squares.sum() - squares
    rest_spread = spread.sum() - spread * n / max(n - 1, 1)
    found = [
        Score(
            "RMSE",
            float(np.sqrt(squares.mean())),
            _jackknife(np.sqrt(rest / max(n - 1, 1))),
            "root mean squared error: the typical error, in the target's unit",
        ),
        _mean_score("MAE", np.abs(error), "mean absolute error, which large errors sway less"),
        _mean_score(
            "mean error", error, "prediction minus observed: above 0, predictions are high"
        ),
    ]
    if n > 2 and spread.sum() > 0 and (rest_spread > 0).all():
        found.append(
            Score(
                "R²",
                float(1 - squares.sum() / spread.sum()),
                _jackknife(1 - rest / rest_spread),
                "share of the target's variance that is explained: 1 is perfect, 0 is no better "
                "than always predicting the mean",
            )
        )
    crps = _crps(inputs, rows)
    return found if crps is None else [*found, crps]


def coverage_frame(inputs: PageInputs, levels: tuple[float, ...]) -> "pd.DataFrame":
    """Coverage and mean width of prediction intervals on unseen rows, a row for each level.

    The standard error is that of a perfect method's coverage, with independent rows: it has a width
    where every target is held, too. Calibrated intervals are judged on new rows alone. Given the
    calibration rows, their true coverage is one draw from a beta law about the level; where their
    number m is known, the variance has that part too, level (1 - level) / (m + 2).
    """
    import pandas as pd

    raw = inputs.prediction.uncalibrated
    parts = []
    if raw is None:
        parts += _coverages(inputs, inputs.prediction, unseen_rows(inputs), ONLY, levels)
    else:
        new = unseen_rows(inputs) & inputs.has_status(NEW)
        parts += _coverages(inputs, inputs.prediction, new, AFTER_CALIBRATION, levels)
        parts += _coverages(inputs, raw, unseen_rows(inputs), RAW, levels)
    names = ["intervals", "level", "rows", "held", "coverage", "standard_error", "mean_width"]
    return pd.DataFrame(parts, columns=names)


def table_levels(inputs: PageInputs) -> tuple[float, ...]:
    """The usual levels, and that of the page."""
    return tuple(sorted({*TABLE_LEVELS, inputs.level}))


def verdict(coverage: float, level: float, standard_error: float) -> str:
    """What a coverage says, in a few words."""
    distance = (coverage - level) / standard_error
    if abs(distance) <= TOO_FAR:
        return RIGHT
    return NARROW if distance < 0 else WIDE


def only_calibrated_on(inputs: PageInputs) -> bool:
    """Whether accuracy can be judged, and the calibrated intervals cannot."""
    rows = unseen_rows(inputs)
    calibrated = inputs.prediction.uncalibrated is not None
    return bool(calibrated and rows.any() and inputs.has_status(CALIBRATED)[rows].all())


def _coverages(
    inputs: PageInputs, prediction: Prediction, rows: Rows, name: str, levels: tuple[float, ...]
) -> list[tuple[str, float, int, int, float, float, float]]:
    n = int(rows.sum())
    found = []
    y = inputs.observed[rows]
    chance = 1 / n if n else 0.0
    if name == AFTER_CALIBRATION and inputs.n_calibration_rows is not None:
        chance += 1 / (inputs.n_calibration_rows + 2)
    for level in levels if n else ():
        try:
            lower, upper = prediction.prediction_interval(level)[rows].T
        except NoSuchIntervalError:  # a method of one level
            continue
        held = int(((lower <= y) & (y <= upper)).sum())
        standard_error = float(np.sqrt(level * (1 - level) * chance))
        width = float(np.mean(upper - lower))
        found.append((name, level, n, held, held / n, standard_error, width))
    return found


def _mean_score(name: str, values: Row, meaning: str) -> Score:
    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return Score(name, float(values.mean()), error, meaning)


def _jackknife(without: Row) -> float:
    """Standard error from the values without each row in turn."""
    n = len(without)
    return float(np.sqrt((n - 1) * np.var(without))) if n > 1 else np.nan


def _crps(inputs: PageInputs, rows: Rows) -> Score | None:
    """That of the law before calibration, which changes intervals and gives no law."""
    law = (inputs.prediction.uncalibrated or inputs.prediction).prediction_law
    if type(law) is not Law:
        return None
    drawn = np.flatnonzero(rows)
    if len(drawn) > MOST_CRPS_ROWS:
        drawn = np.random.default_rng(0).choice(drawn, MOST_CRPS_ROWS, replace=False)
    parts = {name: getattr(law, name)[drawn] for name in ("location", "t_scale", "normal_scale")}
    mixture = replace(law, **parts).normal_mixture()
    if not (mixture.scales > 0).all():
        return None
    scores = crps_of_normal_mixture(inputs.observed[drawn], *mixture)
    meaning = "continuous ranked probability score of the whole predicted law; smaller is better"
    if len(drawn) < rows.sum():
        meaning += f"; of {len(drawn):,} rows drawn by chance"
    return _mean_score("CRPS", scores, meaning)
