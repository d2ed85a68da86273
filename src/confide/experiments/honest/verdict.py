"""What was asked of the default, line by line: whether it holds, and where it does not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from confide.document import with_error
from confide.experiments.coverage.tables import of
from confide.experiments.honest.contenders import AUTO, RAW, SAID
from confide.experiments.honest.problems import SMALL

if TYPE_CHECKING:
    import pandas as pd

Numbers: TypeAlias = Mapping[str, Any]
LEVEL = 0.8
MOST_BRIER = 0.015
NEAR = 0.03
# Raw intervals count as honest if they cover at least as often as they say, less this.
HONEST_WITHIN = 0.02
MOST_WIDENING = 1.1
MOST_RAW_FITS = 25
# Exceptions that are named in words; a table has all of them.
MOST_NAMED = 4
DEFAULT, RAW_BDE, NB = ("BDE", SAID[AUTO]), ("BDE", SAID[RAW]), ("NB", SAID[RAW])


@dataclass(frozen=True)
class Check:
    """One comparison that a demand is made of.

    Attributes:
        where: on which problem, and against what.
        found: the number.
        holds: whether it is as demanded.
    """

    where: str
    found: str
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
        return [f"{each.where}: {each.found}" for each in self.checks if not each.holds]

    def __str__(self) -> str:
        named = self._exceptions[:MOST_NAMED]
        if (n_more := len(self._exceptions) - len(named)) > 0:
            named.append(f"and {n_more} more in the table")
        where = f" ({'; '.join(named)})" if named else ""
        return f"- {self.what}: **{self.verdict}**{where}."


def demands(numbers: "pd.DataFrame", costs: "pd.DataFrame") -> list[Demand]:
    """What was asked for, judged by confidence intervals of BDE calibrated as by default.

    Args:
        numbers: as `in_nested_numbers` gives them.
        costs: as `costs` gives them.
    """
    confidence = numbers[numbers["kind"] == "confidence"]
    default, at_level = _of(confidence, DEFAULT), of(numbers, "confidence", LEVEL)
    ours = _of(at_level, DEFAULT)
    return [
        Demand(
            f"Brier score of 80 % confidence intervals at most {MOST_BRIER:g} on the small sets",
            [_low_brier(row) for row in _rows(ours) if row["set"] in SMALL],
        ),
        Demand(
            "mean coverage within 3 points of nominal at every level",
            [_near(row) for row in _rows(default)],
        ),
        *(
            Demand(
                f"lower Brier score of 80 % confidence intervals than {name}",
                [_better(*both) for both in _beside(ours, _of(at_level, other))],
            )
            for name, other in (("raw BDE", RAW_BDE), ("the corrected NB", NB))
        ),
        Demand(
            "at most 10 % wider where raw 80 % confidence intervals were honest",
            [
                _hardly_wider(row)
                for row, raw in _beside(ours, _of(at_level, RAW_BDE))
                if raw["coverage"] >= LEVEL - HONEST_WITHIN
            ],
        ),
        Demand(
            f"cost at most {MOST_RAW_FITS} raw fits",
            [
                Check(_where(row), f"{row['cost']:.1f}", row["cost"] <= MOST_RAW_FITS)
                for row in _rows(_of(costs, DEFAULT) if len(costs) else costs)
            ],
        ),
    ]


def _low_brier(row: Numbers) -> Check:
    found = with_error(row["brier"], row["brier_se"])
    return Check(_where(row), found, row["brier"] <= MOST_BRIER)


def _near(row: Numbers) -> Check:
    level = row["confidence_level"]
    found = with_error(row["coverage"], row["coverage_se"])
    # What rounding adds to a difference is no failure.
    holds = abs(row["coverage"] - level) <= NEAR + 1e-9
    return Check(f"{_where(row)} at {level:.0%}", found, holds)


def _better(row: Numbers, other: Numbers) -> Check:
    scores = [with_error(each["brier"], each["brier_se"]) for each in (row, other)]
    return Check(_where(row), " against ".join(scores), row["brier"] < other["brier"])


def _hardly_wider(row: Numbers) -> Check:
    widening = row["to_raw_bde"]
    return Check(_where(row), f"{widening:.2f} times as wide", widening <= MOST_WIDENING)


def _where(row: Numbers) -> str:
    return f"{row['set']}, {row['condition'].replace('_', ' ')}"


def _of(numbers: "pd.DataFrame", contender: tuple[str, str]) -> "pd.DataFrame":
    method, variant = contender
    return numbers[(numbers["method"] == method) & (numbers["variant"] == variant)]


def _rows(numbers: "pd.DataFrame") -> list[Numbers]:
    return numbers.to_dict("records")


def _beside(ours: "pd.DataFrame", others: "pd.DataFrame") -> Iterator[tuple[Numbers, Numbers]]:
    """Rows of the same problem and number of data sets: fewer have a larger share of chance."""
    keys = ("set", "condition", "simulations")
    of_problem = {tuple(row[key] for key in keys): row for row in _rows(others)}
    for row in _rows(ours):
        if (other := of_problem.get(tuple(row[key] for key in keys))) is not None:
            yield row, other
