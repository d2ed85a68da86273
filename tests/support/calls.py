"""Functions that an engine calls: of a module, so that other processes find them."""

import os
import signal
import time
import warnings

from confide.cores import available_cores, blas_threads


def scaled(item, factor):
    return item * factor


def faulty(item):
    if item == 2:
        raise ValueError("Two is odd.")
    return item


def process_and_cores(item):
    return os.getpid(), available_cores()


def threads_there(estimator, own):
    assert estimator.engine == "in-process"
    return blas_threads()


def doubtful(item):
    warnings.warn(f"{item} is doubtful.", RuntimeWarning, stacklevel=2)
    return item


def held(begun, released):
    """Keeps its worker until a file is there."""
    begun.touch()
    while not released.exists():
        time.sleep(0.05)


def slowly(item):
    time.sleep(0.5)
    return item


def killer(*_):
    os.kill(os.getpid(), signal.SIGKILL)
