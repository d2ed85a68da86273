"""Finished cells as frames: means over repeats with standard errors, and paired comparisons."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from confide.metrics import brier_score_standard_error, unbiased_brier_score

from .answers import LEVELS
from .contenders import CONTENDERS
from .data import DATA, TEST_SIZE
from .store import Cell

SCORES = (
    "rmse", "crps", "interval_score_80", "interval_score_95",
    "picp_80", "width_80", "picp_95", "width_95",
)  # fmt: skip
COSTS = ("fit", "fit_again", "predict", "predict_again", "memory")
TRUTH_SCORES = (
    "rmse_true", "coverage_80", "confidence_width_80", "coverage_95", "confidence_width_95"
)  # fmt: skip
PROBABILITY_OF_CHANCE = 0.05
"""A difference counts if repeats without one would show it more rarely, by a paired t test that
allows for the rows that repeats share."""


def frame_of(known: Mapping[Cell, dict[str, Any]]) -> pd.DataFrame:
    """A row for each cell that was measured with today's settings, in the order of the tables."""
    columns = ["contender", "data", "repeat", "n_rows", *SCORES, *COSTS, *TRUTH_SCORES]
    rows = {
        (cell.contender, cell.data, cell.repeat): _row(cell, line)
        for cell, line in known.items()
        if is_current(cell) and "problem" not in line
    }
    frame = pd.DataFrame(list(rows.values())).reindex(columns=[*columns, *_held_columns()])
    contenders, data = list(CONTENDERS), list(DATA)
    order = np.lexsort(
        (
            frame["repeat"],
            [contenders.index(name) for name in frame["contender"]],
            [data.index(name) for name in frame["data"]],
        )
    )
    return frame.iloc[order].reset_index(drop=True)


def is_current(cell: Cell) -> bool:
    """Whether a cell is of a contender that is still there, with the settings it has now."""
    contender = CONTENDERS.get(cell.contender)
    return contender is not None and contender.settings == cell.settings and cell.data in DATA


def _held_columns() -> list[str]:
    return [f"held_{100 * level:g}" for level in LEVELS]


def _row(cell: Cell, line: Mapping[str, Any]) -> dict[str, Any]:
    row = {**cell._asdict(), **line["measured"], **{name: line.get(name) for name in SCORES}}
    row |= {name: line[name] for name in (*TRUTH_SCORES, *_held_columns()) if name in line}
    for name in _held_columns():
        if name in row:
            row[name.replace("held", "coverage")] = np.mean(_digits(row[name]))
    row["memory"] = line["measured"]["memory"] / 1e6
    if CONTENDERS[cell.contender].compiled is False:  # so a second time takes as long
        for cost in ("fit", "predict"):
            row.setdefault(f"{cost}_again", row[cost])
    return row


def means(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Mean of each data set and contender over repeats, and its standard error as `..._se`."""
    grouped = frame.groupby(["data", "contender"], sort=False)
    mean, error = grouped[list(columns)].mean(), grouped[list(columns)].sem()
    error = error.mask(error == 0)  # as with one repeat: there is none to be told
    counted = grouped.agg(repeats=("repeat", "size"), n_rows=("n_rows", "first"))
    return counted.join(mean).join(error.add_suffix("_se")).reset_index()


def same_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """The repeats of a data set that all of its contenders have, or all repeats if there are none.

    So contenders are compared on the same rows while a run is not complete.
    """
    everyone = frame.groupby("data")["contender"].transform("nunique")
    shared = frame.groupby(["data", "repeat"])["contender"].transform("nunique") == everyone
    none_is_shared = ~shared.groupby(frame["data"]).transform("any")
    return frame[shared | none_is_shared]


def ratios_to_best(frame: pd.DataFrame, score: str) -> pd.DataFrame:
    """A score as a ratio to the lowest on that data set, [contender, data set]; nan if unknown."""
    every = means(same_repeats(frame), [score])
    values = every.pivot_table(index="contender", columns="data", values=score, sort=False)
    return values / values.min()


def mean_ratio(ratios: pd.DataFrame) -> "pd.Series[float]":
    """The geometric mean over the data sets that a contender has."""
    return np.exp(np.log(ratios).mean(axis=1))


def best_overall(ratios: pd.DataFrame) -> str:
    """The contender with the lowest mean ratio among those that have the most data sets."""
    counts = ratios.notna().sum(axis=1)
    return str(mean_ratio(ratios)[counts == counts.max()].idxmin())


class Pointwise(NamedTuple):
    """Distance of pointwise coverage from its level, with its Monte-Carlo standard error."""

    brier: float
    brier_se: float


def pointwise(frame: pd.DataFrame, data: str, contender: str, level: float) -> Pointwise | None:
    """The Brier score of confidence intervals over repeats, chance's share taken off.

    None where there are no confidence intervals, or fewer than two repeats.
    """
    rows = frame[(frame["data"] == data) & (frame["contender"] == contender)]
    held = [_digits(text) for text in rows[f"held_{100 * level:g}"].dropna()]
    if len(held) < 2:
        return None
    hits = np.array(held)
    return Pointwise(unbiased_brier_score(hits, level), brier_score_standard_error(hits, level))


class Difference(NamedTuple):
    """A contender's score less another's, over the repeats that both have."""

    mean: float
    matters: bool


def difference(
    frame: pd.DataFrame, data: str, contender: str, other: str, score: str
) -> Difference | None:
    """The paired difference; None without two repeats in common.

    Repeats of a table share rows, so their t test is that of Nadeau and Bengio (2003), which makes
    the variance of the mean larger by the ratio of test to training rows. It is still a rule of
    thumb, and many are made: it says which differences to talk about.
    """
    of = frame[frame["data"] == data].pivot_table(index="repeat", columns="contender", values=score)
    if contender not in of or other not in of:
        return None
    each = (of[contender] - of[other]).dropna().to_numpy()
    if len(each) < 2:
        return None
    shared = 0.0 if DATA[data].simulated else TEST_SIZE / (1 - TEST_SIZE)
    return Difference(float(np.mean(each)), _is_no_chance(each, shared))


def _is_no_chance(differences: np.ndarray, shared: float) -> bool:
    from scipy.special import stdtrit

    n = len(differences)
    error = np.std(differences, ddof=1) * np.sqrt(1 / n + shared)
    most = stdtrit(n - 1, 1 - PROBABILITY_OF_CHANCE / 2) * error
    return bool(abs(np.mean(differences)) > most)


def _digits(text: str) -> np.ndarray:
    return np.array([digit == "1" for digit in text])
