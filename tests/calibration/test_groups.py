"""Calibration by groups: each has its coverage, new ones are announced, files keep them."""

import copy
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import confide
from confide import BootstrappedDeepEnsembleRegressor
from confide.calibration import Calibration
from confide.encoding import labels_of
from confide.errors import CalibrationWarning
from confide.uncertainty import GroupedLaw, TPlusNormalLaw

NOISE = {"quiet": 0.3, "loud": 1.5}


def fresh(generator, n):
    """Rows of two sites, one of which has five times the noise; no other column tells which."""
    site = generator.choice(list(NOISE), n)
    table = pd.DataFrame({"dose": generator.normal(size=n), "age": generator.normal(size=n)})
    table["site"] = site
    y = table["dose"] + generator.normal(size=n) * pd.Series(site).map(NOISE)
    return table, y.to_numpy()


@pytest.fixture(scope="module")
def fitted(small):
    table, y = fresh(np.random.default_rng(0), 64)
    blind = table.assign(site=np.resize(["quiet", "loud"], 64))  # it cannot learn the noise
    return BootstrappedDeepEnsembleRegressor(**small).fit(blind, y)


@pytest.fixture
def model(fitted):
    return copy.copy(fitted)


def test_each_group_has_its_coverage_over_many_splits(model):
    generator, n_splits, n_test, level = np.random.default_rng(1), 200, 4000, 0.8
    shares = {name: [] for name in (*NOISE, "quiet, pooled")}
    table, y = fresh(generator, 120 * n_splits)  # predicted all at once, calibrated in turn
    raw, (new, y_new) = model._prediction(table, calibrated=False), fresh(generator, n_test)
    at_new = model._prediction(new, calibrated=False)
    for first in range(0, len(y), 120):
        rows = slice(first, first + 120)
        for groups in (table["site"][rows].tolist(), None):
            of_rows = y[rows], raw.mean[rows], raw.scale[rows]
            own = Calibration.of(*of_rows, column="site", groups=groups)
            known = None if groups is None else new["site"].tolist()
            # Before it is made wider where it would not contain the confidence interval.
            law = own.calibrated(at_new, known).prediction_law.law
            lower, upper = law.interval(level).T
            inside = (lower <= y_new) & (y_new <= upper)
            for name in NOISE if groups else ():
                shares[name].append(inside[new["site"] == name].mean())
            if not groups:
                shares["quiet, pooled"].append(inside[new["site"] == "quiet"].mean())
    for name in NOISE:
        # Of m rows the coverage is rank / (m + 1) on average: 0.8 to 0.8 + 1 / 61 for about 60;
        # that of 2000 rows has an error of its own, which the splits share.
        error = np.hypot(np.std(shares[name]) / np.sqrt(n_splits), np.sqrt(0.16 / 2000))
        assert 0.8 - 3 * error <= np.mean(shares[name]) <= 0.8 + 1 / 55 + 3 * error
    assert np.mean(shares["quiet, pooled"]) > 0.9  # without groups, the quiet one has far too much


def test_quantiles_and_draws_are_those_of_the_group(model):
    table, y = fresh(np.random.default_rng(1), 200)
    prediction = model.calibrate(table, y, groups="site").get_prediction(table)
    law = prediction.prediction_law.law
    assert law.origin == "held_out"
    bounds, quiet = law.interval(0.8), (table["site"] == "quiet").to_numpy()
    assert np.median(np.ptp(bounds, axis=1)[~quiet]) > 2 * np.median(np.ptp(bounds, axis=1)[quiet])
    np.testing.assert_array_equal(law.quantile(0.9), bounds[:, 1])
    assert np.all(law.cdf(bounds[:, 1]) >= 0.9 - 1e-9)
    draws = law.sample(np.random.default_rng(0), 500)
    inside = np.mean((bounds[:, 0] <= draws) & (draws <= bounds[:, 1]))
    assert inside == pytest.approx(0.8, abs=0.02)
    rows = np.array([3, 0])
    np.testing.assert_array_equal(law.take(rows).interval(0.8), bounds[rows])
    assert law.take(rows[:0]).interval(0.8).shape == (0, 2)


def test_a_grouped_law_asks_the_law_of_each_row():
    laws = tuple(TPlusNormalLaw.normal(np.zeros(3), np.full(3, scale)) for scale in (1.0, 2.0))
    law, value = GroupedLaw(laws, np.array([1, 0, 1])), np.array([1.0, 2.0, 3.0])
    for ask in ("cdf", "log_density"):
        expected = np.where(
            [True, False, True], getattr(laws[1], ask)(value), getattr(laws[0], ask)(value)
        )
        np.testing.assert_array_equal(getattr(law, ask)(value), expected)


