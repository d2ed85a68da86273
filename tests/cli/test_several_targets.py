"""`--target a --target b`: one model, one table of predictions, one page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confide
from confide import BootstrappedDeepEnsembleRegressor, TrainingDivergedError
from confide.cli import main

QUICK = ["--recipe", "paper", "--epochs", "3", "--members", "2"]
BOTH = ["--target", "price", "--target", "rent"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), prog_name="confide")


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """A table of 120 homes with two targets."""
    path = tmp_path_factory.mktemp("tables") / "homes.csv"
    generator = np.random.default_rng(2)
    x = generator.normal(size=120)
    kind = generator.choice(["flat", "house"], 120)
    noise = generator.normal(0, 0.3, (2, 120))
    frame = {"x": x, "kind": kind, "price": 3 * x + (kind == "flat") + noise[0], "rent": x**2}
    pd.DataFrame(frame).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit(homes, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.confide"
    return path, done("fit", homes, *BOTH, "-o", path, *QUICK)


def test_fit_says_of_each_target_how_good_its_model_is(fit):
    path, result = fit
    assert result.stdout == f"{path}\n"
    lines = result.stderr.splitlines()
    for target in ("price", "rent"):
        assert lines[lines.index(f"Target '{target}':") + 1].startswith("RMSE ")


def test_predictions_are_those_of_two_models(fit, homes, tmp_path):
    together = tmp_path / "both.csv"
    done("predict", fit[0], homes, "-o", together)
    for target, other in (("price", "rent"), ("rent", "price")):
        model, alone = tmp_path / target, tmp_path / f"{target}.csv"
        done("fit", homes, "--target", target, "--exclude", other, "-o", model, *QUICK)
        done("predict", model, homes, "-o", alone)
        expected = pd.read_csv(alone, dtype=str).add_prefix(f"{target}_")
        found = pd.read_csv(together, dtype=str)[expected.columns]
        pd.testing.assert_frame_equal(found, expected)


@pytest.mark.slow
def test_two_processes_write_the_same_model_and_say_the_same(fit, homes, tmp_path):
    path, at_home = fit
    away = done("fit", homes, *BOTH, "-o", tmp_path / "away", *QUICK, "--engine", "joblib")
    assert (tmp_path / "away").read_bytes() == path.read_bytes()
    assert "Fitting 2 targets side by side: 100 %" in away.stderr

    def verdict(result):
        return result.stderr.partition("Target 'price':")[2].partition("Next:")[0]

    assert verdict(away) == verdict(at_home)


def test_an_error_in_training_names_its_target(homes, tmp_path, monkeypatch):
    def diverge(*_, **__):
        raise TrainingDivergedError(0, 1, 2)

    monkeypatch.setattr(BootstrappedDeepEnsembleRegressor, "fit", diverge)
    result = run("fit", homes, *BOTH, "-o", tmp_path / "model", *QUICK)
    assert result.exit_code == 1
    assert result.stderr.endswith("may also be the cause. This was the target 'price'.\n")


@pytest.mark.slow
def test_inspect_and_report_have_both_targets(fit, homes, tmp_path):
    told = json.loads(done("inspect", fit[0], "--json").stdout)
    assert list(told["targets"]) == ["price", "rent"]
    assert done("inspect", fit[0]).stdout.startswith("2 targets: price, rent\n")
    page = tmp_path / "page.html"
    done("report", fit[0], homes, "-o", page)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page.read_text())
    assert headings[1:3] == ["price", "rent"]


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["price", "rant"], "no column 'rant' to predict.*Did you mean 'rent'"),
        (["price", ""], "no column '' to predict"),
        (["price", "price"], "The target 'price' is named twice"),
        (["price", "kind"], "The target 'kind' must be numbers"),
    ],
)
def test_a_wrong_target_is_told_and_the_old_model_stays(homes, tmp_path, targets, message):
    path = tmp_path / "model.confide"
    path.write_text("old")
    options = [word for target in targets for word in ("--target", target)]
    result = run("fit", homes, *options, "-o", path, "--force", *QUICK)
    assert result.exit_code == 2
    assert re.search(message, result.stderr, re.DOTALL), result.stderr
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_check_is_of_each_target_and_its_picture_of_one(homes, fit, tmp_path, monkeypatch):
    asked = []

    def check_table(table, target, **_):
        asked.append((target, table.column_names))
        raise KeyboardInterrupt

    result = run("check", homes, *BOTH, "-o", tmp_path / "picture.png")
    assert result.exit_code == 2
    assert "A picture shows one target" in result.stderr
    monkeypatch.setattr(confide.workflow, "check_table", check_table)
    run("check", homes, *BOTH, "--model", fit[0])
    assert asked == [("price", ["x", "kind", "price"])]


@pytest.mark.slow
def test_check_tells_of_each_target(homes, fit):
    how = ["--model", fit[0], "--simulations", "2", "--rows", "60", "--json"]
    told = json.loads(done("check", homes, *BOTH, *how).stdout)
    alone = json.loads(done("check", homes, "--target", "rent", "--exclude", "price", *how).stdout)
    assert list(told["targets"]) == ["price", "rent"]
    assert told["targets"]["rent"] == alone
