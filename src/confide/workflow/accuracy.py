"""How far predictions are from what was observed, each score with its standard error."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from jaxtyping import Float64

from confide.metrics import jackknife_standard_error

Row = Float64[np.ndarray, " row"]

# Beyond so many standard errors, a difference is not called chance.
TOO_FAR = 2.0
# So many times the error of a guess is worse, even if one row is behind it: the standard error is
# then as large as the error.
FAR_WORSE = np.sqrt(2)


class Worth(Enum):
    """What a model is worth beside one guess for all rows."""

    BETTER = "better"
    NO_BETTER = "no better"
    WORSE = "worse"


@dataclass(frozen=True)
class Score:
    """One number about the accuracy, with its standard error (NaN where one row gives none)."""

    name: str
    value: float
    standard_error: float
    meaning: str


def accuracy_scores(y: Row, mean: Row) -> list[Score]:
    """Scores of predictions for rows that a model was not trained on; needs at least one."""
    error = mean - y
    n, squares, spread = len(y), error**2, (y - y.mean()) ** 2
    # Sums without each row in turn; that of squares about the mean also loses the row's pull on it.
    rest = squares.sum() - squares
    rest_spread = spread.sum() - spread * n / max(n - 1, 1)
    scores = [
        Score(
            "RMSE",
            float(np.sqrt(squares.mean())),
            jackknife_standard_error(np.sqrt(rest / max(n - 1, 1))),
            "root mean squared error: the typical error, in the target's unit",
        ),
        mean_score("MAE", np.abs(error), "mean absolute error, which large errors affect less"),
        mean_score("mean error", error, "prediction minus observed: above 0, predictions are high"),
    ]
    if n > 2 and spread.sum() > 0 and (rest_spread > 0).all():
        scores.append(
            Score(
                "R²",
                float(1 - squares.sum() / spread.sum()),
                jackknife_standard_error(1 - rest / rest_spread),
                "share of the target's variance that is explained: 1 is perfect, 0 is no better "
                "than always predicting the mean",
            )
        )
    return scores


def worth(error: float, standard_error: float, of_guess: float) -> Worth:
    """What a model is worth: only a difference beyond the error's standard error counts.

    Args:
        error: RMSE of the model.
        standard_error: of that; not a number where nothing is known of it, and chance may decide.
        of_guess: RMSE of the guess.

    Example:
        >>> worth(10.2, 0.9, 10.8), worth(8.0, 0.9, 10.8), worth(12.0, 0.9, 10.8)
        (<Worth.NO_BETTER: 'no better'>, <Worth.BETTER: 'better'>, <Worth.WORSE: 'worse'>)
    """
    if error < of_guess - standard_error:
        return Worth.BETTER
    is_worse = error > min(of_guess + standard_error, FAR_WORSE * of_guess)
    return Worth.WORSE if is_worse else Worth.NO_BETTER


def mean_score(name: str, values: Row, meaning: str) -> Score:
    """A mean over rows as a score."""
    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return Score(name, float(values.mean()), error, meaning)
