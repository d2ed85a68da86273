"""Modules and names that were renamed since version 0.1: the old ones work, with a warning."""

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

MOVED = {
    "confide.arrays": "confide.persistence",
    "confide.atomic": "confide.persistence",
    "confide.explanation": "confide.diagnostics",
    "confide.honest": "confide.calibration",
    "confide.laboratory": "confide.coverage",
    "confide.novelty": "confide.diagnostics",
    "confide.overfitting": "confide.diagnostics",
    "confide.report": "confide.document",
}


class MovedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module's new home when it is imported by its old name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Makes modules of old names; Python finds all others."""
        del path, target
        return importlib.machinery.ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module of the new name in its place."""
        old, new = module.__name__, MOVED[module.__name__]
        warn_renamed(old, new)
        sys.modules[old] = importlib.import_module(new)


def warn_renamed(old: str, new: str) -> None:
    """Warns whoever called the function that calls this one."""
    words = f"{old} is now {new}, and the old name will be removed: use {new}."
    warnings.warn(words, DeprecationWarning, stacklevel=3)


def still_found() -> None:
    """Makes the old names importable, once."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())


def renamed(
    package: str, names: Mapping[str, str], find: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose old names still work.

    Args:
        package: its name.
        names: the new name for each old one.
        find: how the package finds names that are not old, or None if it knows no others.

    Returns:
        A function that finds a name, and warns of an old one.
    """

    def get(name: str) -> Any:
        if name in names:
            warn_renamed(f"{package}.{name}", f"{package}.{names[name]}")
            return getattr(sys.modules[package], names[name])
        if find is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return find(name)

    return get


def renamed_attribute(old: str, new: str) -> property:
    """An attribute that still answers to its old name, and warns."""

    def ask(self: object) -> Any:
        warn_renamed(f"`{old}`", f"`{new}`")
        return getattr(self, new)

    return property(ask, doc=f"The old name of `{new}`.")
