"""Hand-made finished cells: what experiments would have found, without the hours."""

from pathlib import Path

import numpy as np
import pandas as pd

from confide.experiments import EXPERIMENTS, Cell, RunFolder
from confide.experiments.catalogue import boosted_trees, overfitting
from confide.experiments.catalogue.experiment_1 import SETS
from confide.experiments.cell import as_parquet
from confide.experiments.coverage.study import CONTENDERS
from confide.experiments.honest.problems import EVERYWHERE, RAW, Problem, shown_for

SOURCE = {
    "commit": "0123456789ab", "python": "3.11", "confide": "0", "jax": "0", "jaxlib": "0",
    "numpy": "0", "pandas": "0", "scikit-learn": "0", "cores": "2", "seconds": 1.0,
    "cpu_seconds": 2.0,
}  # fmt: skip


def run_with(folder: Path, experiment: str, *cells: tuple[str, pd.DataFrame, dict]) -> RunFolder:
    """The folder of a run with these finished cells: name, table and settings of each."""
    run = RunFolder.opened(folder, experiment, EXPERIMENTS[experiment].whole.fixed)
    for name, frame, settings in cells:
        cell = Cell(name, as_parquet, {"seed": 0, **settings}, 1, 1.0)
        run.save(cell, as_parquet(frame, cell.settings, SOURCE))
    return run


def study_cells(sets, conditions, methods, levels, *, n_simulations=6, n_rows=20):
    """Cells of a coverage study with intervals that cover at random."""
    generator = np.random.default_rng(0)
    for name in sets:
        for condition in conditions:
            for contender in CONTENDERS:
                if contender.method not in methods:
                    continue
                each = [[level] for level in levels] if contender.per_level else [levels]
                for own in each:
                    frame = _study_frame(generator, contender, own, n_simulations, n_rows)
                    settings = {
                        "set": name, "condition": condition, "truth": "random_forest",
                        "noise": "gaussian", "method": contender.method,
                        "variant": contender.variant, "estimator": contender.estimator,
                        "parameters": {"confidence_level": own[0]} if contender.per_level else {},
                        "targets": "simulated", "levels": own, "simulations": [0, n_simulations],
                    }  # fmt: skip
                    yield f"{name}/{condition}/{contender.name}-{own[0]:g}", frame, settings


def nested_cells(sets, levels, contenders=None, *, n_simulations=6, n_rows=20):
    """Cells of a nested experiment on truths of Algorithm 3, by default with all contenders."""
    generator = np.random.default_rng(2)
    for name in sets:
        problem = Problem(name, "random_forest")
        for contender in contenders or [*EVERYWHERE, *shown_for(problem)]:
            frames = []
            for variant in contender.variants:
                frame = _study_frame(generator, contender, levels, n_simulations, n_rows)
                frame["variant"] = variant
                if variant != RAW:
                    frame["twins"] = np.where(frame["simulation"] % 3, "smooth", "smooth+oak")
                    frame["fit_cpu_seconds"] = 0.5
                    frame["calibration_cpu_seconds"] = 10.0 + (frame["simulation"] == 0)
                    frame["biased_share"] = 0.25
                frames.append(frame)
            settings = {
                "set": name, "truth": "random_forest", "method": contender.method,
                "estimator": contender.estimator, "parameters": dict(contender.parameters),
                "variants": list(contender.variants), "n_simulations": 20, "levels": levels,
                "simulations": [0, n_simulations],
            }  # fmt: skip
            yield f"{name}/random_forest/{contender.name}", pd.concat(frames), settings


