"""Whether intervals hold, in three grades: one rule for the commands, the page and both kinds.

Intervals hold while chance explains how far off they are. Beyond that they are slightly off. They
do not hold where the difference is large, too, and chance surely does not explain it. A large table
makes any difference more than chance, and a small one any difference possible: so both count.
Intervals that are wider than needed contain what was promised, so that they are slightly off.
"""

from enum import IntEnum

from scipy.special import ndtr, ndtri

# P-values below which chance hardly explains a difference, and surely does not.
UNLIKELY, VERY_UNLIKELY = 0.05, 0.01
# A large difference is half as much again.
LARGE = 1.5
# Standard errors within which chance explains a difference.
WITHIN = float(-ndtri(UNLIKELY / 2))


class Grade(IntEnum):
    """How well intervals hold; the largest is the worst."""

    HOLD = 0
    SLIGHTLY_OFF = 1
    DO_NOT_HOLD = 2

    @property
    def now(self) -> str:
        """What they do, in words."""
        return ("they hold", "they are slightly off", "they do not hold")[self]

    @property
    def before(self) -> str:
        """What they did, in words."""
        return ("they held", "they were slightly off", "they did not hold")[self]


def graded(p_value: float, *, is_large: bool) -> Grade:
    """The grade of a difference from what was promised.

    Example:
        >>> [graded(p, is_large=True).now for p in (0.05, 0.011, 0.009)]
        ['they hold', 'they are slightly off', 'they do not hold']
    """
    if p_value >= UNLIKELY:
        return Grade.HOLD
    return Grade.DO_NOT_HOLD if is_large and p_value < VERY_UNLIKELY else Grade.SLIGHTLY_OFF


def graded_coverage(share: float, level: float, standard_error: float) -> Grade:
    """The grade of a share of observations inside of their intervals.

    Args:
        share: of the observations.
        level: the share that was promised.
        standard_error: of a share of exact intervals.

    Returns:
        The grade; a large difference is in the odds of lying outside, which mean the same at every
        level.

    Raises:
        ValueError: the standard error is not above 0.

    Example:
        >>> [graded_coverage(share, 0.9, 0.01).now for share in (0.91, 0.87, 0.85, 0.95)]
        ['they hold', 'they are slightly off', 'they do not hold', 'they are slightly off']
    """
    if not standard_error > 0:  # a stranger's file may say anything
        raise ValueError(
            f"The standard error of a share must be above 0, got {standard_error}. Pass that of "
            "exact intervals."
        )
    p_value = 2 * float(ndtr(-abs(share - level) / standard_error))
    is_large = (1 - share) * level > LARGE * (1 - level) * share
    return graded(p_value, is_large=is_large)
