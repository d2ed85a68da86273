"""Several targets: each is what a fit to it alone is, to the last bit."""

import pickle
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import confide
from confide import BootstrappedDeepEnsembleRegressor, ConfidenceRegressor, DeepEnsembleRegressor
from confide.estimators.several import MOST_TARGETS
from confide.persistence import Container

NAMES = ["dose effect", "risk"]


@pytest.fixture(scope="module")
def targets(data):
    X, y = data
    return pd.DataFrame({NAMES[0]: y, NAMES[1]: np.abs(X[:, 2]) + 0.25 * y})


@pytest.fixture(scope="module")
def several(data, small, targets):
    return BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets)


@pytest.fixture(scope="module")
def singles(data, small, targets):
    """A fit to each target alone."""
    X, _ = data
    return {
        name: BootstrappedDeepEnsembleRegressor(**small).fit(X, targets[name]) for name in NAMES
    }


@pytest.fixture(scope="module")
def new():
    """Rows to calibrate with, and their targets in another order."""
    X = np.random.default_rng(7).normal(size=(40, 3))
    return X, pd.DataFrame({NAMES[1]: np.abs(X[:, 2]), NAMES[0]: 2 * X[:, 0]})


def frame(model, X):
    return model.get_prediction(X).summary_frame(0.9)


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_every_number_is_that_of_a_fit_to_the_target_alone(several, singles, data):
    together = frame(several, data[0])
    assert list(several.targets_) == list(several.get_prediction(data[0])) == NAMES
    for name, single in singles.items():
        same(together[name], frame(single, data[0]))


def test_arrays_have_the_target_as_their_second_axis(several, singles, data):
    X, _ = data
    asked = {
        "predict": lambda model: model.predict(X),
        "std": lambda model: model.predict(X, return_std=True)[1],
        "interval": lambda model: model.predict_interval(X, 0.9, "confidence")[1],
        "levels": lambda model: model.predict_interval(X, [0.8, 0.9])[1],
        "quantiles": lambda model: model.predict_quantiles(X, [0.1, 0.5, 0.9]),
    }
    for ask in asked.values():
        expected = [ask(single) for single in singles.values()]
        np.testing.assert_array_equal(ask(several), np.stack(expected, axis=1))


@pytest.mark.slow
def test_the_default_recipe_is_the_same_for_a_target_among_others(table, targets):
    how = {"n_members": 2, "max_epochs": 3, "dropout": 0.0, "smooth": True, "random_state": 0}
    estimator = DeepEnsembleRegressor(calibration=None, **how)
    together = clone(estimator).fit(table, targets)
    for name in NAMES:
        alone = clone(estimator).fit(table, targets[name])
        same(frame(together, table)[name], frame(alone, table))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "array", "list"])
def test_targets_come_in_tables_and_arrays(several, data, small, targets, kind):
    given = {
        "pandas": targets,
        "polars": pl.from_pandas(targets),
        "pyarrow": pa.Table.from_pandas(targets),
        "array": targets.to_numpy(),
        "list": targets.to_numpy().tolist(),
    }[kind]
    model = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], given)
    assert list(model.targets_) == (["0", "1"] if kind in {"array", "list"} else NAMES)
    np.testing.assert_array_equal(model.predict(data[0]), several.predict(data[0]))


def test_weights_and_groups_are_those_of_every_target(data, small, targets):
    X, _ = data
    weight, groups = np.arange(64.0), np.arange(64) // 4
    estimator = DeepEnsembleRegressor(**small)
    together = clone(estimator).fit(X, targets, weight, groups).predict(X)
    alone = [clone(estimator).fit(X, targets[name], weight, groups).predict(X) for name in NAMES]
    np.testing.assert_array_equal(together, np.stack(alone, axis=1))


def test_the_frame_keeps_the_index_of_the_rows(several, data):
    X = pd.DataFrame(data[0][:3], index=["x", "y", "z"])
    answer = several.get_prediction(X)
    assert answer.summary_frame().index.tolist() == ["x", "y", "z"]
    assert answer.to_polars()["risk_mean"].to_list() == answer["risk"].mean.tolist()


def test_an_unknown_target_is_told_with_the_nearest(several, data):
    with pytest.raises(KeyError, match="no target 'rist'; there are 'dose effect', 'risk'"):
        several.get_prediction(data[0])["rist"]


