"""Processes that were forked after JAX had started: its threads are not there."""

import os
import sys

# The process that JAX was started in, as far as is known.
_first_process: list[int] = []


def refuse_forked() -> None:
    """Refuses to go on in a fork of the process that confide, or JAX, was first used in.

    JAX, and OpenMP in boosted trees, would wait forever for threads that a fork does not have.

    Raises:
        RuntimeError: with what to do.
    """
    _first_process[:] = _first_process or [os.getpid()]
    if _first_process != [os.getpid()]:
        raise RuntimeError(
            f"confide or JAX was used in process {_first_process[0]}, and this is a fork of it, "
            f"{os.getpid()}, where JAX would wait forever. Load the model in each worker after the "
            "fork (gunicorn: without --preload), or start workers with "
            "multiprocessing.get_context('spawn')."
        )


def _remember_jax() -> None:
    """In a fork: whether JAX had started by then, by the user's own code."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if not _first_process and getattr(bridge, "backends_are_initialized", bool)():
        _first_process[:] = [os.getppid()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_remember_jax)
