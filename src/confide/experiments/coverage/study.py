"""The cells of Experiment 1 and its kin: methods as published, and as their authors describe them.

A cell is one set, condition and contender, and some of the simulations. It keeps, for every
simulation and test row, the truth, the prediction and the bounds of every interval, so that each
table and figure can be made from it. `judged.py` puts finished cells together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from confide.coverage import Answers, coverages_of, simulated_answers, work
from confide.estimators import ESTIMATORS
from confide.experiments.cell import Cell
from confide.experiments.options import Options
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import Twin, blocks_of, n_rows_of, seeds_of, twin_of
from confide.methods import REGISTRY
from confide.progress import Progress

SIMULATIONS_PER_CELL = 25
DESCRIBED, PUBLISHED = "as described", "as published"


@dataclass(frozen=True)
class Contender:
    """A method in one of its variants.

    Attributes:
        method: the paper's short name.
        variant: "as published": with the settings of the code that the paper's tables were made
            with; "as described": the method as its authors describe it and confide's default.
        estimator: its name in `ESTIMATORS`.
        parameters: arguments of the estimator that differ from the paper's recipe.
        targets: what it is trained on. Only the published naive bootstrap saw the "real" ones.
        per_level: whether it is trained for one level at a time.
        cost: seconds for a row and epoch of one network, relative to the plain ones.
    """

    method: str
    variant: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    targets: Literal["simulated", "real"] = "simulated"
    per_level: bool = False
    cost: float = 1.0

    @property
    def name(self) -> str:
        """For files."""
        return f"{self.method}-{self.variant}".replace(" ", "-")


def _both(
    method: str,
    estimator: str,
    *,
    published_targets: Literal["simulated", "real"] = "simulated",
    **how: Any,
) -> tuple[Contender, Contender]:
    published = dict(REGISTRY[ESTIMATORS[estimator].method.NAME].AS_PUBLISHED)
    return (
        Contender(method, PUBLISHED, estimator, published, published_targets, **how),
        Contender(method, DESCRIBED, estimator, **how),
    )


# Costs are our own measurement on two cores, for the time that is left.
CONTENDERS = (
    *_both("BDE", "BootstrappedDeepEnsembleRegressor"),
    Contender("DE", DESCRIBED, "DeepEnsembleRegressor"),
    *_both("NB", "NaiveBootstrapRegressor", published_targets="real"),
    *_both("CD", "ConcreteDropoutRegressor", cost=8.0),
    *_both("QDE", "QualityDrivenEnsembleRegressor", per_level=True, cost=1.3),
)


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
    steps = work(estimator_of(settings), stop - first)
    return Cell(
        f"{name}/{condition.name}/{contender.name}{of_level}/{first:03d}-{stop - 1:03d}",
        simulate,
        settings,
        steps,
        contender.cost * n_train * steps,
    )


def simulate(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """Fits the contender to each simulated data set and keeps its answers at the test rows."""
    twin = twin_of(settings["set"], truth=settings["truth"], noise=settings["noise"])
    targets = twin.targets(seeds_of(settings, "targets"))
    if settings["targets"] == "real":
        targets = np.tile(twin.real_targets, (len(targets), 1))
    return simulate_on(twin, targets, settings, progress)


def simulate_on(
    twin: Twin, targets: np.ndarray, settings: Mapping[str, Any], progress: Progress | None
) -> pd.DataFrame:
    """Fits an estimator to each row of targets and keeps its answers at the test rows.

    Args:
        twin: inputs and truth.
        targets: [simulation, row].
        settings: of the cell: its estimator, parameters, levels, simulations and seed.
        progress: hears of the epochs.

    Returns:
        A table as `as_frame` makes it.
    """
    answers = simulated_answers(
        estimator_of(settings),
        twin.X_train,
        targets,
        twin.X_test,
        settings["levels"],
        seeds_of(settings, "fits"),
        progress=progress,
    )
    return as_frame(answers, twin, range(*settings["simulations"]))


def as_frame(answers: Answers, twin: Twin, simulations: Sequence[int]) -> pd.DataFrame:
    """A row for each simulation and test row: the truth, the prediction, bounds, what they held."""
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
        stem = stem_of(*asked)
        # Bounds to seven digits: more would double the file and change no table.
        columns[f"{stem}_lower"] = answers.intervals[asked][..., 0].ravel().astype(np.float32)
        columns[f"{stem}_upper"] = answers.intervals[asked][..., 1].ravel().astype(np.float32)
        columns[f"{stem}_held"] = coverage.held.ravel()
    return pd.DataFrame(columns)


def estimator_of(settings: Mapping[str, Any]) -> Any:
    """The estimator that a cell's settings name."""
    return paper_estimator(settings["estimator"], **settings["parameters"])


def stem_of(kind: str, level: float) -> str:
    """How the columns of these intervals begin."""
    return f"{kind}_{level:g}"
