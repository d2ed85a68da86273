"""What methods of networks do alike: prepare data, train members, answer in row blocks, keep them.

A method that trains its members and nothing more takes its doors from here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Float32, Float64, Int, PRNGKeyArray

from confide.arrays import Arrays, checked_array
from confide.bootstrap import Keys, train_ensemble
from confide.learners import MemberState, NetworkEnsemble, Progress, TrainingData
from confide.methods.settings import NetworkSettings
from confide.randomness import MemberKeys
from confide.standardise import Standardiser
from confide.uncertainty import disagreement_variance, optimisation_variance

# Rows answered at once: members x rows stays a few megabytes however long the table is.
ROWS_PER_BLOCK = 65_536
# Variance between members as of a sample (divisor M - 1) or of a population (divisor M).
SPREADS = {"sample": optimisation_variance, "population": disagreement_variance}


class Prepared(NamedTuple):
    """Data sets with the same inputs, standardised, and the targets of each one's members.

    Members of data set j are entries j * M to (j + 1) * M - 1 of every array.
    """

    standardisers: list[Standardiser]
    data: TrainingData
    targets: Float32[np.ndarray, "member row"]


@dataclass(frozen=True)
class FittedMembers:
    """Trained networks, with what it takes to ask them."""

    settings: Any
    standardiser: Standardiser
    members: MemberState


def prepared(
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    n_members: int,
    sample_weight: Float64[np.ndarray, " row"] | None,
    member_rows: Int[np.ndarray, "member row"] | None = None,
) -> Prepared:
    """Each data set standardised by itself, its targets repeated for each of its members."""
    standardisers = Standardiser.for_each(X, targets, sample_weight)
    blocks = standardisers[0].input_blocks(X)
    each = np.stack([s.targets(y) for s, y in zip(standardisers, targets, strict=True)])
    n_sets, n_rows = each.shape
    repeated = np.broadcast_to(each[:, None], (n_sets, n_members, n_rows))
    return Prepared(
        standardisers,
        TrainingData.from_blocks(blocks, X.shape, sample_weight, member_rows),
        repeated.reshape(n_sets * n_members, n_rows),  # not a copy where there is one set
    )


def fit_members(
    keys: Sequence[PRNGKeyArray],
    X: Float[np.ndarray, "row feature"],
    targets: Float64[np.ndarray, "set row"],
    settings: NetworkSettings,
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    members_per_block: int | None = None,
    progress: Progress | None = None,
    resample: Callable[[MemberKeys, int], Int[np.ndarray, "member row"]] | None = None,
) -> list[FittedMembers]:
    """Trains the members of all data sets, each on all rows or on those that `resample` draws."""
    n_members = settings.n_networks
    of_members = Keys.from_keys(keys, n_members)
    rows = None if resample is None else resample(of_members.simulation, len(X))
    standardisers, data, member_targets = prepared(X, targets, n_members, sample_weight, rows)
    state = train_ensemble(
        of_members,
        settings.learner(members_per_block),
        data,
        member_targets,
        settings.max_epochs,
        progress=progress,
    )
    slices = [slice(j * n_members, (j + 1) * n_members) for j in range(len(standardisers))]
    return [
        FittedMembers(settings, standardiser, jax.tree.map(lambda leaf, s=s: leaf[s], state))
        for standardiser, s in zip(standardisers, slices, strict=True)
    ]


def member_epochs(settings: NetworkSettings) -> int:
    """How many epochs of one member a fit takes: the scale of its progress."""
    return settings.n_networks * settings.max_epochs


def to_arrays(fitted: FittedMembers) -> Arrays:
    """What a model file keeps beside the settings."""
    return {**fitted.standardiser.to_arrays(), "members": parameters_of(fitted.members)}


def from_arrays(arrays: Arrays, settings: NetworkSettings, n_features: int) -> FittedMembers:
    """Fitted members from a model file's arrays, checked."""
    return FittedMembers(
        settings,
        Standardiser.from_arrays(arrays, n_features),
        member_state(arrays, "members", settings.n_networks, settings.learner(), n_features),
    )


def in_row_blocks(
    of_rows: Callable[[Float[np.ndarray, "row feature"]], Float64[np.ndarray, "part row"]],
    X: Float[np.ndarray, "row feature"],
) -> Float64[np.ndarray, "part row"]:
    """The same numbers as `of_rows(X)`, in bounded memory."""
    starts = range(0, max(len(X), 1), ROWS_PER_BLOCK)
    return np.concatenate([of_rows(X[start : start + ROWS_PER_BLOCK]) for start in starts], axis=1)


def parameters_of(state: MemberState) -> Float32[np.ndarray, "member parameter"]:
    """The weights alone: all that predicting needs."""
    return np.asarray(state.parameters)


def member_state(
    arrays: Arrays, name: str, n_members: int, learner: NetworkEnsemble, n_features: int
) -> MemberState:
    """Members from saved weights, with an optimiser that has not taken a step."""
    shape = (n_members, learner.n_parameters(n_features))
    return learner.state_from(checked_array(arrays, name, shape, np.float32))
