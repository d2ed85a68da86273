"""Noise for learners that predict a mean alone: from residuals of rows that were left out.

Residuals of rows that a learner was trained on are too small. So members are trained without a
part of the rows in turn, and predict that part. A forest smooths the squared residuals into
a variance at every row.

Such residuals are somewhat too large: they are those of a few members, and of members that have
seen four fifths of the rows. What averaging all members takes away is known from how much the few
disagree. What the last fifth of the rows takes away is read off the fifth before: members that see
three fifths are trained too, and squared errors are taken to fall as a power of the number of rows.

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
from confide.methods.held_out import N_MEMBERS, ensemble_squares, held_out_means
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

        It is a t law, made wider at each level where it would not contain the interval of the true
        function.

        Args:
            mean: the prediction of each row.
            epistemic: variance of that prediction.
            aleatoric: variance of the noise.
            n_members: of the ensemble.

        Returns:
            The law of each row.
        """
        scale = self.tail_scale * np.sqrt(epistemic + aleatoric)
        law = TPlusNormalLaw.t(mean, scale, self.degrees_of_freedom)
        if n_members == 1:  # one member has no law of the true function
            return law
        return ContainingLaw(law, bootstrapped_confidence_law(mean, epistemic, n_members))

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
        residuals: of each row, in the size that those of the whole ensemble have.
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
        random = optimisation / n_members
        typical = float(self.at_rows.mean()) or 1.0
        net = (1 - random.mean() / typical) / (1 + np.mean(found) / typical)
        net = float(np.clip(net, LEAST_NET, 1.0))
        variance = net * (self.at_rows + found) + random
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
    of_sets = np.arange(len(keys.training)).reshape(len(targets), -1)
    members, n_members = of_sets[:, :N_MEMBERS], of_sets.shape[1]
    few = Keys(*(of_purpose[members.ravel()] for of_purpose in keys))
    how: dict[str, Any] = {"groups": groups, "progress": progress}
    if means is None:
        means = held_out_means(few, learner, data, targets, epochs, **how)
    with_fewer_rows = held_out_means(few, learner, data, targets, epochs, n_left_out=2, **how)
    inputs = data.inputs.astype(np.float64)
    found = []
    for y, own, fewer, key in zip(
        targets, means, with_fewer_rows, keys.simulation[members[:, 0]], strict=True
    ):
        # A fold that has never seen the far end of the targets may miss it by far.
        within, fewer_within = (np.clip(each, y.min(), y.max()) for each in (own, fewer))
        residuals = y.astype(np.float64) - within.mean(axis=0)
        squares = ensemble_squares(y, within, n_members)
        share = squares.mean() / max(np.mean(residuals**2), np.finfo(float).tiny)
        share *= share_with_all_rows(squares, ensemble_squares(y, fewer_within, n_members))
        residuals *= np.sqrt(np.clip(share, LEAST_NET, 1.0))
        found.append(Residuals(residuals, *variance_of_residuals(inputs, residuals, _seed(key))))
    return found


def share_with_all_rows(squares: Row, with_fewer: Row) -> float:
    """What is left of a squared error where no fold is left out.

    Errors are taken to fall as a power of the number of rows. The power is read off errors without
    one fold and without two, and drawn to zero by its standard error: ten rows tell nothing.

    Args:
        squares: squared errors at rows of a fold that was left out.
        with_fewer: the same where a second fold was left out beside it.

    Returns:
        A factor of at most one.

    Example:
        >>> squares = np.ones(1000)
        >>> round(share_with_all_rows(squares, 4 / 3 * squares), 6)  # one over the number of rows
        0.8
        >>> share_with_all_rows(squares, squares)
        1.0
    """
    more, fewer = squares.mean(), with_fewer.mean()
    if not fewer > more > 0:
        return 1.0
    fall = np.log(fewer / more)
    standard_error = np.std(with_fewer / fewer - squares / more) / np.sqrt(len(squares))
    fall *= fall**2 / (fall**2 + standard_error**2)
    # From four fifths of the rows to all, where the fall was from three fifths to four.
    return float(np.exp(-fall * np.log(5 / 4) / np.log(4 / 3)))


def _seed(key: Any) -> int:
    return int(generator_from(key, 1).integers(np.iinfo(np.int32).max))
