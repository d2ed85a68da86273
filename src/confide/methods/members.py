"""What every method of networks does alike: prepare data, answer in row blocks, keep weights."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Float32, Float64, Int

from confide.arrays import Arrays, checked_array
from confide.learners import MemberState, NetworkEnsemble, TrainingData
from confide.standardise import Standardiser

# Rows answered at once: members x rows stays a few megabytes however long the table is.
ROWS_PER_BLOCK = 65_536


class Prepared(NamedTuple):
    """Data sets with the same inputs, standardised, and the targets of each one's members.

    Members of data set j are entries j * M to (j + 1) * M - 1 of every array.
    """

    standardisers: list[Standardiser]
    data: TrainingData
    targets: Float32[np.ndarray, "member row"]


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


def members_of(state: MemberState, j: int, n_members: int) -> MemberState:
    """The members of data set j."""
    return jax.tree.map(lambda leaf: leaf[j * n_members : (j + 1) * n_members], state)


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
