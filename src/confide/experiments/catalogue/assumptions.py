"""The check of Assumptions 3.1 and 3.2: errors of a member, and its shift when retrained."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.estimators import BootstrappedDeepEnsembleRegressor
from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.simulated import blocks_of, n_rows_of, seeds_of, twin_of
from confide.experiments.store import Saved
from confide.learners import Progress
from confide.methods.bootstrapped_deep_ensemble import AS_PUBLISHED, member_means

if TYPE_CHECKING:
    import pandas as pd

SIMULATIONS_PER_CELL = 25
VARIANTS: dict[str, dict[str, Any]] = {"as published": dict(AS_PUBLISHED), "as described": {}}


class Assumptions(Experiment):
    """The first member's error, and its shift when retrained, at each test row."""

    name = "assumptions"
    title = "Are errors normal, without bias, and as large as the shift when retrained?"
    paper = "Experiment 1, the histograms of errors (the paper's are of boston)"
    whole: ClassVar = Options(
        simulations=100, sets=("boston", "concrete", "energy", "yacht", "wine_red")
    )
    quick: ClassVar = Options(simulations=10, sets=("boston",))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, variant and 25 simulations."""
        return [
            Cell(
                f"{name}/{variant.replace(' ', '-')}/{first:03d}-{stop - 1:03d}",
                errors_and_shifts,
                {
                    "set": name,
                    "variant": variant,
                    "parameters": parameters,
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=(stop - first) * _epochs(parameters),
                work=float((stop - first) * _epochs(parameters) * n_rows_of(name)[0]),
            )
            for name in options.sets
            for variant, parameters in VARIANTS.items()
            for first, stop in blocks_of(options.simulations, SIMULATIONS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """Standard deviations of both."""
        spread = saved.frame[["error", "shift"]].std()
        return f"errors {spread['error']:.3g}, shifts {spread['shift']:.3g}"


def errors_and_shifts(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """The first member's error, and its shift when retrained, in each simulation."""
    import pandas as pd

    twin = twin_of(settings["set"])
    estimator = BootstrappedDeepEnsembleRegressor(**settings["parameters"])
    fits = estimator.fit_many(
        twin.X_train,
        twin.targets(seeds_of(settings, "targets")),
        seeds_of(settings, "fits"),
        progress=progress,
    )
    true_mean, n_rows = twin.truth.mean(twin.X_test), len(twin.X_test)
    errors, shifts = [], []
    for fitted in fits:
        means, retrained = member_means(fitted.fitted_, twin.X_test)
        errors.append(means[0] - true_mean)
        shifts.append(retrained[0, 0] - means[0])
    first, stop = settings["simulations"]
    return pd.DataFrame(
        {
            "simulation": np.repeat(np.arange(first, stop, dtype=np.int32), n_rows),
            "row": np.tile(np.arange(n_rows, dtype=np.int32), stop - first),
            "error": np.ravel(errors),
            "shift": np.ravel(shifts),
        }
    )


def _epochs(parameters: Mapping[str, Any]) -> int:
    settings = BootstrappedDeepEnsembleRegressor(**parameters).settings()
    return int(BootstrappedDeepEnsembleRegressor.method.member_epochs(settings))
