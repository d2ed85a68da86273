"""What a Ray cluster is asked, and what comes back: results, warnings and errors."""

import numpy as np
import pytest
from support.calls import doubtful, faulty, scaled

from confide.engines import ClusterError
from confide.errors import TooLargeError

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")


def test_results_warnings_and_errors_come_back(engine):
    assert list(engine.map(scaled, range(7), (10,))) == [0, 10, 20, 30, 40, 50, 60]
    with pytest.warns(RuntimeWarning, match=r"^3 is doubtful\.$"):
        assert list(engine.map(doubtful, [3])) == [3]
    with pytest.raises(ValueError, match=r"^Two is odd\.$"):
        list(engine.map(faulty, range(4)))


def test_a_table_is_put_into_the_store_once(engine, monkeypatch):
    put, values = ray.put, []
    monkeypatch.setattr(ray, "put", lambda value: values.append(value) or put(value))
    wide = np.ones((100, 1000))
    with engine.connected():
        for _ in range(2):
            assert [total.sum() for total in engine.map(scaled, [2, 3], (wide,))] == [2e5, 3e5]
    assert len(values) == 1


def test_more_memory_than_a_node_has_is_refused(engine):
    with pytest.raises(TooLargeError, match=r"A worker needs about 1,000,000.0 GB .* Use a sample"):
        list(engine.map(scaled, [1], (2,), memory=1e15))


def test_a_worker_without_the_package_is_told(engine, monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['confide'] = None")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    with pytest.raises(ClusterError, match=r"worker .* cannot import confide.* Install confide"):
        list(engine.map(scaled, [1], (2,)))
