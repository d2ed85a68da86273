"""What an experiment is: cells to compute."""

from abc import ABC, abstractmethod
from typing import ClassVar

from confide.experiments.cell import Cell
from confide.experiments.options import Options
from confide.experiments.store import Saved


class Experiment(ABC):
    """One table or figure of the paper, or a few that come of the same simulations.

    Attributes:
        name: what the command calls it.
        title: a line for people.
        paper: where it is in the paper.
        whole: the whole experiment.
        quick: a taste of it that takes a minute.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    whole: ClassVar[Options]
    quick: ClassVar[Options]

    @abstractmethod
    def cells(self, options: Options) -> list[Cell]:
        """The independent pieces."""

    @abstractmethod
    def headline(self, saved: Saved) -> str:
        """What a finished cell says, in a few words, while the others run."""
