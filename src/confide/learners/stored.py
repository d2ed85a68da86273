"""Rows on disk, for a table that is larger than memory: read as they are visited.

A member visits the rows in the order that it would have in memory, which jumps over the whole
table. So the rows lie in a file of float32, one after the other, and those of a stretch are taken
from it in the order of the file. Mapped pages count as memory of the process, so only a window of
the file is mapped at a time: the memory does not grow with the table.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Int

from confide.persistence import said_if_full

# Of the file that is mapped at a time.
WINDOW_BYTES = 2**26
# Rows that are read one after the other, to predict them.
ROWS_PER_BLOCK = 65_536
# Rows are counted in 32 bits where they are shuffled.
MOST_ROWS = 2**31 - 1

Table: TypeAlias = Float[np.ndarray, "_ _"]


@dataclass(frozen=True)
class StoredRows:
    """A table of float32 in a file of its own, row by row.

    Attributes:
        path: of the file.
        shape: numbers of rows and columns.
    """

    path: Path
    shape: tuple[int, int]

    def blocks(self) -> Iterator[Float32[np.ndarray, "_ column"]]:
        """All rows in their order, a block at a time."""
        n_rows, n_columns = self.shape
        with self.path.open("rb") as file:
            for start in range(0, n_rows, ROWS_PER_BLOCK):
                n_here = min(ROWS_PER_BLOCK, n_rows - start)
                yield np.fromfile(file, np.float32, n_here * n_columns).reshape(n_here, n_columns)

    def take(self, rows: Int[np.ndarray, " taken"]) -> Float32[np.ndarray, "taken column"]:
        """Some of the rows, in the order in which they are asked for."""
        n_rows, n_columns = self.shape
        per_window = max(1, WINDOW_BYTES // (4 * n_columns))
        in_file = np.argsort(rows, kind="stable")
        windows = rows[in_file] // per_window
        taken = np.empty((len(rows), n_columns), np.float32)
        for window in np.unique(windows):
            here = in_file[np.searchsorted(windows, window) : np.searchsorted(windows, window + 1)]
            first = int(window) * per_window
            shape = (min(per_window, n_rows - first), n_columns)
            mapped = np.memmap(self.path, np.float32, "r", first * n_columns * 4, shape)
            taken[here] = mapped[rows[here] - first]
        return taken


def store(paths: Sequence[Path], blocks: Iterable[Sequence[Table]]) -> list[StoredRows]:
    """Writes some tables of the same rows side by side, each to a file of its own.

    Args:
        paths: of the files.
        blocks: consecutive rows, of each table; one block is in memory at a time.

    Returns:
        The tables.
    """
    n_rows, n_columns = 0, [0] * len(paths)
    with contextlib.ExitStack() as stack:
        stack.enter_context(said_if_full(paths[0].parent))
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for tables in blocks:
            for file, table in zip(files, tables, strict=True):
                file.write(np.ascontiguousarray(table, np.float32).data)
            n_rows, n_columns = n_rows + len(tables[0]), [table.shape[1] for table in tables]
    return [StoredRows(path, (n_rows, n)) for path, n in zip(paths, n_columns, strict=True)]


@dataclass(frozen=True)
class StoredTargets:
    """Targets on disk, in one column for each member, or in one for several.

    Attributes:
        rows: the columns.
        columns: that of each member.
    """

    rows: StoredRows
    columns: Int[np.ndarray, " member"]

    def __len__(self) -> int:
        """The number of members."""
        return len(self.columns)

    def take(self, member: int, rows: Int[np.ndarray, " taken"]) -> Float32[np.ndarray, " taken"]:
        """A member's targets at some rows."""
        return self.rows.take(rows)[:, self.columns[member]]


@dataclass(frozen=True)
class StoredData:
    """Standardised inputs on disk, all with the same weight; see `TrainingData`.

    Attributes:
        folder: for its files.
        X: inputs, one row an observation.
    """

    folder: Path
    X: StoredRows

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.X.shape[0]

    def input_blocks(self) -> Iterator[Float32[np.ndarray, "_ feature"]]:
        """All rows in their order, a block at a time."""
        return self.X.blocks()

    def kept(
        self, name: str, blocks: Iterable[Float[np.ndarray, "member _"]], n_members: int
    ) -> StoredTargets:
        """Targets of each member on disk, from consecutive blocks of rows.

        Args:
            name: of their file.
            blocks: a row of targets for each member.
            n_members: how many members there are.

        Returns:
            The stored targets.
        """
        (rows,) = store([self.folder / name], ([block.T] for block in blocks))
        return StoredTargets(rows, np.arange(n_members))
