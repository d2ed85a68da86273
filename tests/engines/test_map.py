"""The `map` of an engine: the same results in the same order, wherever the work is done."""

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from unittest import mock

import joblib
import numpy as np
import pytest
from support.calls import doubtful, faulty, process_and_cores, scaled
from support.pieces import InMemory, Remembers, Square

from confide.cores import available_cores, blas_threads, one_blas_thread, within_cores
from confide.engines import ENGINES, ClusterError, Engine, InProcess, Joblib, named_engine
from confide.engines.calls import Call
from confide.engines.ray_cluster import _result


@pytest.fixture(params=[InProcess(), Joblib(2), Joblib()], ids=repr)
def engine(request):
    return request.param


def test_results_come_in_the_order_of_the_items(engine):
    assert list(engine.map(scaled, range(5), (10,))) == [0, 10, 20, 30, 40]


def test_an_error_is_that_of_the_call(engine):
    with pytest.raises(ValueError, match=r"^Two is odd\.$"):
        list(engine.map(faulty, range(4)))


def test_items_may_be_made_as_they_are_needed():
    made = []
    results = InProcess().map(scaled, (made.append(i) or i for i in range(9)), (1,))
    assert next(results) == 0
    assert made == [0]


def test_warnings_of_other_processes_arrive():
    with pytest.warns(RuntimeWarning) as caught:
        assert list(Joblib(2).map(doubtful, [1, 2])) == [1, 2]
    assert [str(warning.message) for warning in caught] == ["1 is doubtful.", "2 is doubtful."]


def test_jobs_share_the_cores():
    for process, cores in Joblib(2).map(process_and_cores, range(2)):
        assert process != os.getpid()
        assert cores == max(1, available_cores() // 2)


def test_the_backend_is_the_users():
    with joblib.parallel_config("threading", n_jobs=2):
        ((process, _),) = Joblib().map(process_and_cores, [0])
    assert process == os.getpid()


def test_another_version_of_confide_is_refused():
    call = Call(scaled, 1, os.getpid(), "0.0.1")
    with pytest.raises(
        ClusterError, match=r"which has 0\.0\.1; a worker has .* Install 0\.0\.1 on"
    ):
        call(1, 2)


@pytest.mark.parametrize(
    "said", ["No module named 'confide'", "Can't get attribute 'Call' on <module 'confide.engines'"]
)
def test_a_worker_that_cannot_import_what_it_is_sent_is_told(said):
    exceptions = pytest.importorskip("ray.exceptions")
    error = exceptions.RayTaskError("_called", said, exceptions.RaySystemError(said))
    ray = SimpleNamespace(exceptions=exceptions, get=mock.Mock(side_effect=error))
    with pytest.raises(
        ClusterError, match=r"A worker .* cannot import confide as .* Install confide"
    ):
        _result(ray, None, "a piece", 1)


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        ("confide", ClusterError, r"A worker .* cannot import confide as .* modules of your own"),
        ("not_even_here", ModuleNotFoundError, "^No module named 'not_even_here'$"),
    ],
)
def test_a_module_that_a_call_itself_does_not_find_there_is_told(module, error, message):
    exceptions = pytest.importorskip("ray.exceptions")
    said = f"No module named {module!r}"
    cause = exceptions.RayTaskError("_called", said, ModuleNotFoundError(said, name=module))
    ray = SimpleNamespace(exceptions=exceptions, get=mock.Mock(side_effect=cause))
    with pytest.raises(error, match=message):
        _result(ray, None, "a piece", 1)


def test_cores_are_bounded_inside_the_block_alone():
    before = available_cores()
    with within_cores(1):
        assert available_cores() == 1
        with within_cores(10**6):
            assert available_cores() == before
    assert available_cores() == before


def test_matrices_have_one_thread_until_the_last_block_ends():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    with ExitStack() as blocks:
        first.__enter__()
        blocks.enter_context(second)
        first.__exit__(None, None, None)  # threads of Python end their blocks in any order
        assert blas_threads() == 1
    assert blas_threads() == before


@pytest.mark.parametrize("name", ENGINES)
def test_engines_have_names(name):
    if name == "ray":
        pytest.importorskip("ray")
    assert isinstance(named_engine(name), Engine)


def test_an_engine_is_itself_and_none_is_this_process():
    own = Joblib(3)
    assert named_engine(own) is own
    assert isinstance(named_engine(None), InProcess)


@pytest.mark.parametrize("wrong", ["rai", 3])
def test_an_unknown_engine_is_refused_with_the_nearest(wrong):
    with pytest.raises(ValueError, match=f"one of .* got {wrong!r}") as caught:
        named_engine(wrong)
    assert ("Did you mean 'ray'?" in str(caught.value)) == (wrong == "rai")


def test_joblib_runs_pieces_and_reports_those_that_are_there():
    pieces, store, observer = (
        [Square(i) for i in range(6)],
        InMemory({"square of 2": 4}),
        Remembers(),
    )
    Joblib(2).run(pieces, store, observer)
    assert store.results == {f"square of {i}": i**2 for i in range(6)}
    started = [name for what, name in observer.heard if what == "started"]
    assert sorted(started) == sorted(set(store.results) - {"square of 2"})
    finished = [name for what, name in observer.heard if what != "started"]
    assert sorted(finished) == sorted(store.results)


@dataclass
class Busy(InMemory):
    """Another process holds one of the pieces, and finishes it at the second look."""

    looks: int = 0

    @contextmanager
    def claimed(self, piece):
        is_free = piece.number != 1 or "square of 1" in self.results
        self.looks += not is_free
        if self.looks == 2:
            self.results["square of 1"] = 1
        yield is_free


def test_joblib_waits_for_pieces_of_other_processes():
    store, observer = Busy(), Remembers()
    Joblib(2).run([Square(i) for i in range(3)], store, observer)
    assert store.results == {"square of 0": 0, "square of 1": 1, "square of 2": 4}
    assert ("started", "square of 1") not in observer.heard


def test_arrays_are_the_same_in_other_processes():
    table = np.random.default_rng(0).normal(size=(200, 100))  # long enough to be memory-mapped
    (sums,) = Joblib(2).map(np.add, [table], (table,))
    assert np.array_equal(sums, 2 * table)
