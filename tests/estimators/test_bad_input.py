"""Bad input is refused before any training: what was needed, what came, what to do."""

import datetime as dt
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    TrainingDivergedError,
    load,
)
from confide.errors import LeftOutColumnWarning, UnseenValueWarning
from confide.estimators import IntervalRegressor

pytestmark = pytest.mark.usefixtures("without_type_checker")

both_classes = pytest.mark.parametrize(
    "estimator_class", [BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor]
)


@pytest.fixture
def untrained(monkeypatch, small):
    """An estimator whose fit must end before the training starts."""
    for method in (BootstrappedDeepEnsembleRegressor.method, DeepEnsembleRegressor.method):
        monkeypatch.setattr(method, "fit", lambda *_, **__: pytest.fail("training began"))

    def make(estimator_class=BootstrappedDeepEnsembleRegressor, **changes) -> IntervalRegressor:
        return estimator_class(**{**small, **changes})

    return make


def refused(*parts):
    """Expects a ValueError whose message holds all the parts, in this order."""
    return pytest.raises(ValueError, match="(?s)" + ".*".join(map(re.escape, parts)))


# X


def with_entry(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_in_X_is_refused(untrained, data, value):
    with refused("Input X contains infinity", "Drop or correct those rows"):
        untrained().fit(with_entry(data[0], value), data[1])


def test_infinity_is_refused_at_prediction_too(model, data):
    with refused("Input X contains", "Drop"):
        model.predict(with_entry(data[0], np.inf))


def test_missing_values_of_an_array_are_those_of_a_table(data, small, tmp_path):
    X, y = data[0].copy(), data[1]
    X[::5, 1] = np.nan
    model = DeepEnsembleRegressor(**small).fit(X, y)
    assert model.encoder_.feature_names[1:3] == ("x1", "x1 is missing")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    of_table = DeepEnsembleRegressor(**small).fit(frame, y)
    np.testing.assert_array_equal(model.predict(X), of_table.predict(frame))
    model.save(tmp_path / "model.confide")
    np.testing.assert_array_equal(load(tmp_path / "model.confide").predict(X), model.predict(X))
    with refused("Input X contains infinity"):
        model.predict(with_entry(X, np.inf))


def test_a_column_of_nothing_in_an_array_is_left_out(data, small):
    X = np.column_stack([data[0], np.full(len(data[0]), np.nan)])
    with pytest.warns(LeftOutColumnWarning, match="all its values are missing"):
        model = DeepEnsembleRegressor(**small).fit(X, data[1])
    assert np.isfinite(model.predict(X)).all()


def test_missing_values_that_training_did_not_have_are_typical_ones(model, data):
    X = with_entry(data[0][:10], np.nan)
    with pytest.warns(UnseenValueWarning, match=r"x1: missing \(1 row\).*typical ones"):
        filled = model.predict(X)
    X[3, 1] = model.fitted_.standardiser.x_mean[1]
    np.testing.assert_array_equal(filled, model.predict(X))


def test_no_rows_are_refused(untrained, data):
    with refused("0 sample(s)", "a minimum of 2 is required", "filtered down to nothing?"):
        untrained().fit(data[0][:0], data[1][:0])


def test_no_rows_are_refused_at_prediction_too(model, data):
    with refused("0 sample(s)", "a minimum of 1 is required", "filtered down to nothing?"):
        model.predict(data[0][:0])


def test_no_columns_are_refused(untrained, data):
    with refused("0 feature(s)", "a minimum of 1 is required", "filtered down to nothing?"):
        untrained().fit(data[0][:, :0], data[1])


def test_a_single_row_is_refused(untrained, data):
    with refused("1 sample(s)", "a minimum of 2 is required", "at least two rows"):
        untrained().fit(data[0][:1], data[1][:1])


def test_a_single_row_can_be_predicted(model, data):
    assert model.predict(data[0][:1]).shape == (1,)


def test_columns_with_text_in_an_array_are_numbered(untrained, data, table):
    X = table.assign(town="Rome", bmi="high").to_numpy()
    with refused("could not convert string to float: 'high'", "columns with text: 1, 3."):
        untrained().fit(X, data[1])


def test_a_list_of_words_is_refused_as_text(untrained, data):
    with refused("could not convert string to float: 'high'", "Encode text as numbers first"):
        untrained().fit(["high", "low"] * 32, data[1])


def test_a_single_column_without_its_second_axis_is_refused(untrained, data):
    with refused("Expected 2D array, got 1D array", "reshape(-1, 1)"):
        untrained().fit(data[0][:, 0], data[1])


# y


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "contains NaN"), (np.inf, "contains infinity")]
)
def test_targets_that_are_not_finite_are_refused(untrained, data, value, what):
    with refused(f"Input y {what}", "Drop"):
        untrained().fit(data[0], np.where(data[1] > 2, value, data[1]))


