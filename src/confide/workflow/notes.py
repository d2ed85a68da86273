"""What is said about a table while it is read, fitted to or predicted."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jaxtyping import Int
from numpy import ndarray

from confide.errors import RowError, UnseenValueWarning


@contextmanager
def counted_in_file(rows: Sequence[int] | Int[ndarray, " row"]) -> Iterator[None]:
    """Errors inside name a row by its number in the file, from 1 below the header.

    Args:
        rows: the position in the file of each row of the table inside, from 0.
    """
    try:
        yield
    except RowError as error:
        raise RowError(error.message, int(rows[error.row]) + 1) from error


class Notes:
    """Notes about a table that is read in many blocks: each is given once."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._unseen: dict[str, Counter[str | None]] = {}
        self._categories: dict[str, bool] = {}

    def __iter__(self) -> Iterator[str]:
        """Each note, once."""
        yield from self._notes
        if self._unseen:
            yield str(UnseenValueWarning(self._unseen, self._categories))

    def add(self, note: str) -> None:
        """Something to say, unless it is nothing."""
        if note:
            self._notes[note] = None

    def merge(self, others: "Notes") -> None:
        """All that others say too."""
        self._notes |= others._notes  # noqa: SLF001
        self._categories |= others._categories  # noqa: SLF001
        for column, counts in others._unseen.items():  # noqa: SLF001
            self._unseen.setdefault(column, Counter()).update(counts)

    @contextmanager
    def of_warnings(self) -> Iterator[None]:
        """Warnings inside become notes; values that training did not have are counted together."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if not isinstance(warning.message, UnseenValueWarning):
                self.add(str(warning.message))
                continue
            self._categories |= warning.message.categories
            for column, counts in warning.message.unseen.items():
                self._unseen.setdefault(column, Counter()).update(counts)
