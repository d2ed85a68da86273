"""Predictions from many threads and processes at once, and in forks: all equal, and none waits."""

import multiprocessing
import os
import signal
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np

import confide
from attacks.counts import Counts
from attacks.samples import rows, saved_models
from confide.estimators import IntervalRegressor

MODEL = "bootstrapped.plain"
N_THREADS, N_PROCESSES = 8, 4
# A fork that has said nothing by then never will.
PATIENCE = 60.0


def attack(n: int, folder: Path, *, n_forks: int = 5) -> list[Counts]:
    """Counts of `n` predictions from threads, as many from spawned processes, and of forks."""
    (path,) = saved_models(folder, (MODEL,))
    model = confide.load(path)
    expected = _answer(model, 0), _answer(model, 1)
    return [
        _from_threads(n, model, expected),
        _from_processes(n, path, expected),
        _from_forks(n_forks, model, expected[0]),
    ]


def _answer(model: IntervalRegressor, i: int) -> bytes:
    """All that is predicted for one row, or for some."""
    X = rows()[: 1 + 20 * (i % 2)]
    return model.get_prediction(X).summary_frame(0.9).to_numpy(np.float64).tobytes()


def _from_threads(n: int, model: IntervalRegressor, expected: tuple[bytes, ...]) -> Counts:
    counts = Counts(f"{N_THREADS} threads", "all answers equal, to the last bit")
    with ThreadPoolExecutor(N_THREADS) as threads:
        for i, answer in enumerate(threads.map(lambda i: _answer(model, i), range(n))):
            counts.add("equal", None if answer == expected[i % 2] else f"answer {i} differs")
    return counts


def _from_processes(n: int, path: Path, expected: tuple[bytes, ...]) -> Counts:
    counts = Counts(f"{N_PROCESSES} spawned processes", "all answers equal, to the last bit")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(N_PROCESSES, spawn, _load, (path,)) as processes:
        for i, answer in enumerate(processes.map(_answer_of_loaded, range(n), chunksize=25)):
            counts.add("equal", None if answer == expected[i % 2] else f"answer {i} differs")
    return counts


_loaded: list[IntervalRegressor] = []


def _load(path: Path) -> None:
    _loaded[:] = [confide.load(path)]


def _answer_of_loaded(i: int) -> bytes:
    return _answer(_loaded[0], i)


def _from_forks(n: int, model: IntervalRegressor, expected: bytes) -> Counts:
    counts = Counts("forks of a process that predicted", "an equal answer, or an error at once")
    for _ in range(n):
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # JAX's: just this is tried
            child = os.fork()
        if child == 0:
            os._exit(_code_in_fork(model, expected))
        counts.add(*_fate(child))
    return counts


def _code_in_fork(model: IntervalRegressor, expected: bytes) -> int:
    try:
        return 0 if _answer(model, 0) == expected else 1
    except RuntimeError:
        return 2


def _fate(child: int) -> tuple[str, str | None]:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            known = {0: ("equal", None), 2: ("refused", None), 1: ("differs", "another answer")}
            return known.get(code, ("died", f"ended with {code}"))
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs", f"no answer in {PATIENCE:g} s"
