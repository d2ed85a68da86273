"""What was asked of the default, line by line: whether it holds, and where it does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from confide.document import with_error
from confide.experiments.honest.problems import AUTO, IN_WORDS, RAW, SMALL

Numbers: TypeAlias = Mapping[str, Any]
LEVEL = 0.8
MOST_BRIER = 0.015
NEAR = 0.03
# Raw intervals count as honest if they cover at least as often as they say, less this.
HONEST_WITHIN = 0.02
MOST_WIDENING = 1.1
MOST_RAW_FITS = 8
# Exceptions that are named in words; a table has all of them.
MOST_NAMED = 4
DEFAULT, RAW_BDE, NB = ("BDE", IN_WORDS[AUTO]), ("BDE", IN_WORDS[RAW]), ("NB", IN_WORDS[RAW])


@dataclass(frozen=True)
class Check:
    """One comparison that a demand is made of.

    Attributes:
        where: on which problem, and against what.
        result: the number.
        holds: whether it is as demanded.
    """

    where: str
    result: str
    holds: bool


@dataclass(frozen=True)
class Demand:
    """One line of what was asked for.

    Attributes:
        what: in words.
        checks: all comparisons that it is made of.
    """

    what: str
    checks: Sequence[Check]

    @property
    def verdict(self) -> str:
        """In words."""
        if not self.checks:
            return "nothing to judge yet"
        n, n_held = len(self.checks), sum(check.holds for check in self.checks)
        return f"{'holds' if n_held == n else 'fails'}, {n_held} of {n} comparisons are as asked"

    @property
    def exceptions(self) -> str:
        """Where it does not hold."""
        return "; ".join(self._exceptions)

    @property
    def _exceptions(self) -> list[str]:
        return [f"{check.where}: {check.result}" for check in self.checks if not check.holds]

    def __str__(self) -> str:
        named = self._exceptions[:MOST_NAMED]
        if (n_more := len(self._exceptions) - len(named)) > 0:
            named.append(f"and {n_more} more in the table")
        where = f" ({'; '.join(named)})" if named else ""
        return f"- {self.what}: **{self.verdict}**{where}."


def demands(numbers: pd.DataFrame, costs: pd.DataFrame) -> list[Demand]:
    """What was asked for, judged by confidence intervals of BDE calibrated as by default.

    Args:
        numbers: as `in_nested_numbers` gives them.
        costs: as `costs` gives them.
    """
    ours, raw, naive = (_rows(numbers, contender) for contender in (DEFAULT, RAW_BDE, NB))
    at_level = [row for row in ours if row["confidence_level"] == LEVEL]
    small = [row for row in at_level if row["set"] in SMALL]
    honest = [
        row for row, other in _beside(at_level, raw) if other["coverage"] >= LEVEL - HONEST_WITHIN
    ]
    costly = of_contender(costs, DEFAULT).to_dict("records")
    return [
        Demand(
            f"Brier score of 80 % confidence intervals at most {MOST_BRIER:g} on the small sets",
            [Check(_where(row), _brier(row), row["brier"] <= MOST_BRIER) for row in small],
        ),
        Demand(
            "mean coverage within 3 points of nominal at every level", [_near(row) for row in ours]
        ),
        _better("raw BDE", _beside(at_level, raw)),
        _better("the corrected NB", _beside(at_level, naive)),
        Demand(
            "at most 10 % wider where raw 80 % confidence intervals were honest",
            [
                Check(_where(row), f"{wider:.2f} times as wide", wider <= MOST_WIDENING)
                for row in honest
                for wider in [row["to_raw_bde"]]
            ],
        ),
        Demand(
            f"cost at most {MOST_RAW_FITS} raw fits",
            [
                Check(_where(row), f"{row['cost']:.1f}", row["cost"] <= MOST_RAW_FITS)
                for row in costly
            ],
        ),
    ]


def of_contender(numbers: pd.DataFrame, contender: tuple[str, str]) -> pd.DataFrame:
    """The rows of a method and variant."""
    if numbers.empty:
        return numbers
    method, variant = contender
    return numbers[(numbers["method"] == method) & (numbers["variant"] == variant)]


def _rows(numbers: pd.DataFrame, contender: tuple[str, str]) -> list[Numbers]:
    """Of the confidence intervals."""
    confidence = numbers[numbers["kind"] == "confidence"]
    return of_contender(confidence, contender).to_dict("records")


def _brier(row: Numbers) -> str:
    return with_error(row["brier"], row["brier_se"])


def _near(row: Numbers) -> Check:
    level = row["confidence_level"]
    result = with_error(row["coverage"], row["coverage_se"])
    # What rounding adds to a difference is no failure.
    holds = abs(row["coverage"] - level) <= NEAR + 1e-9
    return Check(f"{_where(row)} at {level:.0%}", result, holds)


def _better(name: str, pairs: Sequence[tuple[Numbers, Numbers]]) -> Demand:
    checks = [
        Check(_where(row), f"{_brier(row)} against {_brier(other)}", row["brier"] < other["brier"])
        for row, other in pairs
    ]
    return Demand(f"lower Brier score of 80 % confidence intervals than {name}", checks)


def _where(row: Numbers) -> str:
    return f"{row['set']}, {row['condition'].replace('_', ' ')}"


def _beside(ours: Sequence[Numbers], others: Sequence[Numbers]) -> list[tuple[Numbers, Numbers]]:
    """Rows of the same problem and number of data sets: fewer have a larger share of chance."""
    keys = ("set", "condition", "confidence_level", "simulations")
    of_problem = {tuple(row[key] for key in keys): row for row in others}
    problems = [(row, tuple(row[key] for key in keys)) for row in ours]
    return [(row, of_problem[problem]) for row, problem in problems if problem in of_problem]
