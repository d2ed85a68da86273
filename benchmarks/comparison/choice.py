"""Who is the right choice when: sentences that the numbers decide.

Nothing here is written beforehand but the questions. A contender is spoken for by the data sets on
which its CRPS is lower than confide's by more than chance, by intervals nearer to their level, by
time and memory, and confide by the same measures and by its confidence intervals.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from .answers import LEVELS
from .contenders import CONTENDERS, REFERENCE
from .data import DATA
from .summary import difference, means, pointwise

CLEARLY = 1.5
"""A ratio of times or memory that is worth a word."""


def choice(frame: pd.DataFrame) -> list[str]:
    """Markdown paragraphs: confide first, then each peer."""
    real = frame[[not DATA[name].simulated for name in frame["data"]]]
    there = list(dict.fromkeys(frame["contender"]))
    if REFERENCE not in there or real.empty:
        return [f"Nothing can be said without {CONTENDERS[REFERENCE].label} on one of the tables."]
    peers = [name for name in there if not CONTENDERS[name].is_confide]
    ours = [name for name in there if CONTENDERS[name].is_confide]
    return [
        f"**Choose confide when** {_joined(_for_confide(frame, real, ours, peers))}.",
        *(
            f"**Choose {CONTENDERS[peer].label} when** {_joined(reasons)}."
            if (reasons := _for_peer(frame, real, peer, ours))
            else f"**{CONTENDERS[peer].label}**: no measure here speaks for it against confide."
            for peer in peers
        ),
    ]


def _for_confide(
    frame: pd.DataFrame, real: pd.DataFrame, ours: Sequence[str], peers: Sequence[str]
) -> list[str]:
    reasons = [_confidence_intervals(frame)]
    won = [
        data
        for data in dict.fromkeys(real["data"])
        if any(all(_beats(real, data, one, peer) for peer in peers) for one in ours)
    ]
    if peers:
        reasons.append(
            f"your data are like {_names(won)}, where one of its ensembles has a lower CRPS than "
            "every peer"
            if won
            else "you can do without the lowest CRPS: on no table has it a lower one than every "
            "peer by more than chance"
        )
    return [*reasons, *_coverage(real, ours, peers, "one of its ensembles")]


def _for_peer(frame: pd.DataFrame, real: pd.DataFrame, peer: str, ours: Sequence[str]) -> list[str]:
    reasons = []
    won = [
        data
        for data in dict.fromkeys(real["data"])
        if all(_beats(real, data, peer, one) for one in ours)
    ]
    if won:
        reasons.append(
            f"your data are like {_names(won)}, where its CRPS is lower than that of all of "
            "confide's ensembles"
        )
    reasons += _coverage(real, [peer], ours, "it")
    if nearer := _nearer_confidence(frame, peer, ours):
        reasons.append(nearer)
    for cost, words in (
        ("fit", "time of a first fit counts: it takes {} of BDE's"),
        ("fit_again", "time of fits in a running process counts: they take {} of BDE's"),
        ("memory", "memory counts: it takes {} of BDE's"),
    ):
        ratio = _median_ratio(real, peer, cost)
        if ratio < 1 / CLEARLY:
            reasons.append(words.format(f"{ratio:.2g}"))
    return reasons


def _confidence_intervals(frame: pd.DataFrame) -> str:
    """How those that have one cover the true function."""
    with_one = frame[frame["held_80"].notna()]
    if with_one.empty:
        return "you want a confidence interval for the true function (not measured in this run)"
    found = []
    for name in dict.fromkeys(with_one["contender"]):
        rows = with_one[with_one["contender"] == name]
        cover = " and ".join(
            f"{100 * rows.groupby('data')[f'coverage_{100 * level:g}'].mean().mean():.0f} %"
            for level in LEVELS
        )
        found.append((_brier(frame, name), f"{CONTENDERS[name].label} {cover}"))
    levels = " and ".join(f"{100 * level:g} %" for level in LEVELS)
    without = [
        CONTENDERS[name].label
        for name in dict.fromkeys(frame["contender"])
        if not CONTENDERS[name].confidence
    ]
    words = (
        f"you want a confidence interval for the true function: at {levels}, averaged over the "
        "simulated truths, the function is held by "
        f"{', '.join(text for _, text in sorted(found, key=lambda each: each[0]))} (nearest to "
        "their level row by row first)"
    )
    return f"{words}; {', '.join(without)} have none" if without else words


def _nearer_confidence(frame: pd.DataFrame, peer: str, ours: Iterable[str]) -> str | None:
    own, best = _brier(frame, peer), min((_brier(frame, one) for one in ours), default=np.inf)
    if not own < best < np.inf:
        return None
    return (
        "you want a confidence interval for the true function: its pointwise coverage is nearest "
        f"to the level (Brier score at 80 % {own:.3f}, confide's best {best:.3f})"
    )


def _brier(frame: pd.DataFrame, contender: str) -> float:
    """The mean over truths at 80 %; infinite where there are no confidence intervals."""
    scores = [pointwise(frame, data, contender, LEVELS[0]) for data in dict.fromkeys(frame["data"])]
    known = [score.brier for score in scores if score is not None]
    return float(np.mean(known)) if known else np.inf


def _coverage(
    real: pd.DataFrame, some: Sequence[str], others: Sequence[str], who: str
) -> list[str]:
    """Whether prediction intervals of some are nearer to their level than those of all others."""
    off = {name: _points_off(real, name) for name in (*some, *others)}
    best = min(some, key=lambda name: off[name])
    if not others or off[best] >= min(off[name] for name in others):
        return []
    named = "" if len(some) == 1 else f" ({CONTENDERS[best].label})"
    rest = min(others, key=lambda name: off[name])
    words = "prediction intervals must hold what they promise on average"
    found = f"{who}{named} is off by {off[best]:.1f} points at 95 %, in the mean over tables"
    return [f"{words}: {found}, {CONTENDERS[rest].label} by {off[rest]:.1f}"]


def _points_off(real: pd.DataFrame, contender: str) -> float:
    rows = means(real[real["contender"] == contender], ["picp_95"])
    return float(100 * (rows["picp_95"] - 0.95).abs().mean())


def _beats(frame: pd.DataFrame, data: str, one: str, other: str) -> bool:
    found = difference(frame, data, one, other, "crps")
    return found is not None and found.matters and found.mean < 0


def _median_ratio(real: pd.DataFrame, contender: str, cost: str) -> float:
    """Of a cost to that of the reference, the median over data sets."""
    of = means(real, [cost]).pivot_table(index="data", columns="contender", values=cost)
    return float((of[contender] / of[REFERENCE]).median())


def _names(data: Iterable[str]) -> str:
    return ", ".join(DATA[name].label for name in data)


def _joined(reasons: Sequence[str]) -> str:
    return ("; or when " if len(reasons) > 1 else "").join(reasons)
