"""Who is the right choice when: sentences that the numbers decide.

Written beforehand are the questions, what confide alone can say (the split of the uncertainty), and
who is compared with whom: every contender, our own variants too, with one reference, so that no
peer is measured against the best of several. They are spoken for, and against, by the tables on
which the CRPS is lower by more than chance, by prediction intervals nearer to their level, by
confidence intervals, and by time and memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

import numpy as np
import pandas as pd

from .answers import LEVELS
from .contenders import CONTENDERS, REFERENCE
from .data import DATA
from .summary import Pointwise, difference, means, pointwise

CLEARLY = 1.5
"""A ratio of times or memory that is worth a word."""

POINTS = 1.0
"""A difference in coverage that is worth a word."""

COSTS = {
    "fit": "time of a first fit counts ({} times confide's)",
    "fit_again": "time of fits in a running process counts ({} times confide's)",
    "memory": "memory beyond the imports counts ({} times confide's)",
}
LABEL = CONTENDERS[REFERENCE].label
SPLIT = (
    "you want to know how much of the uncertainty is noise, how much comes from finite data and "
    "how much from random training, which no peer tells apart"
)
WANTED = "you want a confidence interval for the true function"


def choice(frame: pd.DataFrame) -> list[str]:
    """Markdown paragraphs: confide first, then each of the others."""
    real = frame[[DATA[name].is_table for name in frame["data"]]]
    there = [name for name in CONTENDERS if name in set(frame["contender"])]
    if REFERENCE not in set(real["contender"]):
        return [f"Nothing can be said without {LABEL} on one of the tables."]
    others = [name for name in there if name != REFERENCE]
    peers = [name for name in others if not CONTENDERS[name].is_confide]
    said = [_said("confide", *_of_confide(frame, real, peers))]
    return [
        *said,
        *(_said(CONTENDERS[each].label, *_of_other(frame, real, each)) for each in others),
    ]


def _said(name: str, reasons: Sequence[str], objections: Sequence[str]) -> str:
    words = (
        f"**Choose {name} when** {'; or when '.join(reasons)}."
        if reasons
        else f"**{name}**: no measure here speaks for it."
    )
    return f"{words} But {'; '.join(objections)}." if objections else words


def _of_confide(
    frame: pd.DataFrame, real: pd.DataFrame, peers: Sequence[str]
) -> tuple[list[str], list[str]]:
    """For the library as a whole: what it alone tells, and its reference against all peers."""
    reasons, objections = [SPLIT], []
    if with_one := _with_confidence(frame):
        nearest = CONTENDERS[next(iter(with_one))]
        said = f"row by row {nearest.label} is nearest to the level: {_covered(frame, with_one)}"
        if nearest.is_confide:
            reasons.append(f"{WANTED}; {said}")
        else:
            objections.append(f"of confidence intervals for the true function, {said}")
    tables = _tables(real)
    if won := [data for data in tables if _wins(real, data, REFERENCE, peers)]:
        reasons.append(
            f"your data are like {_names(won)}, where {LABEL} has a lower CRPS than every peer"
        )
    reasons += _coverage(real, [REFERENCE], peers)
    if lost := [data for data in tables if any(_wins(real, data, p, [REFERENCE]) for p in peers)]:
        objections.append(f"on {_names(lost)} some peer has a lower CRPS than {LABEL}")
    return reasons, objections


def _of_other(frame: pd.DataFrame, real: pd.DataFrame, name: str) -> tuple[list[str], list[str]]:
    """For one contender, against the reference."""
    reasons, objections = [], []
    if won := [data for data in _tables(real) if _wins(real, data, name, [REFERENCE])]:
        reasons.append(f"your data are like {_names(won)}, where its CRPS is lower than confide's")
    if lost := [data for data in _tables(real) if _wins(real, data, REFERENCE, [name])]:
        objections.append(f"on {_names(lost)} confide's CRPS is lower")
    reasons += _coverage(real, [name], [REFERENCE])
    reasons += _nearer_confidence(frame, name)
    if not CONTENDERS[name].confidence:
        objections.append("it has no confidence interval for the true function")
    for cost, words in COSTS.items():
        ratio = _median_ratio(real, name, cost)
        if ratio < 1 / CLEARLY:
            reasons.append(words.format(f"{ratio:.2g}"))
        elif ratio > CLEARLY:
            objections.append(f"not when {words.format(f'{ratio:.2g}')}")
    return reasons, objections


def _with_confidence(frame: pd.DataFrame) -> dict[str, float]:
    """Brier scores of those whose confidence intervals were judged, the most honest ones first."""
    found = {name: _brier(frame, name) for name in dict.fromkeys(frame["contender"])}
    scores = {name: score.brier for name, score in found.items() if score is not None}
    return dict(sorted(scores.items(), key=itemgetter(1)))


def _covered(frame: pd.DataFrame, scores: Mapping[str, float]) -> str:
    """Each one's Brier score, and how often it holds the true function, over the truths."""
    each = []
    for name, score in scores.items():
        cover = frame[frame["contender"] == name].groupby("data")["coverage_80"].mean().mean()
        each.append(f"{CONTENDERS[name].label} {score:.3f} and {100 * cover:.0f} %")
    return f"Brier score and mean coverage at 80 %, over the truths, are {', '.join(each)}"


