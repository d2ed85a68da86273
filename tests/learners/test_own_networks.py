"""Networks of one's own in JAX: what they may be, how they are trained, and what is refused."""

import functools
import pickle
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from sklearn.base import clone
from support.aliens import Fake, equinox_network, flax_network

import confide
from confide import BootstrappedDeepEnsembleRegressor, BootstrappedEnsembleRegressor
from confide.learners import Learner, Normal, Plan, SquaredError, TrainingData, networks
from confide.randomness import key_from, member_keys

KEYS = member_keys(key_from(5), 3)
FEW = {"n_members": 2, "max_epochs": 6, "random_state": 0}


def deep(**changes):
    return BootstrappedDeepEnsembleRegressor(**{**FEW, "network": equinox_network, **changes})


def mean_network(key, n_features):
    return eqx.nn.Linear(n_features, "scalar", key=key)


def other_activation(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=8, depth=1, activation=jax.nn.relu, key=key)


def wider(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=9, depth=1, key=key)


class Shuffled(eqx.Module):
    """A module with an array that is not trained, another one for each member."""

    linear: eqx.nn.Linear
    order: jax.Array

    def __call__(self, x):
        return self.linear(x[self.order])


def shuffled(key, n_features):
    return Shuffled(eqx.nn.Linear(n_features, 2, key=key), jax.random.permutation(key, n_features))


class Dropping(eqx.Module):
    """A module with dropout; whether it takes a key is its own business."""

    linear: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __call__(self, x, *, key=None):
        return self.dropout(self.linear(x), key=key)


class Keyless(Dropping):
    def __call__(self, x):
        return self.dropout(self.linear(x))


def dropping(kind, rate=0.5):
    return lambda key, n: kind(eqx.nn.Linear(n, 2, key=key), eqx.nn.Dropout(rate))


class Splitting(eqx.Module):
    """Two random layers, in the way that Equinox's own examples write them."""

    linear: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __call__(self, x, *, key):
        first, second = jax.random.split(key)
        return self.dropout(self.linear(self.dropout(x, key=first)), key=second)


class Noisy(eqx.Module):
    """Random in every call."""

    linear: eqx.nn.Linear

    def __call__(self, x, *, key):
        return self.linear(x + jax.random.normal(key, x.shape))


class NoisyInTraining(Noisy):
    """Random where there is a key: none comes with a prediction."""

    def __call__(self, x, *, key=None):
        return self.linear(x) if key is None else super().__call__(x, key=key)


class Activated(eqx.Module):
    linear: eqx.nn.Linear
    activation: object = eqx.field(static=True)

    def __call__(self, x):
        return self.activation(self.linear(x))


class Factory:
    """A factory that can be changed between fits."""

    def __init__(self, width=4, activation=jax.nn.tanh):
        self.width, self.activation = width, activation

    def __call__(self, key, n_features):
        return eqx.nn.MLP(n_features, 2, self.width, 1, activation=self.activation, key=key)


def half_precision(key, n_features):
    return eqx.nn.Linear(n_features, 2, dtype=jnp.float16, key=key)


def with_state(key, n_features):
    layers = [eqx.nn.Linear(n_features, 2, key=key), eqx.nn.BatchNorm(2, "row", mode="ema")]
    return eqx.nn.Sequential(layers)


def made_with_state(key, n_features):
    return eqx.nn.make_with_state(with_state)(key, n_features)


def outputs_of(network, data, *stretches, **how):
    learner, X = networks(3, 3, network=network, **how), data[0].astype(np.float32)
    rows, targets = TrainingData.from_rows(X), np.tile(data[1].astype(np.float32), (3, 1))
    state, done = learner.init(KEYS, rows), 0
    for epochs in stretches:
        plan = Plan(total=sum(stretches), done=done, epochs=epochs)
        state, done = learner.train(KEYS, state, rows, targets, plan), done + epochs
    return learner.predict(state, X)


# What a network may be --------------------------------------------------------------------------


def test_one_output_is_a_mean_and_two_are_a_mean_and_a_log_standard_deviation():
    assert isinstance(networks(3, 2, network=mean_network).likelihood, SquaredError)
    assert isinstance(networks(3, 2, network=equinox_network).likelihood, Normal)


@pytest.mark.slow
def test_an_untrained_network_answers_as_its_module_does(data):
    outputs = outputs_of(equinox_network, data)
    for i, words in enumerate(KEYS):
        module = equinox_network(jax.random.wrap_key_data(words), 3)
        mean, log_std = jax.vmap(module)(data[0].astype(np.float32)).T
        np.testing.assert_allclose(outputs[i, :, 0], mean, atol=1e-6)
        np.testing.assert_allclose(outputs[i, :, 1], (np.exp(log_std) + 1e-3) ** 2, rtol=1e-5)


