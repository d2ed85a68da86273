"""Finished cells put together: each truth, method and variant of its intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.experiments.coverage.study import Judged, from_frame, headline_of
from confide.experiments.honest.contenders import ORACLE, RAW, SAID
from confide.experiments.honest.problems import PROBLEMS, Problem
from confide.experiments.store import RunFolderError, Saved

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("BDE", "DE", "NB", "XGB", "LGBM")
OF_CALIBRATION = ["twins", "fit_cpu_seconds", "calibration_cpu_seconds", "biased_share"]


@dataclass(frozen=True)
class Entry:
    """A method on one problem, with intervals of one variant: all finished outer data sets.

    Attributes:
        problem: the truth and its inputs.
        method: the paper's short name.
        variant: "raw", or what it was calibrated on.
        judged: its answers and how its intervals did.
        calibrations: a row for each data set, see `OF_CALIBRATION`; empty where it is raw.
    """

    problem: Problem
    method: str
    variant: str
    judged: Judged
    calibrations: "pd.DataFrame"


def entries_of(finished: Sequence[Saved]) -> list[Entry]:
    """An entry for each problem, method and variant, in the order of the problems."""
    import pandas as pd

    together: dict[tuple[Problem, str, str], list[pd.DataFrame]] = {}
    levels: dict[tuple[Problem, str, str], Sequence[float]] = {}
    for saved in finished:
        s = saved.settings
        for variant, frame in saved.frame.groupby("variant", sort=False):
            key = (Problem(s["set"], s["truth"]), s["method"], str(variant))
            together.setdefault(key, []).append(frame)
            levels[key] = s["levels"]
    return [
        _entry(key, levels[key], pd.concat(together[key], ignore_index=True))
        for key in sorted(together, key=_place)
    ]


def headline(saved: Saved) -> str:
    """What a finished cell says of each variant."""
    return "; ".join(f"{SAID[e.variant]}: {headline_of(e.judged)}" for e in entries_of([saved]))


def _entry(key: tuple[Problem, str, str], levels: Sequence[float], frame: "pd.DataFrame") -> Entry:
    problem, method, variant = key
    if frame.duplicated(["simulation", "row"]).any():
        raise RunFolderError(
            f"Two cells hold the same simulations of {method} {variant} on {problem.set}. Delete "
            "one."
        )
    frame = frame.sort_values(["simulation", "row"], ignore_index=True)
    settings: Mapping[str, Any] = {
        "set": problem.set,
        "condition": problem.truth,
        "method": method,
        "variant": SAID[variant],
        "levels": levels,
    }
    # Cells of one variant alone lack the columns of the others' calibrations.
    told = frame.reindex(columns=["simulation", *OF_CALIBRATION]) if variant != RAW else None
    return Entry(
        problem,
        method,
        variant,
        from_frame(settings, frame.drop(columns=[*OF_CALIBRATION, "variant"], errors="ignore")),
        frame.iloc[:0] if told is None else told.drop_duplicates("simulation"),
    )


def _place(key: tuple[Problem, str, str]) -> tuple[int, int, int]:
    problem, method, variant = key
    return PROBLEMS.index(problem), METHODS.index(method), list(SAID).index(variant)


def twins_chosen(entry: Entry) -> dict[str, float]:
    """The share of data sets that each kind of twin was chosen for."""
    if entry.variant == ORACLE:
        return {"the truth itself": 1.0}
    chosen = entry.calibrations["twins"].astype(str).str.split("+", regex=False)
    kinds = sorted({kind for each in chosen for kind in each})
    return {kind: float(np.mean([kind in each for each in chosen])) for kind in kinds}
