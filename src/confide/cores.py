"""How many cores this process may use; less where others work beside it."""

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from threadpoolctl import ThreadpoolController

_most: ContextVar[int | None] = ContextVar("most cores", default=None)


@contextmanager
def within_cores(most: int | None) -> Iterator[None]:
    """Uses so many cores at most until the block ends; None for no bound."""
    token = _most.set(most)
    try:
        yield
    finally:
        _most.reset(token)


def available_cores() -> int:
    """The cores this process may use.

    Example:
        >>> with within_cores(1):
        ...     available_cores()
        1
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(here or 1, _most.get() or here or 1)


def blas_threads() -> int:
    """Threads with which NumPy and SciPy multiply matrices."""
    return max((each["num_threads"] for each in _blas().info()), default=1)


@contextmanager
def with_blas_threads(n_threads: int) -> Iterator[None]:
    """Products of matrices in so many threads, until the block ends.

    Another number of them adds the same terms in another order, and rounds the last bit otherwise.
    """
    with _blas().limit(limits=n_threads):
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Products of matrices in one thread: the same bits on machines of one core and of many."""
    with _ALONE.asked():
        yield


class _Alone:
    """One thread for products of matrices, while any thread of Python asks for it."""

    def __init__(self) -> None:
        self._lock, self._n_asking, self._until_none = threading.Lock(), 0, ExitStack()

    @contextmanager
    def asked(self) -> Iterator[None]:
        """The first who asks sets it, the last one to leave sets it back."""
        with self._lock:
            if self._n_asking == 0:
                self._until_none.enter_context(with_blas_threads(1))
            self._n_asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_asking -= 1
                if self._n_asking == 0:
                    self._until_none.close()


_ALONE = _Alone()


@functools.cache
def _blas() -> ThreadpoolController:
    """The libraries that multiply matrices; it takes a while to find them."""
    import scipy.linalg  # noqa: F401 - SciPy brings one of its own

    return ThreadpoolController().select(user_api="blas")
