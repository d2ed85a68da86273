"""Imports point one way, and the public surface is small, sorted and documented."""

import ast
import importlib
import os
import re
import subprocess
import sys

import pytest
from rooms import BEGIN, END, ROOT, SOURCE, as_mermaid, imported_modules, reduced, room, rooms

import confide
from confide.calibration import ConfidenceCalibration
from confide.moved import MOVED

# These answer from arrays and files alone: no network, and not the seconds that JAX takes to load.
WITHOUT_JAX = ["drawing", "metrics", "persistence", "uncertainty"]


def test_imports_point_one_way():
    assert reduced(rooms())  # a circle of rooms is a graphlib.CycleError


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_that_of_the_code():
    drawn = (ROOT / "CONTRIBUTING.md").read_text().partition(BEGIN)[2].partition(END)[0]
    assert drawn.strip() == as_mermaid(rooms()), "python tools/rooms.py --write draws it anew"


def test_rooms_are_imported_by_their_name():
    for path in SOURCE.rglob("*.py"):
        for module in imported_modules(path):
            _, name, *file = module.split(".")
            inside = name == room(path) or not (SOURCE / name).is_dir()
            assert inside or not file, f"{path.relative_to(SOURCE)} imports {module}"


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_JAX)
def test_some_rooms_do_not_import_jax(name):
    script = f"import sys, confide.{name}; print('jax' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_module_that_moved_is_found_by_its_old_name(old, new, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        assert importlib.import_module(old) is importlib.import_module(new)


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        ("confide", "CoverageReport", "CoverageCheck"),
        ("confide.coverage", "CoverageReport", "CoverageCheck"),
        ("confide.estimators", "EnsembleRegressor", "IntervalRegressor"),
        ("confide.plot", "HonestyDisplay", "ConfidenceCalibrationDisplay"),
        ("confide.plot", "plot_honesty", "plot_confidence_calibration"),
        ("confide.uncertainty", "SimulatedErrors", "TwinErrors"),
    ],
)
def test_a_name_that_changed_is_found_by_its_old_one(package, old, new):
    home = importlib.import_module(package)
    with pytest.warns(DeprecationWarning, match=f"{package}.{old} is now {package}.{new}"):
        assert getattr(home, old) is getattr(home, new)


@pytest.mark.parametrize(
    ("home", "old", "new"),
    [
        (confide.Prediction, "simulated", "twin_errors"),
        (ConfidenceCalibration, "account", "summary"),
    ],
)
def test_an_attribute_that_changed_is_found_by_its_old_name(home, old, new):
    bare = object.__new__(home)
    object.__setattr__(bare, new, "what it holds")
    with pytest.warns(DeprecationWarning, match=f"`{old}` is now `{new}`"):
        assert getattr(bare, old) == "what it holds"


def test_nobody_asks_which_class_a_law_is():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {
                "isinstance",
                "issubclass",
            }:
                asked = ast.unparse(node)
                assert not re.search(r"Law\b", asked), f"{path.relative_to(SOURCE)} asks {asked}"


def test_public_names_are_sorted_importable_and_documented():
    assert confide.__all__ == sorted(confide.__all__)
    for name in confide.__all__:
        assert getattr(confide, name).__doc__


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needed", "heavy"),
    [
        ("import confide", ["jax", "numpy", "pandas", "scipy", "sklearn"]),
        ("import confide.cli", ["jax", "numpy", "pandas", "sklearn"]),
        (
            "from confide import BootstrappedDeepEnsembleRegressor",
            ["matplotlib", "scoringrules", "sklearn.ensemble", "sklearn.model_selection"],
        ),
        (
            "from confide import *",
            [
                *("altair", "matplotlib", "rich", "scoringrules", "sklearn.ensemble"),
                *("sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing"),
            ],
        ),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(needed, heavy):
    script = f"import sys; {needed}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_listed_and_has_its_home():
    assert dir(confide) == confide.__all__
    homes = set().union(*confide._HOMES.values())
    assert {"__version__", *homes} == set(confide.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'coverage_chekc'"):
        confide.coverage_chekc  # noqa: B018


def test_trees_of_scikit_learn_have_the_threads_that_the_tests_allow():
    """Set after OpenMP was loaded, it would do nothing: each tree would wait for other workers."""
    openmp = pytest.importorskip("sklearn.utils._openmp_helpers")
    assert openmp._openmp_effective_n_threads() == int(os.environ["OMP_NUM_THREADS"])
