"""One measurement in a process of its own: a JSON task as argument, a JSON result on stdout.

Started by `measure.py`; by hand, for a look at one fit:

    cd benchmarks
    python -m speed.child '{"task": "matrix_multiply_peak", "size": 1000, "repeats": 3}'
"""

import gc
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .flops import matrix_multiply_peak
from .memory import forget_peak, peak_bytes, resident_bytes
from .plan import BATCH_SIZE, CONFIDE, HIDDEN, OURS

_COMPILED = "/jax/core/compile/backend_compile_duration"
_FROM_CACHE = "/jax/compilation_cache/cache_hits"


def synthetic_table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal inputs, a smooth nonlinear truth, normal noise: the same for everyone."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n_rows, n_features))
    first, second = generator.standard_normal((2, n_features)) / np.sqrt(n_features)
    noise = 0.3 * generator.standard_normal(n_rows)
    return X, np.sin(2 * (X @ first)) + 0.5 * (X @ second) ** 2 + noise


def confide_fit(
    X: np.ndarray,
    y: np.ndarray,
    *,
    n_members: int,
    epochs: int,
    retrain_fraction: float,
    seed: int = 0,
) -> Any:
    """Fit our estimator, with the contract of the peers.

    A bootstrapped ensemble has two members at least. For one, a plain network is trained for as
    many epochs as a bootstrapped member is in all: the same work.
    """
    from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor

    shared: dict[str, Any] = {
        "hidden_layer_sizes": HIDDEN,
        "batch_size": BATCH_SIZE,
        "random_state": seed,
    }
    if n_members == 1:
        trained = OURS.trained_epochs(epochs, retrain_fraction)
        plain = DeepEnsembleRegressor(n_members=1, max_epochs=trained, **shared)
        return plain.fit(X, y)
    model = BootstrappedDeepEnsembleRegressor(
        n_members=n_members, max_epochs=epochs, retrain_fraction=retrain_fraction, **shared
    )
    return model.fit(X, y)


def fit_function(name: str) -> Callable[..., Any]:
    """Import our estimator or a peer; this is what a process pays before its first fit."""
    if name == CONFIDE:
        import confide  # noqa: F401

        return confide_fit
    from peer_loops import load

    fit: Callable[..., Any] = load(name).fit
    return fit


def measure_fit(
    *,
    started: float,
    name: str,
    n_rows: int,
    n_features: int,
    settings: dict[str, Any],
    measured_epochs: list[int],
    repeats: int,
    budget_seconds: float,
    cache_directory: str | None = None,
) -> dict[str, Any]:
    """Fit once cold, then warm, and take the time and the memory.

    Args:
        started: Wall-clock time at which the process was asked for.
        name: `confide` or a peer.
        n_rows: Rows of the synthetic table.
        n_features: Columns of the synthetic table.
        settings: Further arguments of `fit`.
        measured_epochs: Epochs of the warm fits, each timed by itself; the cold fit takes the
            first of them.
        repeats: Warm fits of each, or 0 for the cold fit alone.
        budget_seconds: No further warm fit is begun after so many seconds of them.
        cache_directory: Where to keep compiled programs, or None to compile afresh.

    Returns:
        Seconds of the parts, the memory after the imports, before the fit and at its peak, and
        how many programs JAX built or found in the cache.
    """
    start = time.perf_counter()
    try:
        fit = fit_function(name)
    except ImportError as error:
        if name == CONFIDE:
            raise
        return {"missing": str(error)}
    programs = count_programs() if name == CONFIDE else None
    if cache_directory is not None:
        import confide

        confide.enable_compilation_cache(cache_directory)
    import_seconds = time.perf_counter() - start
    imported = resident_bytes()
    X, y = synthetic_table(n_rows, n_features)
    forget_peak()
    before_fit = resident_bytes()
    first_seconds = seconds_of(partial(fit, X, y, epochs=measured_epochs[0], **settings))
    result = {
        "cold_seconds": time.time() - started,
        "import_seconds": import_seconds,
        "first_seconds": first_seconds,
        "memory": {"imported": imported, "before": before_fit, "peak": peak_bytes()},
        "data_bytes": X.nbytes + y.nbytes,
        "programs": None if programs is None else dict(programs),
    }
    training = watch_training() if name == CONFIDE else []
    result["warm_seconds"] = {
        str(epochs): repeated_seconds(
            partial(fit, X, y, epochs=epochs, **settings), repeats, budget_seconds
        )
        for epochs in measured_epochs
    }
    n_fits = sum(map(len, result["warm_seconds"].values()))
    if training and n_fits:
        # Every fit calls the learner equally often; the calls of one are its training.
        result["training_seconds"] = np.reshape(training, (n_fits, -1)).sum(axis=1).tolist()
    return result