@pytest.mark.slow
def test_arrays_that_are_not_trained_are_each_members_own_and_kept(data, tmp_path):
    model = deep(network=shuffled, n_members=4).fit(*data)
    orders = model.fitted_.members.fixed[0]
    assert len(np.unique(orders, axis=0)) > 1
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model", network=shuffled)
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


@pytest.mark.slow
def test_dropout_is_random_in_training_and_rests_in_predictions(data):
    dropped, without = (outputs_of(dropping(Dropping, rate), data, 3) for rate in (0.5, 0.0))
    assert np.abs(dropped - without).max() > 1e-3
    np.testing.assert_array_equal(dropped, outputs_of(dropping(Dropping, 0.5), data, 1, 2))


@pytest.mark.slow
def test_a_factory_with_its_options_bound_is_one(data):
    def make(key, n_features, width=4):
        return eqx.nn.MLP(n_features, 2, width_size=width, depth=1, key=key)

    model = deep(network=functools.partial(make, width=6)).fit(*data)
    assert model.fitted_.members.parameters.shape == (2, 3 * 6 + 6 + 6 * 2 + 2)


@pytest.mark.slow
def test_every_method_of_ensembles_takes_a_network(data):
    for kind in (confide.DeepEnsembleRegressor, confide.NaiveBootstrapRegressor):
        for make in (equinox_network, mean_network):
            prediction = kind(**FEW, network=make).fit(*data).get_prediction(data[0])
            assert np.all(np.diff(prediction.prediction_interval(0.8)) > 0)


def test_a_fitted_model_can_be_pickled(data):
    model = deep().fit(*data)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


@pytest.mark.slow
def test_noise_of_a_mean_alone_is_that_of_rows_left_out():
    """Pure noise of variance 4: residuals of rows left out have that variance, or a little more."""
    X = np.random.default_rng(1).normal(size=(400, 3))
    y = 2.0 * np.random.default_rng(2).normal(size=400)
    model = deep(network=mean_network, max_epochs=30).fit(X, y)
    noise = model.get_prediction(X).aleatoric_variance
    # A sample variance of 400 rows has a relative standard error of sqrt(2 / 400).
    assert abs(noise.mean() / 4 - 1) < 4 * np.sqrt(2 / 400)


@pytest.mark.slow
def test_a_factory_that_was_changed_makes_another_network(data):
    factory = Factory(width=4)
    before = deep(network=factory).fit(*data)
    expected = before.predict(data[0])
    factory.width = 9
    wide = deep(network=factory).fit(*data)
    assert wide.fitted_.members.parameters.shape == (2, 3 * 9 + 9 + 9 * 2 + 2)
    factory.width, factory.activation = 4, jax.nn.relu
    changed = deep(network=factory).fit(*data)
    fresh = deep(network=Factory(4, jax.nn.relu)).fit(*data)
    np.testing.assert_array_equal(changed.predict(data[0]), fresh.predict(data[0]))
    assert np.abs(changed.predict(data[0]) - expected).max() > 1e-3
    np.testing.assert_array_equal(before.predict(data[0]), expected)


@pytest.mark.slow
def test_a_fitted_model_keeps_its_network_when_the_factory_changes(data):
    factory, X = Factory(width=5), data[0].astype(np.float32)
    learner, unchanged = (networks(3, 3, network=make) for make in (factory, Factory(width=5)))
    factory.width, factory.activation = 6, jax.nn.relu
    # Nothing was compiled before the change.
    outputs, expected = (
        each.predict(each.init(KEYS, TrainingData.from_rows(X)), X) for each in (learner, unchanged)
    )
    np.testing.assert_array_equal(outputs, expected)


@pytest.mark.slow
def test_equal_networks_share_compiled_programs(data, compilations):
    deep(network=Factory(width=7), optimiser=(adamw := optax.adamw(0.01))).fit(*data)
    compilations.clear()
    deep(network=Factory(width=7), optimiser=adamw).fit(*data)
    assert compilations == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Equinox", "Flax"])