def test_unseen_groups_have_the_scores_of_all_rows_and_a_warning(model):
    table, y = fresh(np.random.default_rng(1), 200)
    pooled = copy.copy(model).calibrate(table, y, symmetric=True).predict_interval(table, 0.8)[1]
    model.calibrate(table, y, groups="site", symmetric=True)
    other = table.assign(site=np.where(np.arange(200) < 3, "north", table["site"]))
    message = re.escape(
        "The calibration had no rows of these groups of 'site': 'north' (3). Their prediction "
        "intervals are calibrated on all groups together"
    )
    with warnings.catch_warnings(record=True) as warned:  # the encoder warns too
        warnings.simplefilter("always")
        bounds = model.predict_interval(other, 0.8)[1]
    (own,) = (each.message for each in warned if each.category is CalibrationWarning)
    assert re.search(message, str(own))
    np.testing.assert_array_equal(np.ptp(bounds[:3], axis=1) > 0, np.ones(3, bool))
    with warnings.catch_warnings(action="ignore"):
        own = model.get_prediction(other).prediction_law.law
    with warnings.catch_warnings(action="ignore"):
        raw = copy.copy(model).calibrate(table, y, symmetric=True).get_prediction(other)
    np.testing.assert_array_equal(own.interval(0.8)[:3], raw.prediction_law.law.interval(0.8)[:3])
    assert pooled.shape == bounds.shape


def test_groups_with_few_rows_are_announced(model):
    table, y = fresh(np.random.default_rng(1), 100)
    table.loc[:4, "site"] = "small"
    message = re.escape("fewer than 19 rows to calibrate with: 'small' (5). Their 95 % prediction")
    with warnings.catch_warnings(record=True) as warned:  # the encoder warns too
        warnings.simplefilter("always")
        model.calibrate(table, y, groups="site")
    (own,) = (each.message for each in warned if each.category is CalibrationWarning)
    assert re.search(message, str(own))


def test_a_loaded_model_knows_its_groups(model, tmp_path):
    table, y = fresh(np.random.default_rng(1), 500)
    for symmetric in (True, False, None):
        model.calibrate(table, y, groups="site", symmetric=symmetric)
        assert model.calibration_.symmetric == bool(symmetric)  # None: each has over 200 rows
        model.save(tmp_path / f"{symmetric}")
        again = confide.load(tmp_path / f"{symmetric}")
        ours, theirs = (m.predict_interval(table, 0.8)[1] for m in (again, model))
        np.testing.assert_array_equal(ours, theirs)


def test_columns_of_arrays_have_numbers_and_groups_any_type(data, small):
    X, y = data
    X = np.column_stack([X[:, :2], np.resize([1.0, 2.0], 64)])
    fitted = BootstrappedDeepEnsembleRegressor(**small).fit(X, y)
    generator = np.random.default_rng(1)
    new = np.column_stack([generator.normal(size=(80, 2)), np.resize([1.0, 2.0], 80)])
    of_array = copy.copy(fitted).calibrate(new, generator.normal(size=80), groups=2)
    assert {name: len(own) for name, own in of_array.calibration_.of_groups.items()} == {
        "1": 40,
        "2": 40,
    }
    # The same group whatever its type; what is missing is one too.
    whole = pd.DataFrame({"a": [1, 2], "b": [1.0, None], "c": [True, False]}, dtype=object)
    assert labels_of(whole, "a") == ["1", "2"]
    assert labels_of(whole, "b") == ["1", "missing"]
    assert labels_of(whole, "c") == ["True", "False"]


@pytest.mark.parametrize("groups", ["sites", 7, np.arange(60)], ids=repr)
@pytest.mark.usefixtures("without_type_checker")
def test_what_is_no_column_is_refused(model, groups):
    table, y = fresh(np.random.default_rng(1), 60)
    with pytest.raises(ValueError, match=r"must be the name of a column.* got"):
        model.calibrate(table, y, groups=groups)
    assert model.calibration_ is None


SCORES = {"sorted_scores": np.ones(2), "group.0": np.ones(2)}


@pytest.mark.parametrize(
    ("said", "arrays"),
    [
        ({"symmetric": True, "column": "a", "groups": []}, {"sorted_scores": np.ones(2)}),
        ({"symmetric": True, "column": None, "groups": ["x"]}, SCORES),
        (
            {"symmetric": True, "column": "a", "groups": ["x", "x"]},
            {**SCORES, "group.1": np.ones(1)},
        ),
        ({"symmetric": 1, "column": "a", "groups": ["x"]}, SCORES),
        ({"symmetric": True, "column": "a", "groups": [1]}, SCORES),
        ({"symmetric": True, "column": "a", "groups": ["x"]}, {**SCORES, "group.0": -np.ones(1)}),
    ],
)
def test_hostile_groups_are_refused(said, arrays):
    message = "unknown parts|wrong type|same name|must be positive"
    with pytest.raises(ValueError, match=message):
        Calibration.from_file(said, arrays)
