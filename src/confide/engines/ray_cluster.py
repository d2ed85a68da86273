"""The engine for many machines: Ray hands out the work, this process alone keeps the results."""

import math
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from types import ModuleType
from typing import Any, Generic

from confide.budget import in_gigabytes
from confide.engines.calls import Call
from confide.engines.protocol import Engine, Kept, Observer, P, Piece, Result, Store
from confide.engines.ray_session import SESSION, environment, ray_module
from confide.errors import ClusterError, LostPieceError, TooLargeError

# How long to wait for a result before looking again at pieces that other processes work on.
SECONDS_BETWEEN_LOOKS = 1.0
# How Python says that a module, or something in it, is not there.
MISSING = re.compile(r"(?:No module named|Can't get attribute .* on <module) '([^'.]+)")


@dataclass(frozen=True)
class RayCluster(Engine):
    """Pieces as tasks of a Ray cluster.

    Workers send their results back and this process keeps them. So the workers need no common disk,
    and no result is kept twice. Ray itself restarts a piece when its machine or process is lost.

    Attributes:
        address: of a cluster, such as "auto" or "10.0.0.1:6379"; None uses the Ray of this process,
            or starts one on this machine and stops it at the end.
        cpus_per_piece: how many of the cluster's cores a piece counts for.
        most_losses: how often Ray restarts a lost piece: more often than machines are lost under
            one piece, but not forever, because a piece may itself kill its process.
    """

    address: str | None = None
    cpus_per_piece: float = 1.0
    most_losses: int = 5

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cpus_per_piece) and self.cpus_per_piece > 0):
            raise ValueError(
                f"`cpus_per_piece` must be larger than 0, got {self.cpus_per_piece}. Pass for "
                "example 1."
            )
        ray_module()

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Keeps the connection, and with it the workers, until the block ends.

        Raises:
            ClusterError: there is no cluster at the address.
        """
        with SESSION.opened(self.address):
            yield

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Any],
        common: Sequence[Any] = (),
        *,
        memory: float = 0.0,
    ) -> Iterator[Result]:
        """Calls as tasks; see `Engine.map`.

        Raises:
            ClusterError: the cluster was lost, or its workers do not have what it takes.
            LostPieceError: the process of a call was lost again and again.
            TooLargeError: no machine of the cluster has so much memory.
        """
        with SESSION.opened(self.address) as ray:
            SESSION.look(ray)
            _refuse_beyond_cores(ray, self.cpus_per_piece)
            _refuse_beyond_memory(ray, memory)
            task = self._task(ray, memory=memory)
            shared = [SESSION.stored(ray, part) for part in common]
            call = self._call(function)
            waiting: deque[Any] = deque()
            try:
                for item in items:
                    waiting.append(task.remote(call, item, *shared))
                    if len(waiting) >= self._room(ray):
                        yield self._heard(ray, waiting)
                while waiting:
                    yield self._heard(ray, waiting)
            finally:
                for reference in waiting:
                    ray.cancel(reference, force=True)

    def n_workers(self) -> int:
        """Calls that the cluster has cores for at once."""
        with SESSION.opened(self.address) as ray:
            return self._n_at_once(ray)

    def run(self, pieces: Sequence[P], store: Store[P, Kept], observer: Observer[P, Kept]) -> None:
        """Returns when this cluster or another process has finished every piece.

        Args:
            pieces: of work, each with a name.
            store: keeps what was computed, and knows who works on what.
            observer: hears of each piece that begins and ends.
        """
        with SESSION.opened(self.address) as ray:
            SESSION.look(ray)
            _refuse_beyond_cores(ray, self.cpus_per_piece)
            begin = partial(self._task(ray).remote, self._call(_computed))
            work = _Work(ray, store, observer, begin, self.most_losses)
            left = list(pieces)
            try:
                while left or work.running:
                    left = work.start(left, self._room(ray))
                    work.keep_finished()
            finally:
                work.stop()

    def _heard(self, ray: ModuleType, waiting: deque[Any]) -> Any:
        """The result of the call that has waited longest, which waits no more."""
        while not ray.wait([waiting[0]], timeout=SECONDS_BETWEEN_LOOKS)[0]:
            SESSION.look(ray)
        outcome = _result(ray, waiting.popleft(), "a part of the work", self.most_losses)
        return outcome.heard()

    def _call(self, function: Callable[..., Any]) -> Call:
        return Call.of(function, max(1, int(self.cpus_per_piece)))

    def _task(self, ray: ModuleType, **needs: Any) -> Any:
        passed = environment()
        return ray.remote(
            num_cpus=self.cpus_per_piece,
            max_retries=self.most_losses,
            retry_exceptions=False,
            **needs,
            **({"runtime_env": {"env_vars": passed}} if passed else {}),
        )(_called)

    def _room(self, ray: ModuleType) -> int:
        """How many pieces Ray may have at once.

        Twice as many as can run, so that no core waits for this process; more would only keep
        other processes from them.
        """
        return 2 * self._n_at_once(ray)

    def _n_at_once(self, ray: ModuleType) -> int:
        SESSION.look(ray)
        return max(1, int(SESSION.n_cpus / self.cpus_per_piece))


@dataclass
class _Work(Generic[P, Kept]):
    """The pieces that Ray has now, each with the claim on it."""

    ray: ModuleType
    store: Store[P, Kept]
    observer: Observer[P, Kept]
    begin: Callable[[P], Any]
    most_losses: int
    running: dict[Any, tuple[P, ExitStack]] = field(default_factory=dict)

    def start(self, pieces: Sequence[P], room: int) -> list[P]:
        """Hands pieces to Ray while there is room; returns those that are still to be done."""
        return [piece for piece in pieces if len(self.running) >= room or not self._taken(piece)]

    def _taken(self, piece: P) -> bool:
        """Whether the piece runs here or is kept, and is not claimed elsewhere."""
        with ExitStack() as claim:
            if not claim.enter_context(self.store.claimed(piece)):
                return False
            saved = self.store.saved(piece)
            if saved is None:
                self.observer.started(piece)
                self.running[self.begin(piece)] = piece, claim.pop_all()
                return True
        self.observer.finished(piece, saved)
        return True

    def keep_finished(self) -> None:
        """Keeps what has come back, waiting a moment for it."""
        if not self.running:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            return
        ready, _ = self.ray.wait(list(self.running), timeout=SECONDS_BETWEEN_LOOKS)
        for reference in ready:
            piece, claim = self.running.pop(reference)
            with claim:
                outcome = _result(self.ray, reference, piece.name, self.most_losses)
                saved = self.store.save(piece, outcome.heard())
            self.observer.finished(piece, saved)

    def stop(self) -> None:
        """Cancels what runs and gives the claims back."""
        for reference, (_, claim) in self.running.items():
            with claim:
                self.ray.cancel(reference, force=True)
        self.running.clear()


def _called(function: Callable[..., Any], item: Any, *common: Any) -> Any:
    return function(item, *common)


def _computed(piece: Piece) -> Any:
    return piece.computed(None)


def _result(ray: ModuleType, reference: Any, name: str, most_losses: int) -> Any:
    """What a task returned."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        _refuse_other_modules(ray, error.cause)
        raise error.cause from None  # the piece's own error; Ray's traceback adds nothing
    except ray.exceptions.RayError as error:
        raise LostPieceError(
            f"The process or machine of {name} was lost {most_losses + 1} times; "
            f"Ray says {type(error).__name__}. See Ray's logs for the reason: perhaps there "
            "was too little memory."
        ) from error


