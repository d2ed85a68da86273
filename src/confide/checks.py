"""Checks of arguments: each refuses a value with the reason, and says what to pass instead."""

import numbers
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeGuard

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.errors import nearest

# The networks' numbers are float32.
LARGEST = float(np.finfo(np.float32).max)
# Quantiles nearer to 0 or 1 than this have no digits left in a float.
NEAREST_TO_CERTAIN = 1e-12


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def checked_field(default: Any, require: Callable[..., None], *advice: Any) -> Any:
    """A field of a dataclass: its default, the check of its value, and what the check is told."""
    return field(default=default, metadata={"require": require, "advice": advice})


def require_whole(name: str, value: object, advice: str) -> None:
    """Refuses all but a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, got {value!r}. {advice}")


def require_positive(name: str, value: object, advice: str) -> None:
    """Refuses all but a positive number that float32 can hold."""
    if not (is_number(value) and 0 < value < LARGEST):
        raise ValueError(f"`{name}` must be a positive number, got {value!r}. {advice}")


def require_within(name: str, value: object, bounds: str, advice: str) -> None:
    """Refuses all but a number within the bounds, such as "(0, 1]": 0 is outside, 1 is inside."""
    low, high = (float(bound) for bound in bounds[1:-1].split(","))
    outside = {"(": low, ")": high}
    ends = {outside.get(bracket) for bracket in (bounds[0], bounds[-1])}
    if not (is_number(value) and low <= value <= high and value not in ends):
        raise ValueError(f"`{name}` must lie in {bounds}, got {value!r}. {advice}")


def require_choice(name: str, value: object, choices: tuple[str | None, ...]) -> None:
    """Refuses all but the listed words."""
    if value not in choices:
        words = (choice for choice in choices if choice is not None)
        raise ValueError(
            f"`{name}` must be one of {choices}, got {value!r}. {nearest(value, words)}"
        )


def require_not_negative(name: str, value: object, advice: str) -> None:
    """Refuses all but zero and the positive numbers that float32 can hold."""
    if not (is_number(value) and 0 <= value < LARGEST):
        raise ValueError(f"`{name}` must be a number that is not negative, got {value!r}. {advice}")


def checked_targets(y: ArrayLike, n_rows: int) -> Float64[np.ndarray, " row"]:
    """Observed targets as floats: one finite number for each row."""
    targets = np.asarray(y)
    if targets.shape not in {(n_rows,), (n_rows, 1)}:
        raise ValueError(
            f"y must have one target for each of the {n_rows} predicted rows, got shape "
            f"{targets.shape}. Pass the targets of the rows that were predicted, in their order."
        )
    if targets.dtype.kind not in "biuf":  # float() refuses text and dates, astype not all of them
        targets = targets.astype(object)
    try:
        targets = targets.astype(np.float64).reshape(n_rows)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}. Pass the observed targets.") from error
    if not np.isfinite(targets).all():
        row = int(np.argmin(np.isfinite(targets)))
        raise ValueError(
            f"y must be finite numbers, got {targets[row]} in row {row}. Drop rows without a "
            "target from both X and y, and predict the others."
        )
    return targets


def checked_level(confidence_level: Any) -> float:
    """The confidence level, as a float between 0 and 1."""
    advice = "It is a fraction: pass 0.95 for 95 %."
    require_within("confidence_level", confidence_level, "(0, 1)", advice)
    if confidence_level > 1 - NEAREST_TO_CERTAIN:
        raise ValueError(
            f"`confidence_level` must be at most 1 - {NEAREST_TO_CERTAIN:g}, got "
            f"{confidence_level!r}: floats cannot tell such quantiles apart."
        )
    return float(confidence_level)


def checked_probability(probability: object) -> float:
    """The probability of a quantile, as a float between 0 and 1."""
    low, high = NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN
    if not (is_number(probability) and low <= probability <= high):
        raise ValueError(
            f"Quantile probabilities must lie in (0, 1), got {probability!r}. Pass for example "
            "[0.05, 0.5, 0.95]."
        )
    return float(probability)
