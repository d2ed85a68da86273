"""Runs cells one at a time, each in a process of its own, and keeps what they found."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from speed.measure import Outcome, run_child, say
from speed.provenance import provenance

from .answers import Answers
from .child import ANSWERS, ROWS
from .contenders import CONTENDERS
from .data import DATA, Split
from .scores import prediction_scores, truth_scores
from .store import Cell, Store

CHILD = f"{__package__}.child"
TIMEOUT_SECONDS = 900.0
"""Far longer than any cell should take on an idle machine; one that does is reported as failed."""

NOT_YET = "this version of confide cannot do it"
PACKAGES = ("jax", "numpy", "scikit-learn", "scipy")


@dataclass(frozen=True)
class Plan:
    """What is compared.

    Attributes:
        contenders: names.
        data: names of data sets.
        repeats: of each data set, or None for its own number.
        retry: whether cells that failed before are run anew.
        timeout_seconds: after which a cell has failed.
    """

    contenders: Sequence[str] = tuple(CONTENDERS)
    data: Sequence[str] = tuple(DATA)
    repeats: int | None = None
    retry: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS

    def splits(self) -> Iterator[tuple[str, int]]:
        """The first repeat of every data set, then the second: a run that is stopped has all."""
        repeats = {name: self.repeats or DATA[name].repeats for name in self.data}
        for repeat in range(max(repeats.values())):
            yield from ((name, repeat) for name in self.data if repeat < repeats[name])


def run(plan: Plan, store: Store) -> list[str]:
    """Run the cells that are not in the store yet.

    Returns:
        Why each contender that could not be run at all is missing.
    """
    known, missing = store.read(), dict[str, str]()
    splits = list(plan.splits())
    total, start = len(splits) * len(plan.contenders), time.monotonic()
    for i, (data, repeat) in enumerate(splits):
        split = DATA[data].split(repeat)
        for j, name in enumerate(plan.contenders):
            cell = Cell(name, data, repeat, CONTENDERS[name].settings, len(split.y))
            if name in missing or _is_done(known.get(cell), retry=plan.retry):
                continue
            done = i * len(plan.contenders) + j + 1
            minutes = (time.monotonic() - start) / 60
            say(f"[{done}/{total}, {minutes:.0f} min] {data} {repeat} {name} ... ", end="")
            outcome, found = run_cell(cell, split, plan.timeout_seconds)
            if outcome.problem is not None and not outcome.failed:
                missing[name] = why_missing(name, outcome)
                say(missing[name])
                continue
            store.add(cell, found)
            say(outcome.problem or f"{found['measured']['fit']:.1f} s, CRPS {found['crps']:.3f}")
    return [f"{CONTENDERS[name].label}: {why}" for name, why in missing.items()]


def run_cell(
    cell: Cell, split: Split, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[Outcome, dict[str, Any]]:
    """One cell, and the line that the store is to keep of it."""
    contender = CONTENDERS[cell.contender]
    made = {"versions": versions_of(contender.package), "made": _made()}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(
            Path(folder) / ROWS,
            X=split.X,
            y=split.y,
            X_test=split.X_test,
            categories=np.array(split.categories, int),
        )
        task = {"folder": folder, "contender": cell.contender, "seed": cell.repeat}
        outcome = run_child(task, dict(contender.environment), timeout_seconds, module=CHILD)
        if outcome.problem is not None:
            return outcome, {"problem": outcome.problem, **made}
        with np.load(Path(folder) / ANSWERS) as file:
            answers = Answers(**file)
    measured = {name: value for name, value in outcome.values.items() if name != "started"}
    return outcome, {
        **prediction_scores(split, answers),
        **truth_scores(split, answers),
        "measured": measured,
        "n_test_rows": len(split.y_test),
        "n_features": split.X.shape[1],
        **made,
    }


def why_missing(name: str, outcome: Outcome) -> str:
    """What a library that is there lacks, or that it is not there."""
    return NOT_YET if CONTENDERS[name].is_confide else str(outcome.problem)


def versions_of(package: str) -> dict[str, str]:
    """Versions of a contender's own package and of what all stand on."""
    found = {}
    for name in (package, *PACKAGES):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _made() -> dict[str, Any]:
    said = provenance()
    return {name: said[name] for name in ("commit", "date", "cpu", "cores", "python")}


def _is_done(line: Mapping[str, Any] | None, *, retry: bool) -> bool:
    return line is not None and not (retry and "problem" in line)
