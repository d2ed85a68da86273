"""The connection of this process to a Ray cluster: made within seconds, or refused in words."""

import contextlib
import hashlib
import logging
import math
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from confide.engines.ray_heads import ASKS_FOR_TOKEN, READY, answers, asked, is_same, place_of
from confide.errors import ClusterError
from confide.extras import require

SECONDS_BETWEEN_LOOKS = 1.0
# How long a head may be silent. Ray itself ends this process after 60 seconds, without a word.
SECONDS_OF_SILENCE = 15.0
# Below, a value is sent with each call: the store would only add a step.
BYTES_WORTH_STORING = 100_000
# How many values the store keeps for the calls to come: the tables of a few stages of a fit.
MOST_STORED = 8
# What a worker must have as this process has it: where the data are, and where the code is.
PASSED_ON = ("CONFIDE_DATA", "PYTHONPATH", "XLA_FLAGS")
# The same of JAX: its numbers must be those of this process, and compiled programs are found again.
OF_JAX = (
    *("jax_enable_x64", "jax_default_matmul_precision", "jax_compilation_cache_dir"),
    *("jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"),
)
# Says whether Ray sends a token with each question.
AUTH_MODE = "RAY_AUTH_MODE"
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
        self._n_users, self._connection = 0, ExitStack()
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
                if not ray.is_initialized():
                    self._connection.enter_context(_connected(ray, address))
                self._looked, self._heard = -math.inf, time.monotonic()
            self._n_users += 1
        try:
            yield ray
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._stored.clear()
                    self._connection.close()

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


def _refuse_other(ray: ModuleType, address: str) -> None:
    """Ray would use the cluster that this process is connected to, whatever the address."""
    if address == "auto" or address.startswith("ray://"):  # they do not tell which head is meant
        return
    head = ray.get_runtime_context().gcs_address
    if not is_same(address, head):
        raise ClusterError(
            f"This process is already connected to the Ray cluster at {head}, got the address "
            f"{address!r}. Leave the address out to use that cluster, or call ray.shutdown() first."
        )


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


@contextmanager
def _connected(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Connects this process, after a look at who answers: Ray itself would try for a minute."""
    place = address or "local"
    known = _last_started() if place == "auto" else address
    how: dict[str, Any] = {} if address else {"include_dashboard": False}
    with _own_settings(ray), _silenced(ray):
        if known is not None:
            _refuse_odd(known)
            if (reply := asked(known)) is None:
                raise ClusterError(f"No Ray cluster answers at {known}. {HOW_TO_START}")
            if reply == ASKS_FOR_TOKEN:
                _send_token(ray, known)
        try:
            with _own_signals(), warnings.catch_warnings():
                # JAX warns of forks by others; Ray's own processes start anew after theirs.
                warnings.filterwarnings("ignore", "os.fork.. was called", RuntimeWarning)
                ray.init(address=place, log_to_driver=False, logging_level=logging.ERROR, **how)
        except Exception as error:  # a node that starts too slowly is a plain `Exception` of Ray's
            reason = str(error).splitlines()[0].rstrip(".")
            # With TLS, and by Ray's clients, the head was not asked.
            token = f"If it asks for a token, set {AUTH_MODE}=token. " if known else ""
            words = f"Ray cannot connect to {place}: {reason}. {token}{HOW_TO_START}"
            raise ClusterError(words) from error
        try:
            yield
        finally:
            ray.shutdown()


def _send_token(ray: ModuleType, address: str) -> None:
    """Has Ray send its token, which by itself it does for "auto" alone.

    Raises:
        ClusterError: there is no token, or the head does not take it.
    """
    mode = os.environ.get(AUTH_MODE)
    if mode is None:
        os.environ[AUTH_MODE] = "token"
        _read_settings(ray)
    if mode is not None and mode.lower() != "token":
        found = f"{AUTH_MODE}={mode} has Ray send none"
    elif not (token := _token(ray)):
        found = "there is none here"
    elif asked(address, token) == READY:
        return
    else:
        found = "it does not take the one of this machine"
    raise ClusterError(
        f"The Ray cluster at {address} asks for a token, and {found}. Set {AUTH_MODE}=token, and "
        "RAY_AUTH_TOKEN to what `ray get-auth-token` prints on the cluster's head."
    )


def _token(ray: ModuleType) -> str:
    """What Ray sends with each question, as the value of a header; empty if it has no token."""
    if (kind := getattr(ray._raylet, "AuthenticationTokenLoader", None)) is None:  # noqa: SLF001
        return ""  # an older Ray, which knows of none
    loader = kind.instance()
    loader.reset_cache()
    with contextlib.suppress(ray.exceptions.RayError):  # RAY_AUTH_TOKEN_PATH names no file
        if loader.has_token(ignore_auth_mode=True):
            return str(loader.get_token_for_http_header().get("authorization", ""))
    return ""


@contextmanager
def _own_settings(ray: ModuleType) -> Iterator[None]:
    """Ray notes in the environment that it sends a token; a later connection may be to another."""
    before = os.environ.get(AUTH_MODE)
    try:
        yield
    finally:
        if before is None and os.environ.pop(AUTH_MODE, None) is not None:
            _read_settings(ray)


def _read_settings(ray: ModuleType) -> None:
    """Has Ray read its environment again, which it does by itself but once."""
    with contextlib.suppress(AttributeError):  # of an older Ray
        ray._raylet.Config.initialize("")  # noqa: SLF001


@contextmanager
def _silenced(ray: ModuleType) -> Iterator[None]:
    """Ray prints the log of a lost node on standard output, where a table may be written."""
    worker = ray._private.worker  # noqa: SLF001
    before = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False  # noqa: SLF001
    try:
        yield
    finally:
        worker._worker_logs_enabled = before  # noqa: SLF001


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
    if place_of(address) is None:
        raise ClusterError(
            f"The address of a Ray cluster must be host:port or auto, got {address!r}. "
            f"{HOW_TO_START}"
        )