def measure_simulations(
    *,
    started: float,
    n_sets: int,
    n_rows: int,
    n_features: int,
    settings: dict[str, Any],
    repeats: int,
) -> dict[str, Any]:
    """Fit many data sets with the same inputs in one call, warm, and take the time.

    Args:
        started: Not used.
        n_sets: Data sets.
        n_rows: Rows of each.
        n_features: Columns of each.
        settings: Arguments of the estimator.
        repeats: Calls, after a first one.
    """
    del started
    from confide import BootstrappedDeepEnsembleRegressor

    X, y = synthetic_table(n_rows, n_features)
    noise = np.random.default_rng(1).standard_normal((n_sets, n_rows))
    targets, seeds = y + 0.3 * noise, list(range(n_sets))
    model = BootstrappedDeepEnsembleRegressor(
        hidden_layer_sizes=HIDDEN, batch_size=BATCH_SIZE, **settings
    )
    list(model.fit_many(X, targets[:2], seeds[:2]))
    work = lambda: list(model.fit_many(X, targets, seeds))  # noqa: E731
    return {"warm_seconds": repeated_seconds(work, repeats, float("inf"))}


def watch_training() -> list[float]:
    """A list that grows by the seconds of every call of the learner's `train` from now on."""
    from confide.learners import NetworkEnsemble

    seconds: list[float] = []
    train = NetworkEnsemble.train

    def timed(*arguments: Any, **more: Any) -> Any:
        start = time.perf_counter()
        state = train(*arguments, **more)
        seconds.append(time.perf_counter() - start)
        return state

    NetworkEnsemble.train = timed  # type: ignore[method-assign]
    return seconds


def measure_call(
    *,
    started: float,
    call: str,
    arguments: dict[str, Any],
    n_rows: int,
    n_features: int,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Call a model that was fitted to few rows with many, and take the memory.

    Args:
        started: Not used.
        call: Method to call.
        arguments: Its arguments besides X (and y, for `fit`).
        n_rows: Rows of the synthetic table.
        n_features: Columns of the synthetic table.
        settings: Arguments of the fit to few rows; the model keeps them for a later one.
    """
    del started
    fit = fit_function(CONFIDE)
    imported = resident_bytes()
    X, y = synthetic_table(n_rows, n_features)
    model = fit(X[:1000], y[:1000], **settings)
    table = (X, y) if call == "fit" else (X,)
    gc.collect()
    forget_peak()
    before = resident_bytes()
    seconds = seconds_of(partial(getattr(model, call), *table, **arguments))
    return {
        "seconds": seconds,
        "memory": {"imported": imported, "before": before, "peak": peak_bytes()},
        "data_bytes": X.nbytes + y.nbytes,
    }


def measure_peak(*, started: float, size: int, repeats: int) -> dict[str, Any]:
    """How fast this machine multiplies matrices, by library."""
    del started
    return {"gigaflops": matrix_multiply_peak(size, repeats)}


def repeated_seconds(work: Callable[[], Any], repeats: int, budget_seconds: float) -> list[float]:
    """Durations of some calls; at least one, if any is asked for."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < budget_seconds:
        times.append(seconds_of(work))
    return times


def seconds_of(work: Callable[[], Any]) -> float:
    """Duration of one call, with earlier rubbish cleared away before."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    del result
    return seconds


def count_programs() -> Counter[str]:
    """Count from now on the programs that JAX makes ready, and those it finds in its cache."""
    import jax

    counts = Counter({"ready": 0, "from_cache": 0})

    def on_duration(event: str, duration_secs: float, **_: Any) -> None:
        del duration_secs
        counts["ready"] += event == _COMPILED

    def on_event(event: str, **_: Any) -> None:
        counts["from_cache"] += event == _FROM_CACHE

    jax.monitoring.register_event_duration_secs_listener(on_duration)
    jax.monitoring.register_event_listener(on_event)
    return counts


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "fit": measure_fit,
    "matrix_multiply_peak": measure_peak,
    "call": measure_call,
    "simulations": measure_simulations,
}


def main() -> None:
    """Run the task of the command line."""
    # Libraries may print; only the result may reach the stdout we were given.
    result_stream = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    specification = {"started": time.time(), **json.loads(sys.argv[1])}
    result = TASKS[specification.pop("task")](**specification)
    with result_stream:
        json.dump(result, result_stream)


if __name__ == "__main__":
    main()
