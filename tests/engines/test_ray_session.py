"""What is put into Ray's object store: what is large, and the same content once."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import confide
from confide.engines import ClusterError, Engine, InProcess, RayCluster, ray_session


@dataclass
class Storing(Engine):
    """Work in this process, with what is common sent through a store that counts."""

    puts: list = field(default_factory=list)
    n_calls: int = 0
    session: ray_session.RaySession = field(default_factory=ray_session.RaySession)

    def stored(self, value):
        return self.session.stored(SimpleNamespace(put=lambda v: self.puts.append(v) or v), value)

    def connected(self):
        return InProcess().connected()

    def map(self, function, items, common=(), *, memory=0.0):
        self.n_calls += 1
        return InProcess().map(function, items, [self.stored(value) for value in common])

    def run(self, pieces, store, observer):
        raise NotImplementedError


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_a_fit_puts_its_table_once_and_its_calibration_once(data, small, monkeypatch):
    X, y = data
    monkeypatch.setattr(ray_session, "BYTES_WORTH_STORING", X.size * 4)
    engine = Storing()
    model = confide.BootstrappedDeepEnsembleRegressor(**small | {"n_members": 5}, engine=engine)
    model.fit(X, y)
    model.calibrate_confidence(X, y, twin="smooth", n_simulations=10)
    tables = [value for value in engine.puts if isinstance(value, np.ndarray) and value.ndim == 2]
    assert len(tables) == 2  # simulated fits of the calibration see a part of the rows
    assert engine.n_calls >= 4


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, pd.DataFrame])
def test_content_tells_not_the_object(kind):
    engine, numbers = Storing(), np.arange(20_000.0).reshape(100, 200)
    for changed in (0.0, 0.0, 1.0):
        engine.stored(kind(numbers + changed))
    assert len(engine.puts) == 2


def test_what_is_small_is_sent_as_it_is():
    engine, small = Storing(), np.ones(100)
    assert engine.stored(small) is small
    assert engine.puts == []


def test_the_store_forgets_what_was_not_used_for_long():
    engine, most = Storing(), ray_session.MOST_STORED
    tables = [np.full(20_000, float(number)) for number in range(most + 1)]
    for number in (*range(most), 0, most, 0, 1):  # the first is used again, so the second goes
        engine.stored(tables[number])
    assert [value[0] for value in engine.puts] == [*range(most), most, 1]


@pytest.fixture
def connected(monkeypatch):
    """A Ray that this process is connected to."""
    context = SimpleNamespace(gcs_address="10.0.0.1:6379")
    ray = SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: context)
    monkeypatch.setattr(ray_session, "ray_module", lambda: ray)
    return ray


@pytest.mark.parametrize("address", ["10.0.0.2:6379", "10.0.0.1:1", "127.0.0.1:1", "nonsense"])
def test_the_address_of_another_cluster_than_that_of_the_process_is_refused(connected, address):
    words = rf"connected to .* 10\.0\.0\.1:6379, got .*{address}.* Leave .* or call ray.shutdown"
    with pytest.raises(ClusterError, match=words), ray_session.RaySession().opened(address):
        pytest.fail("the other cluster was used")


@pytest.mark.parametrize("address", [None, "auto", "10.0.0.1:6379", "127.0.0.1:6379"])
def test_a_cluster_that_the_process_is_connected_to_is_used(connected, address):
    with ray_session.RaySession().opened(address) as ray:
        assert ray is connected


@pytest.mark.parametrize(
    "asked", [lambda e: list(e.map(abs, [1])), lambda e: e.run([], None, None)]
)
def test_more_cores_than_a_node_has_are_refused(connected, monkeypatch, asked):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")
    connected.nodes = lambda: [{"Alive": True, "Resources": {"CPU": n}} for n in (1.0, 4.0)]
    monkeypatch.setattr(ray_session.RaySession, "look", lambda *_: None)
    monkeypatch.setattr(RayCluster, "_task", lambda *_, **__: pytest.fail("it would wait"))
    with pytest.raises(ClusterError, match=r"needs 8 cores .* more than 4\. Pass at most 4"):
        asked(RayCluster(cpus_per_piece=8))
