"""Novelty: p-values exact by hand, uniform on rows like the training data, small on others."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import confide
from confide import ModelFileError
from confide.diagnostics import NOVEL
from confide.diagnostics.novelty import LARGEST_GAP, MOST_REFERENCE_ROWS, Novelty
from confide.standardise import Standardiser

law = settings(derandomize=True, deadline=None, max_examples=60)
# Whole numbers, so that there are ties and duplicates; as networks see them, that is as they are.
tables = st.integers(1, 3).flatmap(
    lambda n_features: st.tuples(
        *(
            hnp.arrays(np.float64, st.tuples(rows, st.just(n_features)), elements=st.integers(0, 6))
            for rows in (st.integers(2, 12), st.integers(1, 4))
        )
    )
)


def as_they_are(n_features):
    return Standardiser(np.zeros(n_features), np.ones(n_features), 0.0, 1.0)


def of(X):
    """Novelty of training rows, with their standardiser."""
    standardiser = Standardiser.for_each(X, np.arange(float(len(X)))[None])[0]
    return Novelty.of_training(X, standardiser), standardiser


def by_hand(rows):
    X = np.array(rows, np.float64)[:, None]
    return Novelty.of_training(X, as_they_are(1))


def p_of(novelty, *values):
    return novelty.p_values(np.array(values, np.float64)[:, None], as_they_are(1)).tolist()


def correlated(generator, n, n_features=4):
    return generator.normal(size=(n, n_features)) + generator.normal(size=(n, 1))


# Exact cases.


def test_p_values_of_four_rows_by_hand():
    novelty = by_hand([0, 1, 3, 7])
    assert novelty.sorted_distances.tolist() == [1, 1, 2, 4]
    # Distances 0, 0.5, 1, 2, 3 and 4: 4, 4, 4, 2, 1 and 1 of the four are as far.
    found = p_of(novelty, 3, 3.5, 2, 5, -3, 11)
    assert found == [5 / 5, 5 / 5, 5 / 5, 3 / 5, 2 / 5, 2 / 5]


def test_beyond_every_row_p_values_fall_with_the_distance():
    # The farthest is at 4. At 8 from the nearest, half of 1 / 5 is left; at 400, a hundredth.
    assert p_of(by_hand([0, 1, 3, 7]), 15, 407) == pytest.approx([0.5 / 5, 0.01 / 5], rel=1e-15)


def test_repeated_rows_are_kept_once():
    assert p_of(by_hand([0, 0, 1, 1, 1]), 0, 0.5, 2, 3) == p_of(by_hand([0, 1]), 0, 0.5, 2, 3)
    assert p_of(by_hand([4, 4]), 4, 5)[0] == 1


def test_copies_of_a_table_do_not_make_fresh_rows_novel():
    generator = np.random.default_rng(0)
    novelty, standardiser = of(np.repeat(generator.normal(size=(100, 2)), 3, axis=0))
    p = novelty.p_values(generator.normal(size=(1000, 2)), standardiser)
    # Over training sets a hundredth is below 0.01; one of 100 rows is off by about as much again.
    assert np.mean(p < 0.01) < 0.04


def test_two_rows_are_enough():
    assert p_of(by_hand([0, 1]), 0, 2, 3) == [1, 1, 0.5 / 3]


@law
@given(tables)
def test_p_value_is_that_of_full_conformal_prediction(table):
    """Each row in turn joins the reference rows, and all distances are measured anew."""
    X, others = table
    if len(np.unique(X, axis=0)) < 2:
        return
    novelty = Novelty.of_training(X, as_they_are(X.shape[1]))
    found = novelty.p_values(others, as_they_are(X.shape[1]))
    for row, p in zip(others, found, strict=True):
        joined = np.vstack([novelty.reference, row]) * novelty.weights.astype(np.float64)
        distances = np.linalg.norm(joined[:, None] - joined[None], axis=-1)
        np.fill_diagonal(distances, np.inf)
        nearest = distances.min(axis=1)
        p_full = np.mean(nearest >= nearest[-1] - 1e-9)
        if p_full > 1.5 / len(joined):
            assert p == pytest.approx(p_full, rel=1e-12)
        else:  # as far as no other: the tail goes on
            assert 0 < p <= p_full * (1 + 1e-12)


# Statistics.


@pytest.mark.parametrize(("n", "n_features"), [(150, 3), (150, 1), (2 * MOST_REFERENCE_ROWS, 6)])
def test_p_values_are_uniform_on_fresh_rows(n, n_features):
    generator, n_reference = np.random.default_rng(n + n_features), min(n, MOST_REFERENCE_ROWS)
    levels = np.array([0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9])
    shares = []
    for _ in range(60):
        novelty, standardiser = of(correlated(generator, n, n_features))
        p = novelty.p_values(correlated(generator, 200, n_features), standardiser)
        shares.append(np.mean(p[:, None] <= levels, axis=0))
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1) / np.sqrt(60)
    # Over training sets the p-value is at most t with a probability from t - 2 / (n + 1), because
    # of ties between mutual neighbours and of whole ranks, to t. Scales and means of n rows miss
    # those with the fresh row by a share of about 1 / n, and 60 sets are known by their own
    # scatter to 4 standard errors (for eight levels, a chance below 1 in 1000).
    assert np.all(mean <= levels + 4 * error + 1 / n_reference)
    assert np.all(mean >= levels - 4 * error - 3 / n_reference)


def test_p_values_are_small_on_shifted_rows():
    generator = np.random.default_rng(0)
    novelty, standardiser = of(correlated(generator, 250))
    moved = correlated(generator, 500)
    moved[:, 1] += 10  # seven of its standard deviations
    assert np.all(novelty.p_values(moved, standardiser) < NOVEL)
    against = correlated(generator, 500) * [1, 1, 1, -3]  # no column alone is out of its range
    p = novelty.p_values(against, standardiser)
    # Of fresh rows a twentieth would be flagged, 25 ± 5.
    assert np.sum(p < 0.05) > 100


def test_rare_categories_do_not_drown_the_rest():
    generator = np.random.default_rng(0)
    shares = 1 / np.arange(1, 101)
    shares /= shares.sum()

    def draw(n):
        categories = generator.choice(100, n, p=shares)
        return np.hstack([correlated(generator, n), np.eye(100)[categories]])

    novelty, standardiser = of(draw(5000))
    moved = draw(400)
    moved[:, 0] += 8
    unweighted = weightless(novelty)
    flagged = [np.mean(n.p_values(moved, standardiser) < 0.05) for n in (novelty, unweighted)]
    assert flagged[0] > 0.9
    assert flagged[1] < 0.5


def weightless(novelty):
    """The same reference rows with all columns as they are."""
    distances = np.linalg.norm(novelty.reference[:, None] - novelty.reference[None], axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances.min(axis=1).astype(np.float64))
    return Novelty(novelty.reference, np.ones_like(novelty.weights), nearest)


# Columns.


def test_a_rare_category_has_the_gap_of_a_balanced_one():
    generator = np.random.default_rng(0)
    rare, balanced = np.zeros(100), np.tile([0.0, 1.0], 50)
    rare[17] = 1
    constant = np.full(100, 3.0)
    novelty, _ = of(np.stack([rare, balanced, generator.normal(size=100), constant], axis=1))
    # 2 sqrt(f (1 - f)) with f = 1 / 100: standardised, the values are 1 / sqrt(f (1 - f)) apart.
    assert novelty.weights.tolist() == pytest.approx([2 * np.sqrt(0.0099), 1, 1, 1], rel=1e-6)
    gaps = np.ptp(novelty.reference * novelty.weights, axis=0)[:2]
    assert gaps.tolist() == pytest.approx([LARGEST_GAP] * 2, rel=1e-6)


def test_a_category_that_no_reference_row_has_is_weighted_alike():
    share = 0.0004
    scale = np.sqrt(share * (1 - share))
    X = np.stack([np.zeros(20), np.arange(20.0) / 20], axis=1)
    novelty = Novelty.of_training(X, Standardiser(np.array([share, 0]), np.array([scale, 1]), 0, 1))
    assert novelty.weights.tolist() == pytest.approx([2 * scale, 1], rel=1e-6)


def test_order_and_units_of_columns_do_not_matter():
    generator = np.random.default_rng(0)
    X, others = correlated(generator, 120), correlated(generator, 90) * 1.5
    first, standardiser = of(X)
    expected = first.p_values(others, standardiser)
    order, units = [2, 0, 3, 1], np.array([1e6, 1e-6, 3, 1])
    for change in (lambda rows: rows[:, order], lambda rows: rows * units - 5 * units):
        novelty, other_standardiser = of(change(X))
        found = novelty.p_values(change(others), other_standardiser)
        # Standardised inputs are float32: their distances agree to 1e-6.
        np.testing.assert_allclose(found, expected, rtol=1e-5)


# Rows.


def test_a_row_does_not_depend_on_those_beside_it():
    generator = np.random.default_rng(0)
    novelty, standardiser = of(correlated(generator, 200))
    others = 1.5 * correlated(generator, 50)
    together = novelty.p_values(others, standardiser)
    alone = [novelty.p_values(row[None], standardiser)[0] for row in others]
    assert together.tolist() == alone
    many = novelty.p_values(np.tile(others, (1400, 1)), standardiser)  # more than one block
    assert np.array_equal(many, np.tile(together, 1400))


def test_no_rows_have_no_p_values():
    novelty, standardiser = of(np.eye(3))
    assert novelty.p_values(np.zeros((0, 3)), standardiser).shape == (0,)


def test_rows_out_of_reach_of_float32_are_novel():
    novelty, standardiser = of(np.eye(3))
    with np.errstate(over="ignore"):
        far = novelty.p_values(np.array([[1e300, 0, 0], [1e30, -1e30, 0]]), standardiser)
    assert np.all((far >= 0) & (far < 1e-9))


def test_few_of_many_rows_are_kept_and_always_the_same():
    X = np.random.default_rng(0).normal(size=(5000, 2)).astype(np.float32)
    novelty, standardiser = of(X)
    assert novelty.reference.shape == (MOST_REFERENCE_ROWS, 2)
    inputs = {tuple(row) for row in standardiser.inputs(X).tolist()}
    assert {tuple(row) for row in novelty.reference.tolist()} <= inputs
    assert np.array_equal(novelty.reference, of(X)[0].reference)
    # Not the first ones, as they may be those of one month.
    assert not np.array_equal(novelty.reference, standardiser.inputs(X[:MOST_REFERENCE_ROWS]))


def test_it_cannot_be_changed():
    novelty = by_hand([0, 1, 3])
    for array in (novelty.reference, novelty.weights, novelty.sorted_distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


# Estimators.


def test_every_prediction_has_p_values(model, data):
    prediction = model.get_prediction(data[0])
    assert np.all(prediction.novelty == 1)  # rows of the training data, none nearer than itself
    assert not prediction.is_novel.any()
    assert prediction.summary_frame()["novelty"].tolist() == prediction.novelty.tolist()
    far = model.get_prediction(data[0] + 100)
    assert far.is_novel.all()
    assert far.is_novel.tolist() == (far.novelty < 0.01).tolist()


def test_pandas_rows_are_compared_alike(data, table, small, model):
    by_table = type(model)(**small).fit(table, data[1])
    ours, theirs = by_table.get_prediction(table * 1.5), model.get_prediction(data[0] * 1.5)
    np.testing.assert_array_equal(ours.novelty, theirs.novelty)


def test_rows_of_weight_zero_are_left_out(data, small):
    X, y = data
    weight = np.r_[np.ones(40), np.zeros(24)]
    some = confide.DeepEnsembleRegressor(**small).fit(X, y, sample_weight=weight)
    assert len(some.novelty_.reference) == 40
    assert np.mean(some.get_prediction(X[40:]).novelty) < 1


def test_fits_of_one_table_share_it(data, small):
    X, y = data
    model = confide.DeepEnsembleRegressor(**small)
    first, second = model.fit_many(X, np.stack([y, y**2]), [0, 1])
    assert first.novelty_ is second.novelty_
    alone = model.fit(X, y).get_prediction(1.5 * X).novelty
    np.testing.assert_array_equal(first.get_prediction(1.5 * X).novelty, alone)


def test_a_loaded_model_has_the_same_p_values(model, data, tmp_path):
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    ours, theirs = (m.get_prediction(1.5 * data[0]).novelty for m in (again, model))
    assert len(set(theirs.tolist())) > 10
    np.testing.assert_array_equal(ours, theirs)


def test_training_rows_can_be_left_out_of_the_file(model, data, tmp_path):
    private = copy.copy(model)
    private.novelty_ = None
    private.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    prediction = again.get_prediction(data[0])
    assert prediction.novelty is None
    assert prediction.is_novel is None
    assert "novelty" not in prediction.summary_frame()
    np.testing.assert_array_equal(prediction.mean, model.predict(data[0]))


def test_answers_without_p_values_do_not_wait_for_them(model, data):
    class Slow:
        def p_values(self, *_):
            raise AssertionError

    slow = copy.copy(model)
    slow.novelty_ = Slow()
    slow.predict(data[0])
    slow.predict_interval(data[0])
    slow.predict_quantiles(data[0])
    with pytest.raises(AssertionError):
        slow.get_prediction(data[0])


# Hostile files.

GOOD = {
    "reference": np.zeros((4, 3), np.float32),
    "weights": np.ones(3, np.float32),
    "sorted_distances": np.arange(4.0),
}


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("reference", np.zeros((4, 3)), "must be float32"),
        ("reference", np.full((4, 3), np.nan, np.float32), "not finite"),
        ("reference", np.zeros(4, np.float32), "reference rows of shape"),
        ("reference", np.zeros((1, 3), np.float32), "reference rows of shape"),
        ("reference", np.zeros((4, 0), np.float32), "reference rows of shape"),
        ("reference", np.zeros((MOST_REFERENCE_ROWS + 1, 3), np.float32), "rows of shape"),
        ("weights", np.ones(2, np.float32), "must be float32 of shape"),
        ("weights", np.array([0, 1, 1], np.float32), "must lie in"),
        ("weights", np.array([1, 1, 2], np.float32), "must lie in"),
        ("sorted_distances", np.arange(3.0), "must be float64 of shape"),
        ("sorted_distances", np.arange(4.0)[::-1], "in order"),
        ("sorted_distances", np.arange(4.0) - 1, "in order"),
        ("sorted_distances", np.array([0, 1, 2, np.inf]), "not finite"),
        ("sorted_distances", np.arange(4, dtype=np.float32), "must be float64"),
        ("more", np.zeros(1), "unknown parts"),
    ],
)
@pytest.mark.usefixtures("without_type_checker")
def test_hostile_arrays_are_refused(name, array, message):
    with pytest.raises(ValueError, match=message):
        Novelty.from_file({}, {**GOOD, name: array})


@pytest.mark.usefixtures("without_type_checker")
def test_missing_parts_are_refused():
    Novelty.from_file({}, GOOD)
    for name in GOOD:
        with pytest.raises(ValueError, match="lacks some"):
            Novelty.from_file({}, {other: GOOD[other] for other in GOOD if other != name})
    with pytest.raises(ValueError, match="unknown parts"):
        Novelty.from_file({"n": 3}, GOOD)


def test_rows_of_another_table_are_refused(model, tmp_path):
    foreign = copy.copy(model)
    foreign.novelty_, _ = of(np.random.default_rng(0).normal(size=(20, 5)))
    foreign.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="other columns than the networks"):
        confide.load(tmp_path / "model")
