"""Pieces, a store and an observer that have nothing to do with experiments."""

from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Square:
    """A piece whose result is a number."""

    number: int
    steps: int = 2

    @property
    def name(self):
        return f"square of {self.number}"

    def computed(self, progress):
        if progress is not None:
            progress(1)
            progress(1)
        return self.number**2


@dataclass
class InMemory:
    """A store that keeps results in a dictionary."""

    results: dict = field(default_factory=dict)
    claims: list = field(default_factory=list)

    @contextmanager
    def claimed(self, piece):
        self.claims.append(piece.name)
        yield True

    def saved(self, piece):
        return self.results.get(piece.name)

    def save(self, piece, result):
        return self.results.setdefault(piece.name, result)


@dataclass
class Remembers:
    """An observer that notes what it hears."""

    heard: list = field(default_factory=list)

    def started(self, piece):
        self.heard.append(("started", piece.name))

    def advanced(self, piece, share):
        self.heard.append((share, piece.name))

    def finished(self, piece, saved):
        self.heard.append((saved, piece.name))
