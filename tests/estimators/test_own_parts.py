"""Files of models with parts of the user's own: what load asks for, and what it refuses."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from support.aliens import Fake, equinox_network

import confide
from confide import DeepEnsembleRegressor

FEW = {"n_members": 2, "max_epochs": 3, "random_state": 0}


class Shifted(eqx.Module):
    """A network whose log standard deviation is moved, and whose mean is not."""

    inner: eqx.Module
    by: float = eqx.field(static=True)

    def __call__(self, x):
        mean, log_std = self.inner(x)
        return jnp.stack([mean, log_std + self.by])


def with_noise_moved_by(by):
    def make(key, n_features):
        return Shifted(eqx.nn.MLP(n_features, 2, 8, 1, key=key), by)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("by", [0.01, 1.0])
def test_a_network_with_other_variances_is_refused(data, tmp_path, by):
    path = tmp_path / "model"
    model = DeepEnsembleRegressor(network=with_noise_moved_by(0.0), **FEW).fit(*data)
    model.save(path)
    again = confide.load(path, network=with_noise_moved_by(0.0))
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))
    with pytest.raises(confide.ModelFileError, match="does not fit the network that was passed"):
        confide.load(path, network=with_noise_moved_by(by))


@pytest.mark.slow
def test_a_message_names_options_that_exist(data, tmp_path):
    path = tmp_path / "model"
    confide.BootstrappedEnsembleRegressor(Fake(), **FEW).fit(*data).save(path)
    with pytest.raises(confide.ModelFileError, match=r"load\(path, learner=\.\.\.\)\.$"):
        confide.load(path)
    DeepEnsembleRegressor(network=equinox_network, **FEW).fit(*data).save(path, overwrite=True)
    with pytest.raises(confide.ModelFileError, match=r"--network package.module:make\.$"):
        confide.load(path)


@pytest.fixture(scope="module")
def with_optimiser(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "model"
    model = confide.BootstrappedDeepEnsembleRegressor(
        recipe="paper", hidden_layer_sizes=(4,), optimiser=optax.sgd(0.01), **FEW
    )
    model.fit(*data).save(path)
    return path, model


def test_an_optimiser_is_not_needed_to_predict(data, with_optimiser):
    path, model = with_optimiser
    np.testing.assert_array_equal(confide.load(path).predict(data[0]), model.predict(data[0]))


def test_twins_are_not_fitted_with_another_optimiser(data, with_optimiser):
    with pytest.raises(ValueError, match=r"its own `optimiser`, .*load\(path, optimiser=\.\.\.\)"):
        confide.load(with_optimiser[0]).calibrate_confidence(*data, n_simulations=10)


def test_a_model_saved_again_still_names_its_optimiser(data, with_optimiser, tmp_path):
    confide.load(with_optimiser[0]).save(tmp_path / "again")
    with pytest.raises(ValueError, match="its own `optimiser`"):
        confide.load(tmp_path / "again").calibrate_confidence(*data, n_simulations=10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_an_optimiser_that_is_passed_is_used(data, with_optimiser):
    path, model = with_optimiser
    again = confide.load(path, optimiser=model.optimiser)
    assert again.optimiser is model.optimiser
    bounds = [
        fitted.calibrate_confidence(*data, n_simulations=10, twin="smooth")
        .get_prediction(data[0][:5])
        .confidence_interval(0.9)
        for fitted in (again, model)
    ]
    np.testing.assert_array_equal(*bounds)


@pytest.mark.slow
def test_a_schedule_that_is_passed_is_used(data, tmp_path):
    path, schedule = tmp_path / "model", optax.constant_schedule(0.01)
    DeepEnsembleRegressor(learning_rate=schedule, calibration=None, **FEW).fit(*data).save(path)
    assert confide.load(path, learning_rate=schedule).learning_rate is schedule
    with pytest.raises(ValueError, match="its own `learning_rate`"):
        confide.load(path).calibrate_confidence(*data, n_simulations=10)


def test_an_optimiser_that_the_model_did_not_have_is_refused(bootstrapped, tmp_path):
    bootstrapped.save(tmp_path / "model")
    with pytest.raises(confide.ModelFileError, match="not made with an optimiser of your own"):
        confide.load(tmp_path / "model", optimiser=optax.sgd(0.1))
