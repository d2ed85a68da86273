"""Algorithm 1: its steps, its published variants, and a closed form."""

from dataclasses import dataclass, field

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from confide.bootstrap import (
    Bootstrap,
    BootstrappedEnsemble,
    Keys,
    bootstrapped_ensemble,
    simulated_targets,
    train_ensemble,
)
from confide.learners import Learner, Likelihood, Network, NetworkEnsemble, Normal, TrainingData
from confide.uncertainty import classical_variance

KEYS = Keys.from_key(jax.random.key(3), 8)
THREE = Keys.from_key(jax.random.key(3), 3)


@dataclass
class RecordingLearner(Learner):
    """A learner that only remembers: its state is the number of epochs it was trained for."""

    calls: list = field(default_factory=list)
    plans: list = field(default_factory=list)
    likelihood: Likelihood = field(default_factory=Normal)

    def init(self, keys, data):
        return {"epochs": np.zeros(len(keys)), "optimiser": np.full(len(keys), -1.0)}

    def train(self, keys, state, data, targets, plan, *, progress=None):
        start, optimiser = state["epochs"][0], state["optimiser"][0]
        self.calls.append((start, optimiser, plan.epochs, targets, keys))
        self.plans.append(plan)
        trained = state["epochs"] + plan.epochs
        return {"epochs": trained, "optimiser": trained.copy()}

    def predict(self, state, X):
        n_members = len(state["epochs"])
        mean = 10.0 + np.arange(n_members)[:, None] + np.zeros((n_members, len(X)))
        return np.stack([mean, np.full_like(mean, 4.0)], axis=-1)

    def with_fresh_optimiser(self, state, data):
        return {**state, "optimiser": np.full(len(state["epochs"]), -1.0)}


class StartRecorder(RecordingLearner):
    """Remembers which member each training starts from."""

    def __init__(self):
        super().__init__()
        self.starts = []

    def init(self, keys, data):
        return {**super().init(keys, data), "member": np.arange(len(keys))}

    def train(self, keys, state, data, targets, plan, *, progress=None):
        self.starts.append(state["member"].tolist())
        trained = super().train(keys, state, data, targets, plan)
        return {**trained, "member": state["member"]}


def recorded(**settings):
    learner = RecordingLearner()
    X, y = np.zeros((4000, 1), np.float32), np.zeros((3, 4000), np.float32)
    data = TrainingData.from_rows(X)
    bootstrap = Bootstrap(epochs=80, retrain_fraction=0.3, **settings)
    return learner, bootstrapped_ensemble(THREE, learner, data, y, bootstrap)


def test_snapshot_is_taken_after_the_rounded_share_of_epochs():
    assert Bootstrap(epochs=80, retrain_fraction=0.3).snapshot_epoch == 56
    assert Bootstrap(epochs=80, retrain_fraction=0.3).repeated_epochs == 24
    assert Bootstrap(epochs=10, retrain_fraction=1.0).snapshot_epoch == 0


def test_last_epochs_are_repeated_from_the_snapshot():
    learner, _ = recorded()
    assert [(start, epochs) for start, _, epochs, *_ in learner.calls] == [
        (0, 56),
        (56, 24),
        (56, 24),
    ]


def test_every_stretch_is_told_the_plan():
    learner, _ = recorded()
    assert learner.plans == [(80, 0, 56), (80, 56, 24), (80, 56, 24)]


def test_optimiser_is_restored_by_default_and_fresh_as_published():
    restored, _ = recorded()
    fresh, _ = recorded(optimiser="fresh")
    assert restored.calls[-1][1] == 56
    assert fresh.calls[-1][1] == -1


