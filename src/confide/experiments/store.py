"""A run is a folder: one Parquet file a finished cell, whole at every moment.

`run.json` holds what all cells of the run share; `cells/` the results; `locks/` an empty file for
each cell that some process has worked on. The operating system frees a lock when its process ends,
however it ends.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from confide.experiments.cell import METADATA, Cell
from confide.extras import require
from confide.persistence import write_atomically

RUN_FILE = "run.json"
CELLS, LOCKS = "cells", "locks"
# How the name of a small run's folder ends.
QUICK = "-quick"


class RunFolderError(ValueError):
    """A folder that does not hold the run that was asked for."""


@dataclass(frozen=True)
class Saved:
    """A finished cell, as its file holds it.

    Attributes:
        path: the file.
        settings: what its numbers depend on.
        provenance: commit, versions, seconds.
    """

    path: Path
    settings: dict[str, Any]
    provenance: dict[str, Any]

    @property
    def frame(self) -> pd.DataFrame:
        """The results."""
        with _parquet(self.path) as pq:
            table = pq.read_table(self.path, partitioning=None, page_checksum_verification=True)
        return table.to_pandas()

    @classmethod
    def from_file(cls, path: Path) -> "Saved":
        """The description alone; the table is read when it is asked for."""
        with _parquet(path) as pq:
            description = json.loads((pq.read_schema(path).metadata or {})[METADATA])
            return cls(path, description["settings"], description["provenance"])


def tables_by(finished: Sequence[Saved], *names: str) -> dict[tuple[Any, ...], pd.DataFrame]:
    """The tables of finished cells, those that agree in these settings put together."""
    together: dict[tuple[Any, ...], list[pd.DataFrame]] = {}
    for saved in finished:
        key = tuple(saved.settings[name] for name in names)
        together.setdefault(key, []).append(saved.frame)
    return {key: pd.concat(frames, ignore_index=True) for key, frames in together.items()}


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @classmethod
    def opened(cls, path: Path, experiment: str, fixed: Mapping[str, Any]) -> "RunFolder":
        """Opens the folder of a run, or makes it.

        Args:
            path: the folder.
            experiment: name of the experiment.
            fixed: the settings that all cells share.

        Returns:
            The folder.

        Raises:
            RunFolderError: the folder holds another run, or other files.
        """
        filelock = require("filelock", "experiments")
        folder = cls(path)
        asked = {"experiment": experiment, **fixed}
        if path.exists() and not (path / RUN_FILE).exists() and _foreign_files(path):
            raise RunFolderError(
                f"{path} holds files but no run ({RUN_FILE} is missing). Choose another folder."
            )
        for part in (CELLS, LOCKS):
            (path / part).mkdir(parents=True, exist_ok=True)
        # Of two processes that open it, only one describes it.
        with filelock.FileLock(path / LOCKS / ".run.lock"):
            if not (path / RUN_FILE).exists():
                write_atomically(path / RUN_FILE, (json.dumps(asked, indent=2) + "\n").encode())
        _refuse_differences(path, folder.description, asked)
        return folder

    @property
    def description(self) -> dict[str, Any]:
        """The experiment's name, and what all cells share."""
        try:
            description = json.loads((self.path / RUN_FILE).read_text())
        except FileNotFoundError:
            raise RunFolderError(
                f"{self.path} is not the folder of a run: it has no {RUN_FILE}."
            ) from None
        except ValueError as error:
            raise RunFolderError(
                f"{self.path / RUN_FILE} cannot be read: {error}. Choose another folder."
            ) from error
        if not isinstance(description, dict):
            raise RunFolderError(
                f"{self.path / RUN_FILE} cannot be read: it describes no run. Choose another "
                "folder."
            )
        return description

    def description_of(self, experiment: str) -> dict[str, Any]:
        """The description, if it is of a run of this experiment."""
        description = self.description
        if (name := description.get("experiment")) != experiment:
            raise RunFolderError(
                f"{self.path} holds a run of {name!r}, not of {experiment!r}. Choose another "
                "folder."
            )
        return description

    def path_of(self, cell: Cell) -> Path:
        """The cell's file."""
        return self.path / CELLS / f"{cell.name}.parquet"

    def saved(self, cell: Cell) -> Saved | None:
        """The finished cell, or None; one of the same name with other settings is refused."""
        path = self.path_of(cell)
        if not path.exists():
            return None
        saved = Saved.from_file(path)
        _refuse_differences(path, saved.settings, json.loads(json.dumps(dict(cell.settings))))
        return saved

    def save(self, cell: Cell, content: bytes) -> Saved:
        """Keeps a finished cell. It must be claimed: nobody else writes to it meanwhile."""
        path = self.path_of(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        for torso in path.parent.glob(f".{path.name}.*"):  # of a process killed while it wrote
            torso.unlink()
        write_atomically(path, content)
        return Saved.from_file(path)

    def all_saved(self) -> list[Saved]:
        """Every finished cell, in the order of their names; one that is there twice is refused."""
        cells: dict[str, Saved] = {}
        for path in sorted((self.path / CELLS).rglob("*.parquet")):
            saved = Saved.from_file(path)
            other = cells.setdefault(json.dumps(saved.settings, sort_keys=True), saved)
            if other is not saved:
                raise RunFolderError(
                    f"{path} and {other.path} are the same cell. Delete one of them."
                )
        return list(cells.values())

    @contextmanager
    def claimed(self, cell: Cell) -> Iterator[bool]:
        """Whether this process alone may work on the cell, until the block ends."""
        filelock = require("filelock", "experiments")
        lock = filelock.FileLock(self.path / LOCKS / f"{cell.name.replace('/', '~')}.lock")
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    """PyArrow's reader; a file that it cannot read is named, with what to do."""
    pa, pq = (require(module, "experiments") for module in ("pyarrow", "pyarrow.parquet"))
    try:
        yield pq
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RunFolderError(
            f"{path} is not a finished cell ({reason}). Delete it, and it is run again."
        ) from error


def _foreign_files(path: Path) -> list[Path]:
    """What no run has put there; one killed while it made its folder may have left the rest."""
    return [
        file
        for file in path.iterdir()
        if file.name not in {RUN_FILE, CELLS, LOCKS} and not file.name.startswith(f".{RUN_FILE}.")
    ]


def _refuse_differences(path: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    differences = "; ".join(
        f"{name} is {there.get(name)!r} there, {asked.get(name)!r} was asked for"
        for name in {**there, **asked}
        if there.get(name) != asked.get(name)
    )
    if differences:
        raise RunFolderError(
            f"{path} holds a run with other settings: {differences}. Ask for the same, or choose "
            "another folder."
        )
