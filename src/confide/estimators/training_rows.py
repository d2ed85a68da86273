"""Which rows a model has seen, so that none of them counts as a test of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from jaxtyping import Float, Float64, UInt64

from confide.fingerprints import fingerprints, identities
from confide.persistence import Arrays, checked_fields, checked_json

Fingerprints = UInt64[np.ndarray, " row"]
COUNTS = ("n_trained", "n_set_aside")


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that a model was trained on, and those that were kept from training.

    Rows are kept as fingerprints: enough to know one again, and too little to restore it from.

    Attributes:
        trained_on: fingerprints of the rows that the members were trained on.
        set_aside: those of the rows that were kept from training, to judge and calibrate with.
        n_trained: how many rows were trained on; copies of one another share a fingerprint.
        n_set_aside: how many were set aside, likewise.
        copies: whether equal rows are copies of one another.
        origin: what the maker of the model says of the rows, as JSON; estimators only keep it.
    """

    trained_on: Fingerprints
    set_aside: Fingerprints
    n_trained: int
    n_set_aside: int
    copies: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)

    def calibrated_on(
        self, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
    ) -> Self:
        """The same with other rows set aside."""
        rows = np.unique(identities(fingerprints(X, y), copies=self.copies))
        return replace(self, set_aside=rows, n_set_aside=len(y))

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Numbers and the origin as JSON, fingerprints as arrays."""
        counts = {name: getattr(self, name) for name in (*COUNTS, "copies")}
        arrays = {"trained_on": self.trained_on, "set_aside": self.set_aside}
        return {**self.origin, **counts}, arrays

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> Self:
        """The value from a file, checked."""
        origin = dict(checked_json(Mapping[str, Any], payload, "the training table"))
        own = {name: origin.pop(name) for name in (*COUNTS, "copies")}
        own = checked_fields(cls, own, besides=("trained_on", "set_aside", "origin"))
        if min(own[name] for name in COUNTS) < 0:
            raise ValueError("there cannot be fewer than no rows")
        trained_on, set_aside = rows = [arrays[name] for name in ("trained_on", "set_aside")]
        if any(row.dtype != np.uint64 or row.ndim != 1 for row in rows):
            raise ValueError("fingerprints of rows must be a list of 64-bit numbers")
        return cls(trained_on, set_aside, **own, origin=origin)
