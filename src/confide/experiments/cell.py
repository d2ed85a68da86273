"""A cell: one independent piece of an experiment, a pure function to a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from confide.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

Compute: TypeAlias = "Callable[[Mapping[str, Any], Progress | None], pd.DataFrame]"


@dataclass(frozen=True)
class Cell:
    """One independent piece of an experiment.

    Attributes:
        name: its file in the run's folder, as "boston/BDE/000-024".
        compute: a function of a module, so that another process can find it: from the settings to
            a table, the same each time it is called.
        settings: all that its numbers depend on, as JSON.
        steps: how much progress it will tell of in all.
        work: how long it takes, in any unit that cells of the experiment share.
    """

    name: str
    compute: Compute
    settings: Mapping[str, Any]
    steps: int
    work: float
