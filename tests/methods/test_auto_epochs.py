"""`max_epochs="auto"`: epochs chosen on held-out rows, by the ensemble's likelihood."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy import stats
from scipy.special import voigt_profile
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import confide
from confide import (
    BootstrappedDeepEnsembleRegressor,
    ConcreteDropoutRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    QualityDrivenEnsembleRegressor,
)
from confide.bootstrap import Keys, train_ensemble
from confide.errors import ModelFileError
from confide.fingerprints import groups
from confide.learners import Learner, Normal, TrainingData, TrainingDivergedError
from confide.methods import bootstrapped_deep_ensemble, deep_ensemble, epochs
from confide.methods.epochs import (
    CANDIDATES,
    PATIENCE,
    EpochChoice,
    candidates_for,
    choose_epochs,
    longest_as_good,
    n_folds,
    search_epochs,
)
from confide.progress import rescaled
from confide.randomness import generator_from, key_from, split_on_host
from confide.standardise import Standardiser

ENSEMBLES = (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
)


@pytest.fixture(scope="module")
def small_auto(small):
    return {**small, "max_epochs": "auto"}


@pytest.fixture(scope="module")
def noise():
    """Targets that have nothing to do with the inputs."""
    generator = np.random.default_rng(5)
    return generator.normal(size=(64, 3)), generator.normal(size=64)


@pytest.fixture(scope="module")
def auto(noise, small_auto):
    return BootstrappedDeepEnsembleRegressor(**small_auto).fit(*noise)


@pytest.fixture
def few_candidates(monkeypatch):
    """For tests that are not about the search: it is then over soon."""
    monkeypatch.setattr(epochs, "CANDIDATES", (2, 5, 20))


class Scripted(Learner):
    """A learner whose members predict zero, with a variance that grows with the epochs."""

    likelihood = Normal()

    def __init__(self, epochs_of_unit_variance, diverges_after=10**9):
        self.epochs_of_unit_variance = epochs_of_unit_variance
        self.diverges_after = diverges_after

    def init(self, keys, data):
        del data
        return np.zeros(len(keys))

    def steps_per_epoch(self, n_rows):
        return -(-n_rows // 32)

    def train(self, keys, state, data, targets, plan, *, progress=None):
        del keys, data, targets
        epochs = plan.epochs
        if state[0] + epochs > self.diverges_after:
            raise TrainingDivergedError(0, 1, 1)
        if progress is not None:
            progress(epochs * len(state))
        return state + epochs

    def predict(self, state, X):
        variance = np.tile(state[:, None] / self.epochs_of_unit_variance, len(X))
        return np.stack([np.zeros_like(variance), variance], axis=-1)


def scripted_choice(learner, n_rows=100, **arguments):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(n_rows, 1)), generator.normal(size=n_rows)
    settings = deep_ensemble.Settings()
    return choose_epochs(key_from(0), X, y, deep_ensemble, settings, learner, **arguments)


# The choice -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_noise_is_given_up_soon_and_a_smooth_function_is_learnt_long(noise, small_auto):
    X, y = noise
    model = DeepEnsembleRegressor(**{**small_auto, "learning_rate": 0.02})
    smooth = X[:, 0] + np.abs(X[:, 1])  # four units can have it exactly
    short, long = (model.fit(X, targets).max_epochs_ for targets in (y, smooth))
    assert short <= 40
    assert long >= 160


@pytest.mark.slow
def test_diabetes_takes_far_fewer_epochs_than_the_papers():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    model = DeepEnsembleRegressor(recipe="paper", max_epochs="auto", random_state=0).fit(X, y)
    assert 5 <= model.max_epochs_ <= 28


def test_the_same_seed_makes_the_same_choice_whatever_the_threads(auto, noise, small_auto):
    for n_jobs in (1, 2):
        again = BootstrappedDeepEnsembleRegressor(**small_auto, n_jobs=n_jobs).fit(*noise)
        assert again.epochs_ == auto.epochs_
        np.testing.assert_array_equal(again.predict(noise[0]), auto.predict(noise[0]))


@pytest.mark.usefixtures("few_candidates")
@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_a_fit_equals_one_with_that_number_of_epochs(estimator, data, small_auto):
    auto = estimator(**small_auto).fit(*data)
    fixed = estimator(**{**small_auto, "max_epochs": auto.max_epochs_}).fit(*data)
    frames = [model.get_prediction(data[0]).summary_frame() for model in (auto, fixed)]
    assert frames[0].equals(frames[1])


@pytest.mark.usefixtures("few_candidates")
def test_a_generator_of_random_numbers_is_drawn_from_once(data, small_auto):
    states = np.random.RandomState(3), np.random.RandomState(3)
    auto = DeepEnsembleRegressor(**{**small_auto, "random_state": states[0]}).fit(*data)
    chosen = {**small_auto, "max_epochs": auto.max_epochs_, "random_state": states[1]}
    fixed = DeepEnsembleRegressor(**chosen).fit(*data)
    np.testing.assert_array_equal(auto.predict(data[0]), fixed.predict(data[0]))
    assert states[0].randint(10**6) == states[1].randint(10**6)


def test_the_choice_says_what_was_tried(auto):
    choice = auto.epochs_
    assert choice.epochs == auto.max_epochs_ == auto.fitted_.settings.max_epochs
    assert choice.candidates == CANDIDATES[: len(choice.scores)]
    assert choice.n_held_out == 60
    best = int(np.argmin(choice.scores))
    assert choice.standard_errors[best] == 0
    # Of two steps each: the first hundred epochs are tried in any case.
    assert choice.candidates[-1] == max(113, CANDIDATES[best + PATIENCE])
    assert f"{choice.candidates[best]} epochs had the best likelihood on 60" in choice.reason


def test_a_number_of_epochs_leaves_no_choice(auto, noise):
    again = clone(auto).fit(*noise)
    assert again.epochs_ == auto.epochs_
    again.set_params(max_epochs=3).fit(*noise)
    assert again.max_epochs_ == 3
    assert again.epochs_ is None
    assert not hasattr(DeepEnsembleRegressor(), "max_epochs_")


@pytest.mark.usefixtures("few_candidates")
def test_weights_count_and_only_their_ratios(noise, small_auto):
    X, y = noise
    weight = np.where(np.arange(64) % 2 == 0, 4.0, 1.0)
    model = DeepEnsembleRegressor(**small_auto)
    chosen = [model.fit(X, y, sample_weight=w).epochs_.scores for w in (None, weight, 4 * weight)]
    assert chosen[1] == chosen[2] != chosen[0]


# The search -------------------------------------------------------------------------------------


def test_no_copy_of_a_held_out_row_is_trained_on():
    X = np.repeat(np.arange(30.0), 4)[:, None]
    y = 2 * X[:, 0]
    folds = epochs._folds(np.random.default_rng(0), X, y, groups(X, y), 1, None)
    (standardiser,) = Standardiser.for_each(X, y[None], None)
    every = {round(float(value), 5) for value in standardiser.inputs(X)[:, 0]}
    for fold in folds:
        held = {round(float(value), 5) for value in fold.X_held_out[:, 0]}
        trained = fold.data.X[: fold.data.n_rows, 0]
        assert {round(float(value), 5) for value in trained} == every - held
        assert (len(held), len(fold.X_held_out)) == (6, 24)


def test_rows_are_counted_without_their_copies(small_auto):
    generator = np.random.default_rng(5)
    X, y = generator.normal(size=(15, 3)), generator.normal(size=15)
    copied = BootstrappedDeepEnsembleRegressor(**small_auto).fit(np.tile(X, (4, 1)), np.tile(y, 4))
    assert copied.epochs_.reason.startswith("15 different rows are too few to hold some out")


def test_every_row_is_held_out_once_and_not_trained_on_then():
    X, y = np.arange(25.0)[:, None], np.arange(25.0)
    folds = epochs._folds(np.random.default_rng(0), X, y, np.arange(len(y)), 1, None)
    back = lambda z: np.round(np.asarray(z).ravel() * X.std() + X.mean()).astype(int)  # noqa: E731
    held_out = [back(fold.X_held_out) for fold in folds]
    assert sorted(np.concatenate(held_out)) == list(range(25))
    for fold, held in zip(folds, held_out, strict=True):
        trained = back(fold.data.X[: fold.data.n_rows])
        assert sorted([*trained, *held]) == list(range(25))
        np.testing.assert_array_equal(back(fold.targets[0, : fold.data.n_rows]), trained)
        np.testing.assert_array_equal(back(fold.y_held_out), held)


@pytest.mark.parametrize("method", [deep_ensemble, bootstrapped_deep_ensemble])
def test_losses_are_the_likelihood_of_an_ensemble_that_saw_the_other_rows_alone(method, data):
    X, y = data[0][:60], data[1][:60]
    settings = method.Settings(n_members=2)
    learner = method.learner(settings, 3, hidden_layer_sizes=(4,), learning_rate=0.05)
    fold = epochs._folds(np.random.default_rng(0), X, y, np.arange(len(y)), 2, None)[0]
    n_kept = fold.data.n_rows
    assert fold.targets.shape == (2, n_kept)  # what is held out never reaches the training
    *_, loss = epochs._losses(key_from(1), [fold], [3, 10], method, settings, learner, None)

    inputs = np.asarray(fold.data.X)[:n_kept]
    keys = Keys.from_key(split_on_host(key_from(1), 1)[0], 2)
    rows = TrainingData.from_rows(inputs)
    state = train_ensemble(keys, learner, rows, fold.targets, 10)
    outputs = learner.predict(state, fold.X_held_out).astype(float)
    mean, variance = outputs[..., 0], outputs[..., 1]
    centre, noise = mean.mean(axis=0), variance.mean(axis=0)
    if method is deep_ensemble:
        scale = np.sqrt(noise + mean.var(axis=0))
        expected = -stats.norm.logpdf(fold.y_held_out, centre, scale)
    else:  # a t with one degree of freedom plus noise: the Voigt profile
        spread = mean.std(axis=0, ddof=1)
        expected = -np.log(voigt_profile(fold.y_held_out - centre, np.sqrt(noise), spread))
    # Weights are ones in both, but 1 / mean(weight) of 60 and of 48 rows may differ in a bit.
    np.testing.assert_allclose(loss, expected, rtol=1e-4)


def test_the_search_ends_when_the_likelihood_has_got_worse():
    choice = scripted_choice(Scripted(epochs_of_unit_variance=20))
    # The likelihood of standard normal rows is best at unit variance, give or take their own.
    best = choice.candidates[int(np.argmin(choice.scores))]
    assert best in {14, 20, 28}
    assert choice.candidates[-1] == max(80, CANDIDATES[CANDIDATES.index(best) + PATIENCE])
    assert best <= choice.epochs <= 2 * best
    never = scripted_choice(Scripted(epochs_of_unit_variance=10**5))
    assert (never.epochs, never.candidates) == (640, CANDIDATES)


def test_scores_of_the_script_are_exact():
    choice = scripted_choice(Scripted(epochs_of_unit_variance=20))
    y = np.random.default_rng(0).normal(size=200)[100:]
    y = (y - y.mean()) / y.std()
    expected = [-stats.norm.logpdf(y, 0, np.sqrt(e / 20)).mean() for e in choice.candidates]
    np.testing.assert_allclose(choice.scores, expected, rtol=1e-6)


def test_training_that_diverges_late_ends_the_search():
    choice = scripted_choice(Scripted(epochs_of_unit_variance=100, diverges_after=50))
    assert choice.candidates == CANDIDATES[: CANDIDATES.index(40) + 1]
    assert choice.epochs == 40
    with pytest.raises(TrainingDivergedError):
        scripted_choice(Scripted(epochs_of_unit_variance=100, diverges_after=1))


@pytest.mark.parametrize("n_rows", [100, 5000])
def test_progress_ends_at_what_was_told(n_rows):
    told = []
    scripted_choice(Scripted(20), n_rows=n_rows, progress=told.append)
    assert sum(told) == search_epochs(deep_ensemble.Settings(), Scripted(20), n_rows)
    assert sum(told) == 5 * n_folds(n_rows) * 640


@pytest.mark.slow
@pytest.mark.usefixtures("few_candidates")
def test_the_search_compiles_nothing_that_the_fit_does_not(data, small_auto, compilations):
    odd = {**small_auto, "hidden_layer_sizes": (9, 3)}
    fixed = DeepEnsembleRegressor(**{**odd, "max_epochs": 2}).fit(*data)
    fixed.predict(data[0])
    before = len(compilations)
    DeepEnsembleRegressor(**odd).fit(*data)
    assert len(compilations) == before


def test_long_tables_get_few_epochs_and_one_fold():
    settings = deep_ensemble.Settings()
    learner, large = (deep_ensemble.learner(settings, 3, batch_size=n) for n in (32, 1000))
    assert candidates_for(settings, learner, 1000)[-1] == 640
    assert candidates_for(settings, learner, 800_000)[-1] == 14  # of 25,000 steps each
    assert candidates_for(settings, learner, 10**9) == [2]
    assert candidates_for(settings, large, 800_000)[-1] == 453
    assert n_folds(10**6) == 1


def test_a_bootstrap_has_an_epoch_to_repeat():
    settings = bootstrapped_deep_ensemble.Settings(retrain_fraction=0.05)
    smallest = candidates_for(settings, Scripted(20), 100)[0]
    assert smallest == 14  # 0.05 * 10 = 0.5 is rounded to none
    assert dataclasses.replace(settings, max_epochs=smallest).bootstrap.repeated_epochs == 1


# The rule ---------------------------------------------------------------------------------------


def test_the_rule_on_a_case_by_hand():
    losses = np.array([[5.0, 5.0, 5.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.09], [0.97, 1.08, 1.0]])
    # Third less second: (0, 0, 0.09), mean 0.03, error sqrt(2 * 0.03^2 + 0.06^2) / 3 = 0.0245.
    # Fourth: (-0.03, 0.08, 0), mean 0.0167, error sqrt(0.0467^2 + 0.0633^2 + 0.0167^2) / 3 = 0.027.
    chosen, errors = longest_as_good(losses, np.ones(3))
    assert errors == pytest.approx([0, 0, np.sqrt(0.0054) / 3, 0.0268], abs=1e-5)
    assert chosen == 3
    assert longest_as_good(losses[:3], np.ones(3))[0] == 1
    # With the third row at half the weight: mean 0.018, error sqrt(2 * 0.0072^2 + 0.0144^2).
    chosen, errors = longest_as_good(losses[:3], np.array([1.0, 1.0, 0.5]))
    assert errors[2] == pytest.approx(np.sqrt(2 * 0.0072**2 + 0.0144**2))
    assert chosen == 1


def test_rows_far_off_excuse_nothing():
    losses = np.ones((2, 100))
    losses[1, 0] = 100.0  # a mean of 0.99 more, and a standard error of 0.985
    losses[1, 1] = 0.5
    chosen, errors = longest_as_good(losses, np.ones(100))
    assert losses[1].mean() - 1 <= errors[1]
    assert chosen == 0


@given(
    hnp.arrays(np.float64, (5, 12), elements=st.floats(-8, 8).map(lambda x: round(8 * x) / 8)),
    hnp.arrays(np.float64, 12, elements=st.sampled_from([0.5, 1.0, 2.0])),
)
def test_the_rule_never_stops_before_the_best_and_weights_are_ratios(losses, weight):
    chosen, errors = longest_as_good(losses, weight)
    share = weight / weight.sum()
    assert chosen >= np.argmin(losses @ share)
    assert np.all(errors >= 0)
    again, same = longest_as_good(losses, 4 * weight)  # exact: a power of two
    assert again == chosen
    np.testing.assert_array_equal(same, errors)


# The edge ---------------------------------------------------------------------------------------


def test_too_few_rows_get_the_papers_epochs(data, small_auto):
    few = data[0][:19], data[1][:19]
    model = DeepEnsembleRegressor(**small_auto).fit(*few)
    assert model.max_epochs_ == 80
    assert model.epochs_.candidates == ()
    assert model.epochs_.reason == (
        "19 different rows are too few to hold some out: these are the paper's 80 epochs."
    )
    enough = DeepEnsembleRegressor(**small_auto).fit(data[0][:20], data[1][:20])
    assert enough.epochs_.n_held_out == 20


@pytest.mark.parametrize("estimator", [ConcreteDropoutRegressor, QualityDrivenEnsembleRegressor])
def test_methods_without_a_likelihood_refuse(estimator, data):
    said = f"`max_epochs` of {estimator.__name__} must be a number, got 'auto'.*Pass 240"
    with pytest.raises(ValueError, match=said):
        estimator(max_epochs="auto").fit(*data)


@pytest.mark.usefixtures("without_type_checker")
def test_another_word_is_refused(data, small):
    with pytest.raises(ValueError, match=r"`max_epochs` must be a whole .*, got 'atuo'"):
        DeepEnsembleRegressor(**{**small, "max_epochs": "atuo"}).fit(*data)


@pytest.mark.usefixtures("few_candidates")
def test_it_is_a_parameter_like_any_other(data, small_auto):
    model = DeepEnsembleRegressor(**small_auto)
    assert clone(model).get_params()["max_epochs"] == "auto"
    search = GridSearchCV(model, {"max_epochs": [1, "auto"]}, cv=2).fit(*data)
    assert search.best_params_ == {"max_epochs": "auto"}
    assert search.best_estimator_.epochs_.epochs > 1


@pytest.mark.usefixtures("few_candidates")
def test_many_data_sets_share_the_choice_of_the_first(noise, small_auto):
    X, y = noise
    targets = np.stack([y, X[:, 0]])
    model, told = DeepEnsembleRegressor(**small_auto), []
    first, second = model.fit_many(X, targets, [4, 5], progress=told.append)
    alone = clone(model).set_params(random_state=4).fit(X, y)
    assert first.epochs_ == second.epochs_ == alone.epochs_
    assert second.max_epochs == "auto"
    assert second.max_epochs_ == alone.max_epochs_
    # The laboratory's bar was promised a fit's 80 epochs for each data set.
    assert sum(told) == pytest.approx(2 * 2 * 80, abs=2)


def test_rescaled_progress_tells_the_whole():
    told = []
    advance = rescaled(told.append, 7, 100)
    for _ in range(14):
        advance(1)
    assert sum(told) == 200
    assert rescaled(None, 7, 100) is None
    assert rescaled(print, 7, 7) is print


# Files ------------------------------------------------------------------------------------------


def test_saved_is_live(auto, noise, tmp_path):
    auto.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert again.get_params() == auto.get_params()
    assert again.epochs_ == auto.epochs_
    assert again.max_epochs_ == auto.max_epochs_
    assert again.fitted_.settings == auto.fitted_.settings
    np.testing.assert_array_equal(again.predict(noise[0]), auto.predict(noise[0]))


def test_the_file_has_what_was_asked_for_at_the_fit(auto, tmp_path):
    changed = clone(auto).set_params(max_epochs=3)
    vars(changed).update({k: v for k, v in vars(auto).items() if k.endswith("_")})
    changed.save(tmp_path / "model")
    assert confide.load(tmp_path / "model").max_epochs == "auto"


@pytest.mark.usefixtures("without_type_checker")
@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 81},
        {"epochs": 10.0},
        {"candidates": []},
        {"scores": ["a"]},
        {"scores": None},
        {"reason": 5},
        {"n_held_out": True},
        {"more": 1},
    ],
)
def test_a_choice_that_was_tampered_with_is_refused(change, auto, tmp_path):
    path = tmp_path / "model"
    auto.save(path)
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["header"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header["attachments"]["epochs"] |= change
    save_file(arrays, path, {"header": json.dumps(header)})
    with pytest.raises(ModelFileError, match=r"epochs|NoneType|iterable"):
        confide.load(path)


def test_a_choice_survives_json(auto):
    said, arrays = auto.epochs_.to_file()
    assert EpochChoice.from_file(json.loads(json.dumps(said)), arrays) == auto.epochs_


def test_keys_of_the_search_are_not_those_of_the_fit():
    six = [generator_from(key).integers(2**63) for key in split_on_host(key_from(0), 6)]
    four = [generator_from(key).integers(2**63) for key in split_on_host(key_from(0), 4)]
    assert six[:4] == four
    assert len(set(six)) == 6
