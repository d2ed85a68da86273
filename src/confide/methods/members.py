"""What the methods share: settings, training of members, and their arrays in files.

A method that trains its members and nothing more takes its doors from here.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float32, Float64, Int, PRNGKeyArray

from confide.bootstrap import Keys, train_ensemble
from confide.checks import checked_field, require_whole
from confide.fingerprints import Groups
from confide.learners import Learner, StoredData, StoredTargets, TrainingData, networks
from confide.methods.further_rows import FurtherRows, refuse_further_rows
from confide.methods.held_out import held_out_epochs
from confide.methods.noise import Noise, Residuals, out_of_fold_residuals
from confide.methods.predictor import Answers, FittedMembers, Row, Table
from confide.persistence import Arrays, part
from confide.progress import Progress
from confide.randomness import MemberKeys
from confide.standardise import Standardiser
from confide.uncertainty import optimisation_variance

AUTO = "auto"  # the number of epochs is left to the data
USUAL = "It is the number of members; 5 is usual."

Resample: TypeAlias = Callable[[MemberKeys, int], Int[np.ndarray, "member row"]]


def require_several(name: str, value: Any, what: str) -> None:
    """Refuses a single member where only several have a spread."""
    require_whole(name, value, USUAL)
    if value < 2:
        raise ValueError(
            f"`{name}` must be at least 2 for {what}, got {value}: one member cannot show how much "
            "chance moves its training. Pass n_members=5, or use "
            "DeepEnsembleRegressor(n_members=1) for one plain network."
        )


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How long members are trained; the default is the paper's (Section 4.2).

    A method's settings say how many members it has, `n_members`, as a setting or as a constant.

    Attributes:
        max_epochs: passes over the data, or another learner's own steps.
    """

    max_epochs: int = checked_field(80, require_whole, "It is the number of passes over the data.")

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        for setting in fields(self):
            if "require" in setting.metadata:
                value, advice = getattr(self, setting.name), setting.metadata["advice"]
                setting.metadata["require"](setting.name, value, *advice)


@dataclass(frozen=True, kw_only=True)
class EnsembleSettings(TrainingSettings):
    """Several members.

    Attributes:
        n_members: M, their number.
    """

    n_members: int = checked_field(5, require_whole, USUAL)


class Prepared(NamedTuple):
    """Data sets with the same inputs, standardised, and what their members are trained with.

    Members of data set j are entries j * M to (j + 1) * M - 1 of every array of members.

    Attributes:
        keys: of all members.
        standardisers: of each data set.
        data: the rows.
        targets: of each member.
        residuals: of rows left out, of each data set; None where the learner predicts the noise.
    """

    keys: Keys
    standardisers: list[Standardiser]
    data: TrainingData | StoredData
    targets: Float32[np.ndarray, "member row"] | StoredTargets
    residuals: Sequence[Residuals | None]


def learner(settings: EnsembleSettings, n_features: int, **arguments: Any) -> Learner[Any]:
    """Networks with a mean and a variance; see `confide.learners.networks` for the arguments."""
    return networks(n_features, settings.n_members, **arguments)


def member_epochs(settings: Any, learner: Learner[Any]) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    total = settings.n_members * settings.max_epochs
    if not learner.likelihood.has_variance:
        # With one fold left out in turn, and with two: see `confide.methods.noise`.
        total += 2 * held_out_epochs(settings.max_epochs, settings.n_members)
    return int(total)


