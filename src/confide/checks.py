"""Settings that are refused when they cannot be meant, with what to pass instead."""

import numbers

import numpy as np

from confide.errors import is_number, nearest

# The networks' numbers are float32.
LARGEST = float(np.finfo(np.float32).max)


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
