"""Bias of predictions for each test input, over many simulated data sets."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

Row = Float64[np.ndarray, " row"]


class PointwiseBias(NamedTuple):
    """The bias of each input's predictions, and how large it is.

    Attributes:
        bias: mean over simulated data sets of prediction minus truth.
        standard_error: of `bias`, from the number of simulations.
        ratio_to_std: `bias` in standard deviations of one prediction. Confidence intervals count
            on zero; it is infinite (or, without bias, not a number) where predictions never vary.
    """

    bias: Row
    standard_error: Row
    ratio_to_std: Row


def pointwise_bias(
    true_mean: Row, predictions: Float64[np.ndarray, "simulation row"]
) -> PointwiseBias:
    """How far predictions lie from the true function's value on average, for each input.

    Example:
        >>> bias = pointwise_bias(np.array([1.0]), np.array([[2.0], [4.0]]))
        >>> [float(part[0].round(3)) for part in bias]
        [2.0, 1.0, 1.414]
    """
    n_simulations = len(predictions)
    if n_simulations < 2:
        raise ValueError(
            f"At least two simulations are needed to see how predictions vary, got "
            f"{n_simulations}. Pass predictions of shape (simulation, row)."
        )
    # Before averaging: a truth of 1e6 would otherwise cost the small differences their digits.
    errors = predictions - true_mean
    bias, std = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return PointwiseBias(bias, std / np.sqrt(n_simulations), bias / std)