def test_what_only_one_target_has_is_told(several, data):
    answer = several.get_prediction(data[0])
    with pytest.raises(
        AttributeError, match=r"have no 'mean'\. Ask .* predictions\[target\]\.mean"
    ):
        answer.mean  # noqa: B018
    assert list(pickle.loads(pickle.dumps(answer))) == NAMES  # noqa: S301


def test_a_check_of_coverage_is_of_one_target(data, targets):
    with pytest.raises(ValueError, match=r"should be a 1d array.* Pass one target here"):
        confide.coverage_check(DeepEnsembleRegressor(), data[0], targets.to_numpy())


def test_the_score_is_the_mean_of_those_of_the_targets(several, singles, data, targets):
    alone = [single.score(data[0], targets[name]) for name, single in singles.items()]
    assert several.score(data[0], targets) == pytest.approx(np.mean(alone), rel=1e-12)


def test_calibration_is_that_of_each_target_alone(data, small, new, targets):
    X, Y = new
    together = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets).calibrate(X, Y)
    for name in NAMES:
        alone = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets[name])
        same(frame(together, X)[name], frame(alone.calibrate(X, Y[name]), X))


def test_a_calibration_that_fails_changes_no_target(data, small, new, targets):
    model = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets)
    wrong = new[1].assign(**{NAMES[1]: np.nan})
    with pytest.raises(ValueError, match=r"NaN|finite"):
        model.calibrate(new[0], wrong)
    assert all(own.calibration_ is None for own in model.targets_.values())


@pytest.mark.parametrize("calibrate", ["calibrate", "calibrate_confidence"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [(np.nan, "y must be finite numbers, got nan in row 3"), (-1.0, "within `bounds`.* in row 3")],
)
def test_a_target_that_cannot_be_calibrated_with_is_named_before_any_is(
    data, small, new, targets, calibrate, value, problem
):
    model = DeepEnsembleRegressor(**small, bounds=(0, None)).fit(data[0], targets**2)
    wrong = new[1] ** 2
    wrong.loc[3, NAMES[1]] = value
    for own in model.targets_.values():
        vars(own)[calibrate] = mock.Mock(side_effect=AssertionError("it takes long"))
    with pytest.raises(ValueError, match=f"Target {NAMES[1]!r}: .*{problem}"):
        getattr(model, calibrate)(new[0], wrong)


def test_a_calibration_that_fails_says_of_which_target(data, small, targets):
    model = DeepEnsembleRegressor(**small).fit(data[0], targets)
    with pytest.raises(ValueError, match="must be new to the model") as failed:
        model.calibrate(data[0], targets)
    assert failed.value.__notes__ == [f"This was the target {NAMES[0]!r}."]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_confidence_intervals_are_calibrated_for_each_target(data, small, targets):
    model = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets)
    model.calibrate_confidence(data[0], targets, n_simulations=10)
    alone = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets["risk"])
    alone.calibrate_confidence(data[0], targets["risk"], n_simulations=10)
    same(frame(model, data[0])["risk"], frame(alone, data[0]))


def test_a_later_fit_replaces_all_of_an_earlier_one(data, small, targets):
    X, y = data
    model = BootstrappedDeepEnsembleRegressor(**small).fit(X, y).fit(X, targets)
    assert not hasattr(model, "fitted_")
    assert model.fit(X, y).targets_ is None
    assert model.predict(X).shape == (64,)


def test_a_fit_that_fails_changes_nothing(several, data, small, targets):
    model = BootstrappedDeepEnsembleRegressor(**small).fit(data[0], targets)
    with pytest.raises(ValueError, match="Target 'risk'"):
        model.fit(data[0], targets.assign(risk=np.nan))
    np.testing.assert_array_equal(model.predict(data[0]), several.predict(data[0]))


def test_one_column_is_one_target(data, small):
    X, y = data
    with pytest.warns(UserWarning, match="column-vector"):
        model = DeepEnsembleRegressor(**small).fit(X, y[:, None])
    assert model.targets_ is None
    assert model.predict(X).shape == (64,)


def test_without_a_fit_there_is_nothing_to_save(small, tmp_path):
    with pytest.raises(NotFittedError):
        DeepEnsembleRegressor(**small).save(tmp_path / "model")


