"""Methods judged by pointwise coverage on simulated data: the cells of Experiment 1 and its kin.

A cell is one set, condition and contender, and some of the simulations. It keeps, for every
simulation and test row, the truth, the prediction and the bounds of every interval, so that each
table and figure can be made from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from confide.coverage import Answers, Coverage, coverages_of, simulated_answers, work
from confide.experiments.cell import Cell
from confide.experiments.coverage.contenders import Contender
from confide.experiments.options import Options
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import Twin, blocks_of, n_rows_of, seeds_of, twin_of
from confide.experiments.store import RunFolderError, Saved
from confide.prediction import Kind
from confide.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

SIMULATIONS_PER_CELL = 25


@dataclass(frozen=True)
class Condition:
    """What is changed in a repetition of Experiment 1.

    Attributes:
        name: for files and tables.
        truth: "random_forest" (Algorithm 3) or "network" (Algorithm 4).
        noise: the law of the noise.
        parameters: arguments of every estimator.
    """

    name: str = "benchmark"
    truth: str = "random_forest"
    noise: str = "gaussian"
    parameters: Mapping[str, Any] = field(default_factory=dict)


def study_cells(
    options: Options, conditions: Sequence[Condition], contenders: Sequence[Contender]
) -> list[Cell]:
    """All cells of a study, set by set."""
    return [
        _cell(name, condition, contender, levels, block, options.seed)
        for name in options.sets
        for condition in conditions
        for contender in contenders
        if contender.method in options.methods
        for levels in (
            [[level] for level in options.levels] if contender.per_level else [list(options.levels)]
        )
        for block in blocks_of(options.simulations, SIMULATIONS_PER_CELL)
    ]


def _cell(
    name: str,
    condition: Condition,
    contender: Contender,
    levels: list[float],
    block: tuple[int, int],
    seed: int,
) -> Cell:
    parameters = {**contender.parameters, **condition.parameters}
    if contender.per_level:
        parameters["confidence_level"] = levels[0]
    settings = {
        "set": name,
        "condition": condition.name,
        "truth": condition.truth,
        "noise": condition.noise,
        "method": contender.method,
        "variant": contender.variant,
        "estimator": contender.estimator,
        "parameters": parameters,
        "targets": contender.targets,
        "levels": levels,
        "simulations": list(block),
        "seed": seed,
    }
    of_level = f"-{levels[0]:g}" if contender.per_level else ""
    first, stop = block
    n_train, _ = n_rows_of(name)
    steps = work(_estimator(settings), stop - first)
    return Cell(
        f"{name}/{condition.name}/{contender.name}{of_level}/{first:03d}-{stop - 1:03d}",
        simulate,
        settings,
        steps,
        contender.cost * n_train * steps,
    )


def simulate(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """Fits the contender to each simulated data set and keeps what it says about the test rows."""
    twin = twin_of(settings["set"], truth=settings["truth"], noise=settings["noise"])
    targets = twin.targets(seeds_of(settings, "targets"))
    if settings["targets"] == "real":
        targets = np.tile(twin.real_targets, (len(targets), 1))
    answers = simulated_answers(
        _estimator(settings),
        twin.X_train,
        targets,
        twin.X_test,
        settings["levels"],
        seeds_of(settings, "fits"),
        progress=progress,
    )
    return as_frame(answers, twin, range(*settings["simulations"]))


def as_frame(answers: Answers, twin: Twin, simulations: Sequence[int]) -> "pd.DataFrame":
    """A row for each simulation and test row: the truth, the prediction, bounds, what they held."""
    import pandas as pd

    n_simulations, n_rows = answers.means.shape
    columns: dict[str, np.ndarray] = {
        "simulation": np.repeat(np.array(simulations, np.int32), n_rows),
        "row": np.tile(np.arange(n_rows, dtype=np.int32), n_simulations),
        "true_mean": np.tile(twin.truth.mean(twin.X_test), n_simulations),
        "true_std": np.tile(twin.truth.std(twin.X_test), n_simulations),
        "mean": answers.means.ravel(),
    }
    for coverage in coverages_of("", answers, twin.truth, twin.X_test):
        asked = (coverage.kind, coverage.confidence_level)
        stem = _stem(*asked)
        # Bounds to seven digits: more would double the file and change no table.
        columns[f"{stem}_lower"] = answers.intervals[asked][..., 0].ravel().astype(np.float32)
        columns[f"{stem}_upper"] = answers.intervals[asked][..., 1].ravel().astype(np.float32)
        columns[f"{stem}_held"] = coverage.held.ravel()
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Judged:
    """A contender under one condition on one set: all its finished simulations.

    Attributes:
        settings: those of its first cell.
        answers: what it said about the test rows.
        coverages: how its intervals did.
        true_mean: the true function at the test rows.
        true_std: the true standard deviation of the noise there.
    """

    settings: Mapping[str, Any]
    answers: Answers
    coverages: tuple[Coverage, ...]
    true_mean: Float64[np.ndarray, " row"]
    true_std: Float64[np.ndarray, " row"]

    @property
    def n_simulations(self) -> int:
        """How many are finished."""
        return len(self.answers.means)

    def squared_errors(self) -> Float64[np.ndarray, " simulation"]:
        """Expected squared error of a new target in each simulation: nothing is sampled."""
        errors = (self.answers.means - self.true_mean) ** 2 + self.true_std**2
        return np.asarray(errors.mean(axis=1))


def judged(finished: Sequence[Saved]) -> list[Judged]:
    """Finished cells put together: an entry for each set, condition and contender.

    A contender that is trained for one level at a time has an entry for each.
    """
    together: dict[tuple[Any, ...], list[Saved]] = {}
    for saved in finished:
        s = saved.settings
        per_level = s["parameters"].get("confidence_level")
        key = (s["set"], s["condition"], s["method"], s["variant"], per_level)
        together.setdefault(key, []).append(saved)
    return [_judged(cells) for cells in together.values()]


def _judged(cells: list[Saved]) -> Judged:
    import pandas as pd

    cells = sorted(cells, key=lambda saved: saved.settings["simulations"])
    frame = pd.concat([saved.frame for saved in cells], ignore_index=True)
    if frame.duplicated(["simulation", "row"]).any():
        names = ", ".join(str(saved.path) for saved in cells)
        raise RunFolderError(f"These cells hold the same simulations: {names}. Delete some.")
    return from_frame(cells[0].settings, frame)


def from_frame(settings: Mapping[str, Any], frame: "pd.DataFrame") -> Judged:
    """From rows as `as_frame` writes them, sorted by simulation and row."""
    n_simulations = frame["simulation"].nunique()
    arrays = {name: frame[name].to_numpy().reshape(n_simulations, -1) for name in frame}
    intervals: dict[tuple[Kind, float], np.ndarray] = {}
    coverages = []
    kinds: tuple[Kind, ...] = ("confidence", "prediction")
    for kind in kinds:
        for level in settings["levels"]:
            stem = _stem(kind, level)
            if f"{stem}_held" not in arrays:
                continue
            bounds = [arrays[f"{stem}_{side}"].astype(np.float64) for side in ("lower", "upper")]
            intervals[kind, level] = np.stack(bounds, axis=-1)
            width = (bounds[1] - bounds[0]).mean(axis=0)
            name = f"{settings['method']} {settings['variant']}"
            coverages.append(Coverage(name, kind, level, arrays[f"{stem}_held"], width))
    return Judged(
        settings,
        Answers(arrays["mean"], intervals),
        tuple(coverages),
        arrays["true_mean"][0],
        arrays["true_std"][0],
    )


def study_headline(saved: Saved) -> str:
    """Mean coverage and width of one level's intervals."""
    (one,) = judged([saved])
    return headline_of(one)


def headline_of(one: Judged) -> str:
    """Mean coverage and width of the intervals at the level next to 80 %."""
    level = min((c.confidence_level for c in one.coverages), key=lambda found: abs(found - 0.8))
    said = [
        f"{100 * level:g} % {c.kind} intervals cover {100 * c.mean:.0f} %, "
        f"width {c.width.mean():.3g}"
        for c in one.coverages
        if c.confidence_level == level
    ]
    return "; ".join(said)


def _estimator(settings: Mapping[str, Any]) -> Any:
    return paper_estimator(settings["estimator"], **settings["parameters"])


def _stem(kind: Kind, level: float) -> str:
    return f"{kind}_{level:g}"
