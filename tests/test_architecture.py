"""Imports point one way, and the public surface is small, sorted and documented."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import confide

SOURCE = Path(confide.__file__).parent
# Each concept may import those before it; concepts on one line do not know each other.
LAYERS = [
    {"arrays", "compilation", "errors", "extras", "fingerprints", "randomness"},
    {"atomic", "checks", "encoding", "named", "trees"},
    {"uncertainty", "metrics", "standardise", "datasets", "tables"},
    {"explanation", "learners"},
    {"bootstrap", "novelty", "prediction", "progress"},
    {"overfitting"},
    {"methods", "plot", "report"},
    {"simulate"},
    {"honest"},
    {"estimators"},
    {"laboratory"},
    {"experiments"},
    {"workflow"},
    {"cli"},
    {"__main__"},
]


def imported_concepts(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("confide"):
            names |= (
                {node.module}
                if node.module != "confide"
                else {f"confide.{a.name}" for a in node.names}
            )
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("confide")}
    return {name.split(".")[1] for name in names if "." in name}


def concept(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("level", range(len(LAYERS)))
def test_imports_point_one_way(level):
    allowed = set().union(*LAYERS[:level])
    for path in SOURCE.rglob("*.py"):
        if concept(path) in LAYERS[level]:
            inside = concept(path)
            # The command works through the public names.
            public = set(confide.__all__) if inside == "cli" else set()
            wrong = imported_concepts(path) - allowed - {inside} - public
            assert not wrong, f"{path.relative_to(SOURCE)} imports {wrong}"


def test_every_concept_has_its_layer():
    concepts = {concept(path) for path in SOURCE.rglob("*.py")} - {"__init__"}
    assert concepts == set().union(*LAYERS)


def test_uncertainty_and_metrics_know_arrays_only():
    for folder in ("uncertainty", "metrics"):
        for path in (SOURCE / folder).glob("*.py"):
            assert "learners" not in path.read_text()


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
    assert {"__version__", *confide._HOME_OF} == set(confide.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'coverage_chekc'"):
        confide.coverage_chekc  # noqa: B018
