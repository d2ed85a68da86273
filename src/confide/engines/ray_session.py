"""The connection of this process to a Ray cluster: made within seconds, or refused in words."""

import contextlib
import hashlib
import logging
import math
import os
import pickle
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from confide.errors import ClusterError
from confide.extras import require

# A machine that is there answers in far less.
SECONDS_TO_ANSWER = 5.0
SECONDS_BETWEEN_LOOKS = 1.0
# How long a head may be silent. Ray itself ends this process after 60 seconds, without a word.
SECONDS_OF_SILENCE = 15.0
LARGEST_PORT = 65535
# Below, a value is sent with each call: the store would only add a step.
BYTES_WORTH_STORING = 100_000
# How many values the store keeps for the calls to come: the tables of a few stages of a fit.
MOST_STORED = 8
# How HTTP/2, and with it gRPC, begins: the client's preface and a frame of settings, which the
# server answers with its own.
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS
# What a worker must have as this process has it: where the data are, and where the code is.
PASSED_ON = ("CONFIDE_DATA", "PYTHONPATH", "XLA_FLAGS")
# The same of JAX: its numbers must be those of this process, and compiled programs are found again.
OF_JAX = (
    *("jax_enable_x64", "jax_default_matmul_precision", "jax_compilation_cache_dir"),
    *("jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"),
)
HOW_TO_START = (
    "Start one with `ray start --head`, and pass the address that it prints, such as "
    "10.0.0.1:6379; or leave the address out for a Ray on this machine."
)


class RaySession:
    """What all engines of this process share while one of them is at work.

    Ray connects a process to one cluster at a time. A connection that was there before is used, and
    is left as it was.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users, self._is_ours = 0, False
        self._stored: dict[bytes, Any] = {}
        self._looked, self._heard, self.n_cpus = -math.inf, 0.0, 0.0

    @contextmanager
    def opened(self, address: str | None) -> Iterator[ModuleType]:
        """Ray, connected until the last of the blocks that share the connection ends.

        Raises:
            ClusterError: there is no cluster at the address, or this process has another one.
        """
        ray = ray_module()
        with self._lock:
            if address is not None and ray.is_initialized():
                _refuse_other(ray, address)
            if self._n_users == 0:
                self._is_ours = not ray.is_initialized()
                if self._is_ours:
                    _connect(ray, address)
                self._looked, self._heard = -math.inf, time.monotonic()
            self._n_users += 1
        try:
            yield ray
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._stored.clear()
                    if self._is_ours:
                        ray.shutdown()

    def stored(self, ray: ModuleType, value: Any) -> Any:
        """A reference to a value in Ray's object store, where equal content is put once.

        The stages of a fit make the same table anew, so content tells, not the object. What is
        small is sent along as it is.
        """
        content, n_bytes = _content(value)
        if n_bytes < BYTES_WORTH_STORING:
            return value
        with self._lock:
            known = content in self._stored
            reference = self._stored.pop(content) if known else ray.put(value)
            self._stored[content] = reference  # the last one used is the last one forgotten
            while len(self._stored) > MOST_STORED:
                del self._stored[next(iter(self._stored))]
        return reference

    def look(self, ray: ModuleType) -> None:
        """Looks whether the head is there, and how many cores; to be called often.

        It comes before other questions to the head: Ray waits for an answer until it gives up.

        Raises:
            ClusterError: nobody has answered at the head's address for a while, or another head.
        """
        if time.monotonic() - self._looked < SECONDS_BETWEEN_LOOKS:
            return
        head = ray.get_runtime_context().gcs_address
        if answers(head):
            _refuse_restarted(ray, head)
            self._heard = time.monotonic()
            self.n_cpus = ray.cluster_resources().get("CPU", 0.0)
        elif time.monotonic() - self._heard > SECONDS_OF_SILENCE:
            raise ClusterError(
                f"The head of the Ray cluster at {head} was lost: it has not answered for "
                f"{SECONDS_OF_SILENCE:.0f} seconds. Start the cluster again, and then this."
            )
        self._looked = time.monotonic()


SESSION = RaySession()


def ray_module() -> ModuleType:
    """Ray, if it is installed."""
    return require("ray", "ray")


def answers(address: str) -> bool:
    """Whether a server of gRPC, which Ray's head is, answers at an address such as 10.0.0.1:6379.

    Anything else that listens there would keep Ray waiting for a minute.
    """
    place = _place(address)
    if place is None:
        return False
    try:
        with socket.create_connection(place, SECONDS_TO_ANSWER) as at:
            if os.environ.get("RAY_USE_TLS") == "1":
                return True
            at.sendall(GREETING)
            return at.recv(9)[3:4] == SETTINGS[3:4]
    except OSError:
        return False


def _place(address: str) -> tuple[str, int] | None:
    """The host and the port of an address; None if it has not both."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    host = host.strip("[]")
    is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= LARGEST_PORT
    if not (host and host.isprintable() and is_port):
        return None
    try:
        host.encode("idna")  # as a look-up of the host does
    except UnicodeError:
        return None
    return host, int(port)


