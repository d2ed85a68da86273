"""Engines know pieces, stores and observers alone: they run what has nothing to do with cells."""

import signal
from types import SimpleNamespace

import pytest
from support.pieces import InMemory, Remembers, Square

from confide.engines import Engine, InProcess, RayCluster, named_engine, ray_session


def test_pieces_are_computed_kept_and_reported_once():
    pieces, store, observer = [Square(2), Square(3)], InMemory({"square of 2": 4}), Remembers()
    InProcess().run(pieces, store, observer)
    assert store.results == {"square of 2": 4, "square of 3": 9}
    assert store.claims == ["square of 2", "square of 3"]
    two, three = (piece.name for piece in pieces)
    assert observer.heard == [
        (4, two), ("started", three), (0.5, three), (0.5, three), (9, three),
    ]  # fmt: skip


def test_this_process_is_an_engine():
    assert isinstance(InProcess(), Engine)


def test_ray_does_not_take_the_signal_to_stop(monkeypatch):
    """Its own answer to SIGTERM is an exit with another code, and without a word."""

    def ours(*_):
        raise AssertionError

    def init(**_):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    fake = SimpleNamespace(
        is_initialized=lambda: False, init=init, shutdown=lambda: None,
        _private=SimpleNamespace(worker=SimpleNamespace()),
    )  # fmt: skip
    monkeypatch.setattr(ray_session, "ray_module", lambda: fake)
    before = signal.signal(signal.SIGTERM, ours)
    try:
        with ray_session.RaySession().opened(None):
            assert signal.getsignal(signal.SIGTERM) is ours
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("engine", [RayCluster, InProcess])
def test_the_class_of_an_engine_is_refused(engine):
    name = engine.__name__
    with pytest.raises(TypeError, match=rf"got the class {name}\. Pass {name}\(\), or one of"):
        named_engine(engine)
