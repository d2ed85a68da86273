"""PyTorch networks: side by side against one by one, states as values, chance, messages, files."""

import functools
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import confide
from confide.learners import Normal, Plan, SquaredError, TrainingData, TrainingDivergedError
from confide.learners.networks import networks
from confide.randomness import key_from, member_keys

torch = pytest.importorskip("torch", reason="needs the extra confide[torch]")

from torch import nn  # noqa: E402
from torch.optim import lr_scheduler  # noqa: E402

from confide.learners.torch_ensemble import batches  # noqa: E402
from confide.learners.torch_training import vmapped, with_leading_axis  # noqa: E402

KEYS = member_keys(key_from(0), 20)
N_ROWS, N_FEATURES = 50, 3
# Twelve steps of size 1e-2: shapes round differently by some float32 ulps of the weights.
ROUNDING = 2e-5


def perceptron(n_features):
    return nn.Sequential(nn.Linear(n_features, 8), nn.Tanh(), nn.Linear(8, 2))


def one_output(n_features):
    return nn.Sequential(nn.Linear(n_features, 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0))


def normalised(n_features):
    return nn.Sequential(
        nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2, bias=False)
    )


def thinned(n_features):
    return nn.Sequential(nn.Linear(n_features, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))


class Residual(nn.Module):
    """A module that needs `vmap`: a buffer, shared and frozen parts, a sum over features."""

    def __init__(self, n_features):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(4))
        self.first = nn.Linear(n_features + 4, 4)
        self.shared = nn.Linear(4, 4)
        self.also_shared = self.shared
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.shared.weight
        self.frozen = nn.Linear(4, 4).requires_grad_(requires_grad=False)
        self.last = nn.Linear(4, 2)

    def forward(self, X):
        waves = torch.sin(X.sum(dim=1, keepdim=True) * self.frequencies)
        hidden = torch.tanh(self.first(torch.cat([X, waves], dim=1)))
        hidden = hidden + self.also_shared(self.shared(hidden)) + self.tied(hidden)
        return self.last(hidden + self.frozen(hidden))


MODULES = [perceptron, one_output, Residual, normalised, thinned]


def one_cycle(optimiser, total_steps):
    return lr_scheduler.OneCycleLR(optimiser, max_lr=0.05, total_steps=total_steps)


def cosine(optimiser, total_steps):
    return lr_scheduler.CosineAnnealingLR(optimiser, total_steps)


def learner(make=perceptron, **changes):
    return networks(N_FEATURES, 5, network=make, **{"batch_size": 16, **changes})


def one_by_one(make=perceptron, **changes):
    ours = learner(make, **changes)
    ours.__dict__["way"] = None
    return ours


def rows(n_rows=N_ROWS):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    return X, (np.sin(X[:, 0]) + 0.1 * generator.normal(size=n_rows)).astype(np.float32)


def own_targets(n_members, n_rows=N_ROWS):
    """Members have targets of their own, so that mixing them up would show."""
    return rows(n_rows)[1] + 0.1 * np.arange(n_members, dtype=np.float32)[:, None]


def trained(ours, stretches=(3,), members=range(3), data=None):
    """The members that `members` counts, trained for some stretches."""
    members = np.array(members)
    data = TrainingData.from_rows(rows()[0]) if data is None else data
    targets, done = own_targets(20, data.n_rows)[members], 0
    state = ours.init(KEYS[members], data)
    for epochs in stretches:
        plan = Plan(total=sum(stretches), done=done, epochs=epochs)
        state = ours.train(KEYS[members], state, data, targets, plan)
        done += epochs
    return state


def vectors(state):
    return np.stack([member.vector.numpy() for member in state])


def assert_same_bits(left, right):
    """Of all that members hold, optimisers and schedulers too."""
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert_same_tree(one._asdict(), other._asdict())


def assert_same_tree(left, right):
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            assert_same_tree(left[name], right[name])
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same_tree(one, other)
    elif isinstance(left, torch.Tensor):
        np.testing.assert_array_equal(left.numpy(), right.numpy())
    else:
        assert left == right


# How members are trained


@pytest.mark.parametrize(
    ("make", "way"),
    [
        (perceptron, with_leading_axis),
        (one_output, vmapped),
        (Residual, vmapped),
        (normalised, None),
        (thinned, None),
    ],
)
def test_members_are_side_by_side_where_the_module_allows(make, way):
    assert learner(make).way is way


