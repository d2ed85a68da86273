"""An experiment of many short cells, for the tests of what runs and keeps them.

As a script it is the `confide` command with this experiment among the others.
"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from confide.experiments import EXPERIMENTS, Cell, Experiment, Findings, Options
from confide.experiments.simulated import seeds_of

# Names in the environment: a file to which each cell appends its name and process as it begins, how
# many seconds a cell takes, and the size in bytes at which the writing of a file fails.
LOG, PAUSE, LARGEST_FILE = "CONFIDE_TOY_LOG", "CONFIDE_TOY_PAUSE", "CONFIDE_TOY_LARGEST_FILE"
# 300 kB and 600 kB of numbers that cannot be compressed: a kill may come while they are written.
N_ROWS = {"a": 40_000, "b": 80_000}


class Toy(Experiment):
    """Random numbers."""

    name = "toy"
    title = "Random numbers"
    paper = "nowhere"
    whole: ClassVar = Options(simulations=40, sets=("a", "b"), levels=(0.8, 0.9))
    quick: ClassVar = Options(simulations=4, sets=("a",), levels=(0.8,))

    def cells(self, options: Options) -> list[Cell]:
        return [
            Cell(
                f"{name}/{simulation:03d}",
                draws,
                {
                    "set": name,
                    "levels": list(options.levels),
                    "simulations": [simulation, simulation + 1],
                    "seed": options.seed,
                },
                steps=2,
                work=1.0,
            )
            for name in options.sets
            for simulation in range(options.simulations)
        ]

    def headline(self, saved):
        return f"mean {saved.frame['number'].mean():.3f}"

    def findings(self, finished):
        return Findings(f"{len(finished)} tables of random numbers.", [])


def draws(settings: Mapping[str, Any], progress: Any) -> pd.DataFrame:
    """A table of random numbers."""
    (simulation, _), name = settings["simulations"], settings["set"]
    if LOG in os.environ:
        log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{name}/{simulation:03d} {os.getpid()}\n".encode())
        os.close(log)
    if name == "faulty":
        raise ValueError(f"Simulation {simulation} went wrong.")
    (seed,) = seeds_of(settings, "numbers")
    numbers = np.random.default_rng(seed).normal(size=N_ROWS[name])
    for _ in range(2):
        time.sleep(float(os.environ.get(PAUSE, "0")) / 2)
        if progress is not None:
            progress(1)
    return pd.DataFrame({"simulation": np.int32(simulation), "number": numbers})


def logged(path: Path) -> list[str]:
    """The cells that were begun, in their order."""
    return [cell for cell, _ in begun_by(path)]


def processes(path: Path) -> set[str]:
    """The processes that began a cell."""
    return {process for _, process in begun_by(path)}


def begun_by(path: Path) -> list[list[str]]:
    """The cells that were begun, each with its process."""
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def tables(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Every finished cell's settings, columns and numbers: equal only where every bit is."""
    from confide.experiments import RunFolder

    def bits(frame: pd.DataFrame) -> tuple[Any, ...]:
        # Digests, so that a failing test can print what differs.
        return tuple(
            (name, str(c.dtype), hashlib.sha256(c.to_numpy().tobytes()).hexdigest())
            for name, c in frame.items()
        )

    cells = folder / "cells"
    return {
        str(saved.path.relative_to(cells)): (str(saved.settings), *bits(saved.frame))
        for saved in RunFolder(folder).all_saved()
    }


def start(folder, name="toy", *arguments, **environment):
    """The command in a process of its own, with the toy among its experiments."""
    arguments = ["experiment", "run", name, *arguments, "--runs", str(folder)]
    return subprocess.Popen(
        [sys.executable, __file__, *arguments],
        env={**os.environ, **{key: str(value) for key, value in environment.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process, expected=0):
    """What the process said, once it has ended with the code that was expected."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == expected, err
    assert "Traceback" not in err
    return out, err


if __name__ == "__main__":
    import resource

    from confide.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    if LARGEST_FILE in os.environ:
        limits = int(os.environ[LARGEST_FILE]), resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    EXPERIMENTS[Toy.name] = Toy()
    main(prog_name="confide")
