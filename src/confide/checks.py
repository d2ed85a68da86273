"""What is refused when it cannot be meant, with what to pass instead."""

import numbers

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.errors import is_number, nearest

# The networks' numbers are float32.
LARGEST = float(np.finfo(np.float32).max)
# Quantiles nearer to 0 or 1 than this have no digits left in a float.
NEAREST_TO_CERTAIN = 1e-12


def require_whole(name: str, value: object, advice: str) -> None:
    """Refuses all but a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, got {value!r}. {advice}")


def require_positive(name: str, value: object, advice: str) -> None:
    """Refuses all but a positive number that float32 can hold."""
    if not (is_number(value) and 0 < value < LARGEST):
        raise ValueError(f"`{name}` must be a positive number, got {value!r}. {advice}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuses all but the listed words."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {choices}, got {value!r}. {nearest(value, choices)}"
        )


def require_not_negative(name: str, value: object, advice: str) -> None:
    """Refuses all but zero and the positive numbers that float32 can hold."""
    if not (is_number(value) and 0 <= value < LARGEST):
        raise ValueError(f"`{name}` must be a number that is not negative, got {value!r}. {advice}")


def checked_targets(y: ArrayLike, n_rows: int) -> Float64[np.ndarray, " row"]:
    """Observed targets, one finite number for each row."""
    targets = np.asarray(y)
    if targets.shape not in {(n_rows,), (n_rows, 1)}:
        raise ValueError(
            f"y must have one target for each of the {n_rows} predicted rows, got shape "
            f"{targets.shape}. Pass the targets of the rows that were predicted, in their order."
        )
    if targets.dtype.kind not in "biuf":  # Python's own words refuse text, and dates too
        targets = targets.astype(object)
    try:
        targets = targets.astype(np.float64).reshape(n_rows)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}. Pass the observed targets.") from error
    if not np.isfinite(targets).all():
        row = int(np.argmin(np.isfinite(targets)))
        raise ValueError(
            f"y must be finite numbers, got {targets[row]} in row {row}. Drop the rows whose "
            "target is missing from X and y, and predict the others."
        )
    return targets


def checked_level(confidence_level: object) -> float:
    """The level, if it is one."""
    if not (is_number(confidence_level) and 0 < confidence_level < 1):
        raise ValueError(
            f"`confidence_level` must lie in (0, 1), got {confidence_level!r}. It is a fraction: "
            "pass 0.95 for 95 %."
        )
    if confidence_level > 1 - NEAREST_TO_CERTAIN:
        raise ValueError(
            f"`confidence_level` must be at most 1 - {NEAREST_TO_CERTAIN:g}, got "
            f"{confidence_level!r}: floats cannot tell such quantiles apart."
        )
    return float(confidence_level)


def checked_probability(probability: object) -> float:
    """The probability of a quantile, if it is one."""
    low, high = NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN
    if not (is_number(probability) and low <= probability <= high):
        raise ValueError(
            f"Quantile probabilities must lie in (0, 1), got {probability!r}. Pass for example "
            "[0.05, 0.5, 0.95]."
        )
    return float(probability)
