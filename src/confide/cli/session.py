"""What a command that trains or predicts does first."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

_asked_to_stop = threading.Event()


@contextlib.contextmanager
def remembering_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises as ever, and is known of afterwards too: see `stop_if_asked`."""
    _asked_to_stop.clear()

    def remember(*arguments: Any) -> None:
        _asked_to_stop.set()
        signal.default_int_handler(*arguments)

    with _handling(remember):
        yield


def stop_if_asked() -> None:
    """For the moment before a result is written.

    An interrupt that comes inside a callback, such as that of a weak reference, is lost.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and lost.
    """
    if _asked_to_stop.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Imports that take a while.

    Python loses an interrupt that comes inside a callback of an import, and the command would go
    on. Nothing is at stake here yet, so Ctrl-C ends the process at once.
    """
    with _handling(_end):
        yield


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Imports that take seconds, and programs that an earlier command has compiled."""
    with importing():
        yield
        from confide import enable_compilation_cache

        with contextlib.suppress(OSError):  # a home that cannot be written to only costs time
            enable_compilation_cache()


@contextlib.contextmanager
def _handling(handler: Callable[..., Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's alone
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(*_: Any) -> NoReturn:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"Stopped.\n")
    os._exit(130)  # 128 + SIGINT, as shells have it
