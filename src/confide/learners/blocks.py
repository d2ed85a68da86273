"""Independent blocks of work side by side: one thread a core, blocks dealt over the devices."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import PyTree

from confide.cores import available_cores

Result = TypeVar("Result")
Tree = TypeVar("Tree")


class _StoppedError(Exception):
    """Another block failed or the user pressed Ctrl-C; never leaves this module."""


@dataclass(frozen=True)
class Worker:
    """Where a block of work runs, and how it learns that it should stop."""

    device: jax.Device
    stop: threading.Event

    def put(self, tree: Tree) -> Tree:
        """The arrays on this worker's device (nothing is copied if they are there)."""
        return jax.device_put(tree, self.device)

    def check_stop(self) -> None:
        """To be called now and then; ends the block when the others have ended."""
        if self.stop.is_set():
            raise _StoppedError


def run_in_blocks(
    work: Callable[[Worker, slice], Result], blocks: Sequence[slice], n_threads: int | None
) -> list[Result]:
    """The results of all blocks in their order.

    JAX's compiled programs release Python's lock, so threads fill the cores with no global setting
    touched. On the first error, or on Ctrl-C, running blocks stop at their next check.
    """
    devices = jax.local_devices()
    stop = threading.Event()
    n_workers = min(len(blocks), max(n_threads or available_cores(), len(devices)))
    with ThreadPoolExecutor(max(n_workers, 1), thread_name_prefix="confide") as pool:
        futures = [
            pool.submit(work, Worker(devices[i % len(devices)], stop), block)
            for i, block in enumerate(blocks)
        ]
        try:
            # The first to fail did so by itself: nobody has been told to stop yet.
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def slices(n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of `range(n)`, the last one possibly short.

    Example:
        >>> list(slices(5, 3))
        [slice(0, 3, None), slice(3, 5, None)]
    """
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def padded_block(tree: PyTree, members: slice, size: int) -> PyTree:
    """The members of a block, the last one repeated until there are `size`."""
    index = np.minimum(np.arange(members.start, members.start + size), members.stop - 1)
    return jax.tree.map(lambda leaf: leaf[index], tree)
