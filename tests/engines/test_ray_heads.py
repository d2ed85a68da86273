"""The head of a Ray cluster is told from other servers, and sent a token if it asks for one."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace
from unittest import mock

import pytest
from support.ray_nodes import Nodes

from confide.engines import ClusterError, RayCluster, ray_heads, ray_session

SETTINGS = b"\0\0\x06\4\0\0\0\0\0\0\4\0@\0\0"
READY = b"\0\0\x0f\1\5\0\0\0\1@\x0bgrpc-status\x010"
# What a server of gRPC says to a question that it does not know.
UNKNOWN = b"\0\x000\1\5\0\0\0\1\x88@\x0ccontent-type\x10application/grpc@\x0bgrpc-status\x0212"
ASKS_FOR_TOKEN = b"\0\0\x30\1\5\0\0\0\1\x88\0\x0bgrpc-status\x0216\0\x0cgrpc-message\5Wrong"
TOKEN = "t" * 300
KNOWS_TOKEN = object()


@contextlib.contextmanager
def serving(reply, at_once=1000):
    """The address of a server that replies so, some bytes at once.

    Instead of a reply, `KNOWS_TOKEN` has it ask for `TOKEN`.
    """

    def serve():
        with contextlib.suppress(OSError):  # the test has ended
            while True:
                connection, _ = server.accept()
                with connection:
                    question = connection.recv(4096)
                    said = reply
                    if reply is KNOWS_TOKEN:
                        said = READY if f"Bearer {TOKEN}".encode() in question else ASKS_FOR_TOKEN
                    for start in range(0, len(said), at_once):
                        connection.sendall(said[start : start + at_once])

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("at_once", [1, 1000])
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (SETTINGS + READY, ray_heads.READY),
        (SETTINGS + ASKS_FOR_TOKEN, ray_heads.ASKS_FOR_TOKEN),
        (SETTINGS + UNKNOWN, None),
        (SETTINGS, None),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", None),
    ],
    ids=["ready", "asks for a token", "does not know the question", "HTTP/2", "HTTP/1"],
)
def test_a_head_is_told_from_other_servers(reply, status, at_once):
    with serving(reply, at_once) as address:
        assert ray_heads.asked(address) == status
        assert ray_heads.answers(address) == (status is not None)


def test_another_server_of_grpc_is_refused_at_once():
    pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")
    with (
        serving(SETTINGS + UNKNOWN) as address,
        mock.patch("ray.init", side_effect=AssertionError("Ray would try for long")),
        pytest.raises(ClusterError, match=f"No Ray cluster answers at {address}. Start one with"),
    ):
        list(RayCluster(address).map(abs, [1]))


def test_a_server_of_rays_clients_need_not_know_the_question():
    with serving(SETTINGS + UNKNOWN) as address:
        assert ray_heads.asked(f"ray://{address}") == ray_heads.READY


@pytest.fixture
def ray():
    """A Ray that sends a token if the environment says so, when it has read it."""
    state = SimpleNamespace(token=TOKEN, mode=os.environ.get("RAY_AUTH_MODE"))
    loader = SimpleNamespace(
        reset_cache=lambda: None,
        has_token=lambda ignore_auth_mode: bool(state.token),
        get_token_for_http_header=lambda: {"authorization": f"Bearer {state.token}"},
    )
    read = lambda _: vars(state).update(mode=os.environ.get("RAY_AUTH_MODE"))  # noqa: E731
    of_ray = SimpleNamespace(
        AuthenticationTokenLoader=SimpleNamespace(instance=lambda: loader),
        Config=SimpleNamespace(initialize=read),
    )
    return SimpleNamespace(
        state=state, _raylet=of_ray, exceptions=SimpleNamespace(RayError=RuntimeError),
        is_initialized=lambda: False, shutdown=lambda: None,
        init=lambda **_: vars(state).update(mode_of_connection=state.mode),
        _private=SimpleNamespace(worker=SimpleNamespace(_worker_logs_enabled=True)),
    )  # fmt: skip


@pytest.fixture(params=[None])
def mode(request, monkeypatch):
    """What the user has set."""
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if request.param is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", request.param)
    return request.param


@contextlib.contextmanager
def opened(ray, address):
    with (
        mock.patch.object(ray_session, "ray_module", return_value=ray),
        ray_session.RaySession().opened(address),
    ):
        yield


@pytest.mark.parametrize("reply", [KNOWS_TOKEN, READY])
def test_a_token_is_sent_where_it_is_asked_for_and_while_connected(mode, ray, reply):
    with serving(reply) as address, opened(ray, address):
        assert ray.state.mode == ("token" if reply is KNOWS_TOKEN else None)
        assert ray.state.mode_of_connection == ray.state.mode
    assert (ray.state.mode, os.environ.get("RAY_AUTH_MODE")) == (None, None)


@pytest.mark.parametrize("mode", ["token"], indirect=True)
def test_what_the_user_has_set_stays(mode, ray):
    with serving(KNOWS_TOKEN) as address, opened(ray, address):
        assert ray.state.mode_of_connection == "token"
    assert os.environ["RAY_AUTH_MODE"] == "token"


@pytest.mark.parametrize(
    ("mode", "token", "words"),
    [
        (None, "another", "it does not take the one of this machine"),
        (None, "", "there is none here"),
        ("disabled", TOKEN, "RAY_AUTH_MODE=disabled has Ray send none"),
    ],
    indirect=["mode"],
)
def test_a_token_that_is_not_taken_is_refused_with_where_it_is(mode, ray, token, words):
    ray.state.token = token
    with (
        serving(KNOWS_TOKEN) as address,
        pytest.raises(ClusterError, match=f"{address} asks for a token, and {words}. Set RAY_AUTH"),
        opened(ray, address),
    ):
        pytest.fail("it was connected")
    assert os.environ.get("RAY_AUTH_MODE") == mode


def test_a_ray_that_knows_of_no_tokens_is_told(mode, ray):
    del ray._raylet.AuthenticationTokenLoader, ray._raylet.Config.initialize
    with (
        serving(KNOWS_TOKEN) as address,
        pytest.raises(ClusterError, match="asks for a token, and there is none here"),
        opened(ray, address),
    ):
        pytest.fail("it was connected")


def test_a_head_that_cannot_be_asked_may_want_a_token(mode, ray, monkeypatch):
    monkeypatch.setenv("RAY_USE_TLS", "1")
    ray.init = mock.Mock(side_effect=ConnectionError("Failed to connect."))
    with (
        serving(b"") as address,
        pytest.raises(
            ClusterError, match=r"Failed to connect\. If it asks for a token, set RAY_AUT"
        ),
        opened(ray, address),
    ):
        pytest.fail("it was connected")


def test_ray_prints_nothing_while_connected(mode, ray):
    with serving(READY) as address, opened(ray, address):
        assert not ray._private.worker._worker_logs_enabled
    assert ray._private.worker._worker_logs_enabled


SCRIPT = """
import os, sys
from confide.engines import RayCluster

for address in sys.argv[1:]:
    print(list(RayCluster(address).map(abs, [-1, -2])), os.environ.get("RAY_AUTH_MODE"))
"""


@pytest.mark.slow
def test_a_cluster_with_a_token_is_used_beside_one_without():
    pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")
    environment = {k: v for k, v in os.environ.items() if not re.match("RAY_AUTH", k)}
    with (
        Nodes(1, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN) as asking,
        Nodes(1, RAY_AUTH_MODE="disabled") as open_to_all,
    ):
        for token, returncode in ((TOKEN, 0), ("wrong" * 10, 1)):
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT, asking.address, open_to_all.address, asking.address],
                env=environment | {"RAY_AUTH_TOKEN": token}, text=True, capture_output=True,
                timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == returncode, done.stderr
            assert done.stdout == "[1, 2] None\n" * 3 * (returncode == 0)
    assert "asks for a token, and it does not take the one of this machine" in done.stderr
    assert "InvalidAuthToken" not in done.stderr
