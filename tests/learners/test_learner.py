"""The default learner: the loop against a plain one, blocks, rows, weights, failure."""

import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from confide.learners import (
    Learner,
    Likelihood,
    Network,
    NetworkEnsemble,
    Normal,
    PaperNetwork,
    Plan,
    TrainingData,
    TrainingDivergedError,
)
from confide.learners.blocks import run_in_blocks
from confide.learners.data import bucket
from confide.learners.shuffle import grid, permutation, round_keys
from confide.randomness import member_keys

KEY = jax.random.key(7)
KEYS = member_keys(KEY, 8)
N_ROWS, N_FEATURES = 50, 3


def network(l2_penalty: float = -1.0) -> PaperNetwork:
    return PaperNetwork((8, 4), np.asarray(l2_penalty, np.float32))


def learner(**changes) -> NetworkEnsemble:
    how = {"batch_size": 16, "members_per_block": 3, **changes}
    return NetworkEnsemble(network(), Normal(), **how)


def go(epochs: int, done: int = 0) -> Plan:
    return Plan(total=done + epochs, done=done, epochs=epochs)


def rows(n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    return X, (np.sin(X[:, 0]) + 0.1 * generator.normal(size=n_rows)).astype(np.float32)


def shared(y: np.ndarray, n_members: int) -> np.ndarray:
    return np.broadcast_to(y, (n_members, len(y)))


def trained(epochs: int, n_members: int = 3, **changes):
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner(**changes)
    state = ensemble.init(KEYS[:n_members], data)
    return ensemble.train(KEYS[:n_members], state, data, shared(y, n_members), go(epochs))


def assert_same_bits(left, right) -> None:
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(a, b)


def test_default_learner_has_the_protocols_verbs():
    assert isinstance(learner(), Learner)


@pytest.mark.slow
def test_training_equals_a_plain_loop():
    """The compiled loop against Python: same batches, loss, gradient and Adam from optax."""
    X, y = (jnp.asarray(array) for array in rows())
    epochs, batch_size, member = 3, 16, 2
    adam = optax.adam(1e-3, eps=1e-7)
    key = jnp.asarray(KEYS[member])
    module = network().init(jax.random.wrap_key_data(key), N_FEATURES)
    adam_state = adam.init(module)

    def loss(module, X, y):
        mean, log_std = module(X.T)
        std = jnp.exp(log_std) + 1e-3
        fit = jnp.mean(jnp.log(std) + 0.5 * ((y - mean) / std) ** 2)
        return fit + sum(jnp.sum(layer.weight**2) for layer in module.hidden) / N_ROWS

    n_rows = jnp.int32(N_ROWS)
    for epoch in range(epochs):
        keys_order = round_keys(key, jnp.int32(epoch), at_most=64)
        order = permutation(keys_order, n_rows, grid(N_ROWS), jnp.arange(64))[:N_ROWS]
        for start in range(0, N_ROWS, batch_size):
            batch = order[start : start + batch_size]
            gradient = jax.grad(loss)(module, X[batch], y[batch])
            updates, adam_state = adam.update(gradient, adam_state)
            module = optax.apply_updates(module, updates)
    expected = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(module)])
    # Twelve steps of size 1e-3: rounding differs by some float32 ulps of the weights.
    np.testing.assert_allclose(trained(epochs).parameters[member], expected, atol=2e-6)


def test_training_at_once_equals_training_from_a_snapshot():
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner()
    start = ensemble.init(KEYS[:3], data)
    snapshot = ensemble.train(KEYS[:3], start, data, shared(y, 3), Plan(11, 0, 7))
    continued = ensemble.train(KEYS[:3], snapshot, data, shared(y, 3), Plan(11, 7, 4))
    assert_same_bits(continued, trained(11))


def test_calls_of_few_steps_equal_one_call():
    assert_same_bits(trained(9, steps_per_call=8), trained(9))  # two epochs a call


@pytest.mark.slow
def test_short_stretches_of_the_order_equal_a_long_one():
    X, y = rows(200)
    data = TrainingData.from_rows(X)
    state = learner().init(KEYS[:3], data)
    at_once, in_stretches = (
        learner(**how).train(KEYS[:3], state, data, shared(y, 3), go(3))
        for how in ({}, {"stretch": 144})  # 9 of the 13 batches
    )
    np.testing.assert_allclose(in_stretches.parameters, at_once.parameters, atol=2e-6)


def test_a_member_does_not_depend_on_its_neighbours():
    few, many = trained(5, n_members=2), trained(5, n_members=8)
    assert_same_bits(few, jax.tree.map(lambda leaf: leaf[:2], many))


@pytest.mark.slow
def test_vmap_equals_one_member_at_a_time():
    together, alone = trained(5), trained(5, members_per_block=1)
    # Twenty steps: block shapes round differently, and training has not yet amplified it.
    np.testing.assert_allclose(together.parameters, alone.parameters, atol=5e-6)


