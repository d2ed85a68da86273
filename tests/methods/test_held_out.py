"""Rows left out in turn: no row is predicted from itself, and one set of fits serves all."""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pytest

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.bootstrap import Keys
from confide.learners import (
    NetworkEnsemble,
    SquaredError,
    Strength,
    TrainingData,
    TrainingDivergedError,
    networks,
)
from confide.learners.tabular import TabularNetwork
from confide.methods.held_out import (
    N_FOLDS,
    N_MEMBERS,
    choice_epochs,
    choose_strength,
    ensemble_squares,
    folds,
    held_out_means,
)
from confide.randomness import key_from

X = np.random.default_rng(0).normal(size=(83, 2)).astype(np.float32)
Y = (X[:, 0] ** 2)[None]
KEYS = Keys.from_key(key_from(0), 1)
DATA = TrainingData.from_rows(X)


def network(dropout=0.0, **how):
    own = TabularNetwork.of((4,), dropout, smooth=False)
    return NetworkEnsemble(own, SquaredError(), learning_rate=0.01, batch_size=16, **how)


def test_every_row_is_left_out_once_and_equal_rows_together():
    repeated = np.concatenate([X, X[:20], X[:1]])
    fold_of = folds(repeated)
    assert np.array_equal(fold_of[:20], fold_of[83:103])
    assert fold_of[0] == fold_of[-1]
    assert set(fold_of) == set(range(N_FOLDS))
    assert np.bincount(folds(X)).tolist() == [17, 17, 17, 16, 16]


@pytest.mark.parametrize("n", [2, 3, 40])
def test_rows_that_are_all_the_same_are_left_out_in_turn(n):
    assert len(set(folds(np.zeros((n, 2), np.float32)))) == min(n, N_FOLDS)


@pytest.mark.slow
@pytest.mark.parametrize(("n_left_out", "without"), [(1, [0]), (2, [0, 4]), (9, [0, 4, 3, 2])])
def test_no_row_is_predicted_from_itself_or_its_fold(n_left_out, without):
    """Nor from the folds that follow, where more are left out; one is always seen."""
    moved = np.where(folds(X) == 0, Y + 100, Y)
    how = {"n_left_out": n_left_out}
    before, after = (held_out_means(KEYS, network(), DATA, y, 3, **how) for y in (Y, moved))
    has_not_seen = np.isin(folds(X), without)
    assert np.array_equal(before[..., has_not_seen], after[..., has_not_seen])
    assert not np.any(before[..., ~has_not_seen] == after[..., ~has_not_seen])


class OneByOne(NetworkEnsemble):
    sees_parts = False


@pytest.mark.slow
def test_folds_side_by_side_are_the_folds_one_by_one():
    keys, targets = Keys.from_key(key_from(0), 4), np.concatenate([Y, -Y])
    both = [
        held_out_means(keys, learner, DATA, targets, 3)
        for learner in (network(), OneByOne(**vars(network())))
    ]
    assert np.array_equal(*both)


def test_data_sets_side_by_side_are_the_data_sets_one_by_one():
    keys, targets = Keys.from_keys([key_from(0), key_from(1)], 3), np.concatenate([Y, -Y])
    both = held_out_means(keys, network(), DATA, targets, 3)
    assert both.shape == (2, 3, len(X))
    for i in range(2):
        own = Keys(*(of_purpose[3 * i : 3 * i + 3] for of_purpose in keys))
        alone = held_out_means(own, network(), DATA, targets[i : i + 1], 3)
        assert np.array_equal(both[i], alone[0])


@dataclass(frozen=True)
class Chooser(NetworkEnsemble):
    """Strengths by their shares of the epochs; the first diverges, the second leads to a third."""

    @property
    def strengths(self):
        own = vars(self)
        return [Strength(Diverging(**own), 1.0), Strength(Leading(**own), 0.1)]


class Diverging(NetworkEnsemble):
    chosen = {"diverges": True}  # noqa: RUF012

    def train(self, *arguments, **how):
        raise TrainingDivergedError(0, 1, 7)


class Leading(NetworkEnsemble):
    @property
    def strengths(self):
        return [Strength(network(), 0.5)]


@pytest.fixture
def chooser():
    return Chooser(**vars(network()))


def chosen(learner, epochs=200, **how):
    return choose_strength(
        key_from(0), X.astype(float), Y[0].astype(float), learner, epochs, 2, **how
    )


