"""The experiments: every experiment that a file in this folder defines is on the list."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from confide.experiments.experiment import Experiment
from confide.named import Named


def _defined() -> Iterator[Experiment]:
    for listed in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = importlib.import_module(listed.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Experiment) and kind.__module__ == module.__name__:
                yield kind()


_IN_ORDER = sorted(_defined(), key=lambda experiment: (experiment.place, experiment.name))
EXPERIMENTS: Named[Experiment] = Named("experiment", {one.name: one for one in _IN_ORDER})