def test_functions_made_in_the_factory_are_welcome(data, tmp_path, kind):
    """The factory makes another function at every call, and all of them compute the same."""
    if kind == "Flax":
        nnx = pytest.importorskip("flax.nnx", reason="needs Flax")

    def make(key, n_features):
        if kind == "Equinox":
            return Activated(eqx.nn.Linear(n_features, 2, key=key), lambda x: 2 * jnp.tanh(x))
        return nnx.Sequential(
            nnx.Linear(n_features, 2, rngs=nnx.Rngs(key)), lambda x: 2 * jnp.tanh(x)
        )

    adamw = optax.adamw(0.01)
    models = [deep(network=make, optimiser=adamw, n_retrains=n).fit(*data) for n in (1, 3)]
    first, second = (model.predict(data[0]) for model in models)
    np.testing.assert_array_equal(first, second)
    models[0].save(tmp_path / "model")
    np.testing.assert_array_equal(
        confide.load(tmp_path / "model", network=make).predict(data[0]), first
    )


@pytest.mark.slow
def test_a_flax_module_may_hold_arrays(data):
    nnx = pytest.importorskip("flax.nnx", reason="needs Flax")

    class Scaled(nnx.Module):
        def __init__(self, key, n_features):
            self.linear = nnx.Linear(n_features, 2, rngs=nnx.Rngs(key))
            self.scale = jax.random.uniform(key, (2,))

        def __call__(self, x):
            return self.scale * self.linear(x)

    def make(key, n_features):
        return Scaled(key, n_features)

    learner, X = networks(3, 3, network=make), data[0].astype(np.float32)
    rows, targets = TrainingData.from_rows(X), np.tile(data[1].astype(np.float32), (3, 1))
    start = learner.init(KEYS, rows)
    end = learner.train(KEYS, start, rows, targets, Plan(2, 0, 2))
    still = (start.parameters == end.parameters).sum(axis=1)
    np.testing.assert_array_equal(still, 2)  # the scales are not trained


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Splitting, NoisyInTraining])
def test_a_key_may_be_split_and_predictions_are_not_random(data, kind):
    def make(key, n):
        linear = eqx.nn.Linear(n, 2, key=key)
        return Splitting(linear, eqx.nn.Dropout(0.3)) if kind is Splitting else kind(linear)

    outputs = outputs_of(make, data)
    for i, words in enumerate(KEYS):
        mean, _ = jax.vmap(make(jax.random.wrap_key_data(words), 3).linear)(
            data[0].astype(np.float32)
        ).T
        np.testing.assert_allclose(outputs[i, :, 0], mean, atol=1e-6)
    assert np.all(np.isfinite(outputs_of(make, data, 2)))


# How it is trained ------------------------------------------------------------------------------


@pytest.mark.slow
def test_adam_of_optax_is_the_built_in_one(data):
    built_in, own = (
        outputs_of(equinox_network, data, 5, **how)
        for how in ({}, {"optimiser": optax.adam(1e-3, eps=1e-7)})
    )
    np.testing.assert_allclose(own, built_in, atol=1e-6)


def test_an_optimiser_sees_the_layers(data):
    """Frozen by name: the first layer's weights stay where they were."""

    def frozen(weights):
        return jax.tree_util.tree_map_with_path(
            lambda path, _: "layers[0]" in jax.tree_util.keystr(path), weights
        )

    optimiser = optax.chain(optax.adam(0.05), optax.masked(optax.set_to_zero(), mask=frozen))
    learner = networks(3, 3, network=equinox_network, optimiser=optimiser)
    X, y = (each.astype(np.float32) for each in data)
    rows = TrainingData.from_rows(X)
    start = learner.init(KEYS, rows)
    end = learner.train(KEYS, start, rows, np.tile(y, (3, 1)), Plan(3, 0, 3))
    moved = np.abs(end.parameters - start.parameters) > 0
    assert not moved[:, : 3 * 8 + 8].any()
    assert moved[:, 3 * 8 + 8 :].all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimiser",
    [
        optax.lbfgs(),
        optax.chain(
            optax.adam(0.01), optax.contrib.reduce_on_plateau(patience=1, accumulation_size=2)
        ),
    ],
    ids=["lbfgs", "reduce_on_plateau"],
)
def test_optimisers_that_look_at_the_loss_get_it(data, optimiser):
    mean_error, untrained = (
        np.mean(
            (outputs_of(mean_network, data, *stretches, optimiser=optimiser)[..., 0] - data[1]) ** 2
        )
        for stretches in ((2, 3), ())
    )
    assert mean_error < 0.95 * untrained
    np.testing.assert_array_equal(
        outputs_of(mean_network, data, 2, 3, optimiser=optimiser),
        outputs_of(mean_network, data, 5, optimiser=optimiser),
    )


