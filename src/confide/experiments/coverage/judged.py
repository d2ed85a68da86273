"""Finished cells of a coverage study put together, contender by contender."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float64

from confide.coverage import KINDS, Answers, Coverage
from confide.experiments.coverage.study import stem_of
from confide.experiments.store import RunFolderError, Saved
from confide.prediction import Kind

# What a cell keeps of a calibration, the same at every row of a data set.
OF_CALIBRATION = ["twins", "fit_cpu_seconds", "calibration_cpu_seconds", "biased_share"]


@dataclass(frozen=True)
class Judged:
    """A contender under one condition on one set: all its finished simulations.

    Attributes:
        settings: those of its first cell; its own `condition` and `variant`.
        answers: its predictions and intervals at the test rows.
        coverages: how its intervals did.
        true_mean: the true function at the test rows.
        true_std: the true standard deviation of the noise there.
        calibrations: a row for each data set, see `OF_CALIBRATION`; empty if it was not calibrated.
    """

    settings: Mapping[str, Any]
    answers: Answers
    coverages: tuple[Coverage, ...]
    true_mean: Float64[np.ndarray, " row"]
    true_std: Float64[np.ndarray, " row"]
    calibrations: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def n_simulations(self) -> int:
        """How many are finished."""
        return len(self.answers.means)

    @property
    def who(self) -> dict[str, str]:
        """Set, condition, method and variant."""
        return {name: self.settings[name] for name in ("set", "condition", "method", "variant")}

    @property
    def headline(self) -> str:
        """Mean coverage and width of the intervals at the level next to 80 %."""
        level = min((c.confidence_level for c in self.coverages), key=lambda a: abs(a - 0.8))
        return "; ".join(
            f"{100 * level:g} % {c.kind} intervals cover {100 * c.mean:.0f} %, "
            f"width {c.width.mean():.3g}"
            for c in self.coverages
            if c.confidence_level == level
        )

    def squared_errors(self) -> Float64[np.ndarray, " simulation"]:
        """Expected squared error of a new target in each simulation: nothing is sampled."""
        errors = (self.answers.means - self.true_mean) ** 2 + self.true_std**2
        return np.asarray(errors.mean(axis=1))


def judged(finished: Sequence[Saved]) -> list[Judged]:
    """Finished cells put together: an entry for each set, condition, contender and variant.

    A contender that is trained for one level at a time has an entry for each.
    """
    together: dict[tuple[Any, ...], list[Saved]] = {}
    for saved in finished:
        s = saved.settings
        per_level = s["parameters"].get("confidence_level")
        key = (s["set"], _condition(s), s["method"], s.get("variant"), per_level)
        together.setdefault(key, []).append(saved)
    return [entry for cells in together.values() for entry in _judged(cells)]


def study_headline(saved: Saved) -> str:
    """Mean coverage and width of one level's intervals."""
    (entry,) = judged([saved])
    return entry.headline


def _condition(settings: Mapping[str, Any]) -> str:
    """Nested experiments have no other condition than their truth."""
    return str(settings["condition"] if "condition" in settings else settings["truth"])


def _judged(cells: list[Saved]) -> Iterator[Judged]:
    settings = {**cells[0].settings, "condition": _condition(cells[0].settings)}
    frame = pd.concat([saved.frame for saved in cells], ignore_index=True)
    if "variant" not in frame:  # all rows are of the variant that the settings name
        frame["variant"] = settings["variant"]
    for variant, rows in frame.groupby("variant", sort=False):
        if rows.duplicated(["simulation", "row"]).any():
            raise RunFolderError(
                f"These cells hold the same simulations of {settings['method']} {variant} on "
                f"{settings['set']}. Delete one of them: {', '.join(str(c.path) for c in cells)}."
            )
        own = rows.sort_values(["simulation", "row"], ignore_index=True)
        yield _from_frame({**settings, "variant": str(variant)}, own)


def _from_frame(settings: Mapping[str, Any], frame: pd.DataFrame) -> Judged:
    """From rows as `as_frame` writes them, sorted by simulation and row."""
    n_simulations = frame["simulation"].nunique()

    def array(name: str) -> np.ndarray:
        return frame[name].to_numpy().reshape(n_simulations, -1)

    intervals: dict[tuple[Kind, float], np.ndarray] = {}
    coverages = []
    for kind, level in ((kind, level) for kind in KINDS for level in settings["levels"]):
        stem = stem_of(kind, level)
        if f"{stem}_held" not in frame:
            continue
        bounds = [array(f"{stem}_{side}").astype(np.float64) for side in ("lower", "upper")]
        intervals[kind, level] = np.stack(bounds, axis=-1)
        width = (bounds[1] - bounds[0]).mean(axis=0)
        name = f"{settings['method']} {settings['variant']}"
        coverages.append(Coverage(name, kind, level, array(f"{stem}_held"), width))
    return Judged(
        settings,
        Answers(array("mean"), intervals),
        tuple(coverages),
        array("true_mean")[0],
        array("true_std")[0],
        _calibrations(frame),
    )


def _calibrations(frame: pd.DataFrame) -> pd.DataFrame:
    """What the data sets' calibrations cost; raw rows and studies without any have none."""
    columns = frame.reindex(columns=["simulation", *OF_CALIBRATION])
    return columns.drop_duplicates("simulation").dropna(subset="calibration_cpu_seconds")
