"""Columns of many categories: the mean target of each, without a row's own target in it."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.preprocessing import TargetEncoder

import confide
from confide import DeepEnsembleRegressor
from confide.encoding import EncodedTable, Encoder
from confide.encoding.target_means import folds_of, out_of_fold_means, prior_rows, shrunk_means
from confide.errors import UnseenValueWarning
from confide.workflow import fit_table
from confide.workflow.predict import encoded
from confide.workflow.training_table import known_again

pytestmark = pytest.mark.usefixtures("without_type_checker")
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


def jobs(n_rows=600, n_jobs=150, effect=1.0, seed=0):
    """Rows with one of many jobs, and targets that depend on it and on a number."""
    generator = np.random.default_rng(seed)
    job, x = generator.permutation(n_rows) % n_jobs, generator.normal(size=n_rows)
    y = x + effect * generator.normal(size=n_jobs)[job] + generator.normal(0, 0.3, n_rows)
    return {"job": [f"job {i}" for i in job], "x": x}, y


@pytest.mark.parametrize("library", LIBRARIES)
def test_many_categories_become_their_mean_target(library):
    table, y = jobs()
    encoder = Encoder.fit(library(table), y)
    (column, _) = encoder.columns
    assert (column.kind, encoder.feature_names) == ("many categories", ("job: mean target", "x"))
    new = encoder.encode(library({"job": ["job 3", "a new job", None], "x": [0.0, 0.0, 0.0]}))
    of_job = y[np.array(table["job"]) == "job 3"]
    shrunk = (of_job.sum() + column.prior * y.mean()) / (len(of_job) + column.prior)
    np.testing.assert_allclose(new[:, 0], [shrunk, y.mean(), y.mean()], rtol=1e-12)
    assert encoder.unseen(library({"job": ["a new job"], "x": [0.0]})) == {"job": {"a new job": 1}}


def test_common_categories_have_indicators_too():
    table, y = jobs()
    table["job"][::3] = ["clerk"] * 200
    names = Encoder.fit(pd.DataFrame(table), y).feature_names
    assert names == ("job=clerk", "job: other", "job: mean target", "x")


def test_it_is_known_which_features_have_but_two_values():
    table, y = jobs()
    table["job"][::3] = ["clerk"] * 200
    table["owner"] = [True, False] * 300
    table["age"] = [None, 30.0, 40.0, 50.0, 60.0, 70.0] * 100
    encoder = Encoder.fit(pd.DataFrame(table), y)
    two = [encoder.feature_names[i] for i in encoder.indicators]
    assert two == ["job=clerk", "job: other", "owner", "age is missing"]


def test_categories_that_say_nothing_of_the_target_are_as_they_were():
    table, y = jobs(effect=0)
    assert Encoder.fit(pd.DataFrame(table), y) == Encoder.fit(pd.DataFrame(table))
    assert "job" in Encoder.fit(pd.DataFrame(table), y).left_out


def test_text_that_does_not_come_again_is_left_out():
    table, y = jobs()
    table["job"] = [f"job {i}" for i in range(600)]
    assert "job" in Encoder.fit(pd.DataFrame(table), y).left_out


def test_a_row_of_training_has_the_mean_of_other_folds():
    table, y = jobs()
    trained = EncodedTable.for_training(pd.DataFrame(table), y)
    column, folds = trained.encoder.columns[0], folds_of(trained.as_new)
    assert set(folds) == set(range(5))
    job = np.array(table["job"])
    for i in (0, 17, 300):
        others = folds != folds[i]
        alike = y[others & (job == job[i])]
        shrunk = alike.sum() + column.prior * y[others].mean()
        expected = shrunk / (len(alike) + column.prior)
        np.testing.assert_allclose(trained.matrix[i, 0], expected, rtol=1e-12)
    # Its own target does not enter: that is what would leak.
    moved = y.copy()
    moved[17] += 1000
    known = {text: i for i, text in enumerate((*column.categories, *column.rare))}
    codes = np.array([known[text] for text in job])
    again = out_of_fold_means(codes, moved, folds, column.prior)
    assert again[17] == trained.matrix[17, 0]


def test_targets_of_the_same_group_do_not_enter():
    table, y = jobs()
    groups = np.arange(600) // 20
    trained = EncodedTable.for_training(pd.DataFrame(table), y, groups)
    y[groups == 3] += 1000
    again = trained.encoder.encode_training(pd.DataFrame(table), y, groups)
    same = groups == 3
    np.testing.assert_array_equal(again.matrix[same], trained.matrix[same])
    assert (again.matrix[~same, 0] != trained.matrix[~same, 0]).any()


def test_the_means_are_those_of_scikit_learn():
    generator = np.random.default_rng(1)
    codes, y = generator.integers(0, 40, 500), generator.normal(size=500)
    for prior in (0.0, 2.5):
        theirs = TargetEncoder(smooth=prior, target_type="continuous").fit(codes[:, None], y)
        means = shrunk_means(codes, y, 40, prior)
        np.testing.assert_allclose(means[theirs.categories_[0]], theirs.encodings_[0], rtol=1e-10)


def test_the_prior_is_the_variance_within_over_that_between():
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 2000, 20_000)
    # Variances 4 and 1; the estimate of their ratio is good to some 5 %.
    y = generator.normal(size=2000)[codes] + generator.normal(0, 2, 20_000)
    assert prior_rows(codes, y) == pytest.approx(4, rel=0.2)
    assert prior_rows(codes, generator.normal(size=20_000)) is None
    assert prior_rows(codes, codes.astype(float)) == 0
    assert prior_rows(np.arange(10), generator.normal(size=10)) is None


def test_equal_rows_have_equal_numbers():
    table, y = jobs(300)
    twice = pd.concat([pd.DataFrame(table)] * 2, ignore_index=True)
    matrix = EncodedTable.for_training(twice, np.append(y, y)).matrix
    np.testing.assert_array_equal(matrix[:300], matrix[300:])


def test_the_order_of_rows_does_not_matter():
    table, y = jobs()
    order = np.random.default_rng(3).permutation(600)
    matrix = EncodedTable.for_training(pd.DataFrame(table), y).matrix
    shuffled = EncodedTable.for_training(pd.DataFrame(table).iloc[order], y[order]).matrix
    np.testing.assert_allclose(shuffled, matrix[order], rtol=1e-12)


def test_a_model_file_keeps_them_and_damage_is_seen(small, tmp_path):
    table, y = jobs()
    model = DeepEnsembleRegressor(**small).fit(pd.DataFrame(table), y)
    model.save(tmp_path / "model.confide")
    loaded = confide.load(tmp_path / "model.confide")
    assert loaded.encoder_ == model.encoder_
    new = pd.DataFrame({"job": ["job 3", "a new job"], "x": [0.0, 1.0]})
    with pytest.warns(UnseenValueWarning, match="a new job"):
        np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    described = json.loads(json.dumps(model.encoder_.to_file()[0]))
    for change in ({"means": [1.0]}, {"mean": float("nan")}, {"prior": -1.0}):
        damaged = {**described["columns"][0], **change}
        with pytest.raises(ValueError, match=r"number for each|negative"):
            Encoder.from_file({"columns": [damaged, described["columns"][1]]}, {})


def test_rows_trained_on_are_known_again(small):
    table, y = jobs(200, 60)
    arrow = pa.table({**table, "y": y})
    model = fit_table(arrow, "y", DeepEnsembleRegressor(**small)).model
    assert model.encoder_.columns[0].kind == "many categories"
    known = list(known_again(model, encoded(model, arrow).matrix, y).status)
    assert known.count("trained on") == 160
    assert known.count("calibrated on") == 40


def test_twins_have_the_numbers_that_the_fit_had(small):
    table, y = jobs(200, 60)
    frame = pd.DataFrame(table)
    model = DeepEnsembleRegressor(**small).fit(frame, y)

    class SeenError(Exception):
        pass

    def see(X, _):
        raise SeenError(X)

    model._warn_of_other_rows = see
    with pytest.raises(SeenError) as seen:
        model.calibrate_confidence(frame, y)
    np.testing.assert_array_equal(seen.value.args[0], EncodedTable.for_training(frame, y).matrix)