class Skipping(nn.Module):
    """Linear layers, and a mean over the last axis, the first or the second."""

    def __init__(self, n_features, dim):
        super().__init__()
        self.first, self.last, self.dim = nn.Linear(n_features, 8), nn.Linear(8, 2), dim

    def forward(self, X):
        dim = self.dim if self.training else -1  # predictions are of rows alone
        mean = X.mean(dim=dim, keepdim=True).sum(dim=-1, keepdim=True)
        return self.last(torch.relu(self.first(mean * X)))


@pytest.mark.parametrize(("dim", "way"), [(-1, with_leading_axis), (0, vmapped), (1, vmapped)])
@pytest.mark.parametrize("batch_size", [2, 16])
def test_a_module_that_minds_a_leading_axis_is_vmapped(dim, way, batch_size):
    changes = {"make": functools.partial(Skipping, dim=dim), "batch_size": batch_size}
    assert learner(**changes).way is way
    together, alone = trained(learner(**changes)), trained(one_by_one(**changes))
    np.testing.assert_allclose(vectors(together), vectors(alone), atol=5 * ROUNDING)


def test_constants_that_members_share_are_not_taken_for_outputs():
    """With two members, a constant for each has the shape of a constant for each output."""

    class Scaled(nn.Module):
        def __init__(self, n_features):
            super().__init__()
            self.layer = nn.Linear(n_features, 2)
            self.register_buffer("scale", torch.tensor(0.5))

        def forward(self, X):
            return self.scale * self.layer(X)

    assert len(trained(learner(Scaled), (1,))) == 3


def test_a_module_that_is_hardly_ever_random_trains_one_by_one():
    class Rarely(nn.Module):
        def __init__(self, n_features):
            super().__init__()
            self.layer = nn.Linear(n_features, 2)

        def forward(self, X):
            return self.layer(nn.functional.dropout(X, 1e-6, self.training))

    assert learner(Rarely).way is None


def test_training_equals_a_plain_loop():
    """Against PyTorch as one would write it: same order, batches, loss and Adam."""
    ours, member, epochs = learner(), 2, 3
    data, targets = TrainingData.from_rows(rows()[0]), own_targets(3)
    state = ours.init(KEYS[:3], data)
    network = perceptron(N_FEATURES)
    nn.utils.vector_to_parameters(state[member].vector.clone(), network.parameters())
    adam = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7)
    X, y = torch.from_numpy(data.inputs), torch.from_numpy(targets[member])
    for epoch in range(epochs):
        order = np.random.default_rng([*KEYS[member].tolist(), 1, epoch]).permutation(N_ROWS)
        for batch in torch.split(torch.from_numpy(order), 16):
            mean, log_std = network(X[batch]).T
            std = torch.exp(log_std) + 1e-3
            loss = torch.mean(torch.log(std) + 0.5 * ((y[batch] - mean) / std) ** 2)
            adam.zero_grad()
            loss.backward()
            adam.step()
    plan = Plan(epochs, 0, epochs)
    found = ours.train(KEYS[:3], state, data, targets, plan)[member].vector
    expected = nn.utils.parameters_to_vector(network.parameters()).detach()
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=2e-6)


@pytest.mark.parametrize("make", [perceptron, one_output, Residual])
def test_side_by_side_equals_one_by_one(make):
    assert learner(make).way
    together, alone = trained(learner(make)), trained(one_by_one(make))
    np.testing.assert_allclose(vectors(together), vectors(alone), atol=ROUNDING)


ELEMENTWISE = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Adamax"]


@pytest.mark.parametrize("name", [*ELEMENTWISE, "ASGD", "Rprop"])
def test_any_elementwise_optimiser_is_the_same_side_by_side(name):
    optimiser = functools.partial(getattr(torch.optim, name), lr=0.01)
    together = learner(optimiser=optimiser)
    assert together.way
    in_stretches = trained(together, (2, 1))
    alone = vectors(trained(one_by_one(optimiser=optimiser)))
    # Rprop steps by the sign of a gradient: next to zero, rounding decides it.
    tolerance = 0.02 if name == "Rprop" else 20 * ROUNDING
    np.testing.assert_allclose(vectors(in_stretches), alone, atol=tolerance)
    assert_same_bits(in_stretches, trained(together))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_a_fused_optimiser_is_the_same_as_the_plain_one(name):
    """Fused kernels ignore strides: members whose parameters are slices would train wrongly."""
    plain, fused = (
        functools.partial(getattr(torch.optim, name), lr=0.01, fused=is_fused)
        for is_fused in (False, True)
    )
    assert learner(optimiser=plain).way
    found = vectors(trained(learner(optimiser=fused)))
    np.testing.assert_allclose(
        found, vectors(trained(learner(optimiser=plain))), atol=20 * ROUNDING
    )


