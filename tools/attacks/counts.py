"""What an attack counts, and the table of all counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

MOST_SHOWN = 20


@dataclass
class Counts:
    """The outcome of one attack.

    Attributes:
        attack: what was done.
        asked: what must hold, in words.
        tried: how often it was done.
        answers: how often each harmless outcome came.
        faults: what must not have happened, in words.
        worst: the largest of each measured quantity.
        commit: of the checkout that was attacked.
        load: processes that wanted a core of the machine meanwhile, ours among them.
    """

    attack: str
    asked: str
    tried: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)
    commit: str = ""
    load: float = float("nan")

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Self:
        """From what was kept of one."""
        return cls(**{**kept, "answers": Counter(kept["answers"])})

    def add(self, answer: str, fault: str | None = None, **measured: float) -> None:
        """One more try, what came of it, and what was wrong with that."""
        self.tried += 1
        self.answers[answer] += fault is None
        if fault is not None:
            self.faults.append(fault)
        for name, value in measured.items():
            self.worst[name] = max(value, self.worst.get(name, 0.0))

    def __str__(self) -> str:
        return " | ".join(self.cells)

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        answers = ", ".join(f"{n:,} {name}" for name, n in self.answers.most_common() if n)
        worst = ", ".join(f"{name} {value:.3g}" for name, value in self.worst.items())
        return (
            self.attack,
            f"{self.tried:,}",
            answers or "–",
            worst or "–",
            self.asked,
            str(len(self.faults)),
        )


def as_markdown(rows: Iterable[Counts]) -> str:
    """The table of all attacks, and below it the faults that they found."""
    rows = list(rows)
    head = ("attack", "tries", "what came of it", "largest", "what was asked", "faults")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row.cells)} |" for row in rows]
    for row in rows:
        if row.faults:
            lines += ["", f"Faults of *{row.attack}*:", ""]
            lines += [f"- `{fault[:300]}`" for fault in row.faults[:MOST_SHOWN]]
            if len(row.faults) > MOST_SHOWN:
                lines.append(f"- and {len(row.faults) - MOST_SHOWN} more")
    return "\n".join(lines)
