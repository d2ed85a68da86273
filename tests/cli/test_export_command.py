"""`confide export`: what it writes, says and refuses."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone

import confide
from confide.cli import main

pytest.importorskip("onnx", reason="files of ONNX need the extra confide[onnx]")
runtime = pytest.importorskip("onnxruntime", reason="they are compared by onnxruntime")


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), prog_name="confide")


def refused(code, message, *arguments):
    result = run("export", *arguments)
    assert result.exit_code == code, result.output
    assert re.search(message, result.stderr, re.DOTALL), result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.fixture(scope="module")
def model(bootstrapped, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.confide"
    bootstrapped.save(path)
    return path


def test_a_file_is_written_and_compared(bootstrapped, data, model, tmp_path):
    output = tmp_path / "model.onnx"
    result = run("export", model, output, "--level", "0.8")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{output}\n"
    assert re.search(r"^Largest relative difference from the model: \d\.\de-\d\d\.$", result.stderr)
    inputs = {f"x{i}": column[:, None] for i, column in enumerate(data[0].T)}
    (upper,) = runtime.InferenceSession(output).run(["obs_ci_upper"], inputs)
    expected = bootstrapped.predict_interval(data[0], 0.8)[1][:, 1]
    np.testing.assert_allclose(upper.ravel(), expected, rtol=1e-5, atol=1e-5)


def test_without_the_runtime_it_says_so(model, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    result = run("export", model, tmp_path / "model.onnx")
    assert result.exit_code == 0
    assert "Not compared with the model: onnxruntime is not installed." in result.stderr


def test_what_cannot_be_written_is_refused_before_the_model_is_read(model, tmp_path, monkeypatch):
    monkeypatch.setattr(confide, "load", lambda *_: pytest.fail("the model was read"))
    (tmp_path / "there.onnx").write_text("precious")
    refused(2, "already exists. Add --force", model, tmp_path / "there.onnx")
    refused(2, "There is no folder", model, tmp_path / "no" / "model.onnx")
    refused(2, "'model.txt' must end in .onnx", model, tmp_path / "model.txt")
    refused(2, "There is no file", tmp_path / "none.confide", tmp_path / "model.onnx")
    refused(2, "1.5 is not in the range", model, tmp_path / "model.onnx", "--level", "1.5")
    assert (tmp_path / "there.onnx").read_text() == "precious"


def test_force_replaces_a_file(model, tmp_path):
    (tmp_path / "there.onnx").write_text("not so precious")
    assert run("export", model, tmp_path / "there.onnx", "--force").exit_code == 0
    assert (tmp_path / "there.onnx").stat().st_size > 1000


def test_a_model_that_cannot_be_exported_leaves_the_old_file(data, tmp_path):
    X, y = data
    own = confide.BootstrappedEnsembleRegressor(learner="xgboost", max_epochs=2, n_members=2)
    pytest.importorskip("xgboost", reason="boosted trees need the extra confide[boosting]")
    own.fit(X, y).save(tmp_path / "trees.confide")
    (tmp_path / "there.onnx").write_text("precious")
    message = "this model has boosted trees or networks of your own"
    refused(1, message, tmp_path / "trees.confide", tmp_path / "there.onnx", "--force")
    assert (tmp_path / "there.onnx").read_text() == "precious"


def test_a_model_of_several_targets_is_told_so(bootstrapped, tmp_path):
    two = clone(bootstrapped).adopt_targets({"a": bootstrapped, "b": bootstrapped})
    two.save(tmp_path / "two.confide")
    told = r"of one target, and this model has 2: 'a', 'b'. Export model.targets_\['a'\]"
    refused(1, told, tmp_path / "two.confide", tmp_path / "two.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["two.confide"]
