"""How many cores this process may use; less where others work beside it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