@pytest.mark.slow
def test_a_constant_schedule_is_a_number_and_stretches_equal_one_go(data):
    number = outputs_of(equinox_network, data, 6, learning_rate=0.01)
    constant = outputs_of(
        equinox_network, data, 6, learning_rate=optax.constant_schedule(np.float32(0.01))
    )
    np.testing.assert_allclose(constant, number, atol=1e-6)
    falling = {"learning_rate": optax.cosine_decay_schedule(0.05, 12)}
    at_once = outputs_of(equinox_network, data, 6, **falling)
    np.testing.assert_array_equal(outputs_of(equinox_network, data, 2, 4, **falling), at_once)
    assert np.abs(at_once - number).max() > 1e-3


@pytest.mark.slow
def test_optimiser_and_schedule_can_be_cloned_and_loaded_without(data, tmp_path):
    for how in (
        {"optimiser": optax.adamw(0.01)},
        {"learning_rate": optax.constant_schedule(0.01)},
    ):
        model = deep(**how).fit(*data)
        again = clone(model).fit(*data)
        np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))
        model.save(tmp_path / "model", overwrite=True)
        loaded = confide.load(tmp_path / "model", network=equinox_network)
        assert loaded.get_params()["optimiser"] is None
        assert loaded.get_params()["learning_rate"] is None  # the recipe's
        np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))


def test_a_second_fit_compiles_nothing(data, compilations):
    deep().fit(*data).predict(data[0])
    compilations.clear()
    deep(random_state=1).fit(*data).predict(data[0])
    assert compilations == []


