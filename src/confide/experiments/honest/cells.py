"""The cells of the nested experiment: outer data sets, each fitted and then calibrated.

A cell is one problem and contender, and some of the outer data sets. It keeps what a coverage study
keeps (`confide.experiments.coverage.study`) for each variant of the intervals. Of a calibration it
keeps the twins, the factor and bias at each row, and the processor time.
"""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from confide.coverage import KINDS, Answers, work
from confide.errors import CalibrationWarning
from confide.estimators import ESTIMATORS, IntervalRegressor
from confide.experiments.cell import Cell
from confide.experiments.coverage.study import as_frame, estimator_of, simulate_on
from confide.experiments.honest.problems import (
    AUTO,
    EVERYWHERE,
    ORACLE,
    PROBLEMS,
    RAW,
    SMALL_FORESTS,
    TWIN_KINDS,
    UNSHIFTED,
    Contender,
    Problem,
    shown_for,
)
from confide.experiments.options import Options
from confide.experiments.simulated import Twin, blocks_of, seeds_of
from confide.prediction import Prediction
from confide.progress import Progress

DATA_SETS_PER_CELL = 5
# As many as `calibrate_confidence` has by default.
N_SIMULATIONS = 20
# How many fits a calibration takes as long as.
CALIBRATION_IN_FITS = 4


def nested_cells(options: Options) -> list[Cell]:
    """All cells, in an order that makes a run useful long before it ends.

    The first data sets of all problems come first. What is judged everywhere comes before what is
    shown on a few.
    """
    problems = [problem for problem in PROBLEMS if problem.set in options.sets]
    pairs = [(problem, contender) for problem in problems for contender in EVERYWHERE]
    pairs += [(problem, contender) for problem in problems for contender in shown_for(problem)]
    cells = [
        (contender not in EVERYWHERE, block[0], nested_cell(problem, contender, block, options))
        for problem, contender in pairs
        if contender.method in options.methods
        for block in blocks_of(n_data_sets(problem, options.simulations), DATA_SETS_PER_CELL)
    ]
    return [cell for *_, cell in sorted(cells, key=lambda cell: cell[:2])]


def n_data_sets(problem: Problem, simulations: int) -> int:
    """Outer data sets: as many as were asked for on the small forest truths, elsewhere half."""
    return simulations if problem in SMALL_FORESTS else math.ceil(simulations / 2)


def nested_cell(
    problem: Problem, contender: Contender, block: tuple[int, int], options: Options
) -> Cell:
    """One problem and contender, and the outer data sets from the block's first to its last.

    Args:
        problem: the truth.
        contender: who is judged.
        block: the first outer data set, and the one after the last.
        options: of the run.

    Returns:
        The cell, not yet computed.
    """
    settings = {
        "set": problem.set,
        "truth": problem.truth,
        "method": contender.method,
        "estimator": contender.estimator,
        "parameters": dict(contender.parameters),
        "variants": list(contender.variants),
        "n_simulations": N_SIMULATIONS,
        "levels": list(options.levels),
        "simulations": list(block),
        "seed": options.seed,
    }
    first, stop = block
    epochs = work(_estimator(settings), stop - first)
    n_calibrations = sum(variant != RAW for variant in contender.variants)
    n_fits = 1 + CALIBRATION_IN_FITS * n_calibrations
    return Cell(
        f"{problem.set}/{problem.truth}/{contender.name}/{first:03d}-{stop - 1:03d}",
        nested,
        settings,
        stop - first if n_calibrations else epochs,
        float(problem.n_train * epochs * n_fits),
    )


def nested(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """Fits the contender to each outer data set and keeps its intervals, raw and calibrated."""
    twin = Problem(settings["set"], settings["truth"]).twin
    targets = twin.targets(seeds_of(settings, "targets"))
    if settings["variants"] == [RAW]:
        return simulate_on(twin, targets, settings, progress).assign(variant=RAW)
    return _calibrated(settings, twin, targets, progress)


def _calibrated(
    settings: Mapping[str, Any], twin: Twin, targets: np.ndarray, progress: Progress | None
) -> pd.DataFrame:
    """One data set after the other, as a user would, so that the cost is a user's."""
    simulations = range(*settings["simulations"])
    predictions: dict[str, list[Prediction]] = {name: [] for name in settings["variants"]}
    calibrations = []
    seeds = seeds_of(settings, "fits")
    for simulation, y, seed in zip(simulations, targets, seeds, strict=True):
        start = time.process_time()
        model = _estimator(settings).set_params(random_state=seed, calibration=None)
        model.fit(twin.X_train, y)
        fit_cpu_seconds = time.process_time() - start
        for variant, of_variant in predictions.items():
            model.confidence_calibration_ = None  # so that each variant starts from the fit
            if variant == RAW:
                of_variant.append(model.get_prediction(twin.X_test))
                continue
            start = time.process_time()
            _calibrate(model, twin, y, variant, settings["n_simulations"])
            cpu_seconds = time.process_time() - start
            of_variant.append(model.get_prediction(twin.X_test))
            calibrations.append(
                _by_row(model, of_variant[-1]).assign(
                    variant=variant,
                    simulation=np.int32(simulation),
                    fit_cpu_seconds=fit_cpu_seconds,
                    calibration_cpu_seconds=cpu_seconds,
                )
            )
        if progress is not None:
            progress(1)
    frames = [
        as_frame(_answers(those, settings["levels"]), twin, simulations).assign(variant=variant)
        for variant, those in predictions.items()
    ]
    keys = ["variant", "simulation", "row"]
    return pd.concat(frames, ignore_index=True).merge(
        pd.concat(calibrations, ignore_index=True), on=keys, how="left"
    )


def _calibrate(model: Any, twin: Twin, y: np.ndarray, variant: str, n_simulations: int) -> None:
    with warnings.catch_warnings():  # that no narrow interval is honest: it is judged here
        warnings.simplefilter("ignore", CalibrationWarning)
        model.calibrate_confidence(
            twin.X_train,
            y,
            twin={ORACLE: twin.truth, UNSHIFTED: AUTO, AUTO: AUTO, **TWIN_KINDS}[variant],
            n_simulations=n_simulations,
            shift=0.0 if variant == UNSHIFTED else "auto",
        )


def _estimator(settings: Mapping[str, Any]) -> IntervalRegressor:
    """The paper's, with the cell's changes; or the default's, if the cell names its recipe."""
    if "recipe" in settings["parameters"]:
        return ESTIMATORS[settings["estimator"]](**settings["parameters"])
    return estimator_of(settings)


def _by_row(model: IntervalRegressor, prediction: Prediction) -> pd.DataFrame:
    """What a calibration reports of itself and of each row."""
    calibration, errors = model.confidence_calibration_, prediction.twin_errors
    if calibration is None or errors is None:
        raise ValueError("The model must be calibrated.")
    names = {kind: name for name, kind in TWIN_KINDS.items()}
    kinds = [twin.kind for twin in calibration.summary.resemblances]
    return pd.DataFrame(
        {
            "row": np.arange(len(prediction), dtype=np.int32),
            "twins": "+".join(names.get(kind, kind) for kind in kinds),
            "factor": errors.factor.astype(np.float32),
            "bias": errors.bias.astype(np.float32),
            "biased_share": np.float32(calibration.summary.biased),
        }
    )


def _answers(predictions: Sequence[Prediction], levels: Sequence[float]) -> Answers:
    return Answers(
        np.stack([prediction.mean for prediction in predictions]),
        {
            (kind, level): np.stack([one.interval(kind, level) for one in predictions])
            for kind in KINDS
            for level in levels
        },
    )
