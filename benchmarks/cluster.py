"""What a cluster would save: a cost model of it, checked by as many workers as this machine bears.

    python benchmarks/cluster.py --write    # results/cluster.md, about five minutes

What is measured is kept in `build/cluster`, so a run that was stopped goes on where it was; remove
the folder to measure anew. Nothing else should run beside it.

1. A fit with calibration, and a check, run in this process; the time of each piece is noted, and
   how many bytes it takes and gives back.
2. Empty pieces on Ray tell what a piece, a call and a byte cost.
3. From these alone, the model predicts how long the same work takes with so many workers.
4. The work is replayed on Ray with 2, 4 and 8 workers. This machine has fewer cores, so each piece
   sleeps as long as it took, and carries as many bytes: scheduling, transport and waiting are
   real, computing is not.
5. The model says what 64 workers would do.
"""

import argparse
import heapq
import json
import os
import pickle
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import confide
from confide.cores import within_cores
from confide.engines import RayCluster

WORKERS = (2, 4, 8)
MANY = (16, 64)
ROOT = Path(__file__).parents[1]
RESULT, KEPT = ROOT / "results" / "cluster.md", ROOT / "build" / "cluster"


class Piece(NamedTuple):
    """How long a piece took, and the bytes that went there and back."""

    seconds: float
    sent: int
    returned: int


class Call(NamedTuple):
    """A call of `map`: its pieces, what they have in common, and the time alone before it."""

    alone: float
    common: int
    pieces: list[Piece]


@dataclass
class Recording:
    """An engine that works here, with one core, and takes notes."""

    calls: list[Call] = field(default_factory=list)
    last: float = field(default_factory=time.perf_counter)

    def connected(self) -> AbstractContextManager[None]:
        """There is nothing to connect to."""
        return nullcontext()

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        common: Sequence[Any] = (),
        *,
        memory: float = 0.0,
    ) -> Iterator[Any]:
        """One call after the other."""
        del memory
        alone, pieces = time.perf_counter() - self.last, []
        results = []
        for item in items:
            start = time.perf_counter()
            with within_cores(1):
                results.append(function(item, *common))
            seconds = time.perf_counter() - start
            pieces.append(Piece(seconds, len(pickle.dumps(item)), len(pickle.dumps(results[-1]))))
        self.calls.append(Call(alone, sum(getattr(c, "nbytes", 0) for c in common), pieces))
        self.last = time.perf_counter()
        return iter(results)

    def run(self, pieces: Any, store: Any, observer: Any) -> None:
        """Not asked for here."""
        raise NotImplementedError


class Costs(NamedTuple):
    """What an engine takes beside the work: seconds for each call, each piece and each byte."""

    call: float
    piece: float
    byte: float


def recorded(work: Callable[[Any], Any]) -> tuple[list[Call], float]:
    """The calls of some work, and the time alone after the last of them."""
    work(Recording())  # programs are compiled
    engine = Recording()
    work(engine)
    return engine.calls, time.perf_counter() - engine.last


def predicted(calls: list[Call], after: float, n_workers: int, costs: Costs) -> float:
    """How long the work takes: pieces go to the worker that is free first, calls wait for all."""
    total = after
    for call in calls:
        free = [0.0] * n_workers
        sent = costs.call + costs.byte * call.common
        for piece in call.pieces:
            sent += costs.piece / 2 + costs.byte * piece.sent  # this process sends one by one
            begun = max(heapq.heappop(free), sent)
            heapq.heappush(free, begun + piece.seconds + costs.piece / 2)
        returned = costs.byte * sum(piece.returned for piece in call.pieces)
        total += call.alone + max(free) + returned
    return total


def replayed(calls: list[Call], after: float, engine: RayCluster) -> float:
    """How long it takes with pieces that sleep, and carry as many bytes."""
    start = time.perf_counter()
    for call in calls:
        time.sleep(call.alone)
        common = np.zeros(max(call.common, 1), np.uint8)
        items = ((piece, bytes(piece.sent)) for piece in call.pieces)
        list(engine.map(sleeping, items, (common,)))
    time.sleep(after)
    return time.perf_counter() - start


def sleeping(item: tuple[Piece, bytes], common: np.ndarray) -> bytes:
    """A piece that takes as long and returns as much as the real one."""
    del common
    time.sleep(item[0].seconds)
    return bytes(item[0].returned)


def process(_: int) -> int:
    """The process of a worker, which it keeps for a while."""
    time.sleep(0.5)
    return os.getpid()


def costs_of(engine: RayCluster, n: int = 40) -> Costs:
    """Measured with pieces that do nothing; the best of three, after a first one."""

    def seconds(n_calls: int, n_pieces: int, size: int) -> float:
        calls = [Call(0.0, 0, [Piece(0.0, size, size)] * n_pieces)] * n_calls
        return min(replayed(calls, 0.0, engine) for _ in range(3))

    seconds(1, n, 0)
    one, many, large = seconds(n, 1, 0) / n, seconds(1, n, 0), seconds(1, n, 10**6)
    piece = (many - one) / (n - 1)
    return Costs(max(one - piece, 0.0), piece, max(large - many, 0.0) / (2 * n * 10**6))


