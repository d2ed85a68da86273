"""A learner that is spread: its members have the numbers of home, to the last bit."""

from dataclasses import dataclass, field

import jax
import numpy as np
import pytest
from support.aliens import Fake

from confide.bootstrap import Bootstrap, Keys, bootstrapped_ensemble, train_ensemble
from confide.engines import InProcess
from confide.learners import TrainingData, TrainingDivergedError, networks, spread
from confide.learners.protocol import Plan
from confide.learners.spread import Spread
from confide.randomness import key_from


@dataclass
class Elsewhere:
    """An engine that calls here, and remembers how it was asked."""

    sizes: list = field(default_factory=list)

    def connected(self): ...

    def map(self, function, items, common=(), *, memory=0.0):
        assert memory > 0
        for members in items:
            self.sizes.append(len(members.keys))
            yield function(members, *common)

    def run(self, pieces, store, observer): ...


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 2))
    return TrainingData.from_rows(X), generator.normal(size=(5, 40)).astype(np.float32)


def ensemble(learner, data, targets):
    keys = Keys.from_key(key_from(0), len(targets))
    return bootstrapped_ensemble(keys, learner, data, targets, Bootstrap(4, 0.5, n_retrains=2))


def equal(a, b):
    return all(map(np.array_equal, jax.tree.leaves(a), jax.tree.leaves(b)))


@pytest.mark.slow
def test_members_are_cut_at_blocks_and_have_the_numbers_of_home(data):
    learner, engine = networks(2, 5, hidden_layer_sizes=(4,)), Elsewhere()
    expected, found = (ensemble(one, *data) for one in (learner, Spread(learner, engine)))
    assert equal(expected.members, found.members)
    assert equal(expected.retrained, found.retrained)
    assert learner.members_per_piece == 3
    assert engine.sizes == [3, 2, 3, 2, 3, 3, 3, 1]  # to the snapshot, from it, and retrained


def test_rows_that_members_see_go_with_them(data):
    rows, targets = data
    seen = np.random.default_rng(1).integers(0, 40, size=(5, 30))
    rows, targets = rows.seen_in_part(seen), targets[:, :30]
    learner, keys = networks(2, 5, hidden_layer_sizes=(4,)), Keys.from_key(key_from(0), 5)
    expected, found = (
        train_ensemble(keys, one, rows, targets, 3)
        for one in (learner, Spread(learner, Elsewhere()))
    )
    assert equal(expected, found)


def test_a_learner_that_does_not_say_how_it_is_cut_stays_here(data):
    engine = Elsewhere()
    train_ensemble(Keys.from_key(key_from(0), 5), Spread(Fake(), engine), *data, 2)
    assert engine.sizes == []


def test_states_of_dictionaries_are_joined():
    states = [{"slopes": np.ones((2, 3))}, {"slopes": np.zeros((1, 3))}]
    assert Fake().join(states)["slopes"].tolist() == [[1] * 3, [1] * 3, [0] * 3]


def test_a_member_that_diverges_is_named_by_its_number_in_all(data):
    rows, targets = data
    targets = targets.copy()
    targets[4] = np.nan
    learner = Spread(networks(2, 5, hidden_layer_sizes=(4,)), Elsewhere())
    with pytest.raises(TrainingDivergedError) as caught:
        ensemble(learner, rows, targets)
    assert caught.value.member == 4


def test_all_but_training_is_the_learners_own(data):
    learner = networks(2, 5, network="tabular", hidden_layer_sizes=(4,))
    away = spread(learner, Elsewhere())
    assert away.at_home is learner
    assert away.for_many().at_home == learner.for_many()
    assert away.slower().at_home == learner.slower()
    assert [one.at_home for one, _ in away.strengths] == [one for one, _ in learner.strengths]
    same = ["likelihood", "needs_total", "is_robust", "sees_parts", "chosen", "members_per_piece"]
    for name in same:
        assert getattr(away, name) == getattr(learner, name)
    assert away.steps_per_epoch(100) == learner.steps_per_epoch(100)


def test_this_process_needs_no_pieces():
    learner = Fake()
    assert spread(learner, InProcess()) is learner


def test_progress_counts_all_member_epochs(data):
    rows, targets = data
    learner, done = Spread(networks(2, 5, hidden_layer_sizes=(4,)), Elsewhere()), []
    keys = Keys.from_key(key_from(0), 5)
    state = learner.init(keys.initialisation, rows)
    learner.train(keys.training, state, rows, targets, Plan(3, 0, 3), progress=done.append)
    assert done == [9, 6]
