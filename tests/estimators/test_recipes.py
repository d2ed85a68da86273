"""Recipes: what is left at None is the recipe's; that for tables holds its promises."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import confide
from confide.errors import CalibrationWarning, SlowerTrainingWarning
from confide.estimators import (
    RECIPES,
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
)
from confide.estimators.recipes import MOST_STEPS, with_recipe
from confide.estimators.validation import TrainingArrays
from confide.learners import NetworkEnsemble, TrainingDivergedError
from confide.persistence import Container
from confide.standardise import Standardiser

ESTIMATORS = (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
)
CALIBRATED = {"n_members": 2, "hidden_layer_sizes": (8,), "max_epochs": 4, "random_state": 0}
SMALL = {**CALIBRATED, "calibration": None}


def data(n=120):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=n)


def test_a_recipe_is_a_plain_value_that_can_be_printed():
    assert dict(RECIPES["paper"])["hidden_layer_sizes"] == (40, 30, 20)
    assert str(dict(RECIPES["tabular"])).startswith("{'network': 'tabular'")
    with pytest.raises(TypeError):
        RECIPES["paper"]["max_epochs"] = 3


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_left_at_none_is_the_recipe_s(recipe):
    model = BootstrappedDeepEnsembleRegressor(recipe=recipe, batch_size=17)
    arguments = with_recipe(model.get_params())
    assert arguments["batch_size"] == 17
    for name, value in RECIPES[recipe].items():
        if name != "batch_size":
            assert arguments[name] == value


def test_a_network_of_one_s_own_is_trained_as_the_paper_s():
    arguments = DeepEnsembleRegressor(recipe="tabular", network=lambda key, n: None).get_params()
    resolved = with_recipe(arguments)
    assert (resolved["learning_rate"], resolved["max_epochs"]) == (1e-3, 80)
    assert (resolved["dropout"], resolved["smooth"]) == (None, None)


@pytest.mark.slow
def test_a_file_without_a_recipe_has_the_paper_s(tmp_path):
    """Those of earlier versions: there was but one."""
    X, y = data()
    model = DeepEnsembleRegressor(**SMALL, recipe="paper").fit(X, y)
    model.save(tmp_path / "new")
    file = Container.read(tmp_path / "new", format="confide model", versions=[3])
    new = ("recipe", "network", "smooth", "dropout", "calibration")
    old = {name: value for name, value in file.header["parameters"].items() if name not in new}
    header = {name: value for name, value in file.header.items() if name != "left_to_recipe"}
    Container({**header, "parameters": old}, file.arrays).write(tmp_path / "old")
    again = confide.load(tmp_path / "old")
    assert again.recipe == "paper"
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"smooth": "yes"}, r"`smooth` must be True, False or 'auto', got 'yes'"),
        ({"smooth": True, "recipe": "paper"}, r"`smooth` belongs to the recipe 'tabular'"),
    ],
)
def test_a_smoothness_that_makes_no_sense_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        DeepEnsembleRegressor(**SMALL, **how).fit(*data())


def test_an_unknown_recipe_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"`recipe` must be one of .*got 'tabula'.*'tabular'"):
        DeepEnsembleRegressor(recipe="tabula").fit(*data())


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_naming_the_recipe_s_values_changes_nothing(recipe):
    X, y = data()
    left = DeepEnsembleRegressor(**SMALL, recipe=recipe).fit(X, y)
    values = {name: RECIPES[recipe][name] for name in ("batch_size", "learning_rate")}
    named = DeepEnsembleRegressor(**SMALL, **values, recipe=recipe).fit(X, y)
    assert np.array_equal(left.predict(X), named.predict(X))


def test_the_recipe_for_tables_is_the_default():
    for estimator in ESTIMATORS:
        assert estimator().recipe == "tabular"


@pytest.mark.slow
def test_a_long_table_takes_fewer_passes():
    X, y = data(40)
    model = DeepEnsembleRegressor(**{**SMALL, "max_epochs": None}, recipe="tabular", batch_size=1)
    arrays = TrainingArrays(X, np.zeros(1200), None, None)
    settings = model._with_epochs(model, model.settings(), model.make_learner(3), None, arrays)
    assert settings.max_epochs == MOST_STEPS // 1200
    assert model.fit(X, y).max_epochs_ in (16, 32, 128)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_recipe_for_tables_has_all_that_a_prediction_has(estimator, tmp_path):
    X, y = data()
    model = estimator(**SMALL, recipe="tabular").fit(X, y)
    prediction = model.get_prediction(X)
    for kind in ("confidence", "prediction"):
        low, high = prediction.interval(kind, 0.9).T
        assert np.all((low < prediction.mean) & (prediction.mean < high))
    assert np.all(prediction.aleatoric_variance > 0)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert again.parameters_ == model.parameters_
    bounds = [m.predict_interval(X, confidence_level=0.9)[1] for m in (model, again)]
    assert np.array_equal(*bounds)


def test_categories_have_no_waves_and_a_file_knows_it(tmp_path):
    X, y = data()
    table = pd.DataFrame({"x": X[:, 0], "road": np.where(X[:, 1] > 0, "wet", "dry")})
    model = DeepEnsembleRegressor(**SMALL, dropout=0.0, smooth=False).fit(table, y)
    assert model.fitted_.learner.network.waved(3) == (0,)
    model.save(tmp_path / "model")
    assert np.array_equal(confide.load(tmp_path / "model").predict(table), model.predict(table))


@pytest.mark.slow
def test_a_model_keeps_the_recipe_it_was_fitted_with(tmp_path, monkeypatch):
    X, y = data()
    model = DeepEnsembleRegressor(n_members=2, max_epochs=2, calibration=None).fit(X, y)
    model.save(tmp_path / "model")
    changed = {**RECIPES, "tabular": {**RECIPES["tabular"], "hidden_layer_sizes": (5,)}}
    monkeypatch.setattr("confide.estimators.recipes.RECIPES", changed)
    assert np.array_equal(confide.load(tmp_path / "model").predict(X), model.predict(X))


def test_predictions_stay_within_reach_of_the_targets():
    X, y = data()
    model = DeepEnsembleRegressor(**SMALL, recipe="tabular").fit(X, y)
    members = model.fitted_.members
    wild = members._replace(parameters=100 * members.parameters)
    model.fitted_ = replace(model.fitted_, members=wild)
    width, far = np.ptp(y), model.predict(X)
    assert far.min() == pytest.approx(y.min() - 0.5 * width)
    assert far.max() == pytest.approx(y.max() + 0.5 * width)


@pytest.mark.parametrize(("scale", "offset"), [(1e-12, 0.0), (1e6, 0.0), (1.0, 1e9), (1e6, 1e12)])
def test_units_of_the_inputs_do_not_matter(scale, offset):
    X, y = data()
    far = scale * X + offset
    here, there = (
        DeepEnsembleRegressor(**SMALL, recipe="tabular").fit(Z, y).predict(Z) for Z in (X, far)
    )
    assert there == pytest.approx(here, abs=0.02 * y.std())


def test_one_wild_value_moves_no_other_row():
    X, y = data()
    wild = X.copy()
    wild[0, 0] = 1e9
    here, there = (
        DeepEnsembleRegressor(**{**SMALL, "max_epochs": 60}, recipe="tabular").fit(Z, y).predict(Z)
        for Z in (X, wild)
    )
    assert np.sqrt(np.mean((there - y)[1:] ** 2)) < 1.5 * np.sqrt(np.mean((here - y)[1:] ** 2))


def test_a_long_tail_is_scaled_to_be_seen_but_not_one_wild_value():
    generator = np.random.default_rng(0)
    X = np.stack([generator.normal(size=400), np.exp(2 * generator.normal(size=400))], axis=1)
    (own,) = Standardiser.for_each(X, X[:, 0][None], robust=True)
    plain = np.ptp(np.quantile(X, (0.25, 0.75), axis=0), axis=0) / 1.349
    assert own.x_scale[0] == pytest.approx(plain[0])
    assert own.x_scale[1] > 2 * plain[1]
    assert np.mean(own.inputs(X)[:, 1] > 4) == pytest.approx(0.02, abs=0.0026)  # a row of 400
    for n in (10, 400):  # also where the outermost value is more than a fiftieth
        wild = X[:n].copy()
        (before,) = Standardiser.for_each(wild, X[None, :n, 0], robust=True)
        wild[np.argmax(wild[:, 0]), 0] = 1e9
        (after,) = Standardiser.for_each(wild, X[None, :n, 0], robust=True)
        assert after.x_scale == pytest.approx(before.x_scale)


class Wild(NetworkEnsemble):
    """Diverges above a rate."""

    def train(self, *arguments, **how):
        rate = self.learning_rate if np.isscalar(self.learning_rate) else self.learning_rate.peak
        if rate > 1e-4:
            raise TrainingDivergedError(0, 1, 7)
        return super().train(*arguments, **how)


@pytest.fixture
def wild(monkeypatch):
    # By its module: `confide.learners.networks` is the function of that name.
    monkeypatch.setattr(sys.modules["confide.learners.networks"], "NetworkEnsemble", Wild)


@pytest.mark.parametrize(("recipe", "n_restarts"), [("paper", 1), ("tabular", 3)])
def test_what_diverges_is_trained_anew_at_a_lower_rate(recipe, n_restarts, wild):
    X, y = data()
    model = DeepEnsembleRegressor(**SMALL, recipe=recipe)
    with pytest.warns(SlowerTrainingWarning, match="diverged at step 7") as said:
        model.fit(X, y)
    assert len(said) == n_restarts
    assert np.isfinite(model.predict(X)).all()


def test_a_rate_that_was_asked_for_is_not_changed(wild):
    with pytest.raises(TrainingDivergedError):
        DeepEnsembleRegressor(**SMALL, learning_rate=0.01).fit(*data())


def test_one_member_has_prediction_intervals_alone():
    X, y = data()
    model = DeepEnsembleRegressor(**{**SMALL, "n_members": 1}, recipe="tabular").fit(X, y)
    low, high = model.get_prediction(X).prediction_interval(0.9).T
    assert np.all(low < high)


# Calibration


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_recipe_for_tables_calibrates_confidence_intervals(estimator):
    assert estimator().calibration == "recipe"
    assert with_recipe(estimator().get_params())["calibration"] == "twins"
    assert with_recipe(estimator(recipe="paper").get_params())["calibration"] is None
    asked = estimator(recipe="paper", calibration="twins")
    assert with_recipe(asked.get_params())["calibration"] == "twins"
    assert with_recipe(estimator(calibration=None).get_params())["calibration"] is None


def test_a_network_of_one_s_own_is_not_calibrated_unless_asked():
    own = DeepEnsembleRegressor(network=lambda key, n: None)
    assert with_recipe(own.get_params())["calibration"] is None
    own.set_params(calibration="twins")
    assert with_recipe(own.get_params())["calibration"] == "twins"


@pytest.mark.parametrize("calibration", ["twin", True, "none"])
def test_an_unknown_calibration_is_refused_with_the_choices(calibration):
    message = r"`calibration` must be one of \('recipe', 'twins', None\), got .*"
    message += "Did you mean 'twins'" if calibration == "twin" else ""
    with pytest.raises(ValueError, match=message):
        DeepEnsembleRegressor(**{**SMALL, "calibration": calibration}).fit(*data())


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["recipe", "twins", None])
def test_a_file_keeps_how_a_fit_calibrates(calibration, tmp_path):
    model = DeepEnsembleRegressor(**{**SMALL, "calibration": calibration}).fit(*data(40))
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert again.calibration == calibration
    assert again.parameters_["calibration"] == (None if calibration is None else "twins")
    assert (again.confidence_calibration_ is None) == (calibration is None)


@pytest.mark.slow
def test_the_paper_s_fit_can_be_calibrated_too():
    model = DeepEnsembleRegressor(**{**SMALL, "calibration": "twins"}, recipe="paper").fit(
        *data(40)
    )
    assert model.get_prediction(data(40)[0]).is_calibrated("confidence")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_each_of_many_data_sets_is_calibrated_as_if_it_were_alone():
    X, y = data(40)
    one, other = DeepEnsembleRegressor(**CALIBRATED).fit_many(X, [y, y[::-1]], [0, 1])
    assert one.confidence_calibration_.scores.tolist() != (
        other.confidence_calibration_.scores.tolist()
    )
    how = {**CALIBRATED, "calibration": None, "random_state": 0}
    (alone,) = DeepEnsembleRegressor(**how).fit_many(X, [y], [0])
    assert alone.confidence_calibration_ is None
    alone.calibrate_confidence(X, y)
    found, expected = (model.get_prediction(X).confidence_interval(0.8) for model in (one, alone))
    assert found.tolist() == expected.tolist()


# Strength


def rough(n=400):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 2))
    return X, np.sin(6 * X[:, 0])


def noisy(n=100):
    X = np.random.default_rng(0).normal(size=(n, 10))
    return X, np.random.default_rng(1).normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "dropout", "epochs"), [(rough, 0.0, 128), (noisy, 0.5, 16)])
@pytest.mark.parametrize("asked", [None, "auto"])
def test_the_strength_is_chosen_from_the_data_and_kept(table, dropout, epochs, asked, tmp_path):
    X, y = table()
    how = {"n_members": 2, "recipe": "tabular", "calibration": None, "random_state": 0}
    model = DeepEnsembleRegressor(**how, max_epochs=asked)
    model.fit(X, y)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    for one in (model, again):
        assert (one.parameters_["dropout"], one.max_epochs_) == (dropout, epochs)
        assert one.dropout is None
    assert again.max_epochs is None
    assert again.fitted_.learner.chosen == model.fitted_.learner.chosen


def test_a_strength_that_was_asked_for_is_not_chosen():
    X, y = data()
    model = DeepEnsembleRegressor(**SMALL, recipe="tabular", dropout=0.05).fit(X, y)
    assert model.parameters_["dropout"] == 0.05


@pytest.mark.slow
def test_the_first_of_many_data_sets_chooses_for_all():
    X, y = rough(120)
    targets = np.stack([y, np.random.default_rng(2).normal(size=120)])
    first, second = DeepEnsembleRegressor(**SMALL, recipe="tabular").fit_many(X, targets, [0, 1])
    alone = DeepEnsembleRegressor(**SMALL, recipe="tabular").fit(X, y)
    assert first.parameters_["dropout"] == second.parameters_["dropout"]
    assert alone.parameters_["dropout"] == first.parameters_["dropout"]


def test_the_rows_of_the_fit_are_known_again():
    X, y = data()
    X = np.exp(3 * X)  # medians are far from means
    model = DeepEnsembleRegressor(**SMALL, dropout=0.0, smooth=True).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model._warn_of_other_rows(X, y)
    with pytest.warns(CalibrationWarning, match="not those of `fit`"):
        model._warn_of_other_rows(X[:60], y[:60])
