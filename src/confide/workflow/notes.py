"""What is said about a table while it is read, fitted to or predicted."""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from confide.errors import UnseenValueWarning


class Notes:
    """Notes about a table that is read in many blocks: each is given once."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._unseen: dict[str, Counter[str | None]] = {}

    def __iter__(self) -> Iterator[str]:
        """Each note, once."""
        yield from self._notes
        if self._unseen:
            yield str(UnseenValueWarning(self._unseen))

    def add(self, note: str) -> None:
        """Something to say."""
        self._notes[note] = None

    def add_warning(self, warning: Warning) -> None:
        """A warning's message; values that training did not have are counted over all blocks."""
        if not isinstance(warning, UnseenValueWarning):
            self.add(str(warning))
            return
        for column, counts in warning.unseen.items():
            self._unseen.setdefault(column, Counter()).update(counts)

    @contextmanager
    def of_warnings(self) -> Iterator[None]:
        """Warnings inside become notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            self.add_warning(cast("Warning", warning.message))