@pytest.mark.slow
def test_any_regressor_has_several_targets(data, targets):
    X, _ = data
    wrapped = ConfidenceRegressor(LinearRegression(), n_simulations=10, random_state=0)
    together = clone(wrapped).fit(X, targets)
    same(frame(together, X)["risk"], frame(clone(wrapped).fit(X, targets["risk"]), X))
    assert together.predict_interval(X)[1].shape == (64, 2, 2)


# Files


def saved(model, path):
    model.save(path, overwrite=True)
    return confide.load(path)


def test_a_file_keeps_every_target(several, data, new, tmp_path):
    model = saved(several, tmp_path / "model").calibrate(*new)
    again = saved(model, tmp_path / "model")
    same(frame(again, data[0]), frame(model, data[0]))
    assert again.get_params() == several.get_params()
    assert again.n_features_in_ == 3


def test_a_file_holds_what_targets_have_in_common_once(several, tmp_path):
    several.save(tmp_path / "model")
    file = Container.read(tmp_path / "model", format="confide model", versions=[4])
    assert [header["target"] for header in file.header["targets"]] == NAMES
    assert [header["shared"] for header in file.header["targets"]] == [[], ["novelty"]]
    assert {n[0] for n in file.arrays if ".novelty." in n} == {"0"}
    again = confide.load(tmp_path / "model").targets_
    assert again["risk"].novelty_ is again["dose effect"].novelty_


@pytest.mark.slow
def test_a_table_is_encoded_alike_for_all_targets_of_a_file(table, targets, small, tmp_path):
    model = BootstrappedDeepEnsembleRegressor(**small).fit(table.assign(x=["a", "b"] * 32), targets)
    first, second = saved(model, tmp_path / "model").targets_.values()
    assert first.encoder_ is second.encoder_


def damaged(several, path, change):
    several.save(path)
    file = Container.read(path, format="confide model", versions=[4])
    change(file.header)
    file.write(path)
    with pytest.raises(confide.ModelFileError, match="do not fit together") as error:
        confide.load(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda header: header["targets"].pop(), "it has 1 targets"),
        (lambda header: header.update(targets=[{}] * (MOST_TARGETS + 1)), "it has 1001 targets"),
        (lambda header: header["targets"][1].update(target=NAMES[0]), "have the same name"),
        (lambda header: header["targets"][1].update(target=3), "the name of a target"),
        (lambda header: header["targets"][1].update(shared=["target"]), "share unknown parts"),
        (
            lambda header: header["targets"][1].update(feature_names=["a", "b", "c"]),
            "different columns",
        ),
    ],
)
def test_targets_that_do_not_fit_together_are_refused(several, tmp_path, change, problem):
    assert problem in damaged(several, tmp_path / "model", change)


@pytest.mark.slow
def test_targets_of_other_networks_which_would_each_be_compiled_are_refused(
    several, data, targets, small, tmp_path
):
    other = BootstrappedDeepEnsembleRegressor(**{**small, "hidden_layer_sizes": (5,)})
    other.fit(data[0], targets).save(tmp_path / "other")
    of_other = Container.read(tmp_path / "other", format="confide model", versions=[4])
    several.save(tmp_path / "model")
    file = Container.read(tmp_path / "model", format="confide model", versions=[4])
    file.header["targets"][1] = of_other.header["targets"][1] | {"shared": []}
    file.arrays.update({n: a for n, a in of_other.arrays.items() if n.startswith("1.")})
    file.write(tmp_path / "model")
    with pytest.raises(confide.ModelFileError, match="different columns, estimators or networks"):
        confide.load(tmp_path / "model")


def test_a_small_file_of_many_targets_and_passes_is_refused_at_once(data, targets, tmp_path):
    how = {"hidden_layer_sizes": (4,), "max_epochs": 1, "random_state": 0}
    model = confide.ConcreteDropoutRegressor(**how, n_passes=5).fit(data[0], targets)
    model.save(tmp_path / "model")
    file = Container.read(tmp_path / "model", format="confide model", versions=[4])
    first = file.header["targets"][0]
    first["parameters"]["n_passes"] = 2_000
    file.header["targets"] = [first, *[{}] * 100]
    file.write(tmp_path / "model")
    with pytest.raises(confide.ModelFileError, match="2,000 passes for 101 targets"):
        confide.load(tmp_path / "model")
    with pytest.raises(ValueError, match="at most 200,000, got 2,000 passes for 101 targets"):
        confide.ConcreteDropoutRegressor(n_passes=2_000).fit(data[0], np.tile(data[1], (101, 1)).T)


