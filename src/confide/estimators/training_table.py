"""What a model remembers of the table that it was made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from jaxtyping import UInt64

from confide.arrays import Arrays

Fingerprints = UInt64[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Which column was the target, and which rows the model has seen.

    Rows are kept as fingerprints: enough to know one again, so that no row counts as a test of a
    model that was trained on it, and too little to restore it from.

    Attributes:
        target: name of the column to predict.
        file: name of the file, without its folder.
        trained_on: fingerprints of the rows that the networks were trained on, sorted.
        set_aside: those of the rows that were kept from training, to judge and calibrate with.
        notes: what happened at the fit: rows dropped, columns left out.
        warnings: what the reader should worry about.
        judged: accuracy on the rows that were set aside, by name.
    """

    target: str
    file: str
    trained_on: Fingerprints
    set_aside: Fingerprints
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Words as JSON, fingerprints as arrays."""
        said = {
            "target": self.target,
            "file": self.file,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "judged": dict(self.judged),
        }
        return said, {"trained_on": self.trained_on, "set_aside": self.set_aside}

    @classmethod
    def from_file(cls, said: Any, arrays: Arrays) -> Self:
        """The value from a file, checked."""
        words = [said["target"], said["file"], *said["notes"], *said["warnings"]]
        words += said["judged"]
        numbers = list(said["judged"].values())
        if not all(isinstance(word, str) for word in words) or not all(
            isinstance(number, float) for number in numbers
        ):
            raise ValueError("what it says of its training table is of the wrong type")
        rows = [arrays[name] for name in ("trained_on", "set_aside")]
        if any(each.dtype != np.uint64 or each.ndim != 1 for each in rows):
            raise ValueError("fingerprints of rows must be a list of 64-bit numbers")
        trained_on, aside = rows
        return cls(
            target=said["target"],
            file=said["file"],
            trained_on=trained_on,
            set_aside=aside,
            notes=tuple(said["notes"]),
            warnings=tuple(said["warnings"]),
            judged=said["judged"],
        )
