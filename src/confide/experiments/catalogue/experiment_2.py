"""Experiment 2: how much random targets and random training add to a network's variance."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.estimators import DeepEnsembleRegressor
from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.simulated import blocks_of, seeds_of, twin_of
from confide.experiments.store import Saved
from confide.learners import Progress

if TYPE_CHECKING:
    import pandas as pd

N_TEST = 5000
NETWORKS_PER_CELL = 25
# The text says 80 epochs, the published code 40.
EPOCHS = {"as published": 40, "as described": 80}
TARGETS = ("random", "same")


class Experiment2(Experiment):
    """Networks trained on new targets each, against networks trained on the same targets."""

    name = "experiment-2"
    title = "Variance due to random targets and to random training, as the data grow"
    paper = "Experiment 2, the learning curve; the number of simulations is that of the networks"
    whole: ClassVar = Options(
        simulations=100, sets=("protein",), rows=(500, 5_000, 10_000, 20_000, 30_000)
    )
    quick: ClassVar = Options(simulations=8, sets=("protein",), rows=(500, 1_000, 2_000))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one size of the data, one kind of targets and 25 networks."""
        return [
            Cell(
                f"{name}/{epochs}-epochs/{n_rows}-rows/{targets}/{first:03d}-{stop - 1:03d}",
                predictions,
                {
                    "set": name,
                    "variant": variant,
                    "epochs": epochs,
                    "rows": n_rows,
                    "targets": targets,
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=epochs * (stop - first),
                work=float(n_rows * epochs * (stop - first)),
            )
            for name in options.sets
            for variant, epochs in EPOCHS.items()
            for n_rows in options.rows
            for targets in TARGETS
            for first, stop in blocks_of(options.simulations, NETWORKS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """The variance between the cell's networks."""
        spread = saved.frame.groupby("row")["mean"].var().mean()
        return f"variance between networks {spread:.3g}"


def predictions(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """What each network predicts at the test rows."""
    import pandas as pd

    twin = twin_of(settings["set"], test_size=N_TEST)
    n_rows = settings["rows"]  # nested: a larger training set holds the smaller ones
    data_seeds = seeds_of(settings, "targets")
    if settings["targets"] == "same":
        data_seeds = seeds_of({**settings, "simulations": [0, 1]}, "targets") * len(data_seeds)
    network = DeepEnsembleRegressor(n_members=1, max_epochs=settings["epochs"])
    fits = network.fit_many(
        twin.X_train[:n_rows],
        twin.targets(data_seeds)[:, :n_rows],
        seeds_of(settings, f"{settings['targets']} fits"),
        progress=progress,
    )
    means = np.array([fitted.predict(twin.X_test) for fitted in fits], np.float32)
    return pd.DataFrame(
        {
            "network": np.repeat(np.arange(*settings["simulations"], dtype=np.int32), N_TEST),
            "row": np.tile(np.arange(N_TEST, dtype=np.int32), len(means)),
            "mean": means.ravel(),
        }
    )