def test_an_optimiser_sees_the_parameters_in_their_own_shapes():
    """Decay for matrices alone, by their number of axes, as users write it."""

    def decay_matrices(parameters):
        parameters = list(parameters)
        matrices, others = ([p for p in parameters if (p.ndim > 1) is big] for big in (True, False))
        groups = [{"params": matrices, "weight_decay": 0.5}, {"params": others}]
        return torch.optim.SGD(groups, lr=0.1, momentum=0.9)

    together, alone = learner(optimiser=decay_matrices), one_by_one(optimiser=decay_matrices)
    assert together.way
    np.testing.assert_allclose(vectors(trained(together)), vectors(trained(alone)), atol=ROUNDING)


def test_an_optimiser_that_asks_for_the_loss_again_trains_one_by_one():
    lbfgs = functools.partial(torch.optim.LBFGS, lr=0.1, max_iter=4)
    ours = learner(optimiser=lbfgs, batch_size=N_ROWS)  # it diverges on batches that change
    assert ours.way is None
    assert_same_bits(trained(ours, (1, 2)), trained(ours))


def test_parameters_without_axes_train_with_any_optimiser():
    class Scaled(nn.Module):
        def __init__(self, n_features):
            super().__init__()
            self.inner, self.scale = perceptron(n_features), nn.Parameter(torch.ones(()))

        def forward(self, X):
            return self.scale * self.inner(X)

    assert learner(Scaled).way
    adam = functools.partial(torch.optim.Adam, lr=1e-3, eps=1e-7)
    ours = learner(Scaled, optimiser=adam)
    assert ours.way is None
    np.testing.assert_allclose(
        vectors(trained(ours)), vectors(trained(learner(Scaled))), atol=ROUNDING
    )


def test_a_module_that_vmap_gets_wrong_trains_one_by_one():
    class Clipped(nn.Module):
        def __init__(self, n_features):
            super().__init__()
            self.layer = nn.Linear(n_features, 2)

        def forward(self, X):
            twice = self.training and X.sum().item() <= 0
            return 2 * self.layer(X) if twice else self.layer(X)

    assert learner(Clipped).way is None
    assert_same_bits(trained(learner(Clipped), (1, 2)), trained(learner(Clipped)))


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize("schedule", [1e-3, one_cycle, cosine])
def test_stretches_equal_one_go(make, schedule):
    ours = learner(make, learning_rate=schedule)
    assert_same_bits(trained(ours, (3, 1, 2)), trained(ours, (6,)))


def test_a_schedule_knows_all_steps_and_moves_at_each():
    seen = []

    def falling(optimiser, total_steps):
        seen.append(total_steps)
        return lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / total_steps)

    state = trained(learner(learning_rate=falling), (2, 3))
    assert set(seen[1:]) == {5 * 4}  # five epochs of four batches; the first was the trial
    assert state[0].optimiser["param_groups"][0]["lr"] == pytest.approx(0, abs=1e-12)
    half_way = trained(learner(learning_rate=lambda o, n: falling(o, 2 * n)), (5,))
    assert half_way[0].optimiser["param_groups"][0]["lr"] == pytest.approx(0.5e-3)


