"""The default engine: this process, one piece after the other, each on all cores."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from confide.engines.protocol import Engine, Kept, Observer, P, Result, Store

# How long to wait before looking again at pieces that other processes work on.
SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class InProcess(Engine):
    """Pieces one after the other. Several processes that share a store share the work."""

    def connected(self) -> AbstractContextManager[None]:
        """There is nothing to connect to."""
        return nullcontext()

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Any],
        common: Sequence[Any] = (),
        *,
        memory: float = 0.0,
    ) -> Iterator[Result]:
        """One call after the other; see `Engine.map`."""
        del memory
        return (function(item, *common) for item in items)

    def run(self, pieces: Sequence[P], store: Store[P, Kept], observer: Observer[P, Kept]) -> None:
        """Returns when this process or another has finished every piece.

        Args:
            pieces: of work, each with a name.
            store: keeps what was computed, and knows who works on what.
            observer: hears of each piece that begins and ends.
        """
        left = list(pieces)
        while left:
            elsewhere = [piece for piece in left if not _run_one(piece, store, observer)]
            if len(elsewhere) == len(left):  # other processes work on all of them
                time.sleep(SECONDS_BETWEEN_LOOKS)
            left = elsewhere


def _run_one(piece: P, store: Store[P, Kept], observer: Observer[P, Kept]) -> bool:
    """Whether the store holds the piece now."""
    with store.claimed(piece) as mine:
        if not mine:
            return False
        saved = store.saved(piece)
        if saved is None:
            observer.started(piece)
            result = piece.computed(
                lambda done: observer.advanced(piece, float(done / piece.steps))
            )
            saved = store.save(piece, result)
    observer.finished(piece, saved)
    return True