def test_threads_do_not_change_the_numbers():
    assert_same_bits(trained(5, n_members=7, n_threads=1), trained(5, n_members=7, n_threads=4))


def test_members_differ():
    parameters = trained(1).parameters
    assert np.abs(parameters[0] - parameters[1]).max() > 0.1


def test_training_leaves_its_input_unchanged():
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner()
    state = ensemble.init(KEYS[:3], data)
    before = jax.tree.map(np.copy, state)
    ensemble.train(KEYS[:3], state, data, shared(y, 3), go(2))
    assert_same_bits(state, before)


def test_each_member_trains_on_its_own_targets():
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner()
    state = ensemble.init(KEYS[:3], data)
    mixed = np.stack([y, -y, y])
    result = ensemble.train(KEYS[:3], state, data, mixed, go(4))
    plain = ensemble.train(KEYS[:3], state, data, shared(y, 3), go(4))
    negated = ensemble.train(KEYS[:3], state, data, shared(-y, 3), go(4))
    np.testing.assert_array_equal(result.parameters[[0, 2]], plain.parameters[[0, 2]])
    np.testing.assert_array_equal(result.parameters[1], negated.parameters[1])


@pytest.mark.slow
def test_each_member_trains_on_its_own_rows():
    X, y = rows()
    ensemble = learner()
    sampled = np.random.default_rng(1).integers(0, N_ROWS, (3, N_ROWS))
    data = TrainingData.from_rows(X, member_rows=sampled)
    state = ensemble.init(KEYS[:3], data)
    result = ensemble.train(KEYS[:3], state, data, shared(y, 3), go(3))
    resampled = TrainingData.from_rows(X[sampled[1]])
    expected = ensemble.train(KEYS[:3], state, resampled, shared(y[sampled[1]], 3), go(3))
    np.testing.assert_allclose(result.parameters[1], expected.parameters[1], atol=2e-6)


def test_only_ratios_of_weights_matter():
    X, y = rows()
    ensemble, weight = learner(), np.linspace(1, 2, N_ROWS)
    data, scaled = (TrainingData.from_rows(X, w) for w in (weight, 4 * weight))
    state = ensemble.init(KEYS[:3], data)
    first, second = (
        ensemble.train(KEYS[:3], state, d, shared(y, 3), go(3)) for d in (data, scaled)
    )
    assert_same_bits(first, second)


def test_weighted_loss_is_the_weighted_mean():
    X, y = (jnp.asarray(array) for array in rows(4))
    raw = network().init(KEY, N_FEATURES)(X.T)
    weight = jnp.array([0.5, 1.5, 2.0, 0.0])  # the last is padding
    mean, std = raw[0], jnp.exp(raw[1]) + 1e-3
    each = np.log(std) + 0.5 * ((y - mean) / std) ** 2
    expected = (0.5 * each[0] + 1.5 * each[1] + 2.0 * each[2]) / 3
    np.testing.assert_allclose(Normal().loss(raw, y, weight), expected, rtol=1e-6)


@pytest.mark.parametrize(("l2_penalty", "strength"), [(-1.0, 1 / 50), (0.0, 0.0), (0.3, 0.3)])
def test_penalty_covers_hidden_kernels_only(l2_penalty, strength):
    module = network().init(KEY, N_FEATURES)
    hidden = sum(float(jnp.sum(layer.weight**2)) for layer in module.hidden)
    penalty = network(l2_penalty).penalty(module, jnp.int32(50))
    np.testing.assert_allclose(penalty, strength * hidden, rtol=1e-6)


def test_kernels_start_glorot_uniform_and_biases_at_zero():
    module = PaperNetwork((200, 100), np.asarray(0.0, np.float32)).init(KEY, 50)
    kernel, limit = np.asarray(module.hidden[1].weight), np.sqrt(6 / 300)
    assert np.abs(kernel).max() <= limit
    # A uniform law on (-l, l) has variance l^2 / 3; 4 standard errors of 20,000 draws.
    assert abs(kernel.var() / (limit**2 / 3) - 1) < 4 * np.sqrt(0.8 / kernel.size)
    assert not any(np.any(layer.bias) for layer in (*module.hidden, module.head))


def test_std_never_falls_below_its_floor():
    module = network().init(KEY, N_FEATURES)
    sunk = eqx.tree_at(lambda n: n.head.bias, module, jnp.array([0.0, -100.0]))
    _, variance = Normal().outputs(sunk(jnp.zeros((N_FEATURES, 1))))
    assert float(variance[0]) == pytest.approx(1e-6)


def test_fresh_optimiser_keeps_weights_and_epoch():
    state = trained(3)
    fresh = learner().with_fresh_optimiser(state, TrainingData.from_rows(rows()[0]))
    np.testing.assert_array_equal(fresh.parameters, state.parameters)
    np.testing.assert_array_equal(fresh.epoch, state.epoch)
    assert not any(np.any(leaf) for leaf in jax.tree.leaves(fresh.optimiser))


