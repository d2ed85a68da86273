"""The cells of the nested experiment: outer data sets, each fitted and then calibrated.

A cell is one problem and contender, and some of the outer data sets. It keeps what a coverage study
keeps (`confide.experiments.coverage.study`) for each variant of the intervals, and of a calibration
the twins, the factor and the bias that they showed at each row, and the processor time.
"""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from confide.coverage import KINDS, Answers, simulated_answers, work
from confide.errors import CalibrationWarning
from confide.estimators import IntervalRegressor
from confide.experiments.cell import Cell
from confide.experiments.coverage.study import as_frame
from confide.experiments.honest.contenders import (
    AUTO,
    EVERYWHERE,
    ORACLE,
    RAW,
    SHIFT,
    SHIFTED,
    TWIN_KINDS,
    Contender,
    shown_for,
)
from confide.experiments.honest.problems import MAIN_PROBLEMS, Problem, problems_of
from confide.experiments.options import Options
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import Twin, blocks_of, seeds_of
from confide.prediction import Prediction
from confide.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

DATA_SETS_PER_CELL = 10
# As many as `calibrate_confidence` has by default.
N_SIMULATIONS = 20
# What a simulated fit takes more than a fit alone: the share of the twins' own fits.
TWINS_SHARE = 1.2


def nested_cells(options: Options) -> list[Cell]:
    """All cells, in an order that makes a run of use long before it ends.

    What is judged everywhere comes first, problem by problem, then what is shown on a few. Problems
    that tell less have the second half of their data sets at the very end.
    """
    problems = problems_of(options.sets)
    pairs = [(problem, each) for problem in problems for each in EVERYWHERE]
    pairs += [(problem, each) for problem in problems for each in shown_for(problem)]
    found = [
        (problem, contender, block)
        for problem, contender in pairs
        if contender.method in options.methods
        for block in blocks_of(n_data_sets(problem, options.simulations), DATA_SETS_PER_CELL)
    ]

    def can_wait(each: tuple[Problem, Contender, tuple[int, int]]) -> bool:
        problem, contender, (first, _) = each
        at_once = problem in MAIN_PROBLEMS and contender in EVERYWHERE
        return first >= options.simulations / 2 and not at_once

    return [nested_cell(*each, options) for each in sorted(found, key=can_wait)]


def n_data_sets(problem: Problem, simulations: int) -> int:
    """Outer data sets: as many as were asked for, half of that where each takes long."""
    return math.ceil(simulations / 2) if problem.is_short_of_simulations else simulations


def nested_cell(
    problem: Problem, contender: Contender, block: tuple[int, int], options: Options
) -> Cell:
    """One problem and contender, and the outer data sets from the block's first to its last.

    Args:
        problem: the truth.
        contender: who is judged.
        block: the first outer data set, and the one after the last.
        options: of the run.
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
    n_fits = 1 + TWINS_SHARE * N_SIMULATIONS * n_calibrations
    return Cell(
        f"{problem.set}/{problem.truth}/{contender.name}/{first:03d}-{stop - 1:03d}",
        nested,
        settings,
        stop - first if n_calibrations else epochs,
        float(problem.n_train * epochs * n_fits),
    )


def nested(settings: Mapping[str, Any], progress: Progress | None) -> "pd.DataFrame":
    """Fits the contender to each outer data set and keeps what its intervals say, raw and not."""
    twin = Problem(settings["set"], settings["truth"]).twin
    targets = twin.targets(seeds_of(settings, "targets"))
    seeds = seeds_of(settings, "fits")
    simulations = range(*settings["simulations"])
    if settings["variants"] != [RAW]:
        return _calibrated(settings, twin, targets, seeds, progress)
    answers = simulated_answers(
        _estimator(settings),
        twin.X_train,
        targets,
        twin.X_test,
        settings["levels"],
        seeds,
        progress=progress,
    )
    return as_frame(answers, twin, simulations).assign(variant=RAW)


def _calibrated(
    settings: Mapping[str, Any],
    twin: Twin,
    targets: np.ndarray,
    seeds: Sequence[int],
    progress: Progress | None,
) -> "pd.DataFrame":
    """One data set after the other, as a user would, so that the cost is a user's."""
    import pandas as pd

    estimator, variants = _estimator(settings), settings["variants"]
    answers: dict[str, list[Prediction]] = {variant: [] for variant in variants}
    calibrations: list[pd.DataFrame] = []
    for simulation, y, seed in zip(range(*settings["simulations"]), targets, seeds, strict=True):
        start = time.process_time()
        model = clone(estimator).set_params(random_state=seed).fit(twin.X_train, y)
        of_fit = time.process_time() - start
        for variant in variants:
            if variant == RAW:
                answers[RAW].append(model.get_prediction(twin.X_test))
                continue
            calibrated_on = {ORACLE: twin.truth, SHIFTED: AUTO, AUTO: AUTO, **TWIN_KINDS}[variant]
            start = time.process_time()
            with warnings.catch_warnings():  # that no narrow interval is honest: it is judged here
                warnings.simplefilter("ignore", CalibrationWarning)
                model.calibrate_confidence(
                    twin.X_train,
                    y,
                    twin=calibrated_on,
                    n_simulations=settings["n_simulations"],
                    shift=SHIFT if variant == SHIFTED else 0.0,
                )
            of_calibration = time.process_time() - start
            prediction = model.get_prediction(twin.X_test)
            answers[variant].append(prediction)
            told = _told(model, prediction)
            calibrations.append(
                told.assign(
                    variant=variant,
                    simulation=np.int32(simulation),
                    fit_cpu_seconds=of_fit,
                    calibration_cpu_seconds=of_calibration,
                )
            )
            model.confidence_calibration_ = None  # so that another variant starts from the fit
        if progress is not None:
            progress(1)
    simulations = range(*settings["simulations"])
    kept = pd.concat(
        [
            as_frame(_answers(each, settings["levels"]), twin, simulations).assign(variant=variant)
            for variant, each in answers.items()
        ],
        ignore_index=True,
    )
    keys = ["variant", "simulation", "row"]
    return kept.merge(pd.concat(calibrations, ignore_index=True), on=keys, how="left")


def _told(model: IntervalRegressor, prediction: Prediction) -> "pd.DataFrame":
    """What a calibration says of itself and of each row."""
    import pandas as pd

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
            "spread": errors.spread.astype(np.float32),
            "biased_share": np.float32(calibration.summary.biased),
        }
    )


def _answers(predictions: Sequence[Prediction], levels: Sequence[float]) -> Answers:
    return Answers(
        np.stack([each.mean for each in predictions]),
        {
            (kind, level): np.stack([each.interval(kind, level) for each in predictions])
            for kind in KINDS
            for level in levels
        },
    )


def _estimator(settings: Mapping[str, Any]) -> Any:
    return paper_estimator(settings["estimator"], **settings["parameters"])
