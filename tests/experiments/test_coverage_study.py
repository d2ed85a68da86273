"""The cells of a coverage study: split as one likes, put together again, and judged."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from confide.coverage import Answers
from confide.experiments import Options, Saved
from confide.experiments.cell import as_parquet
from confide.experiments.coverage.judged import Judged, judged, study_headline
from confide.experiments.coverage.study import (
    CONTENDERS,
    DESCRIBED,
    Condition,
    simulate,
    study_cells,
)
from confide.experiments.simulated import twin_of

needs_yacht = pytest.mark.skipif(
    not (Path(os.environ.get("CONFIDE_DATA", "nowhere")) / "yacht.csv.gz").is_file(),
    reason="CONFIDE_DATA names no folder with yacht.csv.gz",
)
SHORT = Condition("short", parameters={"max_epochs": 2})


def cell_of(method, variant=DESCRIBED):
    """The one cell of three simulations."""
    options = Options(simulations=3, sets=("yacht",), methods=(method,), levels=(0.8,))
    contenders = [each for each in CONTENDERS if each.variant == variant]
    (cell,) = study_cells(options, [SHORT], contenders)
    return cell


@needs_yacht
@pytest.mark.slow
@pytest.mark.parametrize("method", ["BDE", "DE", "NB", "CD", "QDE"])
def test_a_cell_split_in_blocks_has_the_same_numbers(method):
    settings = cell_of(method).settings
    blocks = [simulate({**settings, "simulations": block}, None) for block in ([0, 2], [2, 3])]
    whole = simulate(settings, None)
    pd.testing.assert_frame_equal(
        pd.concat(blocks, ignore_index=True), whole, check_exact=True, check_dtype=True
    )
    assert len(whole) == 3 * len(twin_of("yacht").X_test)
    assert whole.groupby("row")["mean"].nunique().min() == 3  # each has data of its own


@needs_yacht
def test_progress_tells_of_all_the_steps_of_a_cell():
    cell, heard = cell_of("DE"), []
    simulate(cell.settings, heard.append)
    assert sum(heard) == cell.steps


@needs_yacht
def test_a_study_has_a_cell_for_each_set_condition_contender_and_block():
    options = Options(
        simulations=30, sets=("yacht",), methods=("DE", "QDE"), levels=(0.8, 0.9), seed=4
    )
    cells = study_cells(options, [Condition(), SHORT], CONTENDERS)
    names = [cell.name for cell in cells if "/short/" in cell.name and "published" not in cell.name]
    assert names == [
        f"yacht/short/{contender}/{block}"
        for contender in ("DE-as-described", "QDE-as-described-0.8", "QDE-as-described-0.9")
        for block in ("000-024", "025-029")
    ]
    assert len({cell.name for cell in cells}) == len(cells) == 2 * 2 * 5
    assert all(cell.settings["seed"] == 4 for cell in cells)


ROWS = 3


def saved(folder, first, stop, **changes):
    """A made-up finished cell, in which every number says where it belongs."""
    simulation = np.repeat(np.arange(first, stop, dtype=np.int32), ROWS)
    row = np.tile(np.arange(ROWS, dtype=np.int32), stop - first)
    frame = pd.DataFrame(
        {
            "simulation": simulation,
            "row": row,
            "true_mean": row.astype(float),
            "true_std": 1.0 + row,
            "mean": simulation + row / 10,
            "confidence_0.8_lower": (simulation - 1.0).astype(np.float32),
            "confidence_0.8_upper": (simulation + 1.0).astype(np.float32),
            "confidence_0.8_held": row < simulation,
            "prediction_0.8_lower": np.full(len(row), -2, np.float32),
            "prediction_0.8_upper": np.full(len(row), 2, np.float32),
            "prediction_0.8_held": 0.5 + simulation / 100,
        }
    )
    settings = {
        "set": "yacht", "condition": "benchmark", "method": "DE", "variant": "as described",
        "parameters": {}, "levels": [0.8], "simulations": [first, stop], **changes,
    }  # fmt: skip
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    path.write_bytes(as_parquet(frame, settings, {"cpu_seconds": 2.5}))
    return Saved.from_file(path)


def test_blocks_are_put_together_in_the_order_of_the_simulations(tmp_path):
    blocks = [saved(tmp_path, first, first + 1) for first in (10, 9)] + [saved(tmp_path, 2, 4)]
    (one,) = judged(blocks)
    simulations = np.array([2, 3, 9, 10])
    assert one.n_simulations == 4
    assert one.answers.means.tolist() == (simulations[:, None] + np.arange(ROWS) / 10).tolist()
    intervals = one.answers.intervals["confidence", 0.8]
    assert intervals[:, 1].tolist() == np.stack([simulations - 1, simulations + 1], 1).tolist()
    assert one.true_mean.tolist() == [0, 1, 2]
    assert one.true_std.tolist() == [1, 2, 3]
    confidence, prediction = one.coverages
    assert confidence.held.tolist() == [[r < s for r in range(ROWS)] for s in simulations]
    assert prediction.held[:, 0].tolist() == (0.5 + simulations / 100).tolist()
    assert confidence.width.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "other",
    [
        {"set": "boston"},
        {"condition": "other"},
        {"method": "NB"},
        {"variant": "as published"},
        {"parameters": {"confidence_level": 0.9}},
    ],
    ids=str,
)
def test_what_differs_is_judged_apart(tmp_path, other):
    both = judged([saved(tmp_path, 0, 2), saved(tmp_path, 0, 3, **other)])
    assert [one.n_simulations for one in both] == [2, 3]


def test_the_expected_squared_error_is_that_of_sampled_targets():
    generator = np.random.default_rng(0)
    true_mean, true_std = np.array([0.0, 1.0, -2.0]), np.array([1.0, 0.5, 2.0])
    means = np.array([[0.5, 1.0, -1.0], [0.0, 3.0, -2.0]])
    one = Judged({}, Answers(means, {}), (), true_mean, true_std)
    targets = generator.normal(true_mean, true_std, size=(100_000, 1, 3))
    sampled = ((means - targets) ** 2).mean(axis=2)
    standard_error = sampled.std(axis=0) / np.sqrt(len(sampled))
    assert (np.abs(one.squared_errors() - sampled.mean(axis=0)) < 4 * standard_error).all()
    assert (standard_error < 0.02).all()  # so that the noise's share, 1.75, is seen


def test_the_headline_tells_coverage_and_width(tmp_path):
    assert study_headline(saved(tmp_path, 1, 3)) == (
        "80 % confidence intervals cover 50 %, width 2; "
        "80 % prediction intervals cover 52 %, width 4"
    )