@pytest.mark.parametrize("dtype", [str, object])
def test_targets_of_text_are_refused(untrained, data, dtype):
    with refused("y must be numbers", "'low'", "Encode"):
        untrained().fit(data[0], np.array(["low", "high"] * 32, dtype=dtype))


def test_targets_of_another_length_are_refused(untrained, data):
    with refused("inconsistent numbers of samples: [64, 63]", "were rows of only one of them"):
        untrained().fit(data[0], data[1][:-1])


def test_missing_targets_are_refused(untrained, data):
    with refused("requires y to be passed, but the target y is None"):
        untrained().fit(data[0], None)


def test_constant_targets_are_refused(untrained, data):
    with refused("y must vary, but all 64 targets equal 3.25", "Check that the right column"):
        untrained().fit(data[0], np.full(64, 3.25))


@pytest.mark.parametrize("factor", [1e-170, 1e200], ids=["tiny", "huge"])
def test_targets_whose_variance_is_no_float_are_refused(untrained, data, factor):
    with refused("standard deviation of y", "other units"):
        untrained().fit(data[0], factor * data[1])


# Columns at prediction


def test_another_number_of_columns_is_refused(model, data):
    with refused("X has 2 features, but", "is expecting 3", "Pass the columns that `fit` saw"):
        model.predict(data[0][:, :2])


@pytest.fixture(scope="module")
def named(data, table, small):
    return DeepEnsembleRegressor(**small).fit(table, data[1])


def test_other_names_of_columns_are_refused(named, table):
    with refused("should match", "unseen", "- weight", "missing", "- bmi", "Pass the columns that"):
        named.predict(table.rename(columns={"bmi": "weight"}))


def test_another_order_of_columns_is_refused(named, table):
    with refused("should match", "in the same order", "Pass the columns that `fit` saw"):
        named.predict(table[["dose", "bmi", "age"]])


# Weights


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_weights_that_are_negative_or_not_finite_are_refused(untrained, data, value):
    weight = np.ones(64)
    weight[3] = value
    with refused("`sample_weight` must be finite and not negative", f"got {value:g}", "Pass zero"):
        untrained().fit(*data, sample_weight=weight)


@pytest.mark.parametrize(("sign", "got"), [(1, "got inf"), (-1, "got -inf")])
def test_weights_that_are_too_large_for_floats_are_refused(untrained, data, sign, got):
    with refused("`sample_weight` must be finite and not negative", got, "Pass zero"):
        untrained().fit(*data, sample_weight=[1, sign * 10**400] * 32)


def test_weights_of_zero_for_every_row_are_refused(untrained, data):
    with refused("`sample_weight` must not be zero for every row", "Pass None"):
        untrained().fit(*data, sample_weight=np.zeros(64))


def test_weights_of_another_length_are_refused(untrained, data):
    with refused("`sample_weight` must have one entry for each of the 64 rows, got 63"):
        untrained().fit(*data, sample_weight=np.ones(63))


def test_weights_in_two_dimensions_are_refused(untrained, data):
    with refused("1D array or scalar, got shape (64, 1)", "one number for each row"):
        untrained().fit(*data, sample_weight=np.ones((64, 1)))


