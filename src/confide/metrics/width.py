"""Widths of intervals, and coverage at equal width: is a method better, or only wider?"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float64

from confide.metrics.coverage import cicf

Intervals = Float64[np.ndarray, "simulation row 2"]


def pointwise_mean_width(intervals: Intervals) -> Float64[np.ndarray, " row"]:
    """Mean width over simulated data sets, for each input.

    Example:
        >>> pointwise_mean_width(np.array([[[0.0, 2.0]], [[0.0, 4.0]]])).tolist()
        [3.0]
    """
    return np.asarray(np.mean(intervals[..., 1] - intervals[..., 0], axis=0))


def mean_width(intervals: Intervals) -> float:
    """Mean width over simulated data sets and inputs.

    Example:
        >>> mean_width(np.array([[[0.0, 2.0], [0.0, 4.0]]]))
        3.0
    """
    return float(np.mean(pointwise_mean_width(intervals)))


def stretched_to_mean_width(intervals: Intervals, width: float) -> Intervals:
    """Every interval stretched about its own centre by one factor, so that their mean width is it.

    Example:
        >>> stretched_to_mean_width(np.array([[[0.0, 2.0], [0.0, 4.0]]]), 6.0).tolist()
        [[[-1.0, 3.0], [-2.0, 6.0]]]
    """
    before = mean_width(intervals)
    if not (before > 0 and np.isfinite(before)):
        raise ValueError(
            f"Intervals can be stretched to a mean width only from a positive and finite one, got "
            f"{before}. Leave this method out."
        )
    centre = np.mean(intervals, axis=-1, keepdims=True)
    return centre + (intervals - centre) * (width / before)


def at_equal_mean_width(
    intervals: Mapping[str, Intervals], width: float | None = None
) -> dict[str, Intervals]:
    """Each method's intervals stretched to one mean width: `width`, or else the first method's."""
    if width is None:
        width = mean_width(next(iter(intervals.values())))
    return {name: stretched_to_mean_width(each, width) for name, each in intervals.items()}


def cicf_at_equal_mean_width(
    true_mean: Float64[np.ndarray, " row"],
    intervals: Mapping[str, Intervals],
    width: float | None = None,
) -> dict[str, Float64[np.ndarray, " row"]]:
    """Each method's CICF, Eq. (4), once all have the same mean width.

    What is left of a difference between methods is where their intervals lie and which inputs
    they give the width to; how wide they are on the whole is taken out.

    Example:
        >>> one, ten = np.array([[[0.5, 1.5]]]), np.array([[[2.0, 12.0]]])
        >>> coverage = cicf_at_equal_mean_width(np.array([3.0]), {"one": one, "ten": ten})
        >>> {name: share.tolist() for name, share in coverage.items()}
        {'one': [0.0], 'ten': [0.0]}
    """
    equal = at_equal_mean_width(intervals, width)
    return {name: cicf(true_mean, each) for name, each in equal.items()}
