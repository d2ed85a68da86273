"""A Ray cluster whose head is lost while it works."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import pytest
from support.ray_nodes import TESTS, Nodes

from confide.engines import ClusterError, ray_session

exceptions = pytest.importorskip("ray.exceptions", reason="needs the extra confide[ray]")
internal_kv = pytest.importorskip("ray.experimental.internal_kv")
pytestmark = pytest.mark.slow  # Ray's processes take seconds to start

SCRIPT = """
import sys
from pathlib import Path
from confide.engines import RayCluster, ray_session
from confide.persistence import atomic_file
from support.calls import slowly

address, path, silence = sys.argv[1:]
ray_session.SECONDS_OF_SILENCE = float(silence)
with atomic_file(Path(path)) as kept:
    for result in RayCluster(address).map(slowly, range(1000)):
        print(result, flush=True)
        kept.write(b"half")
"""


@contextmanager
def working(folder, silence):
    """A cluster, and a process in the midst of work on it that bears so many seconds of silence."""
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', '')}"}
    with Nodes() as nodes:
        done = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, nodes.address, folder / "model.confide", str(silence)],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert done.stdout.readline() == "0\n"
        try:
            yield nodes, done
        finally:
            done.kill()
            done.communicate()


def test_a_lost_head_is_a_clear_error_and_leaves_nothing(tmp_path):
    with working(tmp_path, silence=2) as (nodes, done):
        nodes.kill_head()
        refused_in_words(done, "was lost", tmp_path)


def test_a_restarted_head_is_a_clear_error_and_leaves_nothing(tmp_path):
    with working(tmp_path, silence=60) as (nodes, done):
        nodes.kill_head()
        with Nodes(1, port=int(nodes.address.rpartition(":")[2])):
            refused_in_words(done, "was restarted", tmp_path)


def test_ray_says_nothing_of_a_lost_node_where_results_are_printed(tmp_path):
    with working(tmp_path, silence=60) as (nodes, done):
        lost = nodes.add()
        before = [done.stdout.readline() for _ in range(20)]  # its other processes have begun
        os.kill(lost, signal.SIGKILL)  # they tell all drivers
        lines = [done.stdout.readline() for _ in range(40)]
    assert [int(line) for line in before + lines] == [*range(1, 61)]


def refused_in_words(done, words, folder):
    _, errors = done.communicate(timeout=120)
    assert done.returncode == 1
    assert "ClusterError: The head of the Ray cluster at" in errors
    assert words in errors
    assert list(folder.iterdir()) == []


def test_a_restarted_head_is_noticed_before_ray_asks_it(monkeypatch):
    context = SimpleNamespace(gcs_address="10.0.0.1:6379")
    restarted = exceptions.RayError("RPC error: WrongClusterID: Perhaps the GCS has restarted.")
    asked = mock.Mock(side_effect=restarted)
    monkeypatch.setattr(ray_session, "answers", lambda _: True)
    monkeypatch.setattr(internal_kv, "_internal_kv_exists", asked)
    ray = SimpleNamespace(get_runtime_context=lambda: context, exceptions=exceptions)
    with pytest.raises(ClusterError, match=r"10\.0\.0\.1:6379 was restarted, .* Start this again"):
        ray_session.RaySession().look(ray)