def test_a_schedule_can_go_with_an_optimiser_of_ones_own():
    sgd = functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9)
    state = trained(learner(optimiser=sgd, learning_rate=cosine), (2, 2))
    assert state[0].optimiser["param_groups"][0]["lr"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("make", MODULES)
def test_a_member_does_not_depend_on_those_beside_it(make):
    ours = learner(make)
    many = trained(ours, members=range(18))  # more than one block
    for few in ([4], [17], [2, 5], [9, 0, 3]):
        assert_same_bits(trained(ours, members=few), ours.take(many, np.array(few)))


def test_a_member_of_one_feature_does_not_depend_on_those_beside_it():
    """But for rounding: the product of a matrix and one column depends on where its memory lies."""
    data = TrainingData.from_rows(rows()[0][:, :1])

    def wide(n_features):
        return nn.Sequential(nn.Linear(n_features, 50), nn.Tanh(), nn.Linear(50, 2))

    ours = networks(1, 5, network=wide, batch_size=16)
    alone, beside = trained(ours, (40,), [1], data), trained(ours, (40,), range(3), data)[1:2]
    # One rounding is 1e-7 of a weight of order one; 40 short epochs amplify it little.
    np.testing.assert_allclose(vectors(alone)[0], vectors(beside)[0], rtol=0, atol=1e-5)


def test_members_differ():
    first, second, _ = vectors(trained(learner(), (1,)))
    assert np.abs(first - second).max() > 0.1


def test_threads_are_left_as_they_were():
    before = torch.get_num_threads()
    trained(learner(n_jobs=before + 1), (1,))
    assert torch.get_num_threads() == before


def test_a_training_that_fails_leaves_threads_as_they_were():
    before = torch.get_num_threads()
    with pytest.raises(TrainingDivergedError):
        trained(learner(learning_rate=1e30, n_jobs=before + 1))
    assert torch.get_num_threads() == before


# Batches


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(32, [16, 16]), (33, [16, 17]), (34, [16, 16, 2]), (1, [1]), (5, [5])]
)
def test_a_single_row_that_is_left_over_joins_the_batch_before(n_rows, sizes):
    found = batches(n_rows, 16)
    assert [b.stop - b.start for b in found] == sizes
    assert learner().steps_per_epoch(n_rows) == len(sizes)


def test_batches_of_one_row_stay():
    assert len(batches(5, 1)) == 5


def test_batch_norm_trains_where_one_row_is_left_over():
    data = TrainingData.from_rows(rows(33)[0])
    state = trained(learner(normalised), (2,), data=data)
    assert state[0].fixed["1.num_batches_tracked"] == 4


# States are values


@pytest.mark.parametrize("make", [Residual, normalised, thinned])
@pytest.mark.parametrize("optimiser", [None, torch.optim.Adagrad])
def test_training_leaves_its_state_unchanged(make, optimiser):
    ours, data = learner(make, optimiser=optimiser), TrainingData.from_rows(rows()[0])
    snapshot, again = trained(ours, (2,)), trained(ours, (2,))
    ours.train(KEYS[:3], snapshot, data, own_targets(3), Plan(5, 2, 3))
    ours.predict(snapshot, rows()[0])
    assert_same_bits(snapshot, again)


@pytest.mark.parametrize("make", [perceptron, normalised])
def test_a_member_taken_twice_trains_twice(make):
    ours, data = learner(make), TrainingData.from_rows(rows()[0])
    snapshot = trained(ours, (2,))
    twice = ours.take(snapshot, np.array([1, 1, 0]))
    after = ours.train(KEYS[[1, 1, 0]], twice, data, own_targets(3)[[1, 1, 0]], Plan(3, 2, 1))
    expected = ours.train(KEYS[:3], snapshot, data, own_targets(3), Plan(3, 2, 1))
    assert_same_bits(after, ours.take(expected, np.array([1, 1, 0])))


def test_a_fresh_optimiser_keeps_weights_and_learning_rate():
    ours, data = learner(learning_rate=cosine), TrainingData.from_rows(rows()[0])
    start = ours.init(KEYS[:3], data)
    half = ours.train(KEYS[:3], start, data, own_targets(3), Plan(4, 0, 2))
    fresh = ours.with_fresh_optimiser(half, data)
    assert half[0].optimiser["state"]
    assert not fresh[0].optimiser["state"]
    rate = fresh[0].optimiser["param_groups"][0]["lr"]
    assert rate == half[0].optimiser["param_groups"][0]["lr"] < 1e-3
    np.testing.assert_array_equal(vectors(fresh), vectors(half))
    ours.train(KEYS[:3], fresh, data, own_targets(3), Plan(4, 2, 2))


# Arrays of model files


@pytest.mark.parametrize("make", MODULES)
def test_arrays_make_the_same_members_again(make):
    ours = learner(make)
    state = trained(ours)
    arrays = ours.to_arrays(state)
    again = ours.from_arrays(arrays, 3, N_FEATURES)
    np.testing.assert_array_equal(vectors(again), vectors(state))
    X = rows()[0]
    np.testing.assert_array_equal(ours.predict(again, X), ours.predict(state, X))
    trained_on = ours.train(
        KEYS[:3], again, TrainingData.from_rows(X), own_targets(3), Plan(1, 0, 1)
    )
    assert len(trained_on) == 3