def test_targets_keep_their_scale_by_default():
    learner, ensemble = recorded()
    targets = learner.calls[-1][3]
    # Mean 10 + i and variance 4 by construction; 4 standard errors of 4000 draws.
    np.testing.assert_allclose(targets.mean(axis=1), [10, 11, 12], atol=4 * 2 / np.sqrt(4000))
    np.testing.assert_allclose(targets.var(axis=1), 4.0, rtol=4 * np.sqrt(2 / 4000))
    np.testing.assert_array_equal(ensemble.location, 0)
    np.testing.assert_array_equal(ensemble.scale, 1)


def test_restandardised_targets_are_mapped_back():
    plain, _ = recorded()
    learner, ensemble = recorded(targets="restandardised")
    targets = learner.calls[-1][3]
    np.testing.assert_allclose(targets.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(targets.std(axis=1), 1, rtol=1e-6)
    back = ensemble.location[:, None] + ensemble.scale[:, None] * targets
    np.testing.assert_allclose(back, plain.calls[-1][3], rtol=1e-5)


def test_every_member_is_retrained_as_often_as_asked():
    learner, ensemble = recorded(n_retrains=4)
    assert learner.calls[-1][3].shape == (12, 4000)
    assert len(ensemble.retrained["epochs"]) == 12


def test_retraining_b_of_member_i_starts_from_member_i():
    # The linear learner forgets its start, so only this pins the order to that of the targets.
    learner = StartRecorder()
    X, y = np.zeros((4, 1), np.float32), np.zeros((3, 4), np.float32)
    bootstrap = Bootstrap(epochs=10, retrain_fraction=0.5, n_retrains=2)
    bootstrapped_ensemble(THREE, learner, TrainingData.from_rows(X), y, bootstrap)
    assert learner.starts[-1] == [0, 1, 2, 0, 1, 2]


def test_every_retraining_of_every_member_has_its_own_key():
    learner, _ = recorded(n_retrains=4)
    keys = learner.calls[-1][4]
    assert len(np.unique(keys, axis=0)) == 12
    once, _ = recorded()
    np.testing.assert_array_equal(once.calls[-1][4], keys[:3])


def test_a_part_of_an_ensemble_keeps_each_members_retrainings():
    members, retrained = np.arange(6), np.arange(12)  # b * M + i, with M = 6 and B = 2
    whole = BootstrappedEnsemble(
        {"id": members}, {"id": retrained}, retrained.astype(float), 1.0 + retrained
    )
    part = whole.part(RecordingLearner(), slice(2, 4), 6)
    assert part.members["id"].tolist() == [2, 3]
    assert part.retrained["id"].tolist() == [2, 3, 8, 9]
    assert part.location.tolist() == [2, 3, 8, 9]
    assert part.scale.tolist() == [3, 4, 9, 10]


def test_keys_of_several_ensembles_are_those_of_each():
    first, second = (Keys.from_key(jax.random.key(seed), 3) for seed in (3, 4))
    both = Keys.from_keys([jax.random.key(3), jax.random.key(4)], 3)
    for purpose, of_first, of_second in zip(both, first, second, strict=True):
        np.testing.assert_array_equal(purpose, np.concatenate([of_first, of_second]))


def test_simulated_targets_depend_on_member_and_retraining_alone():
    outputs = np.stack([np.zeros((3, 50), np.float32), np.ones((3, 50), np.float32)], axis=-1)
    many = simulated_targets(THREE.simulation, Normal(), outputs, 2).reshape(2, 3, 50)
    few = simulated_targets(THREE.simulation[:2], Normal(), outputs[:2], 1)
    np.testing.assert_array_equal(many[0, :2], few)
    flat = many.reshape(6, 50)
    correlation = np.corrcoef(flat) - np.eye(6)
    assert np.abs(correlation).max() < 5 / np.sqrt(50)


class Linear(Network):
    """A one-layer linear network: all of Algorithm 1 is then in closed form."""

    def init(self, key, n_features):
        return {"weight": jnp.zeros(n_features), "bias": jnp.zeros(1)}

    def raw(self, module, X, key):
        return (module["weight"] @ X + module["bias"])[None]


class KnownNoise(Likelihood):
    """Least squares, with noise of known variance."""

    n_outputs = 2
    noise_variance: float = eqx.field(static=True)

    def loss(self, raw, y, weight, xp=jnp):
        return jnp.sum(weight * (y - raw[0]) ** 2) / jnp.sum(weight > 0)

    def outputs(self, raw, xp=jnp):
        return raw[0], jnp.full_like(raw[0], self.noise_variance)


@pytest.fixture(scope="module")
def linear():
    """Full-batch gradient descent to convergence: every state is the least-squares solution."""
    generator = np.random.default_rng(5)
    n_rows, noise_variance = 60, 0.49
    X = generator.normal(size=(n_rows, 3)).astype(np.float32)
    y = X @ np.array([1.0, -2.0, 0.5]) + np.sqrt(noise_variance) * generator.normal(size=n_rows)
    learner = NetworkEnsemble(
        Linear(), KnownNoise(noise_variance), batch_size=64, optimiser=optax.sgd(0.2),
        members_per_block=8,
    )  # fmt: skip
    bootstrap = Bootstrap(epochs=300, retrain_fraction=0.5, n_retrains=50)
    data = TrainingData.from_rows(X)
    y = y.astype(np.float32)
    ensemble = bootstrapped_ensemble(KEYS, learner, data, np.tile(y, (8, 1)), bootstrap)
    return learner, ensemble, X, y, noise_variance


def design(X):
    return np.column_stack([X, np.ones(len(X))]).astype(np.float64)


def test_linear_members_are_the_least_squares_fit(linear):
    learner, ensemble, X, y, _ = linear
    coefficients = np.linalg.lstsq(design(X), y, rcond=None)[0]
    mean = learner.predict(ensemble.members, X)[..., 0]
    np.testing.assert_allclose(mean, np.tile(design(X) @ coefficients, (8, 1)), atol=1e-4)


def test_classical_variance_of_a_linear_learner_has_its_closed_form(linear):
    """Var f(x) = sigma^2 x' (X'X)^-1 x; M * B squared shifts: relative error sqrt(2 / MB)."""
    learner, ensemble, X, _, noise_variance = linear
    points = np.random.default_rng(6).normal(size=(5, 3)).astype(np.float32)
    inverse = np.linalg.inv(design(X).T @ design(X))
    expected = noise_variance * np.einsum("ij,jk,ik->i", design(points), inverse, design(points))
    members = learner.predict(ensemble.members, points)[..., 0]
    retrained = learner.predict(ensemble.retrained, points)[..., 0]
    estimated = classical_variance(members, retrained.reshape(50, 8, 5))
    np.testing.assert_allclose(estimated, expected, rtol=4 * np.sqrt(2 / 400))


def test_shifts_of_a_linear_learner_are_unbiased(linear):
    learner, ensemble, X, _, _ = linear
    members = learner.predict(ensemble.members, X[:5])[..., 0]
    retrained = learner.predict(ensemble.retrained, X[:5])[..., 0]
    shifts = (retrained.reshape(50, 8, 5) - members).reshape(400, 5)
    assert np.all(np.abs(shifts.mean(axis=0)) < 4 * shifts.std(axis=0) / np.sqrt(400))


def test_first_retrainings_do_not_depend_on_how_many_follow(linear):
    learner, ensemble, X, y, _ = linear
    data, y = TrainingData.from_rows(X), np.tile(y, (8, 1))
    once = bootstrapped_ensemble(
        KEYS, learner, data, y, Bootstrap(epochs=300, retrain_fraction=0.5)
    )
    np.testing.assert_array_equal(once.retrained.parameters, ensemble.retrained.parameters[:8])


def test_members_are_those_of_a_deep_ensemble(linear):
    learner, ensemble, X, y, _ = linear
    plain = train_ensemble(KEYS, learner, TrainingData.from_rows(X), np.tile(y, (8, 1)), 300)
    np.testing.assert_array_equal(plain.parameters, ensemble.members.parameters)
