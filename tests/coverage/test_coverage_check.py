"""The laboratory: coverage by hand, sentences, foreign estimators, bad input."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor
from scipy import stats
from sklearn.linear_model import LinearRegression

from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NoSuchIntervalError,
    QualityDrivenEnsembleRegressor,
    coverage_check,
)
from confide.coverage import CoverageCheck, MapieAdapter, simulated_answers
from confide.coverage.result import Coverage, WorstStretch
from confide.simulate import NOISE_LAWS, Truth

NETWORK = {"hidden_layer_sizes": (4,), "max_epochs": 6, "learning_rate": 0.05}
SMALL = {"recipe": "paper", **NETWORK}


@dataclass(frozen=True)
class Line(Truth):
    """A line with noise of size one."""

    def mean(self, X):
        return 2.0 * X[:, 0]

    def std(self, X):
        return np.ones(len(X))


class OracleRegressor:
    """Knows the line and the size of the noise; its confidence interval errs as least squares."""

    def fit(self, X, y):
        self.model = LinearRegression().fit(X, y)
        self.residual = float(np.std(y - self.model.predict(X), ddof=2))
        self.X = np.column_stack([np.ones(len(X)), X])
        return self

    def predict(self, X):
        return self.model.predict(X)

    def predict_interval(self, X, confidence_level, kind):
        design = np.column_stack([np.ones(len(X)), X])
        leverage = np.einsum("ij,jk,ik->i", design, np.linalg.inv(self.X.T @ self.X), design)
        variance = leverage if kind == "confidence" else 1 + leverage
        t = stats.t.ppf((1 + confidence_level) / 2, len(self.X) - 2)
        half = t * self.residual * np.sqrt(variance)
        mean = self.predict(X)
        return mean, np.column_stack([mean - half, mean + half])


@pytest.fixture(scope="module")
def line():
    X = np.random.default_rng(0).uniform(-1, 1, (60, 1))
    return X, 2.0 * X[:, 0] + np.random.default_rng(1).normal(size=60)


def find(report: CoverageCheck, kind: str, level: float = 0.8) -> Coverage:
    return next(c for c in report.coverages if c.kind == kind and c.confidence_level == level)


def test_textbook_intervals_cover_as_they_should(line):
    """Least squares under its own assumptions: exact, so coverage is nominal within its error."""
    report = coverage_check(
        OracleRegressor(), *line, n_simulations=400, truth=Line(), random_state=0
    )
    for coverage in report.coverages:
        assert abs(coverage.mean - coverage.confidence_level) < 4 * coverage.mean_se
    confidence = find(report, "confidence")
    # Nominal at every row: Brier scores are what chance leaves, give or take.
    assert confidence.brier < 2 * confidence.brier_attainable
    assert find(report, "prediction").brier < 0.001
    assert "as they should on average" in report.verdict


def test_noise_of_another_law_is_judged_by_that_law(line):
    gamma = coverage_check(
        OracleRegressor(), *line, n_simulations=100, random_state=0,
        truth=Line(noise=NOISE_LAWS["gamma"]),
    )  # fmt: skip
    # Far more than 80 % of a skewed law's mass lies within 1.28 standard deviations.
    assert find(gamma, "prediction").mean > 0.88


def coverage(held, kind="confidence", level=0.8, name="A"):
    held = np.asarray(held)
    return Coverage(name, kind, level, held, np.ones(held.shape[1]))


def report(*coverages, X=None, names=("age", "sex")):
    n_rows = coverages[0].held.shape[1]
    if X is None:
        X = np.column_stack([np.arange(n_rows), np.arange(n_rows) % 2]).astype(float)
    return CoverageCheck(coverages, X, names, 100, "Line")


def test_numbers_of_a_coverage_by_hand():
    held = np.array([[True, False], [True, True], [False, False], [True, False]])
    found = coverage(held, level=0.5)
    np.testing.assert_allclose(found.pointwise, [0.75, 0.25])
    assert found.mean == 0.5
    # Means of the simulations: 0.5, 1, 0, 0.5, with sample variance 1/6.
    assert found.mean_se == pytest.approx(np.sqrt(1 / 6 / 4))
    assert found.brier == pytest.approx(0.0625)
    assert found.brier_attainable == pytest.approx(0.25 / 4)
    assert coverage(held.astype(float), kind="prediction", level=0.5).brier_attainable == 0


def test_one_simulation_has_no_error():
    found = coverage([[True, False]])
    assert np.isnan(found.mean_se)
    assert np.isnan(found.brier_se)


def test_worst_stretch_is_found_and_named():
    held = np.ones((20, 40), bool)
    held[:, 30:] = np.arange(20)[:, None] < 10  # the upper quarter of the first feature
    found = report(coverage(held))
    worst = found.worst(found.coverages[0])
    assert str(worst) == "age is above 29"
    assert worst.coverage == 0.5


def test_worst_value_of_a_feature_with_few_is_named():
    held = np.ones((20, 40), bool)
    held[:15, 1::2] = False
    found = report(coverage(held))
    assert str(found.worst(found.coverages[0])) == "sex is 1"


def test_middle_and_lowest_stretches_in_words():
    X = np.arange(40.0)[:, None]
    middle, lowest = (np.ones((20, 40), bool) for _ in range(2))
    middle[:, 10:20], lowest[:, :10] = False, False
    for held, words in ((middle, "age is above 9 and at most 19"), (lowest, "age is at most 9")):
        found = report(coverage(held), X=X, names=("age",))
        assert str(found.worst(found.coverages[0])) == words


def test_worst_is_farthest_from_the_level_also_above_it():
    held = np.ones((20, 40), bool)
    held[:10, :30] = False  # half everywhere but in the upper quarter
    found = report(coverage(held, level=0.6))
    assert str(found.worst(found.coverages[0])) == "age is above 29"


def test_rare_values_are_not_called_the_worst():
    held = np.ones((20, 40), bool)
    held[:, 0] = False
    X = np.zeros((40, 1))
    X[0] = 1.0
    found = report(coverage(held), X=X, names=("flag",))
    assert str(found.worst(found.coverages[0])) == "flag is 0"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.8, "as they should on average"),
        (0.5, "too seldom"),
        (1.0, "too often: they are wider than needed"),
    ],
)
def test_verdict_says_which_way_coverage_errs(share, words):
    # Simulations alternate a little, so that their mean has an error.
    held = np.zeros((20, 40), bool)
    for j in range(20):
        held[j, : round(40 * share) + (-1) ** j] = True
    verdict = report(coverage(held)).verdict
    assert verdict.startswith("A: 80 % confidence intervals cover")
    assert words in verdict
    assert "; worst where " in verdict


def test_too_few_simulations_make_no_claim():
    few_rows = report(coverage(np.ones((20, 9), bool)))
    assert "at 9 test rows, too few for a verdict" in few_rows.verdict
    verdict = report(coverage(np.ones((9, 40), bool))).verdict
    assert "in 9 simulations, too few for a verdict: pass n_simulations=20 or more" in verdict
    assert "worst" not in verdict


def test_verdict_has_one_sentence_for_each_estimator_and_kind_at_the_lowest_level():
    held = np.ones((20, 40), bool)
    several = report(
        coverage(held, level=0.95), coverage(held, level=0.8), coverage(held, name="B"),
        coverage(held.astype(float), kind="prediction", name="B"),
    )  # fmt: skip
    lines = several.verdict.splitlines()
    assert lines[0].endswith("; 95 %: 100 %.")
    assert lines[1].endswith("(100 %).")
    assert [line.split(" intervals")[0] for line in lines] == [
        "A: 80 % confidence", "B: 80 % confidence", "B: 80 % prediction",
    ]  # fmt: skip


def test_frame_has_a_row_for_each_coverage():
    held = np.zeros((10, 40), bool)
    held[:8] = True
    frame = report(coverage(held), coverage(held, level=0.95)).to_frame()
    assert frame["confidence_level"].tolist() == [0.8, 0.95]
    assert frame["coverage"].tolist() == pytest.approx([0.8, 0.8])
    assert frame["brier"].tolist() == pytest.approx([0.0, 0.15**2])
    assert {"width", "coverage_se", "brier_se", "brier_attainable", "worst_where"} <= set(frame)


def test_picture_shows_every_estimator_and_says_what_is_missing():
    import matplotlib as mpl

    mpl.use("Agg")
    held = np.ones((20, 40), bool)
    found = report(
        coverage(held, name="FirstRegressor"),
        coverage(np.full((20, 40), 0.7), kind="prediction", name="Second"),
    )
    figure = found.plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["80 % confidence intervals", "80 % prediction intervals"]
    labels = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert labels == ["First", "Second"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["has none"]


# Simulations


@pytest.mark.slow
def test_a_simulation_does_not_depend_on_how_many_run(line):
    X, _ = line
    targets = np.random.default_rng(3).normal(size=(5, 60))
    model = BootstrappedDeepEnsembleRegressor(**SMALL)
    many = simulated_answers(model, X, targets, X, [0.8], [1, 2, 3, 4, 5])
    few = simulated_answers(model, X, targets[2:4], X, [0.8], [3, 4])
    np.testing.assert_array_equal(many.means[2:4], few.means)
    for asked, intervals in few.intervals.items():
        np.testing.assert_array_equal(many.intervals[asked][2:4], intervals)


@pytest.mark.slow
def test_intervals_that_an_estimator_lacks_are_left_out(line):
    X, y = line
    model = QualityDrivenEnsembleRegressor(**NETWORK, confidence_level=0.8)
    answers = simulated_answers(model, X, np.tile(y, (2, 1)), X, [0.8, 0.95], [1, 2])
    assert set(answers.intervals) == {("prediction", 0.8)}


def test_reports_of_the_same_seed_are_the_same(line):
    first, second = (
        coverage_check(DeepEnsembleRegressor(**SMALL), *line, n_simulations=3, random_state=5)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())


@pytest.mark.slow
def test_names_of_columns_reach_the_report(line):
    X, y = line
    frame = pd.DataFrame({"speed": X[:, 0], "one or two": np.arange(60) % 2 + 1.0})
    found = coverage_check(
        DeepEnsembleRegressor(**SMALL), frame, pd.Series(y), n_simulations=2, random_state=0
    )
    assert found.feature_names == ("speed", "one or two")
    assert found.n_simulations == 2
    assert found.n_train == 48
    assert len(found.X_test) == 12


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["random_forest", "network"])
def test_a_table_with_categories_is_judged_by_the_numbers_that_it_becomes(line, truth):
    X, y = line
    frame = pd.DataFrame({"speed": X[:, 0], "road": ["wet", "dry", None] * 20})
    mapie = SplitConformalRegressor(LinearRegression(), 0.8, prefit=False)
    found = coverage_check(
        {"ours": DeepEnsembleRegressor(**SMALL), "theirs": mapie},
        frame,
        y,
        n_simulations=2,
        truth=truth,
        random_state=0,
    )
    assert found.feature_names == ("speed", "road=dry", "road=wet", "road is missing")
    assert found.X_test.shape == (12, 4)
    np.testing.assert_array_equal(found.X_test[:, 1:].sum(axis=1), 1)
    assert {c.estimator for c in found.coverages} == {"ours", "theirs"}


def test_our_estimators_know_which_numbers_are_categories_as_in_fit(line, monkeypatch):
    X, y = line
    frame = pd.DataFrame({"speed": X[:, 0], "road": ["wet", "dry", None] * 20})
    fit_many, seen = DeepEnsembleRegressor.fit_many, []

    def spied(self, X, *arguments, **keywords):
        seen.append(X)
        return fit_many(self, X, *arguments, **keywords)

    monkeypatch.setattr(DeepEnsembleRegressor, "fit_many", spied)
    coverage_check(DeepEnsembleRegressor(**SMALL), frame, y, n_simulations=2, random_state=0)
    assert seen[0].encoder.indicators == (1, 2, 3)


def test_progress_is_shown_where_asked_for(line, capsys):
    coverage_check(DeepEnsembleRegressor(**SMALL), *line, n_simulations=2, verbose=True)
    assert "DeepEnsembleRegressor, 2 simulations: 100 %" in capsys.readouterr().err
    coverage_check(DeepEnsembleRegressor(**SMALL), *line, n_simulations=2)
    assert capsys.readouterr().err == ""


# Other libraries


def test_split_conformal_intervals_of_mapie_cover(line):
    mapie = SplitConformalRegressor(LinearRegression(), [0.8, 0.9], prefit=False)
    adapter = MapieAdapter(mapie, [0.8, 0.9], conformalise_share=0.5)
    found = coverage_check(
        adapter, *line, n_simulations=100, confidence_levels=[0.8, 0.95], truth=Line(),
        random_state=0,
    )  # fmt: skip
    (only,) = found.coverages
    assert (only.kind, only.confidence_level) == ("prediction", 0.8)
    # 24 rows to conformalise: coverage lies between 0.8 and 0.8 + 1/25 on average.
    assert 0.8 - 4 * only.mean_se < only.mean < 0.84 + 4 * only.mean_se


def test_cross_conformal_regressors_of_mapie_work_too(line):
    mapie = CrossConformalRegressor(LinearRegression(), 0.8, cv=4)
    found = coverage_check(
        {"CV+": MapieAdapter(mapie, [0.8])}, *line, n_simulations=30,
        confidence_levels=0.8, truth=Line(), random_state=0,
    )  # fmt: skip
    (only,) = found.coverages
    assert only.estimator == "CV+"
    assert 0.75 < only.mean < 0.9


def test_mapie_is_taken_as_it_is_at_the_levels_it_was_made_for(line):
    mapie = SplitConformalRegressor(LinearRegression(), [0.9, 0.7], prefit=False)
    found = coverage_check(
        mapie, *line, n_simulations=10, truth=Line(), confidence_levels=[0.7, 0.8, 0.9],
        random_state=0,
    )  # fmt: skip
    by_level = {c.confidence_level: c for c in found.coverages}
    assert set(by_level) == {0.7, 0.9}
    assert by_level[0.9].mean > by_level[0.7].mean


def test_levels_that_are_not_those_of_mapie_are_refused():
    mapie = SplitConformalRegressor(LinearRegression(), [0.9, 0.8], prefit=False)
    with pytest.raises(ValueError, match=r"must be those of the regressor, \[0.9, 0.8\]"):
        MapieAdapter(mapie, [0.8, 0.9])


def test_levels_that_mapie_does_not_say_must_be_given():
    with pytest.raises(ValueError, match="does not say which levels"):
        MapieAdapter(LinearRegression())


def test_levels_of_mapie_are_told_apart(line):
    mapie = SplitConformalRegressor(LinearRegression(), [0.9, 0.6], prefit=False)
    adapter = MapieAdapter(mapie, [0.9, 0.6]).fit(*line)
    wide, narrow = (np.diff(adapter.predict_interval(line[0], level)[1]) for level in (0.9, 0.6))
    assert np.all(wide > narrow)


def test_another_level_of_mapie_is_refused(line):
    mapie = SplitConformalRegressor(LinearRegression(), 0.8, prefit=False)
    adapter = MapieAdapter(mapie, [0.8]).fit(*line)
    with pytest.raises(NoSuchIntervalError, match=r"made for the levels \[0.8\], got 0.9"):
        adapter.predict_interval(line[0], 0.9)
    with pytest.raises(NoSuchIntervalError, match="MAPIE has prediction intervals only"):
        adapter.predict_interval(line[0], 0.8, kind="confidence")


def test_skpro_regressors_are_taken_as_they_are(line):
    skpro = pytest.importorskip("skpro.regression.residual", reason="skpro is not installed")
    model = skpro.ResidualDouble(LinearRegression())
    found = coverage_check(
        model, *line, n_simulations=20, confidence_levels=[0.8], truth=Line(), random_state=0
    )
    (only,) = found.coverages
    assert only.estimator == "ResidualDouble"
    assert 0.65 < only.mean < 0.9


# Bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truth": "random_forrest"}, "no twin 'random_forrest'.*Did you mean 'random_forest'"),
        ({"n_simulations": 0}, "`n_simulations` must be a whole number of at least 1, got 0"),
        ({"n_simulations": 2.5}, "`n_simulations` must be a whole number of at least 1, got 2.5"),
        ({"confidence_levels": [80]}, r"`confidence_level` must lie in \(0, 1\), got .*80"),
        ({"confidence_levels": []}, "at least one level"),
    ],
)
def test_odd_arguments_are_refused(line, changes, message):
    with pytest.raises(ValueError, match=message):
        coverage_check(DeepEnsembleRegressor(**SMALL), *line, **changes)


def test_estimators_of_one_name_are_refused(line):
    both = [DeepEnsembleRegressor(), DeepEnsembleRegressor(n_members=3)]
    with pytest.raises(ValueError, match=r"same name.*Pass a dictionary"):
        coverage_check(both, *line)


def test_no_estimator_is_refused(line):
    with pytest.raises(ValueError, match="Pass at least one estimator"):
        coverage_check([], *line)


def test_an_estimator_without_intervals_is_refused(line):
    with pytest.raises(TypeError, match=r"LinearRegression has no `predict_interval"):
        coverage_check(LinearRegression(), *line)


def test_an_estimator_with_no_interval_at_these_levels_is_refused(line):
    model = QualityDrivenEnsembleRegressor(**NETWORK, confidence_level=0.9)
    with pytest.raises(NoSuchIntervalError, match=r"none of the levels \[0.8, 0.95\]"):
        coverage_check(model, *line, n_simulations=2)


def test_infinite_values_are_refused_with_advice(line):
    X = line[0].copy()
    X[3] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*Drop or correct those rows"):
        coverage_check(DeepEnsembleRegressor(**SMALL), X, line[1])


def test_a_truth_that_is_none_is_refused(line):
    with pytest.raises(TypeError, match=r"`truth` must be one of .*random_forest"):
        coverage_check(DeepEnsembleRegressor(**SMALL), *line, truth=[1])


def test_a_class_instead_of_an_estimator_is_refused(line):
    with pytest.raises(TypeError, match=r"DeepEnsembleRegressor\(\) instead of"):
        coverage_check(DeepEnsembleRegressor, *line)


class OddRegressor(OracleRegressor):
    """Its intervals are changed by a function before they are given."""

    def __init__(self, change):
        self.change = change

    def predict_interval(self, X, confidence_level, kind):
        mean, interval = super().predict_interval(X, confidence_level, kind)
        return mean, self.change(interval)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (np.transpose, r"shape \(12, 2\), but OddRegressor.predict_interval gave \(2, 12\)"),
        (lambda bounds: np.nan * bounds, "OddRegressor.predict_interval gave nan at row 0"),
    ],
)
def test_odd_intervals_are_refused(line, change, message):
    with pytest.raises(ValueError, match=message):
        coverage_check(OddRegressor(change), *line, n_simulations=2)


def test_infinite_bounds_are_intervals_too(line):
    wide = OddRegressor(lambda bounds: np.inf * np.sign(bounds - bounds.mean(axis=1)[:, None]))
    found = coverage_check(wide, *line, n_simulations=2)
    assert all(c.mean == 1 for c in found.coverages)


@pytest.mark.slow
def test_the_estimator_that_is_checked_stays_as_it_was(line):
    X, y = line
    frame = pd.DataFrame({"speed": X[:, 0]})
    model = DeepEnsembleRegressor(**SMALL, random_state=0).fit(frame, y)
    before = model.predict(frame)
    coverage_check(model, np.column_stack([X, X**2]), y, n_simulations=2)
    assert model.feature_names_in_.tolist() == ["speed"]
    np.testing.assert_array_equal(model.predict(frame), before)


def test_a_constant_column_is_warned_of_once(line):
    X = np.column_stack([line[0], np.ones(60)])
    with pytest.warns(UserWarning, match="Constant in the training data") as caught:
        coverage_check(DeepEnsembleRegressor(**SMALL), X, line[1], n_simulations=3)
    # Once for the table and once for the rows that every simulation is fitted to.
    assert len(caught) == 2


def test_unknown_method_is_answered_with_the_nearest():
    from confide.methods import REGISTRY

    with pytest.raises(ValueError, match=r"no method 'naive_bootsrap'.*'naive_bootstrap'"):
        REGISTRY["naive_bootsrap"]


@pytest.mark.slow
def test_a_stretch_of_dates_is_said_in_dates_and_waves_are_not_named():
    frame = pd.DataFrame(
        {"when": pd.date_range("2024-01-01", periods=400), "x": np.tile([0.0, 1.0], 200)}
    )
    generator = np.random.default_rng(0)
    y = np.arange(400) / 100 + generator.normal(size=400)
    small = BootstrappedDeepEnsembleRegressor(
        recipe="paper", n_members=2, hidden_layer_sizes=(4,), max_epochs=2
    )
    report = coverage_check(small, frame, y, n_simulations=2, random_state=0)
    assert {"when: year (sine)", "when: days"} < set(report.feature_names)
    assert all(report.worst(each).feature in {"when", "x"} for each in report.coverages)
    dated = WorstStretch("when", 19723.0, 19724.5, 0.5, is_date=True)
    assert str(dated) == "when is above 2024-01-01 and at most 2024-01-02"
