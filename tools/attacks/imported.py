"""Commands in forks of a process that has imported all that they need.

A command imports for some seconds before it does anything. Forks begin with the work itself, so a
signal at a random moment meets that. The process has imported JAX but not used it: nothing that a
fork would lack has been started.

    python -m attacks.imported    # reads commands as JSON, one a line; see `Imported`
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

MODULES = (
    *(
        "altair",
        "jinja2",
        "jax",
        "markdown_it",
        "matplotlib.pyplot",
        "onnxruntime",
        "pandas",
        "pyarrow.csv",
        "rich",
    ),
    *("sklearn.ensemble", "sklearn.gaussian_process", "sklearn.model_selection", "vl_convert"),
    *("confide.cli", "confide.calibration", "confide.coverage", "confide.document"),
    *("confide.estimators", "confide.export", "confide.plot", "confide.workflow"),
)


class Imported:
    """Starts commands of confide in forks of one process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attacks.imported"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MPLBACKEND": "agg"},
        )
        self._read()

    def start(self, words: Sequence[str | Path]) -> int:
        """The process id of a command that has just begun."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def wait(self) -> int:
        """The exit code of the command that was started last, once it has ended."""
        return self._read()

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()  # closes its pipes too

    def _read(self) -> int:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        return int(self._process.stdout.readline())


def main() -> None:
    """Forks for each line, and says the id of the process and then its exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, or a shell, may have them ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in MODULES:
        __import__(name)
    sys.modules["confide.estimators.planning"].MOST_STEPS = 10  # the training itself is not tried
    print(0, flush=True)
    for line in sys.stdin:
        words = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(words)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(words: list[str]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    code = 1
    try:
        from confide.cli import main as confide

        confide(words, prog_name="confide")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