def _nearer_confidence(frame: pd.DataFrame, name: str) -> list[str]:
    """Whether its Brier score is lower than the reference's by two standard errors."""
    own, reference = _brier(frame, name), _brier(frame, REFERENCE)
    if own is None or reference is None:
        return []
    if reference.brier - own.brier <= 2 * np.hypot(own.brier_se, reference.brier_se):
        return []
    found = f"Brier score at 80 % {own.brier:.3f}, confide's {reference.brier:.3f}"
    return [f"{WANTED}: pointwise coverage is nearer to its level than confide's ({found})"]


def _brier(frame: pd.DataFrame, contender: str) -> Pointwise | None:
    """The mean over truths at 80 %; None where there are no confidence intervals."""
    scores = [pointwise(frame, data, contender, LEVELS[0]) for data in _tables(frame)]
    known = [score for score in scores if score is not None]
    if not known:
        return None
    error = np.sqrt(sum(score.brier_se**2 for score in known)) / len(known)
    return Pointwise(float(np.mean([score.brier for score in known])), float(error))


def _coverage(real: pd.DataFrame, some: Sequence[str], others: Sequence[str]) -> list[str]:
    """Whether prediction intervals of some are nearer to their level than those of all others."""
    off = {name: _points_off(real, name) for name in (*some, *others)}
    best, rival = (min(names, key=off.__getitem__, default=None) for names in (some, others))
    if best is None or rival is None or not off[best] < off[rival] - POINTS:
        return []
    return [
        (
            f"prediction intervals must hold what they promise on average: at 95 % those of "
            f"{CONTENDERS[best].label} are off by {off[best]:.1f} points in the mean over tables, "
            f"those of {CONTENDERS[rival].label} by {off[rival]:.1f}"
        )
    ]


def _points_off(real: pd.DataFrame, contender: str) -> float:
    rows = means(real[real["contender"] == contender], ["picp_95"])
    return float(100 * (rows["picp_95"] - 0.95).abs().mean())


def _wins(real: pd.DataFrame, data: str, one: str, others: Sequence[str]) -> bool:
    """Whether its CRPS is lower than that of each of some others by more than chance."""
    found = [difference(real, data, one, other, "crps") for other in others]
    return bool(found) and all(
        each is not None and each.matters and each.mean < 0 for each in found
    )


def _median_ratio(real: pd.DataFrame, contender: str, cost: str) -> float:
    """Of a cost to that of the reference, the median over tables; nan without one in common."""
    of = means(real, [cost]).pivot_table(index="data", columns="contender", values=cost)
    if not {contender, REFERENCE} <= set(of):
        return np.nan
    return float((of[contender] / of[REFERENCE]).median())


def _tables(frame: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(frame["data"]))


def _names(data: Iterable[str]) -> str:
    return ", ".join(DATA[name].label for name in data)
