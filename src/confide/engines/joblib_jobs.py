"""The engine of joblib: jobs of whatever backend the user has chosen there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from confide.cores import available_cores
from confide.engines.calls import Call
from confide.engines.in_process import InProcess
from confide.engines.protocol import Engine, Kept, Observer, P, Piece, Result, Store


@dataclass(frozen=True)
class Joblib(Engine):
    """Calls as jobs of joblib.

    The backend is the user's: `joblib.parallel_config("dask")` has the jobs done on a cluster of
    Dask, and loky, the default, in processes of this machine. A table that is shared by all jobs
    is written to a file once, which loky's processes map into their memory.

    Attributes:
        n_jobs: jobs at once; None for those of `joblib.parallel_config`, or one.
    """

    n_jobs: int | None = None

    def connected(self) -> AbstractContextManager[None]:
        """Nothing to do: joblib keeps its processes by itself."""
        return nullcontext()

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Any],
        common: Sequence[Any] = (),
        *,
        memory: float = 0.0,
    ) -> Iterator[Result]:
        """Calls side by side; see `Engine.map`."""
        from joblib import Parallel, delayed

        del memory
        call = delayed(Call.of(function, max(1, available_cores() // self._n_at_once)))
        jobs = (call(item, *common) for item in items)
        for outcome in Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs):
            yield outcome.heard()

    def run(self, pieces: Sequence[P], store: Store[P, Kept], observer: Observer[P, Kept]) -> None:
        """Returns when this process or another has finished every piece.

        Args:
            pieces: of work, each with a name.
            store: keeps what was computed, and knows who works on what.
            observer: hears of each piece that begins and ends.
        """
        left, room = list(pieces), 2 * self._n_at_once
        while left:
            with ExitStack() as claims:
                mine = [p for p in left[:room] if claims.enter_context(store.claimed(p))]
                new = [piece for piece in mine if store.saved(piece) is None]
                for piece in new:
                    observer.started(piece)
                for piece, result in zip(new, self.map(_computed, new), strict=True):
                    observer.finished(piece, store.save(piece, result))
            if not new:  # they are kept already, or other processes work on them
                InProcess().run(left[:room], store, observer)
            left = left[room:] if not new else [piece for piece in left if piece not in new]

    def n_workers(self) -> int:
        """Processes that work side by side; one where the jobs are threads of this process."""
        from joblib.parallel import get_active_backend

        backend, _ = get_active_backend()
        uses_threads = getattr(backend, "uses_threads", False)
        return 1 if uses_threads else self._n_at_once

    @property
    def _n_at_once(self) -> int:
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))


def _computed(piece: Piece) -> Any:
    return piece.computed(None)