def test_row_blocks_equal_all_rows():
    X, _ = rows(2500)
    ensemble, state = learner(), trained(2)
    pieces = [ensemble.predict(state, piece) for piece in (X[:1], X[1:1100], X[1100:])]
    np.testing.assert_array_equal(ensemble.predict(state, X), np.concatenate(pieces, axis=1))


def test_predictions_equal_the_networks_own():
    X, _ = rows()
    state = trained(2)
    outputs = learner().predict(state, X)
    _, unravel = jax.flatten_util.ravel_pytree(network().init(KEY, N_FEATURES))
    for i in range(3):
        mean, log_std = unravel(jnp.asarray(state.parameters[i]))(jnp.asarray(X.T))
        np.testing.assert_allclose(outputs[i, :, 0], mean, atol=1e-6)
        np.testing.assert_allclose(outputs[i, :, 1], (np.exp(log_std) + 1e-3) ** 2, rtol=1e-5)


class RandomGradient(Network):
    """A network of one weight whose gradient is a normal draw from the key of the step."""

    def init(self, key, n_features):
        return {"weight": jnp.zeros(1)}

    def raw(self, module, X, key):
        drawn = 1.0 if key is None else jax.random.normal(key)
        return jnp.sum(module["weight"]) * drawn * jnp.ones((1, X.shape[1]))


class MeanOfRaw(Likelihood):
    """A loss that is the network's own number."""

    n_outputs = 1

    def loss(self, raw, y, weight, xp=jnp):
        return jnp.mean(raw)

    def outputs(self, raw, xp=jnp):
        return tuple(raw)


def test_random_networks_get_a_key_of_their_own_at_every_step():
    X, y = rows()
    data = TrainingData.from_rows(X)
    ensemble = NetworkEnsemble(
        RandomGradient(), MeanOfRaw(), batch_size=16, optimiser=optax.sgd(1.0), members_per_block=3
    )
    start = ensemble.init(KEYS[:3], data)
    end = ensemble.train(KEYS[:3], start, data, shared(y, 3), go(2))
    for member in range(3):
        draws = []
        for epoch in range(2):
            key_loss = jax.random.fold_in(jax.random.wrap_key_data(KEYS[member]), epoch)
            draws += [jax.random.normal(jax.random.fold_in(key_loss, step)) for step in range(4)]
        np.testing.assert_allclose(end.parameters[member, 0], -sum(draws), rtol=1e-5)


def test_a_loss_that_is_not_finite_names_member_and_step():
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner()
    state = ensemble.init(KEYS[:5], data)
    targets = np.array(shared(y, 5))
    targets[4, 17] = np.inf
    with pytest.raises(TrainingDivergedError, match=r"member 4 was not at step [0-3] \(epoch 0\)"):
        ensemble.train(KEYS[:5], state, data, targets, go(2))


@pytest.mark.slow
def test_weights_that_are_not_finite_after_the_last_step_are_an_error():
    X, y = rows(16)  # one step an epoch: its loss is finite, the weights after it are not
    data = TrainingData.from_rows(X)
    ensemble = learner(optimiser=optax.sgd(3e38))
    state = ensemble.init(KEYS[:3], data)
    with pytest.raises(TrainingDivergedError, match=r"member 0 was not at step 0 \(epoch 0\)"):
        ensemble.train(KEYS[:3], state, data, shared(1e3 * y, 3), go(1))


def test_progress_counts_every_member_epoch():
    X, y = rows()
    data, ensemble = TrainingData.from_rows(X), learner()
    state, done = ensemble.init(KEYS[:5], data), []
    ensemble.train(KEYS[:5], state, data, shared(y, 5), go(6), progress=done.append)
    assert sum(done) == 5 * 6


def test_a_failing_block_stops_the_others():
    reached = []

    def work(worker, block):
        if block.start == 0:
            raise RuntimeError("block 0 failed")
        worker.stop.wait(timeout=30)
        worker.check_stop()
        reached.append(block)

    with pytest.raises(RuntimeError, match="block 0 failed"):
        run_in_blocks(work, [slice(0, 1), slice(1, 2), slice(2, 3)], n_threads=2)
    assert reached == []


def test_padding_is_less_than_an_eighth():
    n = np.arange(65, 100_000, 37)
    padded = np.array([bucket(int(k)) for k in n])
    assert np.all(padded >= n)
    assert np.all(padded <= n * 9 / 8)


@pytest.mark.slow
def test_several_devices_give_the_numbers_of_one():
    script = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=" + sys.argv[1]
import hashlib, jax, numpy as np
from confide import BootstrappedDeepEnsembleRegressor
assert jax.local_device_count() == int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(60, 3))
model = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=6, random_state=0)
model.fit(X, X[:, 0])
prediction = model.get_prediction(X)
values = np.concatenate([prediction.mean, prediction.epistemic_variance])
print(hashlib.sha256(values.tobytes()).hexdigest())
"""
    one, three = (
        subprocess.run(
            [sys.executable, "-c", script, n], capture_output=True, text=True, check=True
        ).stdout
        for n in ("1", "3")
    )
    assert one == three
