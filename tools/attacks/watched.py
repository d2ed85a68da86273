"""A process that does one task after another, watched from outside for its time and memory."""

import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Beyond these the process is ended: it works or waits without end, or it would take the
# machine's memory. On a busy machine it may wait long for a second of the processor.
LONGEST, LONGEST_WAIT = 20.0, 300.0
MOST_BYTES = 2**31
TICK = 0.02


@dataclass(frozen=True)
class Outcome:
    """What a task came to.

    Attributes:
        answer: what the task returned, or None where it failed.
        fault: what went wrong, or None.
        seconds: that it took; the clock's or the processor's, whichever are less, as on a busy
            machine a task waits for others.
        bytes: of memory that it took at its peak, beyond what the process had before.
    """

    answer: str | None
    fault: str | None
    seconds: float
    bytes: int


class Watched:
    """A function in a process of its own, called with one task at a time.

    Args:
        prepare: called once in the process, with `arguments`; it returns the function of a task.
        arguments: what `prepare` needs.
    """

    def __init__(self, prepare: Callable[..., Callable[[Any], str]], *arguments: Any) -> None:
        self._prepare, self._arguments = prepare, arguments
        self._start()

    def __call__(self, task: Any) -> Outcome:
        """Does a task; a process that hangs or takes too much memory is ended and replaced."""
        self._connection.send(task)
        start, before = time.monotonic(), memory(self._process.pid)["VmRSS"]
        worked = processor_seconds(self._process.pid)
        while not self._connection.poll(TICK):
            seconds = time.monotonic() - start
            if not self._process.is_alive():
                return self._ended(f"the process died ({self._process.exitcode})", seconds)
            taken = memory(self._process.pid)["VmRSS"] - before
            if taken > MOST_BYTES:
                return self._ended(f"more than {MOST_BYTES >> 20} MB", seconds, taken)
            if processor_seconds(self._process.pid) - worked > LONGEST or seconds > LONGEST_WAIT:
                return self._ended(f"no answer in {seconds:.0f} s", seconds, taken)
        try:
            return self._connection.recv()
        except EOFError:
            return self._ended("the process died", time.monotonic() - start)

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()

    def _ended(self, fault: str, seconds: float, taken: int = 0) -> Outcome:
        self.close()
        self._start()
        return Outcome(None, fault, seconds, taken)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self._prepare, self._arguments), daemon=True
        )
        self._process.start()
        theirs.close()
        self._connection.recv()  # it is ready


def _serve(
    connection: Connection, prepare: Callable[..., Callable[[Any], str]], arguments: tuple[Any, ...]
) -> None:
    warnings.simplefilter("ignore")
    work = prepare(*arguments)
    connection.send("ready")
    while True:
        task = connection.recv()
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = memory()["VmRSS"]
        start = time.monotonic(), time.process_time()
        answer = fault = None
        try:
            answer = work(task)
        except BaseException as error:  # noqa: BLE001 - whatever comes is what is counted
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            fault = f"{type(error).__name__}: {error!s:.200} ({place})"
        seconds = min(time.monotonic() - start[0], time.process_time() - start[1])
        connection.send(Outcome(answer, fault, seconds, memory()["VmHWM"] - before))


def memory(process: int | str | None = "self") -> dict[str, int]:
    """Bytes that a process has in memory, now and at its peak."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it has just ended
        lines = []
    found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if " kB" in line}
    return {name: found.get(name, 0) for name in ("VmRSS", "VmHWM")}


def processor_seconds(process: int | None) -> float:
    """Of the processor, that a process has had."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
