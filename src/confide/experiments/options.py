"""Which part of an experiment is run: sets, methods, levels, simulations, and the seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.checks import checked_level, require_whole
from confide.errors import nearest

# What all cells of a run share, in the order of its description.
FIXED = ("simulations", "levels", "rows", "seed")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which part of an experiment is run. An empty tuple: the experiment has no such choice.

    Attributes:
        simulations: simulated data sets (or networks, or repetitions: the experiment says).
        sets: data sets by name.
        methods: methods by their short name.
        levels: confidence levels.
        rows: sizes of training sets.
        seed: same seed, same numbers.
    """

    simulations: int
    sets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()
    rows: tuple[int, ...] = ()
    seed: int = 0

    @property
    def fixed(self) -> dict[str, Any]:
        """What all cells of a run share; sets and methods may be added to it later."""
        values = ((name, getattr(self, name)) for name in FIXED)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values}

    def of_run(self, description: Mapping[str, Any]) -> "Options":
        """These options as a run's folder describes them."""
        values = ((name, description[name]) for name in FIXED)
        changes: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in values
        }
        return replace(self, **changes)

    def shrunk(
        self,
        whole: "Options",
        *,
        sets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        levels: Sequence[float] | None = None,
        simulations: int | None = None,
        seed: int | None = None,
    ) -> "Options":
        """These options with what was asked for, out of the whole experiment.

        Args:
            whole: the whole experiment's options.
            sets: data sets by name, or None for those of these options; so for the others.
            methods: methods by their short name.
            levels: confidence levels.
            simulations: simulated data sets.
            seed: same seed, same numbers.

        Returns:
            The changed options. What the experiment does not have is a `ValueError`.
        """
        changes: dict[str, Any] = {}
        if sets is not None:
            changes["sets"] = _chosen("sets", sets, whole.sets)
        if methods is not None:
            asked = [name.upper() for name in methods]
            changes["methods"] = _chosen("methods", asked, whole.methods)
        if levels is not None:
            if not whole.levels:
                raise ValueError("This experiment has no levels to choose from.")
            changes["levels"] = tuple(sorted({_checked_level(level) for level in levels}))
            if not changes["levels"]:
                raise ValueError("Pass at least one level, such as 0.8.")
        if simulations is not None:
            require_whole("simulations", simulations, "Pass for example 20.")
            changes["simulations"] = simulations
        if seed is not None:
            if seed < 0:
                raise ValueError(f"The seed must not be negative, got {seed}.")
            changes["seed"] = seed
        return replace(self, **changes)


def _checked_level(level: float) -> float:
    """A level that file names and columns can tell from its neighbours."""
    if float(f"{checked_level(level):g}") != level:
        raise ValueError(f"Levels have at most six digits, got {level!r}. Pass for example 0.95.")
    return level


def _chosen(what: str, asked: Sequence[str], there_are: tuple[str, ...]) -> tuple[str, ...]:
    if not there_are:
        raise ValueError(f"This experiment has no {what} to choose from.")
    if not asked:
        raise ValueError(f"Pass at least one of its {what}: {there_are}.")
    for name in asked:
        if name not in there_are:
            message = f"This experiment has no {name!r} among its {what}; it has {there_are}. "
            raise ValueError((message + nearest(name, there_are)).rstrip())
    return tuple(name for name in there_are if name in asked)