def test_arrays_have_the_modules_names():
    ours = learner(normalised)
    arrays = ours.to_arrays(trained(ours))
    assert arrays["parameters.0.weight"].shape == (3, 8, N_FEATURES)
    assert arrays["buffers.1.running_mean"].shape == (3, 8)
    assert arrays["buffers.1.num_batches_tracked"].tolist() == [12, 12, 12]


DAMAGE = {
    "missing": (lambda a: a.pop("parameters.0.weight"), "'parameters.0.weight' is missing"),
    "buffer": (lambda a: a.pop("buffers.1.running_var"), "'buffers.1.running_var' is missing"),
    "unknown": (lambda a: a.update(other=np.zeros(3)), "has no part 'other'"),
    "shape": (
        lambda a: a.update({"parameters.0.bias": np.zeros((3, 9), np.float32)}),
        r"'parameters.0.bias' must be float32 of shape \(3, 8\)",
    ),
    "type": (
        lambda a: a.update({"buffers.1.num_batches_tracked": np.zeros(3, np.float32)}),
        "'buffers.1.num_batches_tracked' must be int64",
    ),
    "infinite": (lambda a: a["parameters.0.bias"].fill(np.inf), "not finite"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_arrays_are_refused(damage, message):
    ours = learner(normalised)
    arrays = ours.to_arrays(trained(ours, (1,)))
    damage(arrays)
    with pytest.raises(ValueError, match=message):
        ours.from_arrays(arrays, 3, N_FEATURES)


# Predictions


@pytest.mark.parametrize("make", [normalised, thinned])
def test_predictions_are_the_modules_own_in_evaluation_mode(make):
    ours = learner(make)
    state = trained(ours)
    module = make(N_FEATURES).eval()
    arrays = {name.partition(".")[2]: a[1] for name, a in ours.to_arrays(state).items()}
    module.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    X = rows(1100)[0]  # more than one block of rows
    mean, log_std = module(torch.from_numpy(X)).detach().numpy().T
    found = ours.predict(state, X)[1]
    np.testing.assert_allclose(found[:, 0], mean, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], (np.exp(log_std) + 1e-3) ** 2, rtol=1e-4)


def test_a_row_does_not_depend_on_its_neighbours():
    ours, X = learner(), rows(1100)[0]
    state = trained(ours)
    np.testing.assert_array_equal(ours.predict(state, X[7:9]), ours.predict(state, X)[:, 7:9])


@pytest.mark.parametrize(
    ("make", "likelihood", "n_outputs"), [(perceptron, Normal, 2), (one_output, SquaredError, 1)]
)
def test_the_number_of_outputs_says_what_they_mean(make, likelihood, n_outputs):
    ours = learner(make)
    assert isinstance(ours.likelihood, likelihood)
    assert ours.predict(trained(ours, (1,)), rows()[0]).shape == (3, N_ROWS, n_outputs)


# Chance


@pytest.mark.parametrize("make", [perceptron, thinned])
def test_the_global_generator_is_left_alone(make):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    ours = learner(make)
    first = vectors(trained(ours, (1,)))
    assert torch.equal(torch.rand(2), expected)
    torch.manual_seed(4)
    np.testing.assert_array_equal(vectors(trained(ours, (1,))), first)


def test_dropout_differs_from_epoch_to_epoch_and_from_member_to_member():
    drawn = []

    class Watched(nn.Dropout):
        def forward(self, X):
            drawn.append(super().forward(torch.ones_like(X)).numpy().tobytes())
            return X

    def make(n_features):
        return nn.Sequential(nn.Linear(n_features, 64), Watched(0.5), nn.Linear(64, 2))

    ours = learner(make, batch_size=64)
    assert ours.way is None
    drawn.clear()
    trained(ours, (3,))
    assert len(set(drawn)) == len(drawn) == 9


def test_lazy_layers_start_from_the_members_key():
    def lazy(n_features):
        del n_features
        return nn.Sequential(nn.LazyLinear(8), nn.Tanh(), nn.LazyLinear(2))

    first, second, _ = vectors(trained(learner(lazy), (0,)))
    assert np.abs(first - second).max() > 0.1
    np.testing.assert_array_equal(first, vectors(trained(learner(lazy), (0,)))[0])


def test_a_pretrained_part_of_the_users_stays_as_it_is():
    part = nn.Linear(N_FEATURES, 8)
    before = part.weight.detach().clone()
    state = trained(learner(lambda _: nn.Sequential(part, nn.Tanh(), nn.Linear(8, 2))), (2,))
    assert torch.equal(part.weight, before)
    assert not np.allclose(vectors(state)[0][:24], before.flatten())


# Rows and weights


def test_a_bootstrap_sample_is_what_a_member_sees():
    X, _ = rows()
    drawn = np.random.default_rng(1).integers(N_ROWS, size=(3, N_ROWS))
    ours, targets = learner(batch_size=N_ROWS), own_targets(3)
    data = TrainingData.from_rows(X, member_rows=drawn)
    state = ours.init(KEYS[:3], data)
    found = ours.train(KEYS[:3], state, data, targets, Plan(5, 0, 5))
    for i in range(3):  # the same rows as a table of their own
        alone = TrainingData.from_rows(X[drawn[i]])
        expected = ours.train(
            KEYS[i : i + 1], state[i : i + 1], alone, targets[i : i + 1, drawn[i]], Plan(5, 0, 5)
        )
        np.testing.assert_allclose(found[i].vector, expected[0].vector, atol=ROUNDING)


def test_rows_beyond_those_to_train_on_are_not_seen():
    X, _ = rows()
    hidden = X.copy()
    hidden[40:] = 1e6
    fewer = [replace(TrainingData.from_rows(each), n_rows=40) for each in (X, hidden)]
    assert_same_bits(*(trained(learner(), data=data) for data in fewer))


@pytest.mark.parametrize("make", [perceptron, normalised])
def test_weights_reach_the_loss(make):
    """One step on all rows: a row of weight two pulls as two rows do."""
    X, _ = rows()
    weight = np.r_[np.full(25, 2.0), np.ones(25)]
    ours, sgd = learner(make, batch_size=100, optimiser=torch.optim.SGD), own_targets(3)
    plan = Plan(1, 0, 1)

    def step(data, targets):
        state = ours.init(KEYS[:3], data)
        return vectors(ours.train(KEYS[:3], state, data, targets, plan)) - vectors(state)

    weighted = step(TrainingData.from_rows(X, weight), sgd)
    equal = step(TrainingData.from_rows(X), sgd)
    assert np.abs(weighted - equal).max() > 1e-5
    scaled = step(TrainingData.from_rows(X, 3 * weight), sgd)
    np.testing.assert_allclose(weighted, scaled, atol=1e-7)


def test_the_weighted_loss_is_that_of_repeated_rows():
    X, _ = rows()
    weight = np.r_[np.full(25, 2.0), np.ones(25)]
    ours = learner(batch_size=100, optimiser=functools.partial(torch.optim.SGD, lr=1.0))
    targets, repeated = own_targets(3), np.r_[np.arange(25), np.arange(50)]
    data, twice = TrainingData.from_rows(X, weight), TrainingData.from_rows(X[repeated])
    state = ours.init(KEYS[:3], data)
    weighted = ours.train(KEYS[:3], state, data, targets, Plan(1, 0, 1))
    expected = ours.train(KEYS[:3], state, twice, targets[:, repeated], Plan(1, 0, 1))
    np.testing.assert_allclose(vectors(weighted), vectors(expected), atol=2e-6)


# Divergence and progress


@pytest.mark.parametrize("ours", [learner, one_by_one])
def test_a_loss_that_is_not_finite_names_member_and_step(ours):
    ours, data, targets = ours(), TrainingData.from_rows(rows()[0]), own_targets(3)
    targets[1, 7] = np.nan
    state = ours.init(KEYS[:3], data)
    with pytest.raises(TrainingDivergedError, match="member 1 was not at step") as caught:
        ours.train(KEYS[:3], state, data, targets, Plan(5, 2, 3))
    order = np.random.default_rng([*KEYS[1].tolist(), 1, 2]).permutation(N_ROWS)
    step = 2 * 4 + int(np.flatnonzero(order == 7)[0]) // 16
    assert (caught.value.member, caught.value.epoch, caught.value.step) == (1, 2, step)


def test_weights_that_are_not_finite_after_the_last_step_are_an_error():
    ours = learner(batch_size=64, optimiser=functools.partial(torch.optim.SGD, lr=np.inf))
    with pytest.raises(TrainingDivergedError) as caught:
        trained(ours, (1,))
    assert (caught.value.epoch, caught.value.step) == (0, 0)


@pytest.mark.parametrize("make", [perceptron, thinned])
def test_progress_counts_every_member_epoch(make):
    counted, ours = [], learner(make)
    data, keys = TrainingData.from_rows(rows()[0]), KEYS[:18]
    plan = Plan(2, 0, 2)
    ours.train(keys, ours.init(keys, data), data, own_targets(18), plan, progress=counted.append)
    assert sum(counted) == 36


def test_ctrl_c_ends_training():
    def stop(_):
        raise KeyboardInterrupt

    ours, data = learner(), TrainingData.from_rows(rows()[0])
    state = ours.init(KEYS[:3], data)
    with pytest.raises(KeyboardInterrupt):
        ours.train(KEYS[:3], state, data, own_targets(3), Plan(5, 0, 5), progress=stop)


# What is refused


class Branching(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.layer = nn.Linear(n_features, 2)

    def forward(self, X):
        return self.layer(X) if self.training else self.layer(X)[:, :1]


class AlwaysThinned(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.layer = nn.Linear(n_features, 2)

    def forward(self, X):
        return nn.functional.dropout(self.layer(X), 0.5)


class Shifted(AlwaysThinned):
    def __init__(self, n_features):
        super().__init__(n_features)
        self.shift = torch.tensor(np.random.default_rng().normal(size=2), dtype=torch.float32)

    def forward(self, X):
        return self.layer(X) + self.shift


def of_the_batch(n_features):
    norm = nn.BatchNorm1d(8, track_running_stats=False)
    return nn.Sequential(nn.Linear(n_features, 8), norm, nn.Linear(8, 2))


def half_a_buffer(n_features):
    module = nn.Linear(n_features, 2)
    module.register_buffer("scale", torch.ones(2, dtype=torch.bfloat16))
    return module


SAME = perceptron(N_FEATURES)
REFUSED = {
    "none": (lambda _: None, {}, TypeError, "returned None.*For JAX, write make"),
    "not a module": (lambda n: [n], {}, TypeError, "returned an object of type list"),
    "the same twice": (lambda _: SAME, {}, ValueError, "the same one twice"),
    "three outputs": (
        lambda n: nn.Linear(n, 3),
        {},
        ValueError,
        r"\(3, 3\) in training mode.*\(3,\), \(3, 1\) or \(3, 2\), got shape \(3, 3\)",
    ),
    "no batch": (
        lambda n: nn.Sequential(nn.Linear(n, 2), nn.Flatten(0)),
        {},
        ValueError,
        r"got shape \(6,\)",
    ),
    "a tuple": (
        lambda n: nn.LSTM(n, 2),
        {},
        ValueError,
        "got an object of type tuple. Give its last layer",
    ),
    "other outputs in evaluation": (Branching, {}, ValueError, "got 2 and 1"),
    "no parameters": (lambda _: nn.Flatten(0), {}, ValueError, "the module that it made has none"),
    "double": (lambda n: nn.Linear(n, 1).double(), {}, ValueError, "'weight' is torch.float64"),
    "random predictions": (AlwaysThinned, {}, ValueError, r"predictions are random\. Pass `self"),
    "predictions of batches": (
        of_the_batch,
        {},
        ValueError,
        r"depend on the other rows\. Let BatchNorm",
    ),
    "numbers of its own": (
        Shifted,
        {},
        ValueError,
        r"differ\. Keep its numbers as parameters or buffers",
    ),
    "a type that files lack": (half_a_buffer, {}, ValueError, "'scale' is torch.bfloat16"),
    "optimiser": (
        perceptron,
        {"optimiser": torch.optim.SGD(SAME.parameters(), lr=0.1)},
        TypeError,
        r"(?s)got SGD.*belongs to one network.*functools.partial",
    ),
    "a word": (perceptron, {"optimiser": "adam"}, TypeError, "got 'adam'. Pass for example"),
    "no optimiser": (
        perceptron,
        {"optimiser": lambda _: 3},
        TypeError,
        "got one that returned 3",
    ),
    "two rates": (
        perceptron,
        {"optimiser": torch.optim.SGD, "learning_rate": 0.1},
        ValueError,
        "`optimiser` was passed too",
    ),
    "rate": (perceptron, {"learning_rate": -1.0}, ValueError, "positive number, got -1.0"),
    "no scheduler": (
        perceptron,
        {"learning_rate": lambda _, n: n},
        TypeError,
        "yours returned 1000",
    ),
    "plateau": (
        perceptron,
        {"learning_rate": lambda o, _: lr_scheduler.ReduceLROnPlateau(o)},
        TypeError,
        "ReduceLROnPlateau, which waits for a score",
    ),
    "batch": (perceptron, {"batch_size": 0}, ValueError, "`batch_size` must be a whole number"),
    "unknown device": (
        perceptron,
        {"device": "abacus"},
        ValueError,
        "got 'abacus'. PyTorch says: ",
    ),
    "empty device": (perceptron, {"device": "meta"}, ValueError, "got 'meta'"),
    "no cuda": (perceptron, {"device": "cuda"}, ValueError, "got 'cuda'"),
}
if torch.cuda.is_available():
    del REFUSED["no cuda"]


@pytest.mark.parametrize(("make", "changes", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_trained_is_refused(make, changes, kind, message):
    with pytest.raises(kind, match=message):
        learner(make, **changes)


@pytest.mark.parametrize(
    ("make", "changes", "note"),
    [
        (
            lambda _: nn.Linear(7, 2),
            {},
            r"`network`, tried on a batch of shape \(3, 3\) in training",
        ),
        (normalised, {"batch_size": 1}, r"a batch of shape \(1, 3\) in training mode"),
        (perceptron, {"learning_rate": lr_scheduler.OneCycleLR}, "optimiser and 1000 steps"),
    ],
)
def test_an_error_of_the_users_code_says_what_was_tried(make, changes, note):
    with pytest.raises((RuntimeError, ValueError)) as caught:
        learner(make, **changes)
    assert any(re.search(note, each) for each in caught.value.__notes__)


@pytest.mark.slow
def test_without_torch_the_extra_is_named():
    script = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError('no torch', name='torch')\n"
        "sys.meta_path.insert(0, NoTorch)\n"
        "from confide.learners.networks import networks\n"
        "try: networks(3, 5, network=lambda n: None)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'confide[torch]'" in found.stdout


@pytest.mark.slow
def test_confide_does_not_import_torch_by_itself():
    script = "import sys, confide, confide.learners; print('torch' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


# Through the estimator

SMALL = {"n_members": 2, "max_epochs": 6, "random_state": 1}


@pytest.fixture(scope="module", params=[perceptron, one_output, normalised])
def make(request):
    return request.param


@pytest.fixture(scope="module")
def model(make, data):
    return confide.BootstrappedDeepEnsembleRegressor(network=make, **SMALL).fit(*data)


def test_an_estimator_has_both_intervals_and_the_split(model, data):
    X, _ = data
    _, confidence = model.predict_interval(X, kind="confidence")
    _, prediction = model.predict_interval(X, kind="prediction")
    assert np.all(np.diff(prediction) >= np.diff(confidence) * (1 - 1e-9))
    answer = model.get_prediction(X)
    for name in ("classical_variance", "optimisation_variance", "aleatoric_variance"):
        assert np.all(getattr(answer, name) >= 0)
        assert np.any(getattr(answer, name) > 0)


def test_a_saved_estimator_needs_its_network(model, make, data, tmp_path):
    model.save(tmp_path / "model")
    loaded = confide.load(tmp_path / "model", network=make)
    np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))
    with pytest.raises(confide.ModelFileError, match=r"load\(path, network="):
        confide.load(tmp_path / "model")


def test_a_file_with_another_network_is_refused(model, make, tmp_path):
    model.save(tmp_path / "model")
    other = thinned if make is not thinned else perceptron
    with pytest.raises(confide.ModelFileError, match="does not fit the network"):
        confide.load(tmp_path / "model", network=other)


def test_a_clone_fits_the_same_numbers(model, data):
    again = clone(model).fit(*data)
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def test_a_deep_ensemble_has_the_members_of_the_bootstrapped_one(model, make, data):
    plain = confide.DeepEnsembleRegressor(network=make, **SMALL).fit(*data)
    np.testing.assert_array_equal(plain.predict(data[0]), model.predict(data[0]))


def test_a_naive_bootstrap_trains_members_on_their_own_rows(data):
    model = confide.NaiveBootstrapRegressor(network=perceptron, **SMALL).fit(*data)
    assert np.isfinite(model.predict(data[0])).all()


def test_epochs_can_be_left_to_the_data_without_a_schedule(data):
    arguments = {**SMALL, "network": perceptron, "max_epochs": "auto"}
    estimator = confide.BootstrappedDeepEnsembleRegressor(**arguments, learning_rate=one_cycle)
    with pytest.raises(ValueError, match="a scheduler in `learning_rate` must know it"):
        estimator.fit(*data)
