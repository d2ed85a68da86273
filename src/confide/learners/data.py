"""The rows a learner trains on, padded so that compiled programs are reused."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num


@dataclass(frozen=True)
class TrainingData:
    """Standardised inputs with their weights, in a shape that few data sets share by accident.

    Attributes:
        X: inputs, one row an observation; rows from `n_rows` on are padding.
        weight: weight of each row's loss, mean one over the rows.
        n_rows: how many rows are real.
        member_rows: per member, which rows it sees (a bootstrap sample), or None for all of them.
    """

    X: Float[Array, "padded feature"]
    weight: Float[Array, " padded"]
    n_rows: int
    member_rows: Int[Array, "member padded"] | None = None

    @classmethod
    def from_rows(
        cls,
        X: Float[np.ndarray, "row feature"],
        weight: Num[np.ndarray, " row"] | None = None,
        member_rows: Int[np.ndarray, "member row"] | None = None,
    ) -> "TrainingData":
        """Pads the rows to their bucket; weights are scaled to mean one."""
        n_rows = len(X)
        ones = np.ones(n_rows) if weight is None else weight / np.mean(weight)
        return cls(
            X=padded(X.astype(np.float32, copy=False), axis=0),
            weight=padded(ones.astype(np.float32), axis=0),
            n_rows=n_rows,
            member_rows=None if member_rows is None else padded(member_rows, axis=1),
        )


def bucket(n_rows: int) -> int:
    """The number of rows a table of `n_rows` is padded to: eight steps to each doubling.

    A fit on a few rows more or less then has the same shape and is not compiled again; the
    padding is never computed with, and costs at most an eighth of the table's memory.

    Example:
        >>> [bucket(n) for n in (1, 64, 65, 404, 6553)]
        [64, 64, 72, 416, 6656]
    """
    if n_rows <= 64:
        return 64
    step = 1 << ((n_rows - 1).bit_length() - 4)
    return -(-n_rows // step) * step


def padded(rows: np.ndarray, *, axis: int) -> jax.Array:
    """The array with zeros appended along the row axis up to the bucket."""
    n_rows = rows.shape[axis]
    shape = list(rows.shape)
    shape[axis] = bucket(n_rows)
    out = np.zeros(shape, rows.dtype)
    out[(slice(None),) * axis + (slice(n_rows),)] = rows
    return jnp.asarray(out)
