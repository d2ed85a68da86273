"""Small models of every method, plain and with all that a file can hold, to be damaged."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import confide
from confide.estimators import IntervalRegressor
from confide.workflow import fit_table, fit_targets

NETWORK = {"hidden_layer_sizes": (4,), "max_epochs": 3, "learning_rate": 0.05, "random_state": 0}
# Those that are calibrated are calibrated below.
TWO: dict[str, Any] = {**NETWORK, "n_members": 2, "calibration": None}
N_ROWS = 120
# Columns of the plain models.
N_COLUMNS = 3


def estimators() -> dict[str, IntervalRegressor]:
    """One of each method, as small as it can be."""
    found: dict[str, Any] = {
        "bootstrapped": confide.BootstrappedDeepEnsembleRegressor(**TWO),
        "of the paper": confide.BootstrappedDeepEnsembleRegressor(recipe="paper", **TWO),
        "transformed": confide.BootstrappedDeepEnsembleRegressor(
            recipe="paper",
            target_transform="yeo-johnson",
            bounds=(-100.0, None),
            **{**TWO, "max_epochs": "auto"},
        ),
        "deep ensemble": confide.DeepEnsembleRegressor(**TWO),
        "naive bootstrap": confide.NaiveBootstrapRegressor(**TWO),
        "dropout": confide.ConcreteDropoutRegressor(n_passes=5, **NETWORK),
        "quality driven": confide.QualityDrivenEnsembleRegressor(n_members=2, **NETWORK),
    }
    for learner in ("xgboost", "lightgbm"):
        try:
            __import__(learner)
        except ImportError:
            continue
        found[learner] = confide.BootstrappedEnsembleRegressor(
            learner=learner, n_members=2, max_epochs=5, random_state=0
        )
    return found


def table(n_rows: int = N_ROWS, seed: int = 0) -> pa.Table:
    """Columns of every kind, with holes, and a target."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=n_rows)
    days = np.datetime64("2020-01-01") + np.arange(n_rows)
    return pa.table(
        {
            "x": pa.array(x, mask=np.arange(n_rows) % 10 == 0),
            "count": generator.integers(0, 9, n_rows),
            "colour": generator.choice(["red", "green"], n_rows),
            "yes": generator.choice([True, False], n_rows),
            "day": pa.array(days),
            "id": [f"row {i}" for i in range(n_rows)],
            "y": 2 * x + generator.normal(0, 0.3, n_rows),
        }
    )


def rows() -> np.ndarray:
    """What the plain models are fitted to."""
    return np.random.default_rng(1).normal(size=(N_ROWS, N_COLUMNS))


def saved_models(folder: Path, names: tuple[str, ...] = ()) -> list[Path]:
    """Files of all models, or of those that are named; they are made where they are missing.

    `NAME.plain` knows an array. `NAME.table` knows a table, and is calibrated on rows set aside.
    `NAME.whole` is also calibrated on simulated twins, where the method has confidence intervals,
    and where its targets are transformed, in groups and for each bound by itself.
    `NAME.several` has two targets.
    """
    all_names = [f"{name}.{kind}" for name in estimators() for kind in ("plain", "whole")]
    wanted = names or [*all_names, "bootstrapped.several"]
    for name in wanted:
        if not (folder / name).exists():
            _fitted(name).save(folder / name)
    return [folder / name for name in wanted]


def _fitted(name: str) -> IntervalRegressor:
    method, kind = name.split(".")
    estimator = estimators()[method]
    if kind == "plain":
        X = rows()
        return estimator.fit(X, X[:, 0] + X[:, 1] ** 2)
    if kind == "several":
        two = table().append_column("z", pa.array(rows()[:, 0]))
        return fit_targets(two, ["y", "z"], estimator, file="table.csv").model
    on_twins = kind == "whole" and method != "quality driven"
    how = {"calibrate_confidence": on_twins, "n_simulations": 10}
    model = fit_table(table(), "y", estimator, file="table.csv", **how).model
    if method == "transformed":
        held = table(400, seed=1)
        y = held["y"].to_numpy()
        model.calibrate(held.drop_columns(["y"]), y, symmetric=False, groups="colour")
    return model
