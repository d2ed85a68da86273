"""What an experiment is: cells to compute, and what is made of the finished ones."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from confide.experiments.cell import Cell
from confide.experiments.options import Options
from confide.experiments.store import Saved

if TYPE_CHECKING:
    from confide.document import Part


@dataclass(frozen=True)
class Findings:
    """What an experiment found, from finished cells alone.

    Attributes:
        words: plain language, as Markdown.
        parts: tables, figures and sections.
    """

    words: str
    parts: "Sequence[Part]"


class Experiment(ABC):
    """One table or figure of the paper, or a few that come of the same simulations.

    Attributes:
        name: what the command calls it.
        title: a line for people.
        place: where it comes in the list and in the report; those without one come last.
        paper: where it is in the paper.
        whole: the whole experiment.
        quick: a taste of it that takes a minute.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[int] = 100
    paper: ClassVar[str]
    whole: ClassVar[Options]
    quick: ClassVar[Options]

    @abstractmethod
    def cells(self, options: Options) -> list[Cell]:
        """The independent pieces."""

    @abstractmethod
    def headline(self, saved: Saved) -> str:
        """What a finished cell says, in a few words, while the others run."""

    @abstractmethod
    def findings(self, finished: Sequence[Saved]) -> Findings:
        """What the finished cells say: in words, tables and figures."""
