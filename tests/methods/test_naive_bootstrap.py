"""The naive bootstrap: which rows its members see, and what their spread means."""

import jax
import numpy as np
import pytest
from scipy import stats

from confide import NaiveBootstrapRegressor
from confide.learners import TrainingData
from confide.methods import naive_bootstrap
from confide.methods.naive_bootstrap import resampled_rows
from confide.randomness import member_keys

KEYS = member_keys(jax.random.key(4), 400)


def test_rows_are_drawn_with_replacement():
    rows = resampled_rows(KEYS, 100)
    assert rows.shape == (400, 100)
    counts = np.bincount(rows.ravel(), minlength=100)
    assert stats.chisquare(counts).pvalue > 1e-4
    # Of 100 rows a sample holds 100 (1 - 0.99^100) = 63.4 different ones, with variance 9.3 or so.
    different = np.array([len(np.unique(sample)) for sample in rows])
    assert abs(different.mean() - 100 * (1 - 0.99**100)) < 4 * np.sqrt(9.7 / 400)


def test_a_members_rows_depend_on_its_key_alone():
    np.testing.assert_array_equal(resampled_rows(KEYS[7:9], 50), resampled_rows(KEYS[:9], 50)[7:])


@pytest.mark.slow
def test_rows_are_the_same_for_inputs_and_targets(monkeypatch, data, small):
    """Members see pairs: a bootstrap of rows is a fit to the resampled table."""
    seen = {}
    original = TrainingData.from_blocks.__func__

    def spy(cls, blocks, shape, weight=None, member_rows=None):
        seen["rows"] = member_rows
        return original(cls, blocks, shape, weight, member_rows)

    monkeypatch.setattr(TrainingData, "from_blocks", classmethod(spy))
    X, y = data
    NaiveBootstrapRegressor(**small).fit(X, y)
    assert seen["rows"].shape == (2, len(y))
    # A target that is a function of X stays one under resampled pairs: a perfect fit is possible,
    # and none is if X and y are drawn apart.
    exact = NaiveBootstrapRegressor(recipe="paper", n_members=2, hidden_layer_sizes=(16,),
                                    max_epochs=200,
                                    learning_rate=0.01, random_state=0)  # fmt: skip
    assert exact.fit(X, 3 * X[:, 0]).score(X, 3 * X[:, 0]) > 0.99


@pytest.mark.parametrize(("spread", "divisor"), [("sample", 4), ("population", 5)])
def test_spread_has_the_divisor_that_was_asked_for(data, spread, divisor):
    settings = naive_bootstrap.Settings(max_epochs=3, spread=spread)
    learner = naive_bootstrap.learner(settings, 3, hidden_layer_sizes=(4,))
    (fitted,) = naive_bootstrap.fit([jax.random.key(0)], data[0], data[1][None], settings, learner)
    prediction = naive_bootstrap.predict(fitted, data[0])
    means = learner.predict(fitted.members, fitted.standardiser.inputs(data[0]))[..., 0]
    squares = ((means - means.mean(axis=0, dtype=np.float64)) ** 2).sum(axis=0)
    expected = fitted.standardiser.y_scale**2 * squares / divisor
    np.testing.assert_allclose(prediction.epistemic_variance, expected, rtol=1e-5)
    half_width = np.diff(prediction.confidence_interval(0.8))[:, 0] / 2
    np.testing.assert_allclose(half_width, stats.t.ppf(0.9, 4) * np.sqrt(expected), rtol=1e-5)


def test_shares_name_finite_data_and_training_together(data, small):
    shares = NaiveBootstrapRegressor(**small).fit(*data).get_prediction(data[0]).shares
    assert set(shares) == {"aleatoric", "epistemic"}
    np.testing.assert_allclose(shares["aleatoric"] + shares["epistemic"], 1.0)


def test_one_member_is_refused(data, small):
    model = NaiveBootstrapRegressor(**{**small, "n_members": 1})
    with pytest.raises(ValueError, match="at least 2 for a bootstrap, got 1"):
        model.fit(*data)


@pytest.mark.usefixtures("without_type_checker")
def test_unknown_spread_is_refused_with_the_nearest(data):
    with pytest.raises(ValueError, match="Did you mean 'sample'"):
        NaiveBootstrapRegressor(spread="samples").fit(*data)
