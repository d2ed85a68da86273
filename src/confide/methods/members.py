"""What methods of ensembles do alike: prepare data, train members, ask them, keep them.

A method that trains its members and nothing more takes its doors from here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, PRNGKeyArray

from confide.bootstrap import Keys, train_ensemble
from confide.learners import Learner, TrainingData, networks
from confide.methods.noise import noise_epochs, out_of_fold_noise
from confide.methods.settings import TrainingSettings
from confide.persistence import Arrays, part
from confide.progress import Progress
from confide.randomness import MemberKeys
from confide.standardise import Standardiser
from confide.trees import Trees
from confide.uncertainty import disagreement_variance, optimisation_variance

# Rows answered at once: members x rows stays a few megabytes however long the table is.
ROWS_PER_BLOCK = 65_536
# Variance between members as of a sample (divisor M - 1) or of a population (divisor M).
SPREADS = {"sample": optimisation_variance, "population": disagreement_variance}


class Prepared(NamedTuple):
    """Data sets with the same inputs, standardised.

    Members of data set j are entries j * M to (j + 1) * M - 1 of every array of members.
    """

    standardisers: list[Standardiser]
    data: TrainingData
    targets: Float32[np.ndarray, "set row"]

    def of_members(self, n_members: int) -> Float32[np.ndarray, "member row"]:
        """The targets of each data set, repeated for each of its members."""
        n_sets, n_rows = self.targets.shape
        repeated = np.broadcast_to(self.targets[:, None], (n_sets, n_members, n_rows))
        return repeated.reshape(-1, n_rows)  # not a copy where there is one set


@dataclass(frozen=True)
class FittedMembers:
    """Trained members, with what it takes to ask them.

    Attributes:
        settings: of the method.
        learner: what was trained.
        standardiser: of inputs and target.
        members: the trained members, the learner's own state.
        noise: variance of the noise where the learner predicts a mean alone, in standardised
            units; None where it predicts the variance too.
    """

    settings: Any
    learner: Learner[Any]
    standardiser: Standardiser
    members: Any
    noise: Trees | None


class Answers(NamedTuple):
    """What each member predicts for some rows, in standardised units."""

    means: Float[np.ndarray, "member row"]
    variances: Float[np.ndarray, "member row"]


def learner(settings: TrainingSettings, n_features: int, **arguments: Any) -> Learner[Any]:
    """Networks with a mean and a variance; see `confide.learners.networks` for the arguments."""
    return networks(n_features, settings.n_networks, **arguments)


def prepared(
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    sample_weight: Float64[np.ndarray, " row"] | None,
    member_rows: Int[np.ndarray, "member row"] | None = None,
) -> Prepared:
    """Each data set standardised by itself."""
    standardisers = Standardiser.for_each(X, targets, sample_weight)
    blocks = standardisers[0].input_blocks(X)
    each = np.stack([s.targets(y) for s, y in zip(standardisers, targets, strict=True)])
    data = TrainingData.from_blocks(blocks, X.shape, sample_weight, member_rows)
    return Prepared(standardisers, data, each)


def fit_members(
    keys: Sequence[PRNGKeyArray],
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    settings: TrainingSettings,
    learner: Learner[Any],
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    progress: Progress | None = None,
    resample: Callable[[MemberKeys, int], Int[np.ndarray, "member row"]] | None = None,
) -> list[FittedMembers]:
    """Trains the members of all data sets, each on all rows or on those that `resample` draws.

    Args:
        keys: one for each data set.
        X: the inputs of all.
        targets: of each data set.
        settings: of the method.
        learner: what is trained.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.
        resample: draws the rows that each member sees.
    """
    n_members = settings.n_networks
    of_members = Keys.from_keys(keys, n_members)
    rows = None if resample is None else resample(of_members.simulation, len(X))
    sets = prepared(X, targets, sample_weight, rows)
    noise = learn_noise(of_members, learner, sets, settings, progress)
    state = train_ensemble(
        of_members,
        learner,
        sets.data,
        sets.of_members(n_members),
        settings.max_epochs,
        progress=progress,
    )
    of_sets = np.arange(len(keys) * n_members).reshape(-1, n_members)
    return [
        FittedMembers(settings, learner, standardiser, learner.take(state, members), own_noise)
        for standardiser, members, own_noise in zip(sets.standardisers, of_sets, noise, strict=True)
    ]


def learn_noise(
    keys: Keys,
    learner: Learner[Any],
    sets: Prepared,
    settings: TrainingSettings,
    progress: Progress | None,
) -> Sequence[Trees | None]:
    """Each data set's noise, or None where the learner predicts it."""
    if learner.likelihood.has_variance:
        return [None] * len(sets.targets)
    return out_of_fold_noise(
        keys, learner, sets.data, sets.targets, settings.max_epochs, progress=progress
    )


def member_epochs(settings: TrainingSettings, learner: Learner[Any]) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    n_members, epochs = settings.n_networks, settings.max_epochs
    return n_members * epochs + noise_epochs(learner, epochs, n_members)


def answers(fitted: FittedMembers, X: Float[np.ndarray, "row feature"]) -> Answers:
    """What each member says about some rows."""
    inputs = fitted.standardiser.inputs(X)
    outputs, likelihood = fitted.learner.predict(fitted.members, inputs), fitted.learner.likelihood
    means = likelihood.mean(outputs)
    if fitted.noise is None:
        return Answers(means, likelihood.variance(outputs))
    return Answers(means, np.broadcast_to(fitted.noise(inputs), means.shape))


def to_arrays(fitted: FittedMembers) -> Arrays:
    """What a model file keeps beside the settings."""
    arrays = fitted.standardiser.to_arrays() | kept("members", fitted.learner, fitted.members)
    if fitted.noise is not None:
        arrays |= {f"noise.{name}": array for name, array in fitted.noise.to_arrays().items()}
    return arrays


def from_arrays(
    arrays: Arrays, settings: TrainingSettings, learner: Learner[Any], n_features: int
) -> FittedMembers:
    """Fitted members from a model file's arrays, checked."""
    return FittedMembers(
        settings,
        learner,
        Standardiser.from_arrays(arrays, n_features),
        restored(arrays, "members", settings.n_networks, learner, n_features),
        noise_from(arrays, learner, n_features),
    )


def kept(name: str, learner: Learner[Any], state: Any) -> Arrays:
    """A learner's arrays under a name."""
    return {f"{name}.{own}": array for own, array in learner.to_arrays(state).items()}


def restored(
    arrays: Arrays, name: str, n_members: int, learner: Learner[Any], n_features: int
) -> Any:
    """Members from the arrays that `kept` named."""
    try:
        return learner.from_arrays(part(arrays, name), n_members, n_features)
    except ValueError as error:
        raise ValueError(f"of the {name}, {error}") from error


def noise_from(arrays: Arrays, learner: Learner[Any], n_features: int) -> Trees | None:
    """The noise of a model file, where the learner needs one."""
    if learner.likelihood.has_variance:
        return None
    return Trees.from_arrays(part(arrays, "noise"), n_features)


def in_row_blocks(
    of_rows: Callable[[Float[np.ndarray, "row feature"]], Float64[np.ndarray, "part row"]],
    X: Float[np.ndarray, "row feature"],
) -> Float64[np.ndarray, "part row"]:
    """The same numbers as `of_rows(X)`, in bounded memory."""
    starts = range(0, max(len(X), 1), ROWS_PER_BLOCK)
    return np.concatenate([of_rows(X[start : start + ROWS_PER_BLOCK]) for start in starts], axis=1)
