"""Experiment 3: the two separate estimates of variance, against the truth."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.estimators import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.experiments.cell import Cell
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.simulated import n_rows_of, seeds_of, twin_of
from confide.experiments.store import Saved
from confide.learners import Progress
from confide.methods.bootstrapped_deep_ensemble import AS_PUBLISHED

if TYPE_CHECKING:
    import pandas as pd

N_MEMBERS = 50
# The text says 80 epochs, the published code 40.
VARIANTS: dict[str, dict[str, Any]] = {
    "as published": {"max_epochs": 40, **AS_PUBLISHED},
    "as described": {"max_epochs": 80},
}


class Experiment3(Experiment):
    """Estimates from one data set, against networks that each had new targets."""

    name = "experiment-3"
    title = "Separate estimates of the variances due to finite data and to random training"
    paper = "Experiment 3, Table 2 (experiment3table), which has one repetition"
    whole: ClassVar = Options(simulations=10, sets=("boston", "concrete", "energy", "kin8nm"))
    quick: ClassVar = Options(simulations=2, sets=("boston",))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, variant and repetition."""
        return [
            Cell(
                f"{name}/{variant.replace(' ', '-')}/{repetition:03d}",
                separate_variances,
                {
                    "set": name,
                    "variant": variant,
                    "parameters": parameters,
                    "simulations": [repetition, repetition + 1],
                    "seed": options.seed,
                },
                steps=_epochs(parameters),
                work=float(_epochs(parameters) * n_rows_of(name)[0]),
            )
            for name in options.sets
            for variant, parameters in VARIANTS.items()
            for repetition in range(options.simulations)
        ]

    def headline(self, saved: Saved) -> str:
        """Both sums."""
        means = saved.frame.mean()
        estimated = means["optimisation_variance"] + means["classical_variance"]
        return f"estimated {estimated:.3g}, true {means['true_variance']:.3g}"


def separate_variances(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """Both estimates and the true variance of one network, at each test row."""
    import pandas as pd

    twin, parameters = twin_of(settings["set"]), settings["parameters"]
    (data_seed,), (fit_seed,) = seeds_of(settings, "targets"), seeds_of(settings, "fits")
    ensemble = BootstrappedDeepEnsembleRegressor(n_members=N_MEMBERS, **parameters)
    (fitted,) = ensemble.fit_many(
        twin.X_train, twin.targets([data_seed]), [fit_seed], progress=progress
    )
    estimated = fitted.get_prediction(twin.X_test)
    generator = np.random.default_rng(seeds_of(settings, "networks of the truth"))
    new_data, new_fits = generator.integers(2**31, size=(2, N_MEMBERS)).tolist()
    network = DeepEnsembleRegressor(n_members=1, max_epochs=parameters["max_epochs"])
    networks = network.fit_many(twin.X_train, twin.targets(new_data), new_fits, progress=progress)
    means = np.array([each.predict(twin.X_test) for each in networks])
    return pd.DataFrame(
        {
            "row": np.arange(len(twin.X_test), dtype=np.int32),
            "optimisation_variance": estimated.optimisation_variance,
            "classical_variance": estimated.classical_variance,
            "true_variance": means.var(axis=0, ddof=1),
        }
    )


def _epochs(parameters: Mapping[str, Any]) -> int:
    settings = BootstrappedDeepEnsembleRegressor(n_members=N_MEMBERS, **parameters).settings()
    method = BootstrappedDeepEnsembleRegressor.method
    return int(method.member_epochs(settings) + N_MEMBERS * parameters["max_epochs"])
