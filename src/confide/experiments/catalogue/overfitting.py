"""Appendix: an example that overfits, and what the confidence intervals say of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.estimators import ESTIMATORS
from confide.experiments.cell import Cell
from confide.experiments.contenders import CONTENDERS
from confide.experiments.experiment import Experiment
from confide.experiments.options import Options
from confide.experiments.simulated import blocks_of, seeds_of
from confide.experiments.store import Saved
from confide.learners import Progress

if TYPE_CHECKING:
    import pandas as pd

X_TRAIN = np.linspace(0.1, 0.9, 7)
X_TEST = np.linspace(0, 1, 200)
NOISE_STD, LEVEL = 0.2, 0.9
NETWORK = {"hidden_layer_sizes": (400, 200, 100), "l2_penalty": 0.0}
SIMULATIONS_PER_CELL = 25
ENTRIES = [each for each in CONTENDERS if each.method in {"BDE", "DE"}]


class Overfitting(Experiment):
    """Seven points of pure noise, and networks that can learn them by heart."""

    name = "overfitting"
    title = "Seven points of pure noise: do the confidence intervals give the overfitting away?"
    paper = "Appendix, Detecting overfitting, which draws one data set"
    whole: ClassVar = Options(simulations=100, sets=("noise",), methods=("BDE", "DE"))
    quick: ClassVar = Options(simulations=4, sets=("noise",), methods=("BDE", "DE"))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one contender and 25 data sets."""
        return [
            Cell(
                f"{name}/{entry.name}/{first:03d}-{stop - 1:03d}",
                curves,
                {
                    "set": name,
                    "method": entry.method,
                    "variant": entry.variant,
                    "estimator": entry.estimator,
                    "parameters": {**entry.parameters, **NETWORK},
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=stop - first,
                work=float(stop - first),
            )
            for name in options.sets
            for entry in ENTRIES
            if entry.method in options.methods
            for first, stop in blocks_of(options.simulations, SIMULATIONS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """The mean width of the confidence intervals at the training points."""
        frame = saved.frame
        width = (frame["upper"] - frame["lower"])[frame["target"].notna()].mean()
        return f"{100 * LEVEL:g} % confidence intervals at the points: width {width:.3g}"


def curves(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """Predictions and confidence intervals over the line and at the training points."""
    import pandas as pd

    draws = [
        np.random.default_rng(seed).normal(0, NOISE_STD, len(X_TRAIN))
        for seed in seeds_of(settings, "targets")
    ]
    estimator = ESTIMATORS[settings["estimator"]](**settings["parameters"])
    fits = estimator.fit_many(X_TRAIN[:, None], draws, seeds_of(settings, "fits"))
    x = np.concatenate([X_TEST, X_TRAIN])
    frames = []
    for simulation, y, fitted in zip(range(*settings["simulations"]), draws, fits, strict=True):
        prediction = fitted.get_prediction(x[:, None])
        lower, upper = prediction.confidence_interval(LEVEL).T
        columns = {
            "simulation": simulation,
            "x": x,
            "target": np.concatenate([np.full(len(X_TEST), np.nan), y]),
            "mean": prediction.mean,
            "lower": lower,
            "upper": upper,
            "aleatoric_variance": prediction.aleatoric_variance,
        }
        if prediction.classical_variance is not None:
            columns["classical_variance"] = prediction.classical_variance
        frames.append(pd.DataFrame(columns))
        if progress is not None:
            progress(1)
    return pd.concat(frames, ignore_index=True)