# Bad input: each target is checked before any is trained.


@pytest.mark.parametrize("missing", [None, np.nan, "", " "])
def test_a_target_without_a_name_is_refused(small, data, targets, missing):
    unnamed = targets.set_axis([NAMES[0], missing], axis=1)
    with pytest.raises(ValueError, match=r"column 1 of y \(from 0\) has none: .*Name it"):
        DeepEnsembleRegressor(**small).fit(data[0], unnamed)


def test_two_targets_of_one_name_are_refused(small, data, targets):
    with pytest.raises(ValueError, match=r"these occur twice: 'a'. Rename"):
        DeepEnsembleRegressor(**small).fit(data[0], targets.set_axis(["a", "a"], axis=1))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.nan, "Input y contains NaN.*Drop those rows"),
        (np.inf, "Input y contains infinity.*Drop or correct"),
        ("low", "y must be numbers, got 'low'"),
        (np.datetime64("2020-01-01"), "dates or durations"),
        (3.25, "y must vary, but all 64 targets equal 3.25"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_named(small, data, targets, values, problem):
    with pytest.raises(ValueError, match=f"(?s)Target 'risk': .*{problem}"):
        DeepEnsembleRegressor(**small).fit(data[0], targets.assign(risk=values))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"target_transform": "log"}, "needs targets above zero, got -1 in row 3"),
        ({"bounds": (0, None)}, "must lie within `bounds`, 0 to inf, got -1 in row 3"),
        ({"target_transform": "auto", "bounds": (0, None)}, "must lie within `bounds`"),
    ],
)
def test_a_target_that_cannot_be_transformed_is_named_before_any_is_trained(
    data, small, monkeypatch, how, message
):
    Y = pd.DataFrame(1.0 + np.arange(128.0).reshape(64, 2), columns=["good", "bad"])
    Y.loc[3, "bad"] = -1
    monkeypatch.setattr(DeepEnsembleRegressor, "make_learner", None)  # what trains needs it
    with pytest.raises(ValueError, match=f"Target 'bad': .*{message}"):
        DeepEnsembleRegressor(**small, **how).fit(data[0], Y)


def test_targets_of_rows_without_weight_may_be_anything(data, small):
    Y = 1.0 + np.arange(128.0).reshape(64, 2)
    Y[3, 1], weight = -1, np.arange(64) != 3
    model = DeepEnsembleRegressor(**small, target_transform="log").fit(data[0], Y, weight)
    assert list(model.targets_) == ["0", "1"]


def test_a_target_that_is_a_feature_is_refused(small, table, targets):
    wrong = targets.rename(columns={"risk": "dose"})
    with pytest.raises(ValueError, match=r"X has these columns too: 'dose'. Drop"):
        DeepEnsembleRegressor(**small).fit(table, wrong)


@pytest.mark.parametrize("shape", [(64, 0), (64, 2, 2)])
def test_shapes_that_are_no_targets_are_refused(small, data, shape):
    with pytest.raises(ValueError, match=r"a column for each target, got shape \(64, "):
        DeepEnsembleRegressor(**small).fit(data[0], np.zeros(shape))


def test_too_many_targets_are_refused(small, data):
    with pytest.raises(ValueError, match="at most 1,000 targets, got 1,001"):
        DeepEnsembleRegressor(**small).fit(data[0], np.zeros((64, MOST_TARGETS + 1)))


def test_calibration_needs_all_targets(several, new):
    X, Y = new
    with pytest.raises(ValueError, match="has 2 targets, 'dose effect', 'risk', got one column"):
        several.calibrate(X, Y["risk"])
    with pytest.raises(ValueError, match="targets are 'dose effect', 'risk', got 'other', 'risk'"):
        several.calibrate(X, Y.rename(columns={"dose effect": "other"})[["other", "risk"]])


def test_effects_are_of_one_target(several, data):
    with pytest.raises(ValueError, match=r"has 2: .* such as model.targets_\['dose effect'\]"):
        confide.effects(several, data[0])