def test_weights_of_text_are_refused(untrained, data):
    with refused("`sample_weight` must be numbers", "'heavy'"):
        untrained().fit(*data, sample_weight=["heavy"] * 64)


def test_weights_that_leave_a_single_row_are_refused(untrained, data):
    with refused("at least two rows", "1", "`sample_weight`"):
        untrained().fit(*data, sample_weight=np.arange(64) == 5)


def test_weights_that_all_but_one_vanish_beside_are_refused(untrained, data):
    with refused("at least two rows", "1", "`sample_weight`", "1e-38 times the largest"):
        untrained().fit(*data, sample_weight=np.where(np.arange(64) == 5, 1e200, 1.0))


def test_a_row_that_outweighs_all_others_is_among_the_suspects(data, small):
    weight = np.where(np.arange(64) == 5, 1e20, 1.0)
    with refused("The loss must stay finite", "extreme values in X, y and sample weights"):
        DeepEnsembleRegressor(**small).fit(*data, sample_weight=weight)


def test_weights_that_leave_constant_targets_are_refused(untrained, data):
    first_half = np.arange(64) < 32
    with refused("y must vary, but all 32 targets equal 2"):
        untrained().fit(data[0], np.where(first_half, 2, data[1]), sample_weight=first_half)


def test_weights_that_leave_a_constant_column_are_warned_of(data, table, small):
    first_half = np.arange(64) < 32
    X = table.assign(bmi=np.where(first_half, 2, table["bmi"]))
    with pytest.warns(UserWarning, match="Constant in the training data.*: bmi"):
        DeepEnsembleRegressor(**small).fit(X, data[1], sample_weight=first_half)


# Arguments of the constructor


@pytest.mark.parametrize("value", [0, 1.5, -0.1, np.nan, "0.3", True])
def test_retrain_fraction_outside_zero_and_one_is_refused(untrained, data, value):
    needed = "`retrain_fraction` must lie in (0, 1]"
    with refused(needed, f"got {value!r}", "share of the epochs", "such as 0.3"):
        untrained(retrain_fraction=value).fit(*data)


def test_a_retraining_of_no_epochs_is_refused(untrained, data):
    came = "retrain_fraction=0.3 of max_epochs=1 rounds to none"
    with refused("At least one epoch must be repeated", came, "Raise one of the two"):
        untrained(max_epochs=1, retrain_fraction=0.3).fit(*data)


def test_a_bootstrapped_ensemble_of_one_is_refused_with_the_reason(untrained, data):
    reason = "one member cannot show how much chance moves its training"
    with refused("`n_members` must be at least 2", "got 1", reason, "DeepEnsembleRegressor("):
        untrained(n_members=1).fit(*data)


WHOLE_NUMBERS = {
    "n_members": "number of members; 5 is usual",
    "max_epochs": "number of passes over the data",
    "batch_size": "number of rows in a step",
    "n_jobs": "number of threads; None uses all cores",
}


@both_classes
@pytest.mark.parametrize("value", [0, -3, 2.5, True, "5"])
@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_what_is_no_whole_number_is_refused(untrained, data, estimator_class, name, value):
    needed = f"`{name}` must be a whole number of at least 1"
    with refused(needed, f"got {value!r}", WHOLE_NUMBERS[name]):
        untrained(estimator_class, **{name: value}).fit(*data)


@pytest.mark.parametrize("value", [0, 1.5])
def test_a_number_of_retrainings_that_is_no_whole_number_is_refused(untrained, data, value):
    with refused("`n_retrains` must be a whole number", f"got {value}", "number of retrainings"):
        untrained(n_retrains=value).fit(*data)


@both_classes
@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, 1e300, "fast", True])
def test_a_learning_rate_that_is_not_positive_and_finite_is_refused(
    untrained, data, estimator_class, value
):
    with refused("`learning_rate` must be a positive number", f"got {value!r}", "1e-3"):
        untrained(estimator_class, learning_rate=value).fit(*data)


