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
# Of longer tables, the rows with the smallest fingerprints are kept: half a megabyte.
MOST_KEPT = 65_536
# Of rows to calibrate with, so many more than equal rows explain may be known by chance: a share of
# them, and standard errors.
CHANCE_SHARE, CHANCE_ERRORS = 0.1, 4


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


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Fingerprints of the rows that a model was fitted to, which it must not be calibrated on.

    Attributes:
        numbers: the smallest different ones, in order.
        n_rows: how many rows there were.
        n_repeated: how many of them equal another. New rows equal one of them as often.
    """

    numbers: Fingerprints
    n_rows: int
    n_repeated: int

    @classmethod
    def of(cls, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]) -> Self:
        """Of the rows of a fit."""
        numbers, counts = np.unique(fingerprints(X, y), return_counts=True)
        return cls(numbers[:MOST_KEPT], len(y), int(counts[counts > 1].sum()))

    def beside(self, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]) -> Self:
        """With further rows, of which as large a share is taken to equal another."""
        numbers = np.union1d(self.numbers, fingerprints(X, y))[:MOST_KEPT]
        n_rows = self.n_rows + len(y)
        return replace(
            self,
            numbers=numbers,
            n_rows=n_rows,
            n_repeated=round(self.n_repeated * n_rows / self.n_rows),
        )

    def refuse(self, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]) -> None:
        """Refuses rows to calibrate with of which more are known than equal rows explain.

        Raises:
            ValueError: with what to do.
        """
        rows = fingerprints(X, y)
        if len(self.numbers) == MOST_KEPT:  # larger ones may have been there
            rows = rows[rows <= self.numbers[-1]]
        if len(rows) == 0:
            return
        known, by_chance = np.isin(rows, self.numbers), (self.n_repeated + 1) / (self.n_rows + 2)
        error = np.sqrt(by_chance * (1 - by_chance) / len(rows))
        if known.mean() > by_chance + max(CHANCE_SHARE, CHANCE_ERRORS * error):
            raise ValueError(
                "The rows to calibrate with must be new to the model, but it was trained on "
                f"{100 * known.mean():.0f} % of them. Their residuals are too small, and their "
                "prediction intervals would be too narrow. Split the table before `fit`, and "
                "calibrate on the rows that `fit` has not seen."
            )

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Counts as JSON, fingerprints as an array."""
        counts = {"n_rows": self.n_rows, "n_repeated": self.n_repeated}
        return counts, {"numbers": self.numbers}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> Self:
        """The value from a file, checked."""
        own = checked_fields(cls, payload, besides=("numbers",))
        numbers = arrays["numbers"]
        if numbers.dtype != np.uint64 or numbers.ndim != 1 or not 0 < len(numbers) <= MOST_KEPT:
            raise ValueError("fingerprints of rows must be a list of 64-bit numbers")
        if not 0 <= own["n_repeated"] <= own["n_rows"]:
            raise ValueError("more rows are repeated than there are")
        return cls(numbers, **own)
