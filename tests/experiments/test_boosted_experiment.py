"""The experiment on boosted trees: its cells, and what it makes of finished ones."""

import importlib.util
import os
from pathlib import Path

import pytest
from support.experiment_cells import nested_cells as made_up_cells
from support.experiment_cells import run_with

from confide.experiments import EXPERIMENTS
from confide.experiments.catalogue.boosted_trees import CONTENDERS

EXPERIMENT = EXPERIMENTS["boosted-trees"]
needs_data = pytest.mark.skipif(
    not (Path(os.environ.get("CONFIDE_DATA", "nowhere")) / "yacht.csv.gz").is_file(),
    reason="CONFIDE_DATA names no folder with yacht.csv.gz",
)
needs_trees = pytest.mark.skipif(
    importlib.util.find_spec("xgboost") is None or importlib.util.find_spec("lightgbm") is None,
    reason="needs the extra confide[boosting]",
)


@needs_data
@needs_trees
def test_every_set_has_every_contender_in_blocks_of_five():
    cells = EXPERIMENT.cells(EXPERIMENT.whole)
    assert len({cell.name for cell in cells}) == len(cells) == 5 * 3 * 4
    learners = {cell.settings["parameters"].get("learner") for cell in cells}
    assert learners == {None, "xgboost", "lightgbm"}
    assert all(cell.settings["variants"] == ["raw", "auto"] for cell in cells)


def test_findings_put_trees_and_networks_side_by_side(tmp_path):
    cells = made_up_cells(["boston", "yacht"], [0.8], CONTENDERS)
    saved = run_with(tmp_path / "run", "boosted-trees", *cells).all_saved()
    findings = EXPERIMENT.findings(saved)
    tables = {table.name: table.frame for table in findings.parts}
    confidence = tables["boosted-trees-confidence-80"]
    assert confidence["method"].unique().tolist() == ["BDE", "XGB", "LGBM"]
    assert len(confidence) == 2 * 3 * 2
    assert len(tables["boosted-trees-costs"]) == 2 * 3
    assert "XGB, calibrated: 80 % confidence intervals cover" in findings.words
    assert "raw: 80 %" in EXPERIMENT.headline(saved[0])