@both_classes
@pytest.mark.parametrize("value", [-1, np.nan, np.inf, 1e300, "strong", True])
def test_an_l2_penalty_that_is_negative_or_not_finite_is_refused(
    untrained, data, estimator_class, value
):
    with refused("`l2_penalty` must be a number", f"got {value!r}", "or 0 for no penalty"):
        untrained(estimator_class, l2_penalty=value).fit(*data)


@both_classes
@pytest.mark.parametrize(
    ("sizes", "came"), [((4, 0), "0"), (0, "0"), ((2.5,), "2.5"), ("4", "'4'")]
)
def test_a_hidden_layer_without_units_is_refused(untrained, data, estimator_class, sizes, came):
    with refused(
        "`hidden_layer_sizes` must be", f"got {came}", "units of each layer, such as (40, 30)"
    ):
        untrained(estimator_class, hidden_layer_sizes=sizes).fit(*data)


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [
        ("retrain_optimiser", "restord", "restored"),
        ("retrain_optimiser", "Fresh", "fresh"),
        ("retrain_optimiser", "RESTORED", "restored"),
        ("retrain_targets", "original", "original_scale"),
    ],
)
def test_a_mistyped_option_is_answered_with_the_nearest(untrained, data, name, typed, meant):
    with refused(f"`{name}` must be one of", f"got {typed!r}", f"Did you mean {meant!r}?"):
        untrained(**{name: typed}).fit(*data)


def test_an_option_that_resembles_nothing_is_answered_with_the_list(untrained, data):
    with refused("`retrain_optimiser` must be one of ('restored', 'fresh'), got None"):
        untrained(retrain_optimiser=None).fit(*data)


# Questions to a fitted model


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, "0.95", None, [0.5, 95]])
def test_a_level_outside_zero_and_one_is_refused(model, data, level):
    came = 95 if level == [0.5, 95] else level
    with refused("`confidence_level` must lie in (0, 1)", f"got {came!r}", "pass 0.95 for 95 %"):
        model.predict_interval(data[0], confidence_level=level)


def test_an_empty_list_of_levels_is_refused(model, data):
    with refused("`confidence_level` must", "[]", "0.95"):
        model.predict_interval(data[0], confidence_level=[])


@pytest.mark.parametrize("quantiles", [[0], [50], [0.5, np.nan], ["median"]])
def test_a_quantile_outside_zero_and_one_is_refused(model, data, quantiles):
    needed = "Quantile probabilities must lie in (0, 1)"
    with refused(needed, f"got {quantiles[-1]!r}", "Pass for example [0.05, 0.5, 0.95]"):
        model.predict_quantiles(data[0], quantiles)


@pytest.mark.parametrize("quantiles", [[], 0.5])
def test_quantiles_that_are_no_list_of_them_are_refused(model, data, quantiles):
    with refused("list", f"got {quantiles!r}", "Pass for example [0.05, 0.5, 0.95]"):
        model.predict_quantiles(data[0], quantiles)


def test_a_mistyped_kind_is_answered_with_the_nearest(model, data):
    with refused("`kind` must be 'confidence'", "got 'confidance'", "Did you mean 'confidence'?"):
        model.predict_interval(data[0], kind="confidance")


@both_classes
@pytest.mark.parametrize("question", ["predict", "predict_interval", "get_prediction", "save"])
def test_an_unfitted_model_is_refused(data, tmp_path, estimator_class, question):
    needed = f"This {estimator_class.__name__} instance is not fitted yet. Call 'fit'"
    with pytest.raises(NotFittedError, match=needed):
        getattr(estimator_class(), question)(tmp_path / "model" if question == "save" else data[0])


# What only training can show


@both_classes
def test_a_loss_that_is_not_finite_is_an_error_naming_member_and_step(data, small, estimator_class):
    model = estimator_class(**{**small, "learning_rate": 1e6})
    message = r"loss must stay finite, but that of member \d was not at step \d+ \(epoch \d+\)"
    with pytest.raises(TrainingDivergedError, match=message + ".*Lower `learning_rate`") as caught:
        model.fit(*data)
    error = caught.value
    assert isinstance(error, ValueError)
    assert f"member {error.member} was not at step {error.step} (epoch {error.epoch})" in str(error)
    assert error.epoch == error.step // 2  # two batches of 32 rows make an epoch
    assert not hasattr(model, "fitted_")


