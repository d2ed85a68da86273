"""Effects: curves, bands and importance of members that are known exactly."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import stats
from sklearn.base import BaseEstimator

import confide
from confide.methods import bootstrapped_deep_ensemble as bootstrapped
from confide.prediction import Prediction
from confide.uncertainty import TPlusNormalLaw

SLOPES = np.array([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])  # of each member
SHIFTS = np.array([[0.5, 0.0], [-1.0, 0.0], [0.25, 3.0]])  # of its slopes, when it is retrained
NOISE = 0.3


def means(X):
    return np.einsum("mf,rf->mr", SLOPES, X), np.einsum("mf,rf->mr", SLOPES + SHIFTS, X)[None]


class Linear(BaseEstimator):
    """An ensemble of three linear functions, as a bootstrapped one that was fitted."""

    encoder_, n_features_in_ = None, 2

    def __init__(self, has_members=True):
        self.fitted_ = SimpleNamespace(noise=None)
        self.method = SimpleNamespace(predict=self._predict)
        if has_members:
            self.method.member_means = lambda _, X: means(X)

    def fit(self, X, y):
        return self

    @staticmethod
    def _predict(_, X):
        before, after = means(X)
        mean, classical = before.mean(axis=0), ((after[0] - before) ** 2).mean(axis=0)
        spread, noise = before.var(axis=0, ddof=1), np.full(len(X), NOISE**2)
        law = TPlusNormalLaw.normal(mean, np.sqrt(noise))
        laws = {"prediction_law": law, "confidence_law": law}
        epistemic = classical + spread / 3
        return Prediction(
            mean,
            noise,
            epistemic,
            **laws,
            classical_variance=classical,
            optimisation_variance=spread,
            n_members=3,
        )


@pytest.fixture
def X():
    return np.random.default_rng(0).normal([5.0, 0.0], [1.0, 2.0], (40, 2))


def test_the_curve_of_linear_members_is_a_line_with_their_band(X):
    found = confide.effects(Linear(), X, confidence_level=0.9)
    curve = found.curves["1"]
    v, other = curve["value"].to_numpy(), X[:, 0].mean()
    assert (v[0], v[-1], len(v)) == (X[:, 1].min(), X[:, 1].max(), 20)
    of_members = SLOPES[:, :1] * other + SLOPES[:, 1:] * v
    np.testing.assert_allclose(curve["mean"], of_members.mean(axis=0), rtol=1e-12)
    shifts = SHIFTS[:, :1] * other + SHIFTS[:, 1:] * v
    variance = (shifts**2).mean(axis=0) + of_members.var(axis=0, ddof=1) / 3
    half = stats.t.ppf(0.95, 2) * np.sqrt(variance)
    np.testing.assert_allclose(curve["mean_ci_upper"] - curve["mean"], half, rtol=1e-9)
    np.testing.assert_allclose(curve["mean"] - curve["mean_ci_lower"], half, rtol=1e-9)


def test_the_band_is_not_the_mean_of_the_rows_bands(X):
    """Where errors of rows have both signs, their average is better known than a row."""
    centred = X - X.mean(axis=0)
    curve = confide.effects(Linear(), centred, features=["0"]).curves["0"]
    middle = curve.iloc[np.argmin(np.abs(curve["value"]))]
    of_rows = np.sqrt(Linear._predict(None, centred).epistemic_variance).mean()
    assert middle["mean_ci_upper"] - middle["mean"] < 0.5 * of_rows * stats.t.ppf(0.975, 2)


def test_the_parts_are_those_of_rows(X):
    curve = confide.effects(Linear(), X).curves["0"]
    value = curve["value"].to_numpy()[3]
    asked = Linear._predict(None, np.column_stack([np.full(40, value), X[:, 1]]))
    np.testing.assert_allclose(curve["aleatoric_sd"], NOISE, rtol=1e-12)
    for source, variance in asked.sources.items():
        assert curve[f"{source}_sd"][3] == pytest.approx(np.sqrt(variance.mean()), rel=1e-12)


def test_importance_is_that_of_the_slopes(X):
    X = np.random.default_rng(1).normal(size=(4000, 2)) * [1, 2]
    y = X @ SLOPES.mean(axis=0) + np.random.default_rng(2).normal(size=4000)
    how = {"max_rows": 4000, "n_repeats": 3}
    found = confide.effects(Linear(), X, y, **how).importance
    assert found.index.tolist() == ["1", "0"]
    # Exchanged values move a prediction by a variance of 2 slope^2 var(x), beside noise of 1.
    moved = 2 * (SLOPES.mean(axis=0) * [1, 2]) ** 2
    # 4,000 rows know a root mean square to about 1 / sqrt(2 * 4000) of itself; two of them here.
    expected = (np.sqrt(1 + moved) - 1)[::-1]
    assert found["importance"].tolist() == pytest.approx(expected.tolist(), rel=0.06)
    without_y = confide.effects(Linear(), X, **how).importance["importance"]
    assert without_y.tolist() == pytest.approx(np.sqrt(moved)[::-1].tolist(), rel=0.06)


def test_the_standard_error_of_importance_is_its_spread_over_tables():
    """150 tables of 100 rows, with other rows, noise and exchanges in each."""
    found = []
    for seed in range(150):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(100, 2)) * [1, 2]
        y = X @ SLOPES.mean(axis=0) + generator.normal(size=100)
        how = {"n_repeats": 3, "n_curves": 0, "random_state": seed}
        found.append(confide.effects(Linear(), X, y, **how).importance.loc[["0", "1"]].to_numpy())
    importance, claimed = np.moveaxis(np.array(found), -1, 0)
    # A standard deviation of 150 is known to 1 / sqrt(2 * 149) = 6 %: three of them, and 12 % that
    # the jackknife is too large here. That of rows as they are given values alone is 0.6 to 0.7.
    spread = importance.std(axis=0, ddof=1)
    assert np.sqrt((claimed**2).mean(axis=0)) == pytest.approx(spread, rel=0.3)


def test_rows_are_thinned_and_said(X):
    found = confide.effects(Linear(), X, max_rows=7)
    assert found.n_rows == 7
    assert confide.effects(Linear(), X).n_rows == 40


def test_fewer_curves_and_points_on_request(X):
    found = confide.effects(Linear(), X, n_curves=1, n_points=4)
    assert list(found.curves) == ["1"]
    assert found.importance.index.tolist() == ["1", "0"]
    curve, whole = found.curves["1"], confide.effects(Linear(), X).curves["1"]
    assert len(curve) == 4
    assert curve.iloc[-1].tolist() == pytest.approx(whole.iloc[-1].tolist(), rel=1e-12)


def test_a_method_that_does_not_ask_its_members_has_no_band(X):
    curve = confide.effects(Linear(has_members=False), X).curves["0"]
    assert "mean_ci_lower" not in curve
    assert "classical_sd" in curve


def test_what_is_wrong_is_said(X):
    with pytest.raises(ValueError, match=r"columns that the model uses, got '2'; it uses '0', '1'"):
        confide.effects(Linear(), X, features=["2"])
    with pytest.raises(ValueError, match=r"the 2 columns .* got shape \(40, 1\)"):
        confide.effects(Linear(), X[:, :1])
    transformed = Linear()
    transformed.target_ = "log"
    with pytest.raises(ValueError, match=r"`target_transform` or `bounds`. Fit it without"):
        confide.effects(transformed, X)


def test_the_picture_has_a_curve_and_its_parts(X):
    figure = confide.effects(Linear(), X).plot()
    labels = [
        text.get_text()
        for ax in figure.axes
        if ax.get_legend()
        for text in ax.get_legend().get_texts()
    ]
    assert labels == ["95 % confidence band", "noise", "finite data", "random training"]
    assert [ax.get_xlabel() for ax in figure.axes[-2:]] == ["1", "0"]
    plt.close(figure)


@pytest.mark.slow
@pytest.mark.usefixtures("without_type_checker")
def test_categories_dates_and_holes_have_curves():
    generator = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=60)
    table = pd.DataFrame(
        {"day": days, "kind": ["a", "b", None] * 20, "x": generator.normal(size=60)}
    )
    model = confide.BootstrappedDeepEnsembleRegressor(
        recipe="paper", max_epochs=2, n_members=2, hidden_layer_sizes=(4,), random_state=0
    )
    found = confide.effects(model.fit(table, table["x"]), table)
    assert found.curves["kind"]["value"].tolist() == ["a", "b", "(missing)"]
    assert found.curves["day"]["value"].iloc[[0, -1]].tolist() == [days[0], days[-1]]
    kind = table.assign(kind="a")
    expected = bootstrapped.predict(model.fitted_, model.encoder_.encode(kind)).mean.mean()
    assert found.curves["kind"]["mean"][0] == pytest.approx(expected, rel=1e-6)
