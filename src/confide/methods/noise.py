"""Noise for learners that predict a mean alone: from residuals of rows that were left out.

Residuals of rows that a learner was trained on are too small. So members are trained without a
part of the rows in turn, and predict that part. A forest smooths the squared residuals into
a variance at every row.

Such residuals hold the error of the fit beside the noise. The part of it that is due to finite data
grows in proportion to the noise, and the bootstrap measures the proportion: targets simulated with
the variance v of the residuals moved the predictions by a variance c, so noise of variance s^2
would move them by s^2 c / v. Residuals have the variance s^2 + s^2 c / v + o, with o the variance
of random training, which gives s^2 = (v - o) / (1 + c / v).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from confide.bootstrap import Keys
from confide.fingerprints import Groups
from confide.learners import Learner, TrainingData
from confide.methods.held_out import N_MEMBERS, held_out_means
from confide.persistence import Arrays, checked_array
from confide.progress import Progress
from confide.randomness import generator_from
from confide.trees import Row, Trees, variance_of_residuals
from confide.uncertainty import (
    ContainingLaw,
    Law,
    TPlusNormalLaw,
    bootstrapped_confidence_law,
)

# Degrees of freedom that are tried for the law of a new observation; the last is nearly normal.
DEGREES = (3, 4, 5, 7, 10, 20, 50)
# However large the error of the fit seems to be, some of the residuals is noise.
LEAST_NET = 0.1


@dataclass(frozen=True)
class Noise:
    """What residuals of rows that were left out tell.

    Attributes:
        variance: of the noise, as a function of the standardised inputs.
        net: what the bootstrap's squared shifts are multiplied with, because their targets were
            simulated with the variance of the residuals instead of that of the noise.
        tail_scale: of the law of a new observation, in standard deviations of noise and estimate.
        degrees_of_freedom: of that law, a t law: few where some residuals are large.
    """

    variance: Trees
    net: float
    tail_scale: float
    degrees_of_freedom: int

    def prediction_law(self, mean: Row, epistemic: Row, aleatoric: Row, n_members: int) -> Law:
        """The law of a new observation.

        Its intervals contain those of the true function, whose law is a t law with one degree of
        freedom less than there are members. At levels up to 95 % it is a t law too.

        Args:
            mean: the prediction of each row.
            epistemic: variance of that prediction.
            aleatoric: variance of the noise.
            n_members: of the ensemble.

        Returns:
            The law of each row.
        """
        scale = self.tail_scale * np.sqrt(epistemic + aleatoric)
        if n_members == 1:  # one member has no law of the true function
            return TPlusNormalLaw.t(mean, scale, self.degrees_of_freedom)
        scale = np.maximum(scale, self.least_scale(n_members) * np.sqrt(epistemic))
        true_function = bootstrapped_confidence_law(mean, epistemic, n_members)
        return ContainingLaw(TPlusNormalLaw.t(mean, scale, self.degrees_of_freedom), true_function)

    def least_scale(self, n_members: int) -> float:
        """The smallest scale of the law, in standard deviations of the estimate."""
        from scipy.stats import t

        degrees = np.array([[n_members - 1], [self.degrees_of_freedom]])
        of_mean, own = t.ppf((0.6, 0.975), degrees)
        return float(np.max(of_mean / own))

    def to_arrays(self) -> Arrays:
        """What a model file keeps."""
        law = np.array([self.net, self.tail_scale, self.degrees_of_freedom], np.float64)
        return {**self.variance.to_arrays(), "law": law}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> "Noise":
        """From a model file's arrays, checked."""
        net, tail_scale, degrees_of_freedom = checked_array(arrays, "law", (3,), np.float64)
        if not (0 < net <= 1 and 0 < tail_scale < np.inf and degrees_of_freedom in DEGREES):
            raise ValueError("the law of the noise makes no sense")
        variance = Trees.from_arrays(arrays, n_features)
        return cls(variance, float(net), float(tail_scale), int(degrees_of_freedom))


@dataclass(frozen=True)
class Residuals:
    """Residuals of rows that were left out, with a first variance.

    Attributes:
        residuals: of each row.
        variance: of the residuals, as a function of the standardised inputs.
        at_rows: the same at the rows, each without itself.
    """

    residuals: Row
    variance: Trees
    at_rows: Row

    def noise(self, classical: Row | None, optimisation: Row, n_members: int) -> Noise:
        """What they tell about the noise.

        Args:
            classical: variance at the rows that the bootstrap found, if there was one.
            optimisation: variance of a member at the rows that is due to random training.
            n_members: of the ensemble.

        Returns:
            The noise, net of the error of the fit.
        """
        found = 0.0 if classical is None else classical
        of_folds = optimisation / min(n_members, N_MEMBERS)
        typical = float(self.at_rows.mean()) or 1.0
        net = (1 - of_folds.mean() / typical) / (1 + np.mean(found) / typical)
        net = float(np.clip(net, LEAST_NET, 1.0))
        variance = net * (self.at_rows + found) + of_folds
        # Rows that the forest takes for free of noise do not decide about tails.
        standardised = self.residuals / np.sqrt(np.maximum(variance, 1e-4 * net * typical))
        return Noise(self.variance.scaled(net), net, *_tails(standardised))


def _tails(standardised: Row) -> tuple[float, int]:
    """Scale and degrees of freedom of the t law under which residuals are likeliest."""
    from scipy.stats import t

    def fit(degrees: int) -> tuple[float, float]:
        *_, scale = t.fit(standardised, fdf=degrees, floc=0.0)
        return float(t.logpdf(standardised, degrees, scale=scale).sum()), float(scale)

    likelihoods = {degrees: fit(degrees) for degrees in DEGREES}
    best = max(DEGREES, key=lambda degrees: likelihoods[degrees][0])
    return likelihoods[best][1], best


def out_of_fold_residuals(
    keys: Keys,
    learner: Learner[Any],
    data: TrainingData,
    targets: Float32[np.ndarray, "set row"],
    epochs: int,
    *,
    means: Float64[np.ndarray, "set _ row"] | None = None,
    groups: Groups | None = None,
    progress: Progress | None = None,
) -> list[Residuals]:
    """For each data set, what is left of its targets at rows that were left out.

    Args:
        keys: of all members of all data sets.
        learner: what is trained.
        data: the rows, the same for all.
        targets: of each data set.
        epochs: of a training.
        means: what was predicted for rows left out, if that is known already.
        groups: number of each row's group: rows of a group are left out together.
        progress: called with the number of member-epochs just finished.
    """
    members = np.arange(len(keys.training)).reshape(len(targets), -1)[:, :N_MEMBERS]
    if means is None:
        first = Keys(*(of_purpose[members.ravel()] for of_purpose in keys))
        how: dict[str, Any] = {"groups": groups, "progress": progress}
        means = held_out_means(first, learner, data, targets, epochs, **how)
    # A fold that has never seen the far end of the targets may miss it by far.
    ends = targets.min(axis=1, keepdims=True), targets.max(axis=1, keepdims=True)
    residuals = targets.astype(np.float64) - np.clip(means.mean(axis=1), *ends)
    inputs = data.inputs.astype(np.float64)
    return [
        Residuals(of_set, *variance_of_residuals(inputs, of_set, _seed(key)))
        for of_set, key in zip(residuals, keys.simulation[members[:, 0]], strict=True)
    ]


def _seed(key: Any) -> int:
    return int(generator_from(key, 1).integers(np.iinfo(np.int32).max))
