"""What a model remembers of the table that it was made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from jaxtyping import UInt64

from confide.persistence import Arrays

Fingerprints = UInt64[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Which column was the target, and which rows the model has seen.

    Rows are kept as fingerprints: enough to know one again, so that no row counts as a test of a
    model that was trained on it, and too little to restore it from.

    Attributes:
        target: name of the column to predict.
        file: name of the file, without its folder.
        trained_on: fingerprints of the rows that the networks were trained on.
        set_aside: those of the rows that were kept from training, to judge and calibrate with.
        n_trained: how many rows were trained on; copies of one another share a fingerprint.
        n_set_aside: how many were set aside, likewise.
        copies: whether equal rows are copies of one another.
        notes: what happened at the fit: rows dropped, columns left out.
        warnings: what the reader should worry about.
        judged: accuracy on the rows that were set aside, by name.
    """

    target: str
    file: str
    trained_on: Fingerprints
    set_aside: Fingerprints
    n_trained: int
    n_set_aside: int
    copies: bool = False
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Words as JSON, fingerprints as arrays."""
        said = {
            "target": self.target,
            "file": self.file,
            "n_trained": self.n_trained,
            "n_set_aside": self.n_set_aside,
            "copies": self.copies,
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
        counts = [said["n_trained"], said["n_set_aside"]]
        if not all(type(count) is int for count in counts) or type(said["copies"]) is not bool:
            raise ValueError("the numbers of its training rows are of the wrong type")
        rows = [arrays[name] for name in ("trained_on", "set_aside")]
        if any(each.dtype != np.uint64 or each.ndim != 1 for each in rows):
            raise ValueError("fingerprints of rows must be a list of 64-bit numbers")
        trained_on, aside = rows
        return cls(
            target=said["target"],
            file=said["file"],
            trained_on=trained_on,
            set_aside=aside,
            n_trained=said["n_trained"],
            n_set_aside=said["n_set_aside"],
            copies=said["copies"],
            notes=tuple(said["notes"]),
            warnings=tuple(said["warnings"]),
            judged=said["judged"],
        )