def works() -> dict[str, Callable[[Any], Any]]:
    """What is measured: small tables, so that the whole takes minutes."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + generator.normal(0, 0.3, 200)
    how: dict[str, Any] = {"recipe": "paper", "max_epochs": 400, "random_state": 0}

    def fit(engine: Any) -> None:
        model = confide.BootstrappedDeepEnsembleRegressor(**how, engine=engine).fit(X, y)
        model.calibrate_confidence(X, y, twin="smooth", n_simulations=40)

    def check(engine: Any) -> None:
        model = confide.BootstrappedDeepEnsembleRegressor(**how)
        confide.coverage_check(model, X, y, n_simulations=40, random_state=0, engine=engine)

    return {"fit, calibrated on 40 twins": fit, "check with 40 simulations": check}


def main() -> None:
    """Measures, predicts, compares and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    write = parser.parse_args().write
    notes = {name: _calls_of(kept(name, recorded, work)) for name, work in works().items()}
    memory = kept("memory", peak_memory)
    print("timed in one process", flush=True)
    times: dict[int, dict[str, float]] = {}
    costs = Costs(0.0, 0.0, 0.0)
    for n_workers in WORKERS:
        found, measured = kept(f"{n_workers} workers", replays, n_workers, notes)
        times[n_workers], costs = found, costs if measured is None else Costs(*measured)
        print(f"{n_workers} workers: {found}", flush=True)
    page = page_of(notes, times, costs, memory)
    print(page)
    if write:
        RESULT.write_text(page)


def kept(name: str, measure: Callable[..., Any], *arguments: Any) -> Any:
    """What an earlier run has measured, or what this one does."""
    path = KEPT / f"{name}.json"
    if not path.exists():
        content = json.dumps(measure(*arguments))
        KEPT.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return json.loads(path.read_text())


def peak_memory() -> float:
    """Of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _calls_of(content: Any) -> tuple[list[Call], float]:
    """Calls and the time after them, as JSON keeps them."""
    calls, after = content
    return [Call(a, common, [Piece(*p) for p in pieces]) for a, common, pieces in calls], after


def replays(n_workers: int, notes: dict[str, tuple[list[Call], float]]) -> tuple[Any, Any]:
    """How long each work takes with so many workers; the first of them also tell the costs."""
    import ray

    ray.init(num_cpus=n_workers, include_dashboard=False, object_store_memory=200_000_000)
    engine = RayCluster()
    with engine.connected():
        while len({*engine.map(process, range(2 * n_workers))}) < n_workers:
            print("Workers are starting.", flush=True)
        costs = costs_of(engine) if n_workers == WORKERS[0] else None
        found = {name: replayed(*of, engine) for name, of in notes.items()}
    ray.shutdown()
    return found, costs


def page_of(
    notes: dict[str, tuple[list[Call], float]],
    times: dict[int, dict[str, float]],
    costs: Costs,
    memory: float,
) -> str:
    """The result in words and tables."""
    off = {"total": 0.0, "calls": 0.0}
    for name, (calls, after) in notes.items():
        alone = after + sum(call.alone for call in calls)
        for n_workers, found in times.items():
            expected = predicted(calls, after, n_workers, costs)
            off["total"] = max(off["total"], abs(found[name] / expected - 1))
            of_calls = (found[name] - alone) / (expected - alone)
            off["calls"] = max(off["calls"], abs(of_calls - 1))
    lines = [
        "# What a cluster saves",
        "",
        (
            f"Made by `benchmarks/cluster.py` on {os.cpu_count()} cores, in seconds. Pieces were "
            "timed in one process with one core. Then they were"
        ),
        "replayed on Ray with 2, 4 and 8 workers. These share the cores of this machine, so the",
        "replayed pieces sleep as long as the real ones took, and carry as many bytes: scheduling,",
        "transport and waiting were measured, computing side by side was not. 16 and 64 workers",
        "were not run: the model predicts them.",
        "",
        "The time between calls is no prediction: it is the same number on both sides. So the last",
        "column, without it, is what tests the model.",
        "",
        (
            f"**Totals are off by at most {off['total']:.0%}, calls alone by at most "
            f"{off['calls']:.0%}.**"
        ),
        "",
        (
            f"A call of the engine takes {1e3 * costs.call:.1f} ms, each piece "
            f"{1e3 * costs.piece:.1f} ms, and a megabyte {1e9 * costs.byte:.2f} ms. The process "
            f"that timed the pieces had a peak of {memory:.0f} MB of memory."
        ),
    ]
    for name, (calls, after) in notes.items():
        pieces = [piece for call in calls for piece in call.pieces]
        alone = after + sum(call.alone for call in calls)
        work = sum(piece.seconds for piece in pieces)
        lines += [
            "",
            (
                f"**{name}**: {len(pieces)} pieces in {len(calls)} calls, {work:.1f} s of work in "
                f"pieces and {alone:.1f} s between them, which no worker can take over. A piece "
                f"takes {np.median([p.seconds for p in pieces]):.2f} s (median) and moves "
                f"{np.median([p.sent + p.returned for p in pieces]) / 1e3:.0f} kB."
            ),
            "",
            "| workers | predicted | measured | measured / predicted | the same of calls alone |",
            "|---|---|---|---|---|",
            f"| 1 | {predicted(calls, after, 1, costs):.1f} | | | |",
        ]
        for n_workers in (*WORKERS, *MANY):
            expected = predicted(calls, after, n_workers, costs)
            found = times.get(n_workers, {}).get(name)
            rest = "| | | |"
            if found is not None:
                ratios = found / expected, (found - alone) / (expected - alone)
                rest = f"| {found:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
            lines.append(f"| {n_workers} | {expected:.1f} {rest}")
    lines += [
        "",
        "**Where it stops scaling.** A call ends with its longest piece, and this process works",
        "alone between calls. With as many workers as a call has pieces, more of them change",
        "nothing; what is left is the time between calls and one piece of each call.",
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
