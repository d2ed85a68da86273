"""What the two bootstrapped loops share: scaling, the schedule and the variances.

Arrays only: no peer's library is imported here.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

MINIMUM_STD = 1e-3
"""Floor of the predicted standard deviation in standardised units (paper, Training procedure)."""


@dataclass(frozen=True)
class Standardisation:
    """Mean and standard deviation of each column of the training data."""

    mean: np.ndarray
    std: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """Measure `values`, with a constant column left at its own scale."""
        values = np.asarray(values, dtype=np.float64)
        std = values.std(axis=0)
        return cls(mean=values.mean(axis=0), std=np.where(std > 0, std, 1.0))

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Standardise `values`, in the float32 the networks work in."""
        return np.asarray((values - self.mean) / self.std, dtype=np.float32)


class EnsemblePrediction(NamedTuple):
    """Prediction of a bootstrapped deep ensemble, one entry per row, on the original scale."""

    mean: np.ndarray
    classical_variance: np.ndarray
    optimisation_variance: np.ndarray
    aleatoric_variance: np.ndarray


def epochs_before_and_after_snapshot(epochs: int, retrain_fraction: float) -> tuple[int, int]:
    """Split the epochs at the snapshot.

    Example:
        >>> epochs_before_and_after_snapshot(80, 0.3)
        (56, 24)
    """
    before = round(epochs * (1 - retrain_fraction))
    return before, epochs - before


def ensemble_prediction(
    member_outputs: np.ndarray,
    retrained_outputs: np.ndarray,
    target_scale: Standardisation,
) -> EnsemblePrediction:
    """Ensemble mean and variances, Algorithms 1 and 2 of the paper (arXiv 2202.10903).

    Args:
        member_outputs: Mean and log standard deviation of each member, standardised,
            with axes member, row and output.
        retrained_outputs: The same for the members retrained on simulated targets.
        target_scale: The scale on which the members were trained.
    """
    member_means, member_stds = mean_and_std(np.asarray(member_outputs, dtype=np.float64))
    retrained_means, _ = mean_and_std(np.asarray(retrained_outputs, dtype=np.float64))
    square_scale = target_scale.std**2
    return EnsemblePrediction(
        mean=member_means.mean(axis=0) * target_scale.std + target_scale.mean,
        classical_variance=((member_means - retrained_means) ** 2).mean(axis=0) * square_scale,
        optimisation_variance=member_means.var(axis=0, ddof=1) * square_scale,
        aleatoric_variance=(member_stds**2).mean(axis=0) * square_scale,
    )


def mean_and_std(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read a network's two outputs as mean and standard deviation."""
    return outputs[..., 0], np.exp(outputs[..., 1]) + MINIMUM_STD


def simulated_targets(outputs: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw new standardised targets from a member's own prediction (Algorithm 1)."""
    mean, std = mean_and_std(outputs)
    return generator.normal(mean, std).astype(np.float32)
