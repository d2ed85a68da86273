"""What work will take, told before it starts, and refused where the machine does not have it."""

import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from confide.errors import TooLargeError

# What is less is not worth a word.
SECONDS_WORTH_SAYING, BYTES_WORTH_SAYING = 5.0, 1e9
# Bytes of a fit at its peak for each cell, column and row of a table (`benchmarks/budget.py`); for
# each column of each member that is kept, its weights and those of its retraining; and for what a
# member has besides.
MEMORY = {
    "paper": (70.0, 45_000.0, 1_400.0, 320.0, 25_000.0),
    "tabular": (90.0, 150_000.0, 1_700.0, 512.0, 70_000.0),
    "trees": (260.0, 58_000.0, 0.0, 0.0, 0.0),
}
# Of any table that is trained on, for each cell.
BYTES_PER_TRAINED_CELL = 40
# Of rows that are predicted at once: for each cell, column and row.
PREDICTING = (42.0, 25_000.0, 1_100.0)
# On two cores of 2024: rows of an epoch of a member a second, and columns that double its time.
# Rough: networks measured at 404 rows and 13 columns, columns and trees on a busy machine.
SPEEDS = {"paper": (2e6, 100), "tabular": (7e5, 40), "trees": (6e6, 40)}
# Of a column that has more than two values, which have one: with waves there are more.
INPUTS = {"paper": 1, "tabular": 9, "trees": 1}
# Seconds of any fit, however small its table is: programs are compiled, and twins chosen.
STARTING = {"paper": 3.0, "tabular": 15.0, "trees": 3.0}
# Of another process that has loaded confide and JAX and trained on a small table
# (`benchmarks/cluster.py`); and how often it may hold the rows that it trains on: a cautious
# guess, not measured.
BYTES_OF_A_WORKER, COPIES_OF_ROWS = 500e6, 3
PREDICTED_ROWS_PER_SECOND = 1e5
ADVICE = "Use fewer columns or a sample of the rows, or a machine with more memory."


class Need(NamedTuple):
    """Memory and time that some work will take, roughly.

    Example:
        >>> str(Need(3e9, 250))
        'This will take about 3.0 GB of memory and 4 minutes.'
        >>> str(Need(3e6, 2))
        ''
    """

    bytes: float
    seconds: float

    def __str__(self) -> str:
        parts = [f"{in_gigabytes(self.bytes)} of memory"] * (self.bytes > BYTES_WORTH_SAYING)
        parts += [_in_words(self.seconds)] * (self.seconds > SECONDS_WORTH_SAYING)
        return f"This will take about {' and '.join(parts)}." if parts else ""


def of_fits(
    n_rows: int,
    n_columns: int,
    member_epochs: int,
    learner: str = "paper",
    *,
    n_members: int = 5,
    n_indicators: int = 0,
) -> Need:
    """Of all fits to a table together.

    Args:
        n_rows: of the table.
        n_columns: of the table.
        member_epochs: epochs of one member in all fits.
        learner: one of those whose speed is known.
        n_members: of all fits that are kept at once.
        n_indicators: columns that have but two values.

    Returns:
        What they take.
    """
    rows_per_second, columns_of_half_speed = SPEEDS[learner]
    n_slow = n_columns - n_indicators * (1 - 1 / INPUTS[learner])
    of_a_row = (1 + n_slow / columns_of_half_speed) / rows_per_second
    per_cell, per_column, per_row, of_column, of_member = MEMORY[learner]
    memory = per_cell * n_rows * n_columns + per_row * n_rows
    memory += per_column * n_columns + (of_column * n_columns + of_member) * n_members
    return Need(memory, STARTING[learner] + member_epochs * n_rows * of_a_row)


def of_predicting(
    n_rows: int, n_columns: int, n_fits: int, rows_at_once: int | None = None
) -> Need:
    """Of predictions by so many fits, the model's own and those of its twins."""
    at_once = n_rows if rows_at_once is None else min(n_rows, rows_at_once)
    per_cell, per_column, per_row = PREDICTING
    memory = per_cell * at_once * n_columns + per_column * n_columns + per_row * at_once
    return Need(memory, n_fits * n_rows / PREDICTED_ROWS_PER_SECOND)


def of_worker(shape: tuple[int, ...], n_members: int) -> float:
    """Bytes that a process needs which trains some of the members of a fit elsewhere.

    Args:
        shape: rows and columns of the table.
        n_members: of those that it trains at once.
    """
    n_rows, n_columns = shape
    of_members = 8 * n_members  # a target each, and the number of a row
    return BYTES_OF_A_WORKER + COPIES_OF_ROWS * n_rows * (4 * n_columns + of_members)