def _study_frame(generator, contender, levels, n_simulations, n_rows):
    n = n_simulations * n_rows
    mean = generator.normal(size=n)
    columns = {
        "simulation": np.repeat(np.arange(n_simulations), n_rows),
        "row": np.tile(np.arange(n_rows), n_simulations),
        "true_mean": 0.0,
        "true_std": 1.0,
        "mean": mean,
    }
    kinds = ("prediction",) if contender.method == "QDE" else ("confidence", "prediction")
    for kind in kinds:
        for level in levels:
            half = generator.uniform(0.5, 2.5, n)
            stem = f"{kind}_{level:g}"
            columns[f"{stem}_lower"] = (mean - half).astype(np.float32)
            columns[f"{stem}_upper"] = (mean + half).astype(np.float32)
            held = np.abs(mean) < half
            probability = generator.uniform(0.5, 1.0, n)
            columns[f"{stem}_held"] = held if kind == "confidence" else probability
    return pd.DataFrame(columns)


def every_run(runs: Path) -> None:
    """A run of every experiment in the catalogue that reads its cells, with a few cells each."""
    generator = np.random.default_rng(1)
    run_with(
        runs / "experiment-1",
        "experiment-1",
        *study_cells(SETS, ["benchmark"], {"BDE", "DE", "NB", "CD", "QDE"}, [0.8, 0.95]),
    )
    for name, conditions, methods in (
        ("other-noise", ("gaussian", "t3", "gamma"), {"BDE", "DE"}),
        ("no-regularisation", ("40-epochs", "80-epochs"), {"BDE", "DE"}),
        ("network-truth", ("40-epochs", "80-epochs"), {"BDE", "DE"}),
        ("retraining-fractions", ("0.1", "0.2", "0.3", "0.4"), {"BDE"}),
    ):
        cells = study_cells(["boston"], conditions, methods, [0.7, 0.8, 0.9])
        run_with(runs / name, name, *cells)
    run_with(runs / "experiment-2", "experiment-2", *_networks(generator))
    run_with(runs / "experiment-3", "experiment-3", *_variances(generator))
    run_with(runs / "assumptions", "assumptions", *_errors(generator))
    run_with(runs / "overfitting", "overfitting", *_curves())
    run_with(runs / "honest-confidence", "honest-confidence", *nested_cells(["boston"], [0.8, 0.9]))
    trees = nested_cells(["boston"], [0.8], boosted_trees.CONTENDERS)
    run_with(runs / "boosted-trees", "boosted-trees", *trees)


def _networks(generator):
    for n_rows in (500, 5_000, 30_000):
        for targets, spread in (("random", 4.0), ("same", 1.0)):
            means = generator.normal(0, np.sqrt(spread / n_rows), (20, 50))
            network, row = np.indices(means.shape)
            frame = pd.DataFrame(
                {"network": network.ravel(), "row": row.ravel(), "mean": means.ravel()}
            )
            settings = {"set": "protein", "variant": "as described", "rows": n_rows}
            yield f"{n_rows}/{targets}", frame, {**settings, "targets": targets}


def _variances(generator):
    for repetition in range(3):
        columns = {
            name: generator.uniform(1, 2, 10)
            for name in ("optimisation_variance", "classical_variance", "true_variance")
        }
        simulations = [repetition, repetition + 1]
        settings = {"set": "boston", "variant": "as published", "simulations": simulations}
        yield f"{repetition}", pd.DataFrame({"row": np.arange(10), **columns}), settings


def _errors(generator):
    row = np.tile(np.arange(30), 20)
    columns = {name: generator.normal(size=600) for name in ("error", "shift")}
    frame = pd.DataFrame({"simulation": np.repeat(np.arange(20), 30), "row": row, **columns})
    yield "a", frame, {"set": "boston", "variant": "as described"}


def _curves():
    x = np.concatenate([overfitting.X_TEST, overfitting.X_TRAIN])
    at_point = np.arange(len(x)) >= len(overfitting.X_TEST)
    for contender in overfitting.ENTRIES:
        columns = {
            "simulation": 0,
            "x": x,
            "target": np.where(at_point, 0.1, np.nan),
            "mean": np.sin(x),
            "lower": np.sin(x) - 1,
            "upper": np.sin(x) + 1,
            "aleatoric_variance": 2.0,
        }
        if contender.method == "BDE":
            columns["classical_variance"] = 1.0
        settings = {"set": "noise", "method": contender.method, "variant": contender.variant}
        yield contender.name, pd.DataFrame(columns), settings
