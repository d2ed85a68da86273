"""One cell in a process of its own: reads rows, fits, predicts, writes answers and measures both.

Started by `run.py` with a JSON task as argument; a JSON result goes to stdout.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from speed.memory import forget_peak, peak_bytes, resident_bytes

from .answers import Answers
from .contenders import CONTENDERS, Contender
from .encoding import prepared

ROWS, ANSWERS = "rows.npz", "answers.npz"


def measure(
    contender: Contender, rows: dict[str, np.ndarray], seed: int
) -> tuple[Answers, dict[str, Any]]:
    """The answers, and what they took.

    Times are of a first fit and prediction in a fresh process, imports left out. Where they hold
    the compilation of programs, both are done again and "again" has the times without it.
    """
    start = time.perf_counter()
    fit = prepared(
        contender.load(), rows["categories"].tolist(), reads_frames=contender.reads_frames
    )
    imports = time.perf_counter() - start
    gc.collect()
    imported = resident_bytes()
    forget_peak()
    answers, first = timed(lambda: fit(rows["X"], rows["y"], seed=seed), rows["X_test"])
    measured = {"imports": imports, **first, "memory": peak_bytes() - imported}
    if contender.compiled:
        _, again = timed(lambda: fit(rows["X"], rows["y"], seed=seed), rows["X_test"])
        measured |= {f"{name}_again": seconds for name, seconds in again.items()}
    return answers, measured


def timed(fit: Callable[[], Any], X_test: np.ndarray) -> tuple[Answers, dict[str, float]]:
    """Answers about the test rows, and the seconds of both steps."""
    start = time.perf_counter()
    predict = fit()
    middle = time.perf_counter()
    answers = predict(X_test)
    return answers, {"fit": middle - start, "predict": time.perf_counter() - middle}


def main() -> None:
    """Run the cell of the command line."""
    # Libraries may print; only the result may reach the stdout we were given.
    result_stream = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    with np.load(folder / ROWS) as file:
        rows = dict(file)
    try:
        answers, result = measure(CONTENDERS[task["contender"]], rows, task["seed"])
    except ImportError as error:
        result = {"missing": str(error)}
    else:
        said = {name: each for name, each in answers._asdict().items() if each is not None}
        np.savez(folder / ANSWERS, **said)
    with result_stream:
        json.dump(result, result_stream)


if __name__ == "__main__":
    main()
