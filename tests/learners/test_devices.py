"""Several devices, simulated on the CPU: the same numbers, and nothing carried over per call."""

import subprocess
import sys

import pytest

from confide.learners import networks

START = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=" + sys.argv[1]
import hashlib, tempfile
from dataclasses import replace
from pathlib import Path
import jax, numpy as np
from confide.bootstrap import Bootstrap, Keys, bootstrapped_ensemble
from confide.learners import StoredData, StoredTargets, TrainingData, networks, store
assert jax.local_device_count() == int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(90, 3)).astype(np.float32)
y, keys = X[:, 0], Keys.from_key(jax.random.key(0), 5)
how = {"hidden_layer_sizes": (8,), "batch_size": 16}
learner = networks(3, 5, network="paper", **how)
learner = replace(learner, steps_per_call=12, stretch=32, members_per_block=2)
folder = Path(tempfile.mkdtemp())
inputs, targets = store([folder / "X", folder / "y"], [(X, y[:, None])])
sources = {
    "memory": (TrainingData.from_rows(X), np.tile(y, (5, 1))),
    "disk": (StoredData(folder, inputs), StoredTargets(targets, np.zeros(5, np.int64))),
}
"""
DIGEST = """
ensemble = bootstrapped_ensemble(keys, learner, *sources[sys.argv[2]], Bootstrap(5, 0.4))
outputs = [learner.predict(state, X) for state in (ensemble.members, ensemble.retrained)]
print(hashlib.sha256(np.concatenate(outputs).tobytes()).hexdigest())
"""
GUARDED = """
jax.config.update("jax_transfer_guard_host_to_device", "disallow")
jax.config.update("jax_transfer_guard_device_to_device", "disallow")
"""
# After the programs are compiled: every array that goes to a device, counted.
COUNTED = """
from confide.learners import Plan
from confide.learners.blocks import Worker
put, n_puts = Worker.put, []
Worker.put = lambda self, tree: (n_puts.append(1), put(self, tree))[1]
data, targets = sources["memory"]
state = learner.init(keys.initialisation, data)
for epochs in (2, 40):  # one call, and twenty
    n_puts.clear()
    learner.train(keys.training, state, data, targets, Plan(epochs, 0, epochs))
    print(len(n_puts))
"""


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", START + script, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_one_and_three_devices_memory_and_disk_give_the_same_numbers():
    asked = [("1", "memory"), ("3", "memory"), ("3", "disk")]
    assert len({run(DIGEST, *arguments) for arguments in asked}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("source", ["memory", "disk"])
def test_nothing_goes_to_a_device_or_between_devices_unasked(source):
    run(GUARDED + DIGEST, "2", source)


@pytest.mark.slow
def test_more_calls_carry_nothing_more_to_a_device():
    one_call, twenty_calls = run(COUNTED, "2").split()
    assert one_call == twenty_calls


def test_an_accelerator_has_its_members_in_one_block(monkeypatch):
    home = sys.modules["confide.learners.networks"]  # `networks` is also its function
    monkeypatch.setattr(home, "accelerators", lambda: 2)
    assert networks(3, 12).members_per_block == 6
