"""A call of a function in another process, and what comes back: its result and its warnings."""

import os
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from confide.cores import within_cores
from confide.errors import ClusterError
from confide.progress import without_bars


class Outcome(NamedTuple):
    """What a call gave, and what it warned of."""

    result: Any
    warnings: Sequence[tuple[str, type[Warning]]]

    def heard(self) -> Any:
        """The result; its warnings are issued in this process."""
        for message, category in self.warnings:
            warnings.warn(message, category, stacklevel=4)
        return self.result


class Call(NamedTuple):
    """A function, with what a worker must know to call it as this process would.

    Attributes:
        function: called with an item, and with what all items have in common.
        most_cores: how many cores it may use.
        process: the one that asks.
        version: of confide there.
    """

    function: Callable[..., Any]
    most_cores: int
    process: int
    version: str

    @classmethod
    def of(cls, function: Callable[..., Any], most_cores: int) -> "Call":
        """A call from this process."""
        return cls(function, most_cores, os.getpid(), version("confide"))

    def __call__(self, item: Any, *common: Any) -> Outcome:
        """Calls the function, in whatever process this is."""
        if (here := version("confide")) != self.version:
            raise ClusterError(
                f"Workers need the same version of confide as the process that asks, which has "
                f"{self.version}; a worker has {here}. Install {self.version} on every machine of "
                "the cluster."
            )
        with within_cores(self.most_cores), without_bars():
            if os.getpid() == self.process:  # threads: warnings arrive by themselves
                return Outcome(self.function(item, *common), ())
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = self.function(item, *common)
        return Outcome(result, [(str(w.message), w.category) for w in caught])
