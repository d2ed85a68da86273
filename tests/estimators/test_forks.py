"""A process that is forked after confide was used: refused at once, where JAX would hang."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")

FORKED = """
import os, signal, sys, warnings
import numpy as np
import confide

warnings.simplefilter("ignore")  # JAX's own, about the fork
path, used_before, door = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
model = confide.load(path) if used_before else None
X = np.zeros((3, 3))
doors = {
    "predict": lambda: model.predict(X),
    "get_prediction": lambda: model.get_prediction(X),
    "fit": lambda: model.fit(X, np.arange(3.0)),
    "load": lambda: confide.load(path).predict(X),
}
if door == "after own JAX":
    import jax.numpy

    jax.numpy.ones(3).sum()
    door = "load"
if os.fork() == 0:
    signal.alarm(100)  # ends a child that waits: nothing is said, and the test fails
    try:
        doors[door]()
        print("answered", flush=True)
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


def said_in_child(model, folder, door, *, used_before):
    path = folder / "model.confide"
    model.save(path)
    command = [sys.executable, "-c", FORKED, str(path), str(used_before), door]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("door", ["predict", "get_prediction", "fit", "load"])
def test_a_fork_of_a_process_that_used_confide_is_refused(plain, tmp_path, door):
    said = said_in_child(plain, tmp_path, door, used_before=True)
    assert "is a fork of it" in said
    assert "after the fork" in said
    assert "get_context('spawn')" in said


@pytest.mark.slow
def test_a_fork_of_a_process_that_only_imported_confide_answers(plain, tmp_path):
    assert said_in_child(plain, tmp_path, "load", used_before=False) == "answered\n"


@pytest.mark.slow
def test_a_fork_of_a_process_that_used_jax_by_itself_is_refused(plain, tmp_path):
    said = said_in_child(plain, tmp_path, "after own JAX", used_before=False)
    assert "confide or JAX was used in process" in said
    assert "after the fork" in said
