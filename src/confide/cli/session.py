"""What a command that trains or predicts does first."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, NoReturn


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Imports that take seconds, and programs that an earlier command has compiled.

    Python loses an interrupt that comes inside a callback of an import, and the command would go
    on. Nothing is at stake here yet, so Ctrl-C ends the process at once.
    """
    with _ending_at_once():
        yield
        from confide import enable_compilation_cache

        with contextlib.suppress(OSError):  # a home that cannot be written to only costs time
            enable_compilation_cache()


@contextlib.contextmanager
def _ending_at_once() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's alone
        return
    before = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(*_: Any) -> NoReturn:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"Stopped.\n")
    os._exit(130)  # 128 + SIGINT, as shells have it
