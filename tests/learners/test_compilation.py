"""What is compiled, and how often."""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import jax
import numpy as np
import pytest

import confide
from confide import BootstrappedDeepEnsembleRegressor, enable_compilation_cache
from confide.compilation import make_room_for_programs


def fit(n_rows: int, **settings) -> BootstrappedDeepEnsembleRegressor:
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    model = BootstrappedDeepEnsembleRegressor(
        **{
            "recipe": "paper",
            "hidden_layer_sizes": (7, 5),
            "max_epochs": 3,
            "random_state": 0,
            **settings,
        }
    ).fit(X, X[:, 0])
    model.predict_interval(X)
    return model


def test_a_first_fit_compiles_few_programs(compilations):
    fit(101)
    # Initialise, train and predict; the rest splits and wraps keys.
    assert 3 <= len(compilations) <= 8


@pytest.mark.parametrize(
    "settings",
    [
        {"n_rows": 98},
        {"n_rows": 104},
        {"learning_rate": 3e-3},
        {"l2_penalty": 0.1},
        {"max_epochs": 7},
        {"retrain_fraction": 0.8},
        {"n_retrains": 3},
        {"n_members": 6},
        {"retrain_optimiser": "restored", "retrain_targets": "restandardised"},
    ],
    ids=str,
)
def test_a_refit_with_other_settings_compiles_nothing(compilations, settings):
    fit(101)
    compilations.clear()
    fit(**{"n_rows": 101, **settings})
    assert compilations == []


@pytest.mark.slow
def test_a_second_process_with_the_cache_compiles_nothing(tmp_path):
    script = """
import json, sys
import jax, numpy as np
events = {"/jax/compilation_cache/cache_hits": 0, "/jax/compilation_cache/cache_misses": 0}
def count(event, **_):
    if event in events:
        events[event] += 1
jax.monitoring.register_event_listener(count)
import confide
confide.enable_compilation_cache(sys.argv[1])
X = np.random.default_rng(0).normal(size=(60, 3))
model = confide.BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=3, random_state=0)
model.fit(X, X[:, 0]).predict(X)
print(json.dumps(list(events.values())))
"""
    (hits, misses), (hits_again, misses_again) = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", script, str(tmp_path)],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for _ in range(2)
    )  # fmt: skip
    assert (hits, misses_again) == (0, 0)
    assert hits_again == misses > 0


@pytest.fixture
def look(tmp_path, monkeypatch):
    """Programs by their bytes; those that are left when the cache was enabled."""
    monkeypatch.setattr(jax.config, "update", lambda *_: None)
    monkeypatch.setattr("jax._src.compilation_cache.decompress_executable", zlib.decompress)

    def look(**programs):
        for name, content in programs.items():
            (tmp_path / f"{name}-cache").write_bytes(content)
        enable_compilation_cache(tmp_path)
        return {path.name.removesuffix("-cache") for path in tmp_path.glob("*-cache")}

    return look


WHOLE = zlib.compress(bytes(range(256)))


def test_programs_that_were_written_in_part_are_removed(look):
    assert look(whole=WHOLE, cut=WHOLE[:100], empty=b"") == {"whole"}
    assert look(later=WHOLE[:-1]) == {"whole"}


def test_programs_are_looked_at_once(look, tmp_path):
    look(whole=WHOLE)
    os.utime(tmp_path / "whole-cache", (1, 1))
    assert look(old=WHOLE, cut=WHOLE[:9]) == {"whole", "old"}
    (tmp_path / "old-cache").write_bytes(b"")
    os.utime(tmp_path / "old-cache", (1, 1))
    assert look() == {"whole", "old"}


def test_programs_in_a_folder_that_cannot_be_written_to_are_left(look, tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.unlink", denied)
    assert look(cut=WHOLE[:9]) == {"cut"}


MAPS = Path("/proc/self/maps")
needs_maps = pytest.mark.skipif(not MAPS.exists(), reason="memory maps are not told here")


@needs_maps
def test_programs_give_their_memory_maps_back():
    programs = [jax.jit(lambda x, i=i: x * i) for i in range(20)]
    for program in programs:
        program(1.0)
    before = MAPS.read_bytes().count(b"\n")
    make_room_for_programs(1.0)  # there is room
    assert MAPS.read_bytes().count(b"\n") >= before
    make_room_for_programs(0.0)
    assert MAPS.read_bytes().count(b"\n") <= before - 20


@needs_maps
def test_a_fit_and_a_load_make_room_for_their_programs(tmp_path, monkeypatch):
    forgotten = []
    model = fit(101)
    model.save(tmp_path / "model")
    monkeypatch.setattr(jax, "clear_caches", lambda: forgotten.append(1))
    monkeypatch.setattr(make_room_for_programs, "__defaults__", (0.0,))
    confide.load(tmp_path / "model")
    assert len(forgotten) == 1
    model.fit(np.ones((101, 3)) * np.arange(101)[:, None], np.arange(101.0))
    assert len(forgotten) > 1
