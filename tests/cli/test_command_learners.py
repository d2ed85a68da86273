"""Learners of one's own on the command line: `--learner` and `--network`."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from confide import BootstrappedEnsembleRegressor
from confide.cli import main
from confide.cli.fit import ROUNDS

NETWORK = """
import equinox as eqx

def make(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=8, depth=1, key=key)

def wider(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=9, depth=1, key=key)

number = 3

def nothing(key, n_features):
    return None

def broken(key, n_features):
    raise RuntimeError("no such width")
"""
BROKEN = {"unfinished": "def make(:", "failing": "raise RuntimeError('no licence')"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    table = pd.DataFrame(X, columns=["area", "age"]).assign(
        price=X[:, 0] + generator.normal(size=60)
    )
    table.to_csv("houses.csv", index=False)
    # A name of its own for each test: Python keeps what it has imported.
    name = f"networks_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(NETWORK)
    return name


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="confide")


def fit(*words):
    return run("fit", "houses.csv", "--target", "price", "--epochs", 5, "--members", 2, *words)


@pytest.mark.slow
def test_a_network_of_ones_own_is_fitted_kept_and_asked_for(folder):
    assert fit("--network", f"{folder}:make").exit_code == 0
    for command in (["predict", "model.confide", "houses.csv"], ["inspect", "model.confide"]):
        without = run(*command)
        assert without.exit_code == 1
        assert f"{folder}:make" in without.output
        assert "--network package.module:make" in without.output.replace("\n", " ")
        assert run(*command, "--network", f"{folder}:make").exit_code == 0
    said = run("inspect", "model.confide", "--network", f"{folder}:make", "--json").stdout
    assert json.loads(said)["settings"]["network"] == f"{folder}:make"
    page = run("report", "model.confide", "houses.csv", "--network", f"{folder}:make")
    assert page.exit_code == 0
    other = run("inspect", "model.confide", "--network", f"{folder}:wider")
    assert "does not fit the network that was passed" in other.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--network", "make"], "must be package.module:make"),
        (["--network", "no_such_module:make"], "cannot be imported: No module named"),
        (["--network", "{folder}:mkae"], "cannot be imported: module"),
        (["--network", "{folder}:number"], "is not a function"),
        (["--learner", "xgboost", "--network", "{folder}:make"], "Leave out --learner xgboost"),
        (["--learner", "xgbost"], "'xgboost'"),
        (["--recipe", "tabula"], "'tabular'"),
        (["--recipe", "tabular", "--network", "{folder}:make"], "has its own networks"),
        (["--recipe", "tabular", "--learner", "xgboost"], "has its own networks"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(folder, words, message):
    result = fit(*(word.format(folder=folder) for word in words))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "message"), [("unfinished", "SyntaxError"), ("failing", "RuntimeError: no licence")]
)
def test_a_module_that_cannot_be_imported_is_wrong_usage(folder, tmp_path, name, message):
    (tmp_path / f"{folder}_{name}.py").write_text(BROKEN[name])
    result = fit("--network", f"{folder}_{name}:make")
    assert result.exit_code == 2
    assert f"cannot be imported: {message}" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "message"), [("nothing", "None"), ("broken", "RuntimeError: no such width")]
)
def test_a_function_that_makes_no_network_is_an_error_without_a_traceback(folder, name, message):
    result = fit("--network", f"{folder}:{name}")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("Error: ")
    assert message in result.output


@pytest.mark.usefixtures("folder")
def test_epochs_of_trees_are_a_number():
    words = ("fit", "houses.csv", "--target", "price", "--learner", "xgboost", "--epochs", "auto")
    result = run(*words)
    assert result.exit_code == 2
    assert "Pass a number for xgboost" in " ".join(result.output.split())


@pytest.mark.usefixtures("folder")
def test_boosted_trees_are_fitted_and_loaded_without_a_word():
    pytest.importorskip("xgboost", reason="needs the extra confide[boosting]")
    assert fit("--learner", "xgboost").exit_code == 0
    result = run("predict", "model.confide", "houses.csv", "--json")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 60


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_recipe_for_tables_is_fitted_inspected_and_asked():
    assert fit("--recipe", "tabular").exit_code == 0
    settings = json.loads(run("inspect", "model.confide", "--json").stdout)["settings"]
    assert (settings["recipe"], settings["network"]) == ("tabular", "tabular")
    assert run("predict", "model.confide", "houses.csv", "--json").exit_code == 0


def test_rounds_are_the_estimators_own():
    parameters = inspect.signature(BootstrappedEnsembleRegressor).parameters
    assert parameters["max_epochs"].default == ROUNDS
