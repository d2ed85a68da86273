"""The network for tables: what it is made of, and that it trains as every network does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from confide.bootstrap import Keys
from confide.learners import TABULAR, Plan, TrainingData, networks
from confide.learners.loop import OneCycle
from confide.learners.tabular import (
    CLIP,
    OF_TWO_VALUES,
    TabularNetwork,
    hashed_mask,
    periodic_features,
)
from confide.randomness import key_from

SMALL = {**TABULAR, "hidden_layer_sizes": (8, 8), "dropout": 0.15}


def rows(n=200, n_features=2):
    X = np.random.default_rng(0).normal(size=(n, n_features)).astype(np.float32)
    return X, np.sin(2 * X[:, 0]).astype(np.float32)


def trained(learner, keys, data, y, *stretches, n_members=2):
    state, done = learner.init(keys.initialisation, data), 0
    targets = np.broadcast_to(y, (n_members, len(y)))
    for epochs in stretches:
        plan = Plan(sum(stretches), done, epochs)
        state, done = learner.train(keys.training, state, data, targets, plan), done + epochs
    return state


@pytest.mark.slow
def test_training_in_stretches_is_training_in_one_go():
    X, y = rows()
    learner, keys = networks(2, 2, **SMALL), Keys.from_key(key_from(0), 2)
    data = TrainingData.from_rows(X)
    once, twice = (trained(learner, keys, data, y, *parts) for parts in ((6,), (2, 4)))
    assert np.array_equal(once.parameters, twice.parameters)


def test_an_untrained_network_predicts_the_mean_of_the_target():
    X, _ = rows()
    learner, keys = networks(2, 2, **SMALL), Keys.from_key(key_from(0), 2)
    state = learner.init(keys.initialisation, TrainingData.from_rows(X))
    assert np.array_equal(learner.predict(state, X), np.zeros((2, len(X), 1)))


@pytest.mark.slow
def test_it_learns_and_predicts_without_dropout():
    X, y = rows(400)
    learner, keys = networks(2, 2, **{**TABULAR, "dropout": 0.15}), Keys.from_key(key_from(0), 2)
    state = trained(learner, keys, TrainingData.from_rows(X), y, 40)
    first, again = learner.predict(state, X), learner.predict(state, X)
    assert np.array_equal(first, again)
    assert np.sqrt(np.mean((first[..., 0] - y) ** 2)) < 0.2 * y.std()


@pytest.mark.parametrize("smooth", [0, 1])
def test_its_inputs_are_bounded_however_wild_the_rows_are(smooth):
    X = jnp.array([[-1e30, -1.0, 0.0, 1.0, 1e30]])
    inputs = np.asarray(periodic_features(X, np.asarray(smooth, np.float32), (0,)))
    assert inputs.shape == (9, 5)
    assert np.any(inputs[5:] != 0) == (smooth == 0)
    assert np.all(np.abs(inputs) <= CLIP)
    assert inputs[0, 2] == 0
    assert np.all(np.diff(inputs[0]) > 0)


def test_features_of_two_values_have_no_waves():
    """Sine and cosine of two values are straight lines through them."""
    X = jnp.array([[0.0, 1.0], [0.3, 0.7], [1.0, 0.0]])
    network = TabularNetwork.of((4,), 0.0, smooth=False, indicators=(0, 2))
    inputs, of_one = network.inputs(X), TabularNetwork.of((4,), 0.0, smooth=False).inputs(X[1:2])
    clipped = X / jnp.hypot(1.0, X / CLIP)
    # Their one weight learns as fast as the nine of other features.
    assert np.array_equal(inputs[:3], clipped * np.array([[OF_TWO_VALUES], [1], [OF_TWO_VALUES]]))
    assert np.array_equal(inputs[3:], of_one[1:])
    assert network.init(jax.random.key(0), 3).scale.shape == (len(inputs),)


def test_a_table_of_many_categories_has_all_waves_of_its_numbers():
    network = TabularNetwork.of((4,), 0.0, smooth=False, indicators=tuple(range(1, 1500)))
    assert network.inputs(jnp.ones((1500, 1))).shape == (1508, 1)


@pytest.mark.parametrize("rate", [0.0, 0.15, 0.5])
def test_a_hashed_mask_drops_its_share_of_each_row_and_unit(rate):
    drawn = np.stack(
        [
            hashed_mask(key, (64, 64), np.asarray(rate, np.float32))
            for key in jnp.arange(64, dtype=jnp.uint32)
        ]
    )
    deviation = np.sqrt(rate * (1 - rate) / 4096)
    for axes in ((1, 2), (0, 1), (0, 2)):  # over places, keys and units, keys and rows
        dropped = 1 - drawn.mean(axis=axes)
        assert np.all(np.abs(dropped - rate) <= 5 * deviation)
    correlation = np.corrcoef(drawn.reshape(64, -1)) if rate else np.eye(64)
    assert np.max(np.abs(correlation - np.eye(64))) < 5 / np.sqrt(4096)


def test_dropout_keeps_the_expected_activation():
    network = TabularNetwork.of((512,), 0.3, smooth=False)
    module = network.init(jax.random.key(0), 1)
    head = module.head
    module = module.__class__(
        module.scale, module.hidden, head.__class__(jnp.ones((1, 512)), head.bias)
    )
    X = network.inputs(jnp.zeros((1, 200)))
    whole = network.raw(module, X, None)
    thinned = network.raw(module, X, jax.random.key(1))
    assert np.std(thinned) > 0
    assert np.mean(thinned) == pytest.approx(
        float(whole[0, 0]), abs=5 * float(np.std(thinned)) / 14
    )


def test_the_rate_rises_for_a_tenth_and_falls_to_zero():
    rate = OneCycle(np.asarray(0.02, np.float32))
    at = [float(rate.at(jnp.float32(done))) for done in (0.0, 0.05, 0.1, 0.55, 1.0)]
    assert at == pytest.approx([0.0, 0.01, 0.02, 0.01, 0.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l2_penalty": 0.1}, "`l2_penalty` belongs to the paper's network"),
        ({"dropout": 1.0}, r"`dropout` must lie in \[0, 1\), got 1.0"),
        ({"dropout": -0.1}, r"`dropout` must lie in \[0, 1\)"),
        ({"learning_rate": -1.0}, "`learning_rate` must be a positive number"),
        ({"network": "paper", "dropout": 0.1}, "`dropout` belongs to the recipe 'tabular'"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        networks(2, 2, **{**TABULAR, **changes})
