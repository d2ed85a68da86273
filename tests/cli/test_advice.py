"""What commands advise can be done: every `Next:` line can be pasted, every option is one."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confide
from confide.cli import main
from confide.cli.fit import METHODS, WITHOUT_RECIPE
from confide.cli.session import AS_OPTIONS
from confide.estimators import ESTIMATORS

SOURCES = Path(confide.__file__).parent
NETWORK = """
import equinox as eqx

def make(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=4, depth=1, key=key)

def mean_alone(key, n_features):
    return eqx.nn.MLP(n_features, 1, width_size=4, depth=1, key=key)
"""
QUICK = ["--epochs", "3", "--members", "2"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    x = generator.normal(size=100)
    table = pd.DataFrame({"x": x, "left out": generator.normal(size=100), "y": x + 1})
    table.to_csv("my houses.csv", index=False)
    name = f"advice_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(NETWORK)
    return name


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)), prog_name="confide")


def fit(*words):
    return run("fit", "my houses.csv", "--target", "y", *words)


def pasted(result):
    """What comes of the command that a result says is next."""
    assert result.exit_code == 0, result.output
    (line,) = re.findall("^Next: (.*)$", result.stderr, re.MULTILINE)
    command, *words = shlex.split(line)
    assert command == "confide"
    return words, run(*words)


@pytest.mark.slow
def test_the_next_command_of_a_fit_can_be_pasted(folder):
    words, report = pasted(fit("-o", "my model.confide", "--recipe", "paper", *QUICK))
    assert words == ["report", "my model.confide", "my houses.csv"]
    assert report.exit_code == 0, report.output
    # Where files may be replaced, the next command may do so too.
    words, report = pasted(fit("-o", "my model.confide", "--recipe", "paper", "--force", *QUICK))
    assert words[-1] == "--force"
    assert report.exit_code == 0, report.output
    words, report = pasted(fit("--network", f"{folder}:make", "--force", *QUICK))
    assert words[3:5] == ["--network", f"{folder}:make"]
    assert report.exit_code == 0, report.output


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_fitted(folder, method):
    recipe = [] if method in WITHOUT_RECIPE else ["--recipe", "paper"]
    result = fit("--method", method, *recipe, *QUICK)
    assert result.exit_code == 0, result.output
    model = confide.load("model.confide")
    assert type(model).__name__ == f"{method.title().replace('-', '')}Regressor"
    assert model.parameters_["max_epochs"] == 3
    assert run("predict", "model.confide", "my houses.csv").exit_code == 0


def test_methods_are_those_of_the_estimators():
    named = {f"{name.title().replace('-', '')}Regressor" for name in METHODS}
    assert named == set(ESTIMATORS) - {"BootstrappedEnsembleRegressor"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--method", "deep-ensemble", "--learner", "xgboost"],
            "--learner xgboost needs --method bootstrapped-deep-ensemble. Leave one out",
        ),
        (["--method", "concrete-dropout", "--recipe", "paper"], "has no --recipe. Leave one"),
        (["--method", "concrete-dropout", "--epochs", "auto"], "has no --epochs auto. Leave one"),
    ],
)
def test_options_that_a_method_does_not_have_are_refused(folder, words, message):
    result = fit(*words)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.slow
def test_advice_for_python_becomes_advice_for_the_command_line(folder):
    alone = fit("--network", f"{folder}:mean_alone")
    assert "--epochs auto needs a network" in alone.stderr
    assert "pass a number of --epochs" in alone.stderr
    assert fit("--network", f"{folder}:make", *QUICK).exit_code == 0
    unknown = run("predict", "model.confide", "my houses.csv")
    assert "Pass it with --network package.module:make" in unknown.stderr


@pytest.mark.slow
def test_targets_can_be_transformed_and_bounded(folder):
    result = fit("--transform", "yeo-johnson", "--bounds", "-9,", "--recipe", "paper", *QUICK)
    assert result.exit_code == 0, result.output
    model = confide.load("model.confide")
    assert (model.target_transform, model.bounds) == ("yeo-johnson", (-9.0, None))
    for odd in ("0", "-2.5"):
        result = fit("--bounds", odd)
        assert result.exit_code == 2
        assert "is one number, and two ends are needed" in result.stderr
        assert f"Write `--bounds {odd},` for a lowest value alone" in result.stderr
    for odd in ("0,1,2", "low,high"):
        result = fit("--bounds", odd)
        assert result.exit_code == 2
        assert "must be two numbers with a comma between them" in result.stderr
    for odd in ("nan,1", "0,nan", "1,0", "1,1", "inf,"):
        result = fit("--bounds", odd)
        assert result.exit_code == 2
        assert f"'{odd}' must be a lower and a higher number. Write `--bounds 0,`" in result.stderr


@pytest.mark.parametrize("words", ["--id x --exclude x", "--exclude y", "--id y"])
def test_a_column_that_two_options_name_is_said_to_be_named_twice(folder, words):
    result = fit(*words.split())
    assert result.exit_code == 2
    assert "is named twice, by --" in result.stderr


@pytest.mark.slow
def test_a_check_says_which_options_give_a_verdict(folder, monkeypatch):
    quick = confide.DeepEnsembleRegressor(recipe="paper", n_members=2, max_epochs=2)
    monkeypatch.setattr("confide.workflow.compared", lambda *, fast: {"deep ensemble": quick})
    how = ["my houses.csv", "--target", "y", "--simulations", "2"]
    result = run("check", *how, "--truth", "gradient-boosting")
    assert result.exit_code == 0, result.output
    assert "too few for a verdict: pass --simulations 20 or more" in result.stdout
    # Another truth, other coverages.
    assert run("check", *how).stdout != result.stdout


def test_messages_that_are_translated_are_still_said():
    """A line for the command line that no message needs any more would stay for ever."""
    texts = {path: path.read_text() for path in SOURCES.rglob("*.py")}
    joined = "\n".join(
        re.sub(r'"\s*\n\s*f?"', "", text) for path, text in texts.items() if "cli" not in path.parts
    ).replace("{name}", "network")
    assert [words for words in AS_OPTIONS if words not in joined] == []


def test_every_option_that_is_named_is_one():
    known = {"--help", "--version"}
    for command in [*main.commands.values(), *main.commands["experiment"].commands.values()]:
        known |= {name for parameter in command.params for name in parameter.opts}
    for room in ("cli", "workflow", "tables", "estimators", "calibration", "coverage", "budget.py"):
        here = SOURCES / room
        for path in [here] if here.is_file() else here.rglob("*.py"):
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", path.read_text()))
            assert named <= known, (path, named - known)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--target", "kind"], "Classes need a classifier"),
        (["--target", "y", "--hold-out-by", "day"], "There is no column 'day' to hold out by"),
        (["--target", "y", "--group", "day"], "There is no column 'day' to group by"),
    ],
)
def test_usage_is_checked_before_the_time_is_announced(folder, monkeypatch, words, problem):
    pd.DataFrame({"x": range(50), "kind": ["a", "b"] * 25, "y": range(50)}).to_csv("t.csv")

    def say_need(*_, **__):
        raise AssertionError("announced")

    monkeypatch.setattr(sys.modules["confide.cli.fit"], "say_need", say_need)
    result = run("fit", "t.csv", *words)
    assert problem in result.stderr