def test_the_best_that_does_not_diverge_is_chosen_with_those_beside_it(chooser):
    choice = chosen(chooser)
    assert choice.epochs == 100
    assert choice.means is not None


def test_where_all_diverge_the_fit_will_say_so(monkeypatch, chooser):
    monkeypatch.setattr(Leading, "train", Diverging.train)
    choice = chosen(chooser)
    assert (choice.learner, choice.epochs, choice.means) == (chooser, 200, None)


def test_epochs_that_were_asked_for_are_not_shortened(chooser):
    choice = chosen(chooser, 3, may_shorten=False)
    assert choice.epochs == 3
    assert choice.means is not None


def test_epochs_of_the_choice(chooser):
    leading = Leading(**vars(network()))
    assert choice_epochs(leading, 200) == 0
    assert choice_epochs(chooser, 200) == N_FOLDS * N_MEMBERS * (200 + 20)
    assert choice_epochs(chooser, 200, may_shorten=False) == N_FOLDS * N_MEMBERS * (200 + 200)
    assert choice_epochs(network(), 200) == 0


def test_what_is_asked_for_is_not_chosen():
    def lengths(**how):
        return choice_epochs(networks(2, 5, network="tabular", **how), 100)

    a_choice = N_FOLDS * N_MEMBERS
    assert lengths() == a_choice * (25 + 25 + 100 + 25 + 12)
    assert lengths(smooth=True) == a_choice * (25 + 100 + 25 + 12)
    assert lengths(dropout=0.1) == a_choice * (25 + 25 + 100)
    assert lengths(dropout=0.1, smooth=False) == a_choice * (25 + 100)
    asked = networks(2, 5, network="tabular", dropout=0.1, smooth=False)
    assert choice_epochs(asked, 100, may_shorten=False) == 0


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor])
def test_residuals_of_the_choice_are_those_of_the_strength_chosen(estimator):
    """What the choice has computed for the noise is what the fit would compute."""
    how = {"n_members": 2, "max_epochs": 3, "calibration": None, "random_state": 0}
    chosen = estimator(**how).fit(X, Y[0])
    strength = {name: chosen.parameters_[name] for name in ("dropout", "smooth")}
    given = estimator(**how, **strength).fit(X, Y[0])
    assert chosen.fitted_.noise.net == given.fitted_.noise.net
    assert np.array_equal(*(m.predict_interval(X)[1] for m in (chosen, given)))


def test_the_table_keeps_its_shape_where_members_see_a_part():
    part = DATA.seen_in_part(np.array([[3, 1], [2, 2]]))
    assert part.X is DATA.X
    assert part.n_rows == 2
    assert part.member_rows.shape == (2, len(DATA.X))
    assert part.rows_of(0).tolist() == [3, 1]
    assert replace(part, n_rows=83, member_rows=None).inputs.shape == X.shape


def test_the_error_of_an_ensemble_is_read_off_two_members():
    """Exact for means of members: their disagreement is all that averaging takes away."""
    generator = np.random.default_rng(0)
    target, n = np.zeros(20_000, np.float32), 5
    bias = generator.normal(size=20_000)
    members = bias + generator.normal(size=(n, 20_000))
    whole = np.mean((members.mean(axis=0) - target) ** 2)
    read_off = ensemble_squares(target, members[:2], n)
    # Squares of normal numbers: the standard error of the difference is below 0.025.
    assert read_off.mean() == pytest.approx(whole, abs=0.1)
    assert np.array_equal(ensemble_squares(target, members[:1], n), members[0] ** 2)


@pytest.mark.slow
def test_progress_ends_at_what_was_told(monkeypatch):
    """The choice and the fit are told apart, and neither counts the rows left out twice."""
    bars = []

    @contextmanager
    def bar(title, total, *, shown):
        bars.append([title.split()[0], total, 0])

        def progress(done):
            bars[-1][2] += done

        yield progress

    for module in ("base", "planning"):
        monkeypatch.setattr(f"confide.estimators.{module}.progress_bar", bar)
    for how in ({}, {"dropout": 0.1, "smooth": True}):
        DeepEnsembleRegressor(n_members=2, max_epochs=3, **how).fit(X, Y[0])
    assert [title for title, *_ in bars] == ["Choosing", "Fitting"] * 2
    assert all(told == done for _, told, done in bars)
    assert [told > 0 for _, told, _ in bars] == [True, True, False, True]
