"""Measurements in processes of their own, one at a time, so that libraries do not disturb others.

A child that fails, hangs or lacks a library is an outcome like any other: it is reported and the
run goes on.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

CHILD = f"{__package__}.child"
FOLDER = Path(__file__).parent.parent
"""Where the child is started, so that it can import this package."""

TIMEOUT_SECONDS = 3600.0
"""Longer than any measurement, `--whole` included: a child that takes it hangs."""

LINES_OF_ERROR = 20

INHERITED_SETTINGS = (
    "JAX_COMPILATION_CACHE_DIR",
    "JAX_ENABLE_COMPILATION_CACHE",
    "KERAS_BACKEND",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "XLA_FLAGS",
)
"""Settings of the caller's shell that would change what is measured; children do not see them."""


@dataclass(frozen=True)
class Outcome:
    """What a child found, or why it found nothing.

    Attributes:
        values: The child's result; empty if there was a problem.
        problem: What went wrong in a few words, or None.
        failed: Whether the problem is a failure, not just a library that is absent.
    """

    values: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    failed: bool = False


@dataclass
class Measurer:
    """Runs children, keeps what they found and says on stderr what is going on.

    Attributes:
        outcomes: Every outcome so far by its specification; none is measured twice.
        failures: What failed, and how.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def __call__(
        self,
        label: str,
        specification: dict[str, Any],
        *,
        environment: dict[str, str] | None = None,
        fresh: bool = False,
    ) -> Outcome:
        """The outcome of one measurement.

        Args:
            label: What to call it on stderr.
            specification: The child's task and its arguments.
            environment: Variables for the child alone.
            fresh: Whether to measure again what has been measured already.
        """
        known_as = json.dumps([specification, environment], sort_keys=True)
        if not fresh and known_as in self.outcomes:
            return self.outcomes[known_as]
        say(f"{label} ... ", end="")
        start = time.monotonic()
        outcome = run_child(specification, environment or {})
        if outcome.failed:
            self.failures.append(f"{label} {outcome.problem}")
        say(outcome.problem or f"{time.monotonic() - start:.1f} s")
        self.outcomes[f"{known_as}#{len(self.outcomes)}" if fresh else known_as] = outcome
        return outcome

    def as_json(self) -> list[dict[str, Any]]:
        """Everything that was measured, beside what was asked for."""
        return [
            {"asked": json.loads(asked.partition("#")[0]), **dataclasses.asdict(outcome)}
            for asked, outcome in self.outcomes.items()
        ]


def run_child(
    specification: dict[str, Any],
    environment: dict[str, str],
    timeout_seconds: float = TIMEOUT_SECONDS,
    *,
    module: str = CHILD,
) -> Outcome:
    """Run one child to its end, or end it: on Ctrl-C none is left behind."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module, json.dumps({**specification, "started": time.time()})],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=child_environment(environment),
            cwd=FOLDER,
        )
        try:
            output, _ = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            return Outcome(problem=f"failed: no end after {timeout_seconds:g} s", failed=True)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode != 0:
            return _failure(process.returncode, errors)
        values = json.loads(output)
    if "missing" in values:
        return Outcome(problem="not installed (extra: confide[peers])")
    return Outcome(values=values)


def child_environment(extra: dict[str, str]) -> dict[str, str]:
    """Our environment without the settings that would change the measurement."""
    inherited = {k: v for k, v in os.environ.items() if k not in INHERITED_SETTINGS}
    return {**inherited, "TF_CPP_MIN_LOG_LEVEL": "3", **extra}


def say(text: str, end: str = "\n") -> None:
    """Tell the person who waits."""
    print(text, end=end, file=sys.stderr, flush=True)


def _failure(code: int, errors: IO[str]) -> Outcome:
    """The last words of a child, in full on stderr and in one line for the table."""
    errors.seek(0)
    lines = [line.rstrip() for line in errors if line.strip()][-LINES_OF_ERROR:]
    say("\n".join(["", *(f"    {line}" for line in lines)]))
    if code < 0:
        last = "out of memory?" if -code == signal.SIGKILL else "see above"
        return Outcome(
            problem=f"failed: ended by {signal.Signals(-code).name} ({last})", failed=True
        )
    last = lines[-1] if lines else "no message"
    return Outcome(problem=f"failed with exit code {code}: {last}", failed=True)