def _refuse_other(ray: ModuleType, address: str) -> None:
    """Ray would use the cluster that this process is connected to, whatever the address."""
    if address == "auto" or address.startswith("ray://"):  # they do not tell which head is meant
        return
    head = ray.get_runtime_context().gcs_address
    if not _is_same(address, head):
        raise ClusterError(
            f"This process is already connected to the Ray cluster at {head}, got the address "
            f"{address!r}. Leave the address out to use that cluster, or call ray.shutdown() first."
        )


def _is_same(address: str, head: str) -> bool:
    """Whether both are one head: its host may be given by name, or as the machine's own."""
    given, known = _place(address), _place(head)
    if given is None or known is None or given[1] != known[1]:
        return False
    hosts = _numbers_of(given[0])
    return any(host.startswith("127.") or host == "::1" for host in hosts) or bool(
        hosts & _numbers_of(known[0])
    )


def _numbers_of(host: str) -> set[str]:
    """The host's addresses in numbers, and the host as it is given."""
    with contextlib.suppress(OSError):
        return {host, *(str(found[4][0]) for found in socket.getaddrinfo(host, None))}
    return {host}


def _refuse_restarted(ray: ModuleType, head: str) -> None:
    """Refuses a head that does not know this process; most other questions to it would end Ray."""
    from ray.experimental import internal_kv

    try:
        internal_kv._internal_kv_exists(b"confide")  # noqa: SLF001
    except ray.exceptions.RayError as error:
        if "WrongClusterID" in str(error):
            raise ClusterError(
                f"The head of the Ray cluster at {head} was restarted, and the work that it had is "
                "lost. Start this again."
            ) from None


def _content(value: Any) -> tuple[bytes, int]:
    """A digest of all that a value holds, and its size; arrays are not copied for it."""
    buffers: list[pickle.PickleBuffer] = []
    parts = [cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)]
    parts += [buffer.raw() for buffer in buffers]
    digest = hashlib.blake2b()
    for part in parts:
        digest.update(part)
    return digest.digest(), sum(memoryview(part).nbytes for part in parts)


def environment() -> dict[str, str]:
    """What workers must have in their environment to work as this process would."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if (jax := sys.modules.get("jax")) is not None:
        values = {name: getattr(jax.config, name, None) for name in OF_JAX}
        passed |= {name.upper(): str(value) for name, value in values.items() if value is not None}
    return passed


def _connect(ray: ModuleType, address: str | None) -> None:
    """Connects this process, after a look at who answers: Ray itself would try for a minute."""
    place = address or "local"
    known = _last_started() if place == "auto" else address
    if known is not None:
        _refuse_odd(known)
        if not answers(known):
            raise ClusterError(f"No Ray cluster answers at {known}. {HOW_TO_START}")
    how: dict[str, Any] = {} if address else {"include_dashboard": False}
    try:
        with _own_signals(), warnings.catch_warnings():
            # JAX warns of forks by others; Ray's own processes start anew after theirs.
            warnings.filterwarnings("ignore", "os.fork.. was called", RuntimeWarning)
            ray.init(address=place, log_to_driver=False, logging_level=logging.ERROR, **how)
    except Exception as error:  # a node that starts too slowly is a plain `Exception` of Ray's
        reason = str(error).splitlines()[0].rstrip(".")
        raise ClusterError(f"Ray cannot connect to {place}: {reason}. {HOW_TO_START}") from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself; what it was for before stays so."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)


def _last_started() -> str | None:
    """The address that Ray takes for "auto", if it has noted one: that cluster may be gone."""
    note = Path(os.environ.get("RAY_TMPDIR") or "/tmp", "ray", "ray_current_cluster")  # noqa: S108
    with contextlib.suppress(OSError):
        return os.environ.get("RAY_ADDRESS") or note.read_text().strip() or None
    return None


def _refuse_odd(address: str) -> None:
    if _place(address) is None:
        raise ClusterError(
            f"The address of a Ray cluster must be host:port or auto, got {address!r}. "
            f"{HOW_TO_START}"
        )
