"""Finished cells, a JSON line each: a run that was stopped goes on where it was."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """What is fitted and judged once.

    Attributes:
        contender: its name.
        data: the data set's name.
        repeat: counted from zero.
        settings: the contender's, in words.
        n_rows: training rows.
    """

    contender: str
    data: str
    repeat: int
    settings: str
    n_rows: int


@dataclass(frozen=True)
class Store:
    """A file of JSON lines; of two lines for one cell the later counts."""

    path: Path

    def read(self) -> dict[Cell, dict[str, Any]]:
        """What is known of each cell: its numbers, or the "problem" that kept it from them."""
        return {Cell(**line["cell"]): line for line in self._lines()}

    def add(self, cell: Cell, found: dict[str, Any]) -> None:
        """Append a line, on the disk before this returns."""
        line = json.dumps({"cell": cell._asdict(), **found}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0)
            file.truncate(_whole_lines(file.read()))
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        for number, text in enumerate(content[: _whole_lines(content)].splitlines(), 1):
            try:
                line = json.loads(text)
                Cell(**line["cell"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{self.path}, line {number}: a finished cell was needed, and this is none "
                    f"({error!r}). Delete the line and run again."
                ) from error
            yield line


def _whole_lines(content: bytes) -> int:
    """How many bytes are whole lines: a run that was killed while it wrote left part of one."""
    return content.rfind(b"\n") + 1