def _refuse_other_modules(ray: ModuleType, cause: Exception) -> None:
    """Says which module a worker has not, or has in another version, so that it cannot begin."""
    missing = MISSING.search(str(cause))
    # A network of the user's own is imported by the call itself, which is here no error of Ray's. A
    # module that is not here either would be missing at home, too.
    own = isinstance(cause, ModuleNotFoundError) and cause.name in sys.modules
    if missing and (own or isinstance(cause, ray.exceptions.RayError)):
        raise ClusterError(
            f"A worker of the cluster cannot import {missing[1]} as this process can. Install "
            f"confide {version('confide')} on every machine of the cluster, and modules of your "
            "own too."
        ) from None


def _most(ray: ModuleType, resource: str) -> float:
    """How much of a resource the machine with the most of it has."""
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return max((float(resources.get(resource, 0.0)) for resources in alive), default=0.0)


def _refuse_beyond_cores(ray: ModuleType, needed: float) -> None:
    """Ray would wait forever for a machine with so many cores."""
    most = _most(ray, "CPU")
    if needed > most > 0:
        raise ClusterError(
            f"A piece needs {needed:g} cores (`cpus_per_piece`), and no machine of the cluster has "
            f"more than {most:g}. Pass at most {most:g}, or use machines with more cores."
        )


def _refuse_beyond_memory(ray: ModuleType, needed: float) -> None:
    """Ray would wait forever for a machine with so much memory."""
    most = _most(ray, "memory")
    if needed > most > 0:
        raise TooLargeError(
            f"A worker needs about {in_gigabytes(needed)} of memory, and no machine of the cluster "
            f"has more than {in_gigabytes(most)} for its workers. Use a sample of the rows, or "
            "machines with more memory."
        )
