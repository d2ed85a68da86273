"""The experiments, a file each: the files in this folder are the list."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from confide.experiments.experiment import Experiment
from confide.named import Named


def _found() -> Iterator[Experiment]:
    for listed in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = importlib.import_module(listed.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Experiment) and kind.__module__ == module.__name__:
                yield kind()


EXPERIMENTS: Named[Experiment] = Named(
    "experiment",
    {each.name: each for each in sorted(_found(), key=lambda each: (each.place, each.name))},
)
