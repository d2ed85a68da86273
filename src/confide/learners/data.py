"""The rows a learner trains on, padded so that compiled programs are reused."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32, Int, Num
from numpy.typing import DTypeLike


@dataclass(frozen=True)
class TrainingData:
    """Standardised inputs with their weights, in a shape that few data sets share by accident.

    Attributes:
        X: inputs, one row an observation; rows from `n_rows` on are padding.
        weight: weight of each row's loss, mean one over the rows.
        n_rows: how many rows are real.
        member_rows: per member, which rows it sees (a bootstrap sample), or None for all of them.
    """

    X: Float32[np.ndarray, "padded feature"]
    weight: Float32[np.ndarray, " padded"]
    n_rows: int
    member_rows: Int[np.ndarray, "member padded"] | None = None

    @property
    def inputs(self) -> Float32[np.ndarray, "row feature"]:
        """The real rows."""
        return self.X[: self.n_rows]

    def input_blocks(self) -> Iterator[Float32[np.ndarray, "row feature"]]:
        """The real rows as the one block that they are; those of `StoredData` are several."""
        yield self.inputs

    def kept(
        self, name: str, blocks: Iterable[Float[np.ndarray, "member row"]], n_members: int
    ) -> Float[np.ndarray, "member row"]:
        """Targets of each member; this table is one block, that of `StoredData` has several.

        Args:
            name: of a file, which is not needed here.
            blocks: one block, with a row of targets for each member.
            n_members: number of members.

        Returns:
            The block.
        """
        del name, n_members
        (block,) = blocks
        return block

    def rows_of(self, member: int) -> Int[np.ndarray, " row"]:
        """Which of the real rows a member sees, in no particular order."""
        if self.member_rows is None:
            return np.arange(self.n_rows)
        return self.member_rows[member, : self.n_rows]

    def seen_in_part(self, member_rows: Int[np.ndarray, "member _"]) -> "TrainingData":
        """The same table, of which each member sees these rows, as many for each.

        It has the shape of the whole, so that no program is compiled for the part.
        """
        rows = padded(member_rows.astype(np.int32), axis=1, to=len(self.X))
        return replace(self, n_rows=member_rows.shape[1], member_rows=rows)

    @classmethod
    def from_rows(
        cls,
        X: Float[np.ndarray, "row feature"],
        weight: Num[np.ndarray, " row"] | None = None,
        member_rows: Int[np.ndarray, "member row"] | None = None,
    ) -> "TrainingData":
        """Pads the rows to their bucket; weights are scaled to mean one.

        Args:
            X: the rows, standardised.
            weight: of each row, or None for equal weights.
            member_rows: per member, which rows it sees, or None for all of them.

        Returns:
            The padded rows.
        """
        return cls.from_blocks([X], X.shape, weight, member_rows)

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[Float[np.ndarray, "_ feature"]],
        shape: tuple[int, int],
        weight: Num[np.ndarray, " row"] | None = None,
        member_rows: Int[np.ndarray, "member row"] | None = None,
    ) -> "TrainingData":
        """The same from consecutive blocks of a table, which is never copied whole.

        Args:
            blocks: the rows, standardised.
            shape: numbers of rows and of features of the whole table.
            weight: of each row, or None for equal weights.
            member_rows: per member, which rows it sees, or None for all of them.

        Returns:
            The padded rows.
        """
        n_rows, n_features = shape
        X = _aligned_zeros((bucket(n_rows), n_features), np.float32)
        start = 0
        for block in blocks:
            X[start : start + len(block)] = block
            start += len(block)
        ones = np.ones(n_rows) if weight is None else weight / np.mean(weight)
        return cls(
            X=X,
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


def padded(rows: np.ndarray, *, axis: int, to: int | None = None) -> np.ndarray:
    """The array with zeros appended along the row axis, up to the bucket or a given length.

    It stays NumPy's, which slices without compiling a program, until a device takes it over.
    """
    n_rows = rows.shape[axis]
    length = bucket(n_rows) if to is None else to
    shape = (*rows.shape[:axis], length, *rows.shape[axis + 1 :])
    out = _aligned_zeros(shape, rows.dtype)
    out[(slice(None),) * axis + (slice(n_rows),)] = rows
    return out


def _aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Zeros on a 64-byte boundary: JAX on a CPU then takes the memory over without a copy."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + n_bytes].view(dtype).reshape(shape)
