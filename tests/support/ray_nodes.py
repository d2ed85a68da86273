"""A Ray cluster on this machine that a process of its own keeps.

Ray ends a process that asks a head about its nodes: after a minute if the head is gone, and at once
if it was restarted. So the process of the tests does not start and stop nodes itself: this file
does, as a script.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from unittest import mock

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
TESTS = Path(__file__).parents[1]
SECONDS_TO_WAIT = 120


class Nodes:
    """A head and nodes that come and go, each of one core.

    Attributes:
        address: of the head.
    """

    def __init__(self, n_nodes: int = 2, port: int = 0, **environment: str) -> None:
        path = f"{TESTS}:{os.environ.get('PYTHONPATH', '')}"
        self._keeper = subprocess.Popen(
            [sys.executable, __file__, str(port)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )  # fmt: skip
        self.address = self._answer()
        for _ in range(n_nodes - 1):
            self.add()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._keeper.communicate("stop\n", timeout=SECONDS_TO_WAIT)

    def add(self, **environment: str) -> int:
        """Another node, whose workers have this environment; returns its process."""
        words = [f"{name}={value}" for name, value in environment.items()]
        return int(self._asked("add", *words))

    def remove(self, node: int) -> None:
        """Kills the node of a process, and all that works there."""
        self._asked("remove", str(node))

    def kill_head(self) -> None:
        """Kills the head as a power cut would."""
        self._asked("kill_head")

    def _asked(self, *words: str) -> str:
        assert self._keeper.stdin is not None
        print(*words, file=self._keeper.stdin, flush=True)
        return self._answer()

    def _answer(self) -> str:
        assert self._keeper.stdout is not None
        answer = self._keeper.stdout.readline().strip()
        assert answer, "the keeper of the nodes has died"
        return answer


def wait_until(condition: Callable[[], Any]) -> None:
    """Waits, but not forever."""
    end = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def say(answer: str) -> None:
    """Answers whoever keeps the other end."""
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def keep(port: int) -> None:
    """Obeys what is read from standard input until it ends."""
    from ray.cluster_utils import Cluster

    head = {**NODE, "include_dashboard": False, **({"gcs_server_port": port} if port else {})}
    cluster, nodes = Cluster(initialize_head=True, head_node_args=head), {}
    say(cluster.address)
    for line in sys.stdin:
        word, *rest = line.split()
        answer = "done"
        if word == "add":
            environment = dict(pair.split("=", 1) for pair in rest)
            with mock.patch.dict(os.environ, environment):
                node = cluster.add_node(**NODE)
            (raylet,) = node.all_processes["raylet"]
            answer = str(raylet.process.pid)
            nodes[answer] = node
        elif word == "remove":
            cluster.remove_node(nodes.pop(rest[0]), allow_graceful=False)
        elif word == "kill_head":
            for name in ("gcs_server", "raylet"):
                cluster.head_node.all_processes[name][0].process.kill()
        else:
            break
        say(answer)
    cluster.shutdown()


if __name__ == "__main__":
    keep(int(sys.argv[1]))