def test_a_divergence_in_another_process_arrives_as_it_was():
    error = TrainingDivergedError(member=1, epoch=2, step=5)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert str(again) == str(error)
    assert (again.member, again.epoch, again.step) == (1, 2, 5)


# What the networks cannot hold


@pytest.mark.parametrize("far", [1e40, 1e300])
def test_a_row_too_far_for_the_networks_leaves_the_others_answered(bootstrapped, data, far):
    rows = np.zeros((3, 3))
    usual = bootstrapped.get_prediction(rows)
    rows[1, 2] = far
    with pytest.warns(UserWarning, match=r"1 of 3 rows .* too far .* Check their units"):
        prediction = bootstrapped.get_prediction(rows)
    with pytest.warns(UserWarning, match="too far from the training data"):
        means = bootstrapped.predict(rows)
    for kind in ("confidence", "prediction"):
        bounds, expected = prediction.interval(kind, 0.9), usual.interval(kind, 0.9)
        np.testing.assert_array_equal(bounds[1], [-np.inf, np.inf])
        np.testing.assert_allclose(bounds[[0, 2]], expected[[0, 2]], rtol=1e-9)
    assert prediction.is_novel[1]
    assert prediction.mean[1] == pytest.approx(data[1].mean())
    np.testing.assert_array_equal(prediction.mean, means)


def test_a_column_that_is_too_wide_is_refused(untrained, data):
    X = data[0].copy()
    X[0, 1], X[1, 1] = -1.5e308, 1.5e308
    with refused("X must have a range that floats can hold", "1.", "other units"):
        untrained().fit(X, data[1])


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
def test_dates_in_an_array_are_refused(untrained, data, kind):
    dates = np.arange(64).astype(kind)
    with refused("X must be numbers, but it holds dates or durations", "days since"):
        untrained().fit(dates[:, None], data[1])
    with refused("y must be numbers, but it holds dates or durations", "days since"):
        untrained().fit(data[0], dates)


def test_dates_as_objects_are_refused_with_advice(untrained, data):
    X = data[0].astype(object)
    X[:, 1] = [dt.date(2020, 1, 1)] * 64
    with pytest.raises(TypeError, match=r"float\(\) argument must be.*days since"):
        untrained().fit(X, data[1])


@pytest.mark.parametrize("level", [1 - 1e-16, 1 - 1e-13])
def test_a_level_too_near_to_one_is_refused(bootstrapped, data, level):
    with refused("`confidence_level` must be at most 1 - 1e-12", "cannot tell"):
        bootstrapped.predict_interval(data[0], level)


def test_a_quantile_too_near_to_zero_is_refused(bootstrapped, data):
    with refused("Quantile probabilities must lie in (0, 1), got 1e-17"):
        bootstrapped.predict_quantiles(data[0], [1e-17])


# A fit that fails half-way


def test_a_refit_that_fails_leaves_the_old_model(data, table, small):
    model = DeepEnsembleRegressor(**small).fit(table, data[1])
    before = model.predict(table)
    other = table[table.columns[::-1]]
    with pytest.raises(TrainingDivergedError):
        model.set_params(learning_rate=1e6, max_epochs=200).fit(other, 1e3 * data[1])
    assert model.feature_names_in_.tolist() == list(table.columns)
    np.testing.assert_array_equal(model.predict(table), before)


def test_a_first_fit_that_fails_leaves_no_model(data, small):
    model = DeepEnsembleRegressor(**{**small, "learning_rate": 1e6, "max_epochs": 200})
    with pytest.raises(TrainingDivergedError):
        model.fit(*data)
    with pytest.raises(NotFittedError):
        model.predict(data[0])


def test_names_of_an_earlier_fit_are_forgotten(data, table, small):
    model = DeepEnsembleRegressor(**small).fit(table, data[1]).fit(*data)
    assert not hasattr(model, "feature_names_in_")
