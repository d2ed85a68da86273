"""What an engine is, what it is given, and who watches it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, runtime_checkable

from confide.progress import Progress

P = TypeVar("P", bound="Piece")
Kept = TypeVar("Kept")
Result = TypeVar("Result")
P_contra = TypeVar("P_contra", bound="Piece", contravariant=True)
Kept_co = TypeVar("Kept_co", covariant=True)
Kept_contra = TypeVar("Kept_contra", contravariant=True)


class Piece(Protocol):
    """One independent piece of work. Ray pickles it and its result."""

    @property
    def name(self) -> str:
        """Tells it from the other pieces."""

    @property
    def steps(self) -> int:
        """How much progress it reports in total."""

    def computed(self, progress: Progress | None) -> Any:
        """Does the work. The result is the same in every process."""


class Store(Protocol[P_contra, Kept_co]):
    """Keeps results, and lets one process at a time work on a piece."""

    def claimed(self, piece: P_contra) -> AbstractContextManager[bool]:
        """Whether this process alone may work on the piece, until the block ends."""

    def saved(self, piece: P_contra) -> Kept_co | None:
        """What is kept of the piece, or None if it is not finished."""

    def save(self, piece: P_contra, result: Any) -> Kept_co:
        """Keeps the result of a piece that this process has claimed."""


class Observer(Protocol[P_contra, Kept_contra]):
    """Hears how the work goes. Its methods may be called from several threads."""

    def started(self, piece: P_contra) -> None:
        """Work on a piece has begun."""

    def advanced(self, piece: P_contra, share: float) -> None:
        """This share of a piece's work has just been done."""

    def finished(self, piece: P_contra, saved: Kept_contra) -> None:
        """The store holds the piece."""


@runtime_checkable
class Engine(Protocol):
    """Where work is done; results do not depend on it.

    It has two doors: `map` for calls whose results are wanted now, such as a fit's members, and
    `run` for pieces whose results are kept as they come, such as an experiment's cells.

    An engine may also have a method `n_workers()`, which returns how many calls of `map` other
    processes work on at once. Whole fits go only to an engine that has it.
    """

    def connected(self) -> AbstractContextManager[None]:
        """Keeps what takes long to start, until the block ends; blocks may stand in each other."""

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Any],
        common: Sequence[Any] = (),
        *,
        memory: float = 0.0,
    ) -> Iterator[Result]:
        """What `function(item, *common)` returns for each item, in their order.

        Few results are ahead of the one that is asked for, so items may be made as they are needed.
        The first error of a call is raised, and the other calls are given up.

        Args:
            function: of a module, so that another process can import it.
            items: one for each call.
            common: what all calls share; a table of it reaches each machine once.
            memory: bytes that a call needs, as far as is known.

        Yields:
            The results.
        """

    def run(self, pieces: Sequence[P], store: Store[P, Kept], observer: Observer[P, Kept]) -> None:
        """Returns when the store holds every piece.

        Args:
            pieces: of work, each with a name.
            store: keeps what was computed, and knows who works on what.
            observer: hears of each piece that begins and ends.
        """