# What is refused --------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_type_checker")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": lambda key, n: None}, "returns an Equinox .* it returned None"),
        ({"network": lambda key, n: np.zeros(n)}, "an object of type ndarray"),
        ({"network": lambda key, n: lambda x: x[0]}, "an object of type function"),
        ({"network": lambda: None}, r"yours takes \(\)"),
        ({"network": lambda a, b, c: None}, r"yours takes \(a, b, c\)"),
        (
            {"network": lambda n, *, key: None},
            r"by position, the key first.*yours takes \(n, \*, key\)",
        ),
        ({"network": lambda n, key: None}, r"the key first, .*yours takes \(n, key\)"),
        ({"network": eqx.nn.Linear(3, 2, key=jax.random.key(0))}, "a module itself: a Linear"),
        ({"network": half_precision}, "must be float32, got float16"),
        ({"network": with_state}, r"layers with a state.*LayerNorm in place of BatchNorm"),
        ({"network": made_with_state}, r"layers with a state.*LayerNorm in place of BatchNorm"),
        ({"network": lambda key, n: eqx.nn.Identity()}, "must have weights to train"),
        ({"network": lambda key, n: Noisy(eqx.nn.Linear(n, 2, key=key))}, "random in predictions"),
        ({"optimiser": optax.noisy_sgd(1e-3, key=0)}, "must not draw random numbers"),
        ({"network": "papre"}, "Did you mean 'paper'"),
        ({"network": lambda key, n: eqx.nn.Linear(n, 3, key=key)}, r"\(1,\) or \(2,\), got \(3,\)"),
        ({"network": dropping(Keyless)}, r"random layers that got no key.*key=None"),
        ({"hidden_layer_sizes": (8,)}, "`hidden_layer_sizes` belongs to the built-in network"),
        ({"l2_penalty": 0.1}, "`l2_penalty` belongs to the built-in network"),
        ({"optimiser": "adam"}, "must be an optax transformation"),
        ({"optimiser": optax.adam}, "must be an optax transformation"),
        ({"optimiser": optax.sgd(1.0), "learning_rate": 0.1}, "Give the optimiser its learning"),
        ({"device": "cuda"}, "`device` is for PyTorch networks, got 'cuda'"),
        ({"network": mean_network, "max_epochs": "auto"}, "yours predicts a mean alone"),
    ],
)
def test_bad_networks_are_refused_before_training(data, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        deep(**changes).fit(*data)


def test_a_network_that_takes_batches_is_told_so(data):
    class Batched(eqx.Module):
        weight: jax.Array

        def __call__(self, X):
            return jnp.einsum("rf,fo->ro", X, self.weight)

    with pytest.raises(ValueError, match="subscript") as caught:
        deep(network=lambda key, n: Batched(jax.random.normal(key, (n, 2)))).fit(*data)
    assert any("one row at a time" in note for note in caught.value.__notes__)


def test_flax_modules_that_need_batches_or_lack_a_key_are_refused(data):
    nnx = pytest.importorskip("flax.nnx", reason="needs Flax")

    def normalised(key, n):
        rngs = nnx.Rngs(key)
        return nnx.Sequential(nnx.BatchNorm(n, rngs=rngs), nnx.Linear(n, 1, rngs=rngs))

    def keyless(key, n):
        return nnx.Sequential(nnx.Linear(n, 1, rngs=nnx.Rngs(key)), nnx.Dropout(0.5))

    with pytest.raises(ValueError, match="LayerNorm in place of BatchNorm"):
        deep(network=normalised).fit(*data)
    with pytest.raises(ValueError, match=r"made with `nnx.Rngs\(key\)`"):
        deep(network=keyless).fit(*data)
    assert isinstance(networks(3, 2, network=flax_network).likelihood, SquaredError)


class Speechless(Fake):
    likelihood = None


class Flat(Fake):
    def predict(self, state, X):
        return super().predict(state, X)[..., 0]


class NotANumber(Fake):
    def predict(self, state, X):
        return np.nan * super().predict(state, X)


class WithoutVariance(Fake):
    likelihood = Normal()


class InLists(Fake):
    """Its state is a list, and it has no methods for one."""

    def init(self, keys, data):
        return [super().init(keys, data)["slopes"]]

    def train(self, keys, state, data, targets, plan, *, progress=None):
        return [super().train(keys, {"slopes": state[0]}, data, targets, plan)["slopes"]]

    def predict(self, state, X):
        return super().predict({"slopes": state[0]}, X)


@pytest.mark.usefixtures("without_type_checker")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": "xgbost"}, "Did you mean 'xgboost'"),
        ({"learner": Fake}, r"pass Fake\(\) instead of Fake"),
        ({"learner": object()}, "must be a confide.learners.Learner"),
        ({"learner": Speechless()}, "must say what its outputs mean: set `likelihood`"),
        ({"learner": Fake(), "learner_parameters": {"a": 1}}, "`learner` is your own"),
        ({"learner": Flat()}, r"Flat.predict must return .* \(2, \d+, 1\), got \(2, \d+\)"),
        ({"learner": NotANumber()}, "NotANumber.predict must return numbers, got NaN"),
        ({"learner": WithoutVariance()}, r"\(2, 64, 2\), got \(2, 64, 1\).*Normal reads 2"),
        ({"learner": InLists()}, "state of InLists must be a dictionary of arrays.*a list"),
        ({"learner": "xgboost", "learner_parameters": ["max_depth"]}, "must be a dictionary"),
        ({"learner": Fake(), "max_epochs": "auto"}, "yours predicts a mean alone"),
    ],
)
def test_bad_learners_are_refused(data, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BootstrappedEnsembleRegressor(**{**FEW, **changes}).fit(*data)


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [
        ("torch", lambda: deep(network=lambda n_features: None), "torch"),
        ("xgboost", lambda: BootstrappedEnsembleRegressor("xgboost"), "boosting"),
        ("lightgbm", lambda: BootstrappedEnsembleRegressor("lightgbm"), "boosting"),
    ],
)
def test_a_missing_extra_is_named(data, monkeypatch, module, make, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'confide\[{extra}\]'"):
        make().fit(*data)


# Files ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "model.confide"
    deep().fit(*data).save(path)
    return path


def test_a_file_names_the_network_and_asks_for_it(file):
    with pytest.raises(confide.ModelFileError, match=r"aliens:equinox_network.*network=\.\.\."):
        confide.load(file)


@pytest.mark.parametrize("other", [wider, other_activation, mean_network])
def test_another_network_is_refused(file, other):
    with pytest.raises(confide.ModelFileError, match="does not fit the network that was passed"):
        confide.load(file, network=other)


def test_a_network_that_was_not_asked_for_is_refused(bootstrapped, tmp_path):
    bootstrapped.save(tmp_path / "model")
    with pytest.raises(confide.ModelFileError, match="not made with a network of your own"):
        confide.load(tmp_path / "model", network=equinox_network)


def test_a_learner_of_ones_own_is_asked_for(data, tmp_path):
    model = BootstrappedEnsembleRegressor(Fake(), **FEW).fit(*data)
    model.save(tmp_path / "model")
    with pytest.raises(confide.ModelFileError, match=r"learner of your own, support.aliens:Fake"):
        confide.load(tmp_path / "model")
    again = confide.load(tmp_path / "model", learner=Fake())
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def test_a_learner_has_all_it_needs_with_three_methods():
    assert Learner.__abstractmethods__ == {"init", "train", "predict"}
