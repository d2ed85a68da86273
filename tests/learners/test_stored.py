"""Rows on disk: read as they lie there, and trained on to the last bit as rows in memory."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.bootstrap import Bootstrap, Keys, bootstrapped_ensemble
from confide.learners import StoredData, StoredRows, StoredTargets, TrainingData, networks, store
from confide.learners import stored as stored_module

THREE = Keys.from_key(jax.random.key(3), 3)
RECIPES = {"paper": {}, "tabular": {"learning_rate": 0.02, "dropout": 0.1, "smooth": False}}


def on_disk(folder, X, y):
    """The rows in two blocks, and targets that three members share."""
    half = len(X) // 2
    blocks = [(X[:half], y[:half, None]), (X[half:], y[half:, None])]
    inputs, targets = store([folder / "X", folder / "y"], blocks)
    return StoredData(folder, inputs), StoredTargets(targets, np.zeros(3, np.int64))


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Windows and blocks of a few rows, so that short tables have several."""
    monkeypatch.setattr(stored_module, "WINDOW_BYTES", 200)
    monkeypatch.setattr(stored_module, "ROWS_PER_BLOCK", 50)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 39), max_size=60), st.integers(4, 1000), st.integers(1, 5))
def test_rows_are_taken_in_the_order_asked_for(tmp_path_factory, rows, window, n_columns):
    table = np.arange(40.0 * n_columns, dtype=np.float32).reshape(40, n_columns)
    path = tmp_path_factory.mktemp("rows") / "rows"
    (stored,) = store([path], [[table[:13]], [table[13:]]])
    before, stored_module.WINDOW_BYTES = stored_module.WINDOW_BYTES, window
    try:
        taken = stored.take(np.array(rows, np.int32))
    finally:
        stored_module.WINDOW_BYTES = before
    np.testing.assert_array_equal(taken, table[np.array(rows, np.int64)])


def test_blocks_are_the_whole_table(tmp_path, in_small_pieces):
    table = np.random.default_rng(0).normal(size=(120, 3)).astype(np.float32)
    (stored,) = store([tmp_path / "rows"], [[table]])
    assert [len(block) for block in stored.blocks()] == [50, 50, 20]
    np.testing.assert_array_equal(np.concatenate(list(stored.blocks())), table)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("n_rows", [37, 777])
def test_the_bootstrap_from_disk_is_that_from_memory(tmp_path, in_small_pieces, recipe, n_rows):
    """Members, simulated targets and retrained members: several stretches, partial batches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=n_rows)).astype(np.float32)
    how = {"hidden_layer_sizes": (8, 8), "batch_size": 16, **RECIPES[recipe]}
    learner = replace(networks(4, 3, network=recipe, **how), stretch=64)
    noise = None
    if not learner.likelihood.has_variance:

        def noise(inputs):
            return np.tile(0.1 + inputs[:, 0] ** 2, (3, 1))

    bootstrap = Bootstrap(epochs=3, retrain_fraction=0.5, n_retrains=2)
    done = []
    in_memory, from_disk = (
        bootstrapped_ensemble(
            THREE, learner, *rows, bootstrap, noise_variance=noise, progress=done.append
        )
        for rows in (
            (TrainingData.from_rows(X), np.tile(y, (3, 1))),
            on_disk(tmp_path, X, y),
        )
    )
    for part in ("members", "retrained"):
        leaves = zip(
            *(jax.tree.leaves(getattr(ensemble, part)) for ensemble in (in_memory, from_disk)),
            strict=True,
        )
        assert all(np.array_equal(one, other) for one, other in leaves)
    # Shares of epochs add up to whole ones: 3 members of 3 epochs, and 6 of 1 (3 x 0.5 rounds up).
    assert sum(done) == 2 * (3 * 3 + 6 * bootstrap.repeated_epochs)


def test_a_stored_table_knows_its_shape(tmp_path):
    inputs, targets = store([tmp_path / "X", tmp_path / "y"], [(np.zeros((7, 3)), np.ones((7, 1)))])
    assert inputs == StoredRows(tmp_path / "X", (7, 3))
    assert targets.shape == (7, 1)
    assert (tmp_path / "X").stat().st_size == 7 * 3 * 4
