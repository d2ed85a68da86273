"""Concrete Dropout: masks, regulariser, and passes, against what its inventors wrote."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy import stats

from confide import ConcreteDropoutRegressor
from confide.learners import as_key, jax_networks, opened, thinned
from confide.learners.dropout import (
    INITIAL_RATE,
    DropoutLikelihood,
    DropoutNetwork,
    DroppedDense,
)
from confide.methods import concrete_dropout
from confide.methods.concrete_dropout import AS_PUBLISHED, Settings
from confide.randomness import member_keys

KEY = jax.random.key(11)


def network_of(weight_strength=0.0, entropy_strength=0.0, sizes=(5,)):
    strengths = (np.asarray(s, np.float32) for s in (weight_strength, entropy_strength))
    return DropoutNetwork(sizes, *strengths)


def learner_of(settings, **training):
    return concrete_dropout.learner(settings, 3, hidden_layer_sizes=(8,), **training)


def module_of(learner, parameters):
    return opened(learner.network, 3).module(jnp.asarray(parameters))


def passes_of(fitted):
    keys = member_keys(as_key(fitted.pass_key), fitted.settings.n_passes)
    return thinned(fitted.learner.for_many(), fitted.members, keys, 3)


def loss(network, key, X, y, weight):
    return DropoutLikelihood().loss(network_of().raw(network, X, key), y, weight)


def layer(rate: float) -> DroppedDense:
    fresh = DroppedDense.init(KEY, 6, 4)
    return eqx.tree_at(lambda d: d.rate_logit, fresh, jnp.log(rate / (1 - rate)))


def trained_rates(data, **changes) -> np.ndarray:
    settings = Settings(**{"max_epochs": 60, **changes})
    learner = learner_of(settings)
    (fitted,) = concrete_dropout.fit([KEY], data[0], data[1][None], settings, learner)
    network = module_of(learner, fitted.members.parameters[0])
    return np.array([float(each.rate) for each in network.layers])


def test_rates_start_where_the_inventors_start_them():
    network = network_of().init(KEY, 3)
    assert [float(each.rate) for each in network.layers] == pytest.approx([INITIAL_RATE] * 3)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_masks_follow_the_concrete_law(rate):
    """P(mask <= m) = P(logit u >= T logit(1 - m) - logit p), with u uniform: in closed form."""
    mask = np.asarray(layer(rate).mask(KEY, (20_000,))) * (1 - rate)
    m = np.linspace(0.01, 0.99, 99)
    threshold = 0.1 * (np.log1p(-m) - np.log(m)) - np.log(rate / (1 - rate))
    expected = 1 / (1 + np.exp(threshold))
    found = np.mean(mask[:, None] <= m, axis=0)
    # The Kolmogorov-Smirnov bound that one sample in a thousand exceeds.
    assert np.abs(found - expected).max() < 1.95 / np.sqrt(20_000)


def test_penalty_has_the_inventors_form():
    network = network_of().init(KEY, 3)
    network = eqx.tree_at(lambda n: n.hidden[0].rate_logit, network, jnp.log(0.3 / 0.7))
    expected = 0.0
    for each, p, n_inputs in zip(network.layers, [0.3, 0.1, 0.1], [3, 5, 5], strict=True):
        kernel = float(jnp.sum(each.weight**2))
        entropy = -(p * np.log(p) + (1 - p) * np.log(1 - p))
        expected += 0.5 * kernel / (1 - p) - 2.0 * n_inputs * entropy
    penalty = network_of(0.5, 2.0).penalty(network, jnp.int32(40))
    np.testing.assert_allclose(penalty, expected / 40, rtol=1e-5)


def test_loss_is_twice_the_negative_log_likelihood_without_dropout():
    network = network_of().init(KEY, 3)
    network = eqx.tree_at(
        lambda n: [each.rate_logit for each in n.layers], network, [jnp.float32(-30.0)] * 3
    )
    generator = np.random.default_rng(0)
    X, y = (jnp.asarray(generator.normal(size=s), jnp.float32) for s in ((3, 6), (6,)))
    weight = jnp.array([1.0, 2.0, 0.5, 1.0, 1.0, 0.0])  # the last is padding
    mean, log_variance = network(X)
    each = -2 * stats.norm.logpdf(y, mean, np.exp(log_variance / 2)) - np.log(2 * np.pi)
    expected = np.sum(weight * each) / 5
    np.testing.assert_allclose(loss(network, KEY, X, y, weight), expected, rtol=1e-5)


@pytest.mark.slow
def test_every_row_and_step_has_masks_of_its_own():
    network = network_of().init(KEY, 3)
    X, y = jnp.ones((3, 8)), jnp.zeros(8)
    one_row = jnp.zeros(8).at[0].set(1.0)
    other_row = jnp.zeros(8).at[1].set(1.0)
    first, second = (loss(network, KEY, X, y, w) for w in (one_row, other_row))
    later = loss(network, jax.random.key(12), X, y, one_row)
    assert len({float(first), float(second), float(later)}) == 3


@pytest.mark.slow
def test_the_penalty_reaches_the_rates(data):
    """A huge entropy term drives every rate to one half; without it they follow the likelihood."""
    free = trained_rates(data, regulariser="none")
    settings, huge = Settings(max_epochs=200), network_of(1e-8, 1e5, sizes=(8,))
    learner = jax_networks(huge, DropoutLikelihood(), 1, learning_rate=0.02)
    (fitted,) = concrete_dropout.fit([KEY], data[0], data[1][None], settings, learner)
    network = module_of(learner, fitted.members.parameters[0])
    forced = np.array([float(each.rate) for each in network.layers])
    np.testing.assert_allclose(forced, 0.5, atol=0.02)
    assert np.all(free < 0.2)


def test_as_published_has_no_penalty():
    published = learner_of(Settings(**AS_PUBLISHED)).network
    assert (float(published.weight_strength), float(published.entropy_strength)) == (0, 0)
    described = learner_of(Settings()).network
    assert float(described.weight_strength) == pytest.approx(1e-8)
    assert float(described.entropy_strength) == 2


@pytest.fixture(scope="module")
def fitted(data):
    settings = Settings(max_epochs=60, n_passes=50)
    return concrete_dropout.fit([KEY], data[0], data[1][None], settings, learner_of(settings))[0]


def test_a_pass_is_the_network_with_its_inputs_masked(fitted, data):
    """Thinned weights against masks on the inputs of each layer."""
    network = module_of(fitted.learner, fitted.members.parameters[0])
    thin = module_of(fitted.learner, passes_of(fitted).parameters[7])
    masks = [t.weight[0] / w.weight[0] for t, w in zip(thin.layers, network.layers, strict=True)]
    X = jnp.asarray(fitted.standardiser.inputs(data[0])).T
    expected = network(X, [mask[:, None] for mask in masks])
    for got, wanted in zip(thin(X), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-5)
    rates = [float(each.rate) for each in network.layers]
    # Hardly any mask value lies between dropped and kept at this temperature.
    for mask, rate in zip(masks, rates, strict=True):
        assert np.all((mask < 0.2) | (mask > 0.7)) or rate > 0.3


def test_thinned_weights_are_right_on_average(fitted):
    """Masks are scaled to mean one; a little less than that, for they are relaxed."""
    settings = dataclasses.replace(fitted.settings, n_passes=2000)
    network = module_of(fitted.learner, fitted.members.parameters[0])
    logits = [jnp.log(0.3 / 0.7)] * 3
    dropping = eqx.tree_at(lambda n: [each.rate_logit for each in n.layers], network, logits)
    parameters = ravel_pytree(dropping)[0][None]
    changed = dataclasses.replace(
        fitted, settings=settings, members=fitted.members._replace(parameters=parameters)
    )
    passes = passes_of(changed).parameters
    assert len(np.unique(passes, axis=0)) == 2000
    thin = jax.vmap(lambda weights: module_of(fitted.learner, weights))(jnp.asarray(passes))
    for layer_of_passes, layer in zip(thin.layers, network.layers, strict=True):
        masks = np.asarray(layer_of_passes.weight / layer.weight)
        # A mask is 0 or 1 / 0.7 or, seldom, between: its variance is 0.3 / 0.7 or a little less.
        np.testing.assert_allclose(
            masks.mean(axis=0), 1.0, atol=4 * np.sqrt(0.3 / 0.7 / 2000) + 0.01
        )
        np.testing.assert_allclose(masks.var(axis=0), 0.3 / 0.7, rtol=0.25)


def test_outputs_are_mean_and_variance(fitted):
    network = module_of(fitted.learner, fitted.members.parameters[0])
    X = jnp.ones((3, 2))
    mean, log_variance = network(X)
    found_mean, variance = DropoutLikelihood().outputs(network_of().raw(network, X, None))
    np.testing.assert_array_equal(found_mean, mean)
    np.testing.assert_allclose(variance, np.exp(log_variance), rtol=1e-6)


def test_variances_are_those_of_the_passes(fitted, data):
    inputs = fitted.standardiser.inputs(data[0])
    outputs = fitted.learner.for_many().predict(passes_of(fitted), inputs)
    means, variances = outputs[..., 0], outputs[..., 1]
    scale = fitted.standardiser.y_scale
    prediction = concrete_dropout.predict(fitted, data[0])
    np.testing.assert_allclose(
        prediction.epistemic_variance, scale**2 * means.var(axis=0, dtype=np.float64), rtol=1e-5
    )
    np.testing.assert_allclose(
        prediction.aleatoric_variance, scale**2 * variances.mean(axis=0), rtol=1e-5
    )
    half = np.diff(prediction.confidence_interval(0.8))[:, 0] / 2
    np.testing.assert_allclose(
        half, stats.norm.ppf(0.9) * np.sqrt(prediction.epistemic_variance), rtol=1e-9
    )


def test_a_rows_numbers_do_not_depend_on_its_neighbours(fitted, data):
    whole = concrete_dropout.predict(fitted, data[0])
    alone = concrete_dropout.predict(fitted, data[0][10:11])
    # NumPy adds up fifty passes in another order when there is one row.
    np.testing.assert_allclose(whole.mean[10:11], alone.mean, rtol=1e-12)
    np.testing.assert_allclose(
        whole.epistemic_variance[10:11], alone.epistemic_variance, rtol=1e-10
    )


def test_passes_that_are_made_in_turn_are_the_same_passes(fitted, data, monkeypatch):
    at_once = concrete_dropout.predict(fitted, data[0])
    monkeypatch.setattr(concrete_dropout, "WEIGHTS_AT_ONCE", 1)
    in_turn = concrete_dropout.predict(fitted, data[0])
    np.testing.assert_array_equal(in_turn.mean, at_once.mean)
    np.testing.assert_array_equal(in_turn.total_variance, at_once.total_variance)


@pytest.mark.usefixtures("without_type_checker")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_passes": 1}, "`n_passes` must lie between 2 and 2000, got 1"),
        ({"n_passes": 10**12}, "`n_passes` must lie between 2 and 2000, got 1000000000000"),
        ({"n_passes": 0}, "`n_passes` must be a whole number of at least 1, got 0"),
        ({"prior_length_scale": 0.0}, "`prior_length_scale` must be a positive number, got 0.0"),
        ({"regulariser": "concret"}, "Did you mean 'concrete'"),
    ],
)
def test_bad_settings_are_refused(data, changes, message):
    with pytest.raises(ValueError, match=message):
        ConcreteDropoutRegressor(**changes).fit(*data)
