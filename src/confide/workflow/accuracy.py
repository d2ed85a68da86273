"""How far predictions are from what was observed, each score with its standard error."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from confide.metrics import jackknife_standard_error

Row = Float64[np.ndarray, " row"]

# Beyond so many standard errors, a difference is not called chance.
TOO_FAR = 2.0
# So bad that one row can be behind it, whose error is then as large.
FAR_WORSE = -1.0


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


def is_worse_than_mean(r_squared: Score) -> bool:
    """Whether always predicting the mean would be better, not by chance alone."""
    return r_squared.value < max(-TOO_FAR * r_squared.standard_error, FAR_WORSE)


def mean_score(name: str, values: Row, meaning: str) -> Score:
    """A mean over rows as a score."""
    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return Score(name, float(values.mean()), error, meaning)