def of_other_fit(shape: tuple[int, ...]) -> float:
    """Bytes that a process needs which fits any regressor elsewhere, as far as its rows tell."""
    return BYTES_OF_A_WORKER + COPIES_OF_ROWS * 8 * (math.prod(shape) + shape[0])


def of_predicting_elsewhere(n_rows: int, n_columns: int) -> float:
    """Bytes that a process needs which predicts so many rows at once elsewhere."""
    return BYTES_OF_A_WORKER + of_predicting(n_rows, n_columns, 1).bytes


def refuse_beyond_memory(needed: float, what: str, advice: str = ADVICE) -> None:
    """Refuses work that would end with the process being killed.

    Raises:
        TooLargeError: with what was needed, what there is, and what to do.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{what} needs about {in_gigabytes(needed)} of memory, and this machine has "
            f"{in_gigabytes(available)} left. {advice}"
        )


class Meter:
    """Bytes of a table that is read as a whole, up to what the memory can take.

    A few compressed kilobytes may become any number of bytes.

    Args:
        name: of the file.
        growth: bytes in memory for each that is counted.
    """

    def __init__(self, name: str, growth: float = 1.0) -> None:
        self._name, self._growth = name, growth
        self._bytes, self._most = 0, available_memory()

    def add(self, bytes_: int) -> None:
        """Counts some more.

        Raises:
            TooLargeError: they are too many.
        """
        self._bytes += bytes_
        if self._most is not None and self._growth * self._bytes > self._most:
            raise TooLargeError(
                f"{self._name} does not fit in memory: there are more than "
                f"{in_gigabytes(self._bytes)} in it, and this machine has "
                f"{in_gigabytes(self._most)} left. {ADVICE}"
            )


@contextmanager
def within_memory(name: str) -> Iterator[None]:
    """Refuses what takes more memory than there is, where its size is not known before.

    Linux grants any memory at first, and ends the process when it is used. Meanwhile it is limited
    to what there is.

    Args:
        name: of what is read.

    Raises:
        TooLargeError: it takes more.
    """
    available, used = available_memory(), _used_addresses()
    is_known = available is not None and used is not None
    try:
        with _LIMIT.at((available or 0) + (used or 0)) if is_known else nullcontext():
            yield
    except MemoryError as error:
        left = "" if available is None else f": this machine has {in_gigabytes(available)} left"
        raise TooLargeError(f"{name} does not fit in memory{left}. {ADVICE}") from error


class _Limit:
    """A limit of the addresses of this process while any thread asks for one."""

    def __init__(self) -> None:
        self._lock, self._n_threads, self._before = threading.Lock(), 0, (0, 0)

    @contextmanager
    def at(self, addresses: int) -> Iterator[None]:
        """Sets it, if no other thread has."""
        import resource

        kind = resource.RLIMIT_AS
        with self._lock:
            if self._n_threads == 0:
                self._before = soft, hard = resource.getrlimit(kind)
                known = (each for each in (soft, hard) if each != resource.RLIM_INFINITY)
                resource.setrlimit(kind, (min([addresses, *known]), hard))
            self._n_threads += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_threads -= 1
                if self._n_threads == 0:
                    resource.setrlimit(kind, self._before)


_LIMIT = _Limit()


def available_memory() -> int | None:
    """Bytes that this process may still take, as far as the system tells."""
    known = [_of_system(), _of_container(), _of_process()]
    return min((max(bytes_, 0) for bytes_ in known if bytes_ is not None), default=None)


def in_gigabytes(bytes_: float) -> str:
    """A size for people.

    Example:
        >>> in_gigabytes(2**30)
        '1.1 GB'
    """
    return f"{bytes_ / 1e9:,.1f} GB"


def _of_system() -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:  # what there is in all, where nobody knows what is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    most, used = (_lines(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    return int(most[0]) - int(used[0]) if most and used and most[0].isdigit() else None


def _of_process() -> int | None:
    """What `ulimit -v` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _used_addresses()
    return None if most == resource.RLIM_INFINITY or used is None else most - used


def _used_addresses() -> int | None:
    """Bytes that the process has addresses for; None where the system does not tell."""
    if sys.platform == "win32" or not (used := _lines("/proc/self/statm")):
        return None
    import resource

    return int(used[0].split()[0]) * resource.getpagesize()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _in_words(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds > 1.5 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
