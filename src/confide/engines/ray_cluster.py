"""The engine for many machines: Ray hands out the pieces, this process alone keeps the results."""

import logging
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Generic

from confide.engines.protocol import Kept, Observer, P, Piece, Store
from confide.extras import require

# How long to wait for a result before looking again at pieces that other processes work on.
SECONDS_BETWEEN_LOOKS = 1.0
# What a worker must have as this process has it: where the data are, and where the code is.
PASSED_ON = ("CONFIDE_DATA", "PYTHONPATH")


class LostPieceError(RuntimeError):
    """A piece whose process was lost again and again."""


@dataclass(frozen=True)
class RayCluster:
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
        _ray()

    def run(self, pieces: Sequence[P], store: Store[P, Kept], observer: Observer[P, Kept]) -> None:
        """Returns when this cluster or another process has finished every piece."""
        ray = _ray()
        with self._connected(ray):
            work = _Work(ray, store, observer, self._task(ray), self.most_losses)
            left = list(pieces)
            try:
                while left or work.running:
                    left = work.start(left, self._room(ray))
                    work.keep_finished()
            finally:
                work.stop()

    @contextmanager
    def _connected(self, ray: ModuleType) -> Iterator[None]:
        if ray.is_initialized():
            yield
            return
        ray.init(
            address=self.address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if self.address else {"include_dashboard": False}),
        )
        try:
            yield
        finally:
            ray.shutdown()

    def _task(self, ray: ModuleType) -> Any:
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return ray.remote(
            num_cpus=self.cpus_per_piece,
            max_retries=self.most_losses,
            retry_exceptions=False,
            **({"runtime_env": {"env_vars": passed}} if passed else {}),
        )(_computed)

    def _room(self, ray: ModuleType) -> int:
        """How many pieces Ray may have at once.

        Twice as many as can run, so that no core waits for this process; more would only keep
        other processes from them.
        """
        n_cpus = ray.cluster_resources().get("CPU", 0.0)
        return 2 * max(1, int(n_cpus / self.cpus_per_piece))


@dataclass
class _Work(Generic[P, Kept]):
    """The pieces that Ray has now, each with the claim on it."""

    ray: ModuleType
    store: Store[P, Kept]
    observer: Observer[P, Kept]
    task: Any
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
                self.running[self.task.remote(piece)] = piece, claim.pop_all()
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
                saved = self.store.save(piece, self._result(reference, piece))
            self.observer.finished(piece, saved)

    def _result(self, reference: Any, piece: P) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None  # the piece's own error; Ray's traceback adds nothing
        except self.ray.exceptions.RayError as error:
            raise LostPieceError(
                f"The process or machine of {piece.name} was lost {self.most_losses + 1} times; "
                f"Ray says {type(error).__name__}. See Ray's logs for the reason: perhaps there "
                "was too little memory."
            ) from error

    def stop(self) -> None:
        """Cancels what runs and gives the claims back."""
        for reference, (_, claim) in self.running.items():
            with claim:
                self.ray.cancel(reference, force=True)
        self.running.clear()


def _computed(piece: Piece) -> Any:
    return piece.computed(None)


def _ray() -> ModuleType:
    return require("ray", "ray")