def prepared(
    keys: Sequence[PRNGKeyArray],
    X: Table,
    targets: Float64[np.ndarray, "set row"],
    settings: Any,
    learner: Learner[Any],
    *,
    sample_weight: Row | None = None,
    progress: Progress | None = None,
    resample: Resample | None = None,
    held_out: Float64[np.ndarray, "set _ row"] | None = None,
    groups: Groups | None = None,
    with_noise: bool = True,
    further: FurtherRows | None = None,
) -> Prepared:
    """Standardises each data set by itself, and learns its noise if the learner predicts none.

    Args:
        keys: one for each data set.
        X: the inputs of all.
        targets: of each data set.
        settings: of the method.
        learner: what is trained.
        sample_weight: of the rows.
        progress: called with the number of member-epochs just finished.
        resample: draws the rows that each member sees.
        held_out: what members predicted for rows left out, standardised, if that is known already.
        groups: number of each row's group: rows of a group are left out together.
        with_noise: whether the noise is learnt too; the mean of a prediction does not need it.
        further: rows beyond those of X. There is only one data set then.

    Returns:
        What the members of all data sets are trained with.
    """
    n_members, n_sets = settings.n_members, len(targets)
    if further is not None:
        refuse_further_rows(learner, resampled=resample is not None)
    of_members = Keys.from_keys(keys, n_members)
    rows = None if resample is None else resample(of_members.simulation, len(X))
    robust = learner.is_robust
    standardisers = Standardiser.for_each(X, targets, sample_weight, robust=robust)
    scaled = np.stack([s.targets(y) for s, y in zip(standardisers, targets, strict=True)])
    blocks = standardisers[0].input_blocks(X)
    data = TrainingData.from_blocks(blocks, X.shape, sample_weight, rows)
    residuals: Sequence[Residuals | None] = [None] * n_sets
    if with_noise and not learner.likelihood.has_variance:
        how: dict[str, Any] = {"means": held_out, "groups": groups, "progress": progress}
        epochs = settings.max_epochs if further is None else further.epochs_in_memory
        residuals = out_of_fold_residuals(of_members, learner, data, scaled, epochs, **how)
    if further is not None:
        stored, of_stored, own = further.stored(X, targets[0], standardisers[0], n_members)
        return Prepared(of_members, [own], stored, of_stored, residuals)
    # Not a copy where there is one set.
    repeated = np.broadcast_to(scaled[:, None], (n_sets, n_members, len(X))).reshape(-1, len(X))
    return Prepared(of_members, standardisers, data, repeated, residuals)


def fit_members(
    keys: Sequence[PRNGKeyArray],
    X: Table,
    targets: Float64[np.ndarray, "set row"],
    settings: Any,
    learner: Learner[Any],
    *,
    progress: Progress | None = None,
    **how: Any,
) -> list[FittedMembers]:
    """Trains the members of all data sets, each on all rows or on those that `resample` draws.

    Args:
        keys: one for each data set.
        X: the inputs of all.
        targets: of each data set.
        settings: of the method.
        learner: what is trained.
        progress: called with the number of member-epochs just finished.
        **how: the other arguments of `prepared`.

    Returns:
        A fit for each data set.
    """
    sets = prepared(keys, X, targets, settings, learner, progress=progress, **how)
    epochs = settings.max_epochs
    state = train_ensemble(sets.keys, learner, sets.data, sets.targets, epochs, progress=progress)
    of_sets = np.arange(len(sets.targets)).reshape(len(keys), -1)
    fits = []
    for standardiser, members, own in zip(sets.standardisers, of_sets, sets.residuals, strict=True):
        fitted = FittedMembers(settings, learner, standardiser, learner.take(state, members), None)
        if own is not None:
            means = Answers.of(fitted, X).means
            spread = optimisation_variance(means) if len(means) > 1 else np.zeros(len(X))
            fitted = replace(fitted, noise=own.noise(None, spread, len(means)))
        fits.append(fitted)
    return fits


def to_arrays(fitted: FittedMembers) -> Arrays:
    """What a model file keeps beside the settings."""
    arrays = fitted.standardiser.to_arrays() | kept("members", fitted.learner, fitted.members)
    if fitted.noise is not None:
        arrays |= {f"noise.{name}": array for name, array in fitted.noise.to_arrays().items()}
    return arrays


def from_arrays(
    arrays: Arrays,
    settings: Any,
    learner: Learner[Any],
    n_features: int,
    *,
    with_noise: bool = True,
) -> FittedMembers:
    """Fitted members from a model file's arrays, checked.

    Args:
        arrays: those of the file.
        settings: of the method.
        learner: what was trained.
        n_features: the number of features.
        with_noise: whether they were fitted with their noise.

    Returns:
        The members.
    """
    standardiser = Standardiser.from_arrays(arrays, n_features)
    members = restored(arrays, "members", settings.n_members, learner, n_features)
    learnt = with_noise and not learner.likelihood.has_variance
    noise = Noise.from_arrays(part(arrays, "noise"), n_features) if learnt else None
    return FittedMembers(settings, learner, standardiser, members, noise)


class MeanFits(NamedTuple):
    """How a method is fitted for its mean alone, which is all that simulations ask for.

    A method's `MEAN_FITS`; one without is fitted whole.

    Attributes:
        fit: like the method's own, without what the mean does not need.
        to_arrays: what a model file keeps of such a fit.
        from_arrays: such a fit from a model file's arrays.
    """

    fit: Callable[..., Sequence[Any]]
    to_arrays: Callable[[Any], Arrays]
    from_arrays: Callable[..., Any]


MEAN_FITS = MeanFits(
    functools.partial(fit_members, with_noise=False),
    to_arrays,
    functools.partial(from_arrays, with_noise=False),
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
