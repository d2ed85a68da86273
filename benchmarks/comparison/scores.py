"""Answers judged against targets, and against the true function where it is known.

Lengths are in the data set's own unit, `Split.scale`.
"""

from typing import Any

import numpy as np

from confide.metrics import interval_score, pinball_loss

from .answers import LEVELS, MIDPOINTS, PROBABILITIES, Answers
from .data import Split


def crps_of_quantiles(
    y: np.ndarray, quantiles: np.ndarray, probabilities: np.ndarray
) -> np.ndarray:
    r"""The CRPS of the law that sits on these quantiles, with the same weight on each.

    The CRPS is twice the integral of the pinball loss over all probabilities; with n quantiles at
    $(i - 1/2) / n$ their mean is that integral for the discrete law, exactly. For a normal law
    with twenty quantiles it is 0.2 % above the CRPS of the law itself.

    Args:
        y: a target for each row.
        quantiles: for each row and probability.
        probabilities: the midpoints $(i - 1/2) / n$.

    Example:
        >>> crps_of_quantiles(np.array([3.0]), np.array([[1.0]]), np.array([0.5])).tolist()
        [2.0]
    """
    return 2 * np.mean(pinball_loss(y, quantiles, probabilities), axis=1)


def prediction_scores(split: Split, answers: Answers) -> dict[str, float]:
    """Accuracy, and how good the prediction intervals are."""
    at = {p: answers.quantiles[:, i] for i, p in enumerate(PROBABILITIES)}
    midpoints = np.stack([at[p] for p in MIDPOINTS], axis=1)
    error = split.y_test - answers.mean
    scores = {
        "rmse": float(np.sqrt(np.mean(error**2))) / split.scale,
        "crps": _mean(crps_of_quantiles(split.y_test, midpoints, np.array(MIDPOINTS)))
        / split.scale,
    }
    for level in LEVELS:
        lower, upper = (at[p] for p in _bounds(level))
        intervals = np.stack([lower, upper], axis=1)
        held = (lower <= split.y_test) & (split.y_test <= upper)
        name = f"{100 * level:g}"
        scores |= {
            f"picp_{name}": _mean(held),
            f"width_{name}": _mean(upper - lower) / split.scale,
            f"interval_score_{name}": _mean(interval_score(split.y_test, intervals, level))
            / split.scale,
        }
    return scores


def truth_scores(split: Split, answers: Answers) -> dict[str, Any]:
    """How near the true function is, and how often confidence intervals hold it.

    Whether the interval holds it is kept for each row ("held_80", a digit a row): pointwise
    coverage is counted over repeats.
    """
    if split.true_mean is None:
        return {}
    error = split.true_mean - answers.mean
    scores: dict[str, Any] = {"rmse_true": float(np.sqrt(np.mean(error**2))) / split.scale}
    if answers.confidence is None:
        return scores
    for i, level in enumerate(LEVELS):
        lower, upper = answers.confidence[:, :, i].T
        held = (lower < split.true_mean) & (split.true_mean < upper)
        name = f"{100 * level:g}"
        scores |= {
            f"confidence_width_{name}": _mean(upper - lower) / split.scale,
            f"held_{name}": "".join("1" if each else "0" for each in held),
        }
    return scores


def _bounds(level: float) -> tuple[float, float]:
    """The probabilities of a central interval's bounds, among those that were asked for."""
    lower = min(PROBABILITIES, key=lambda p: abs(p - (1 - level) / 2))
    return lower, PROBABILITIES[-1 - PROBABILITIES.index(lower)]


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values))
