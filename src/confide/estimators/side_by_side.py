"""Fits to several targets side by side: each is one call of the estimator's engine."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import cloudpickle
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from confide.cores import blas_threads, with_blas_threads
from confide.engines import Engine
from confide.estimators.own_parts import NEEDED
from confide.progress import progress_bar

Fitted = TypeVar("Fitted")
# However many workers share one fit, it takes them about a third of the time of one worker, or
# more (results/several_targets.md): so few targets are better fitted one after the other.
MOST_GAIN = 3


def n_side_by_side(engine: Engine, n_targets: int) -> int:
    """How many targets have a worker each; the members of the others are spread over all workers.

    Workers take one target after the other. One or two targets that are left for a last round, in
    which the other workers would be idle, are fitted as if they were alone.

    Args:
        engine: where members are trained.
        n_targets: how many there are.
    """
    n_workers: int = getattr(engine, "n_workers", lambda: 1)()
    if n_workers == 1:
        return 0
    n_last = n_targets % n_workers
    return n_targets - n_last if n_last < MOST_GAIN else n_targets


def for_each_target(
    fit: Callable[..., Fitted],
    estimator: Any,
    targets: Mapping[str, Any],
    *common: Any,
    shape: tuple[int, int],
) -> dict[str, Fitted]:
    """What a function returns for each target, which it is given with a clone of an estimator.

    Args:
        fit: called with a clone, with what is the target's own, and with what all have in common.
        estimator: unfitted.
        targets: what is each one's own, by name.
        common: what all share, such as their rows.
        shape: of these rows.

    Returns:
        What the function returned, by the same names.
    """
    engine: Engine = estimator._engine  # noqa: SLF001
    with engine.connected():
        n_away = 0 if _has_own_parts(estimator) else n_side_by_side(engine, len(targets))
        fitted = _fitted_away(fit, estimator, dict([*targets.items()][:n_away]), common, shape)
        for name in [*targets][n_away:]:
            fitted[name] = named(name, fit, clone(estimator), targets[name], *common)
    return fitted


def _has_own_parts(estimator: Any) -> bool:
    """Whether its members are the user's own, which may not leave this process."""
    return any(not isinstance(getattr(estimator, name, None), str | None) for name in NEEDED)


def _fitted_away(
    fit: Callable[..., Fitted],
    estimator: Any,
    targets: Mapping[str, Any],
    common: tuple[Any, ...],
    shape: tuple[int, int],
) -> dict[str, Fitted]:
    """The same for targets that are each fitted whole by one worker."""
    if not targets:
        return {}
    engine: Engine = estimator._engine  # noqa: SLF001
    unfitted = clone(estimator).set_params(engine="in-process")
    work = cloudpickle.dumps((fit, unfitted, blas_threads()))
    items = [(name, own, _seed(estimator)) for name, own in targets.items()]
    memory = estimator.memory_of_fit(shape)
    title, fitted = f"Fitting {len(targets)} targets side by side", {}
    with progress_bar(title, len(targets), shown=bool(estimator.verbose)) as progress:
        results = engine.map(_fitted_here, items, (work, *common), memory=memory)
        for name, content in zip(targets, results, strict=True):
            fitted[name] = cloudpickle.loads(content)
            if progress is not None:
                progress(1)
    return fitted


def _seed(estimator: Any) -> int | None:
    """Of NumPy's own random numbers in the worker, if the estimator takes its seed from there."""
    if estimator.random_state is not None:
        return None
    return int(check_random_state(None).randint(np.iinfo(np.int32).max))


def _fitted_here(one: tuple[str, Any, int | None], work: bytes, *common: Any) -> bytes:
    """A fit in a worker; pickled here, with functions of the user's own."""
    name, own, seed = one
    fit, estimator, n_threads = cloudpickle.loads(work)
    if seed is not None:
        np.random.seed(seed)  # noqa: NPY002 - scikit-learn's `random_state=None` is this one
    with with_blas_threads(n_threads):  # as where it was called: else some last bits differ
        return cloudpickle.dumps(named(name, fit, estimator, own, *common))


def named(name: str, call: Callable[..., Fitted], *arguments: Any) -> Fitted:
    """The result of a call for a target; an error says which target it is of."""
    try:
        return call(*arguments)
    except Exception as error:
        error.add_note(f"This was the target {name!r}.")
        raise
