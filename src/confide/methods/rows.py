"""What every method of networks does alike: answer in row blocks, keep its weights as arrays."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Float32, Float64

from confide.arrays import Arrays, checked_array
from confide.learners import MemberState, NetworkEnsemble

# Rows answered at once: members x rows stays a few megabytes however long the table is.
ROWS_PER_BLOCK = 65_536


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
