"""The experiments, a file each: the files in this folder are the list."""

import importlib
import pkgutil

from confide.experiments.experiment import Experiment
from confide.named import Named


def _found() -> dict[str, Experiment]:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    here = [kind for kind in Experiment.__subclasses__() if kind.__module__.startswith(__name__)]
    return {kind.name: kind() for kind in sorted(here, key=lambda kind: kind.__module__)}


EXPERIMENTS: Named[Experiment] = Named("experiment", _found())
