"""`Prediction.explain`: shares, levers against formulas and against simulated truths, words."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    NoSuchIntervalError,
)
from confide.calibration import Calibration
from confide.diagnostics import Decay, Explanation, largest_words
from confide.methods.bootstrapped_deep_ensemble import member_means
from confide.prediction import Prediction
from confide.simulate import Sine
from confide.uncertainty import (
    ContainingLaw,
    LevelLaw,
    PivotLaw,
    TPlusNormalLaw,
    deep_ensemble_prediction_law,
)

law = settings(derandomize=True, deadline=None, max_examples=40)
variances = st.lists(st.floats(1e-3, 1e3), min_size=9, max_size=9)
SPLIT = ("aleatoric", "classical", "optimisation")


def explained(aleatoric, classical, optimisation, n_members=5, **how):
    """The explanation of these parts of the variance, one for each row."""
    parts = (np.array(part, np.float64) for part in (aleatoric, classical, optimisation))
    return Explanation(dict(zip(SPLIT, parts, strict=True)), n_members, **how)


def factors(explanation, lever):
    frame = explanation.levers.set_index("lever").loc[[lever]]
    return frame[["confidence_width", "prediction_width"]].to_numpy()


def t(n_members, level=0.95):
    return stats.t.ppf((1 + level) / 2, n_members - 1)


def test_shares_are_means_of_the_rows_shares():
    explanation = explained([8.0, 2.0], [1.0, 1.0], [1.0, 1.0])
    assert explanation.shares == pytest.approx(
        {"aleatoric": 0.65, "classical": 0.175, "optimisation": 0.175}
    )
    assert explanation.confidence_shares == pytest.approx({"classical": 0.5, "optimisation": 0.5})
    assert explanation.rows["aleatoric"].tolist() == [0.8, 0.5]


def test_one_row_with_a_huge_variance_does_not_drown_the_others():
    noise = np.append(np.ones(99), 1e9)
    shares = explained(noise, np.ones(100), np.ones(100)).shares
    # 99 rows of a third, one of one.
    assert shares["aleatoric"] == pytest.approx(0.34, rel=1e-6)


def test_more_members_divide_random_training_and_change_the_quantile():
    explanation = explained([1.0], [0.5], [0.5], n_members=2)
    two = TPlusNormalLaw(np.zeros(1), np.ones(1), np.ones(1), 1).half_width(0.95)[0]
    four = TPlusNormalLaw(np.zeros(1), np.sqrt([0.75]), np.ones(1), 3).half_width(0.95)[0]
    z = stats.norm.ppf(0.975)
    first, _, unlimited = factors(explanation, "members")
    assert first == pytest.approx([t(4) * np.sqrt(0.75) / t(2), four / two], rel=1e-9)
    assert unlimited == pytest.approx([z * np.sqrt(0.5) / t(2), z * np.sqrt(1.5) / two], rel=1e-9)


def test_more_rows_shrink_each_part_by_its_own_power():
    decay = Decay(1.0, 0.1, 0.5, 0.0)
    levers = explained([0.0], [0.5], [0.5], decay=decay).levers.set_index("lever").loc["rows"]

    def width(times, a):
        return np.sqrt(0.5 * times**-a + 0.5 * times**-0.5)

    assert levers["confidence_width"].tolist() == pytest.approx([width(2, 1), width(4, 1)])
    expected = [(width(times, 0.9) - width(times, 1.1)) / 2 for times in (2, 4)]
    assert levers["confidence_width_se"].tolist() == pytest.approx(expected)
    # Without noise both intervals are the same t law.
    assert levers["prediction_width"].tolist() == pytest.approx([width(2, 1), width(4, 1)])


def test_errors_of_both_exponents_add_as_squares():
    def error(*decay):
        levers = explained([1.0], [2.0], [3.0], decay=Decay(*decay)).levers.set_index("lever")
        return levers.loc["rows", ["confidence_width_se", "prediction_width_se"]].to_numpy(float)

    of_one, of_other = error(0.6, 0.1, 0.3, 0.0), error(0.6, 0.0, 0.3, 0.2)
    both = error(0.6, 0.1, 0.3, 0.2)
    assert (of_one > 0).all()
    assert (of_other > 0).all()
    np.testing.assert_allclose(both, np.hypot(of_one, of_other), rtol=1e-12)


def test_the_floor_is_noise_alone_and_features_halve_it():
    explanation = explained([4.0], [1.0], [1.0], n_members=10**6)  # all but normal
    ((no_confidence, floor),) = factors(explanation, "floor")
    ((same, halved),) = factors(explanation, "features")
    assert (no_confidence, same) == (0, 1)
    # t with a million degrees of freedom is normal up to one part in a million.
    assert floor == pytest.approx(np.sqrt(4 / 6), rel=1e-5)
    assert halved == pytest.approx(np.sqrt(4 / 6), rel=1e-5)


def test_levers_of_a_long_table_are_those_of_some_of_its_rows():
    parts = np.random.default_rng(0).gamma(2, size=(3, 10_000))
    some, whole = explained(*parts).levers, explained(*parts)
    assert some.equals(explained(*parts[:, ::10]).levers)
    # All rows, by hand. Factors lie in [0, 0.71]: their standard deviation is below 0.36, and four
    # errors of a mean over 1000 rows below 0.046.
    factor = np.sqrt(parts[1] / (parts[1] + parts[2])) * stats.norm.ppf(0.975) / t(5)
    assert factors(whole, "members")[2, 0] == pytest.approx(factor.mean(), abs=0.046)
    assert whole.shares["classical"] == pytest.approx(np.mean(parts[1] / parts.sum(axis=0)))


@pytest.mark.slow
@law
@given(variances, st.integers(2, 8), st.floats(1e-3, 1e3))
def test_factors_do_not_depend_on_units_or_the_order_of_rows(numbers, n_members, unit):
    parts = np.reshape(numbers, (3, 3))
    before = explained(*parts, n_members=n_members).levers
    after = explained(*(unit * parts[:, ::-1]), n_members=n_members).levers
    assert before["change"].tolist() == after["change"].tolist()
    for column in before.columns[2:]:
        # The half-widths are right to 1e-11.
        np.testing.assert_allclose(before[column], after[column], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@law
@given(variances, st.integers(2, 8))
def test_every_lever_narrows_and_more_of_it_narrows_more(numbers, n_members):
    explanation = explained(*np.reshape(numbers, (3, 3)), n_members=n_members)
    for lever in ("members", "rows"):
        steps = np.concatenate([np.ones((1, 2)), factors(explanation, lever)])
        assert (np.diff(steps, axis=0) < 1e-9).all()
    floor = factors(explanation, "floor")[0, 1]
    for lever in ("members", "rows"):
        assert (factors(explanation, lever)[:, 1] > floor - 1e-9).all()
    assert sum(explanation.shares.values()) == pytest.approx(1)
    np.testing.assert_allclose(explanation.rows.sum(axis=1), 1)


METHODS = {
    BootstrappedDeepEnsembleRegressor: ["members", "rows", "features", "floor"],
    DeepEnsembleRegressor: ["members", "features", "floor"],
    NaiveBootstrapRegressor: ["members", "features", "floor"],
    "concrete dropout": ["features", "floor"],
}


def dropout():
    """As concrete dropout makes it: one network, two normal laws."""
    mean, noise, epistemic = np.zeros(4), np.arange(1.0, 5.0), np.arange(4.0, 0.0, -1.0)
    laws = (
        deep_ensemble_prediction_law(mean, epistemic, noise),
        TPlusNormalLaw.normal(mean, epistemic**0.5),
    )
    return Prediction(mean, noise, epistemic, *laws, None, None, 1)


@pytest.fixture(
    scope="module", params=METHODS, ids=lambda method: getattr(method, "__name__", None)
)
def said(request, data, small):
    """Each method's prediction in turn, with the levers that it can tell of."""
    method = request.param
    fits = not isinstance(method, str)
    prediction = method(**small).fit(*data).get_prediction(data[0]) if fits else dropout()
    return prediction, METHODS[method]


def test_present_widths_are_those_of_the_methods_own_intervals(said):
    prediction, _ = said
    present = prediction.explain(0.9)._forecast.present
    for half_width, kind in zip(present, ("confidence", "prediction"), strict=True):
        lower, upper = prediction.interval(kind, 0.9).T
        # Sums and differences of numbers of size 10, by widths of size 0.01 or more.
        np.testing.assert_allclose(2 * half_width, upper - lower, rtol=1e-10)


def test_each_method_has_the_levers_that_it_can_tell_of(said):
    prediction, levers = said
    explanation = prediction.explain()
    assert list(dict.fromkeys(explanation.levers["lever"])) == levers
    assert explanation.shares == pytest.approx(
        {name: share.mean() for name, share in prediction.shares.items()}
    )
    assert ("cannot be forecast" in str(explanation)) == ("rows" not in levers)


def test_a_deep_ensembles_spread_is_not_divided_by_its_members(plain, data):
    """Its levers are the formula of Eq. (1) with another M, from the same members' variance."""
    prediction = plain.get_prediction(data[0])
    first, *_ = factors(prediction.explain(), "members")
    # From the sample variance s2: s2 (M - 1) / M, that is 3/4 against 1/2.
    s2, noise = prediction.optimisation_variance, prediction.aleatoric_variance
    expected = [
        t(4) / t(2) * np.sqrt(0.75 / 0.5),
        np.mean(np.sqrt(noise + 0.75 * s2) / np.sqrt(noise + 0.5 * s2)),
    ]
    assert first == pytest.approx(expected, rel=1e-9)


def test_a_calibrated_prediction_explains_from_the_same_variances(bootstrapped, data):
    prediction = bootstrapped.get_prediction(data[0])
    scores = np.arange(1.0, 20.0)
    stretched = Calibration(scores).calibrated(prediction)
    assert stretched.explain().levers.equals(prediction.explain().levers)
    assert "before calibration" not in str(prediction.explain())
    for before in str(stretched.explain()).split(" prediction intervals")[1:]:
        assert before.startswith(" before calibration would")
    assert "prediction intervals before calibration would" in str(stretched.explain())
    assert "confidence intervals before" not in str(stretched.explain())
    assert "systematic errors" not in str(stretched.explain())


@pytest.mark.parametrize("kept_back", [False, True])
def test_confidence_intervals_calibrated_on_twins_are_forecast_as_they_were(
    bootstrapped, data, kept_back
):
    prediction = bootstrapped.get_prediction(data[0])
    scores = np.arange(1.0, 20.0)
    law = PivotLaw(prediction.mean, np.ones(len(prediction)), scores)
    laws = {"confidence_law": law, "prediction_law": ContainingLaw(prediction.prediction_law, law)}
    honest = dataclasses.replace(prediction, **laws, uncalibrated=prediction)
    honest = Calibration(scores).calibrated(honest) if kept_back else honest
    explanation = honest.explain()
    assert explanation.levers.equals(prediction.explain().levers)
    assert explanation.calibrated == ("confidence", *["prediction"] * kept_back)
    told = str(explanation)
    assert "With twice the members, 95 % confidence intervals before calibration would" in told
    assert ("prediction intervals before calibration would" in told) == kept_back
    assert told.count("include systematic errors too, which more members do not shrink") == 1


# --- against simulated truths ---------------------------------------------------------------------

N_ROWS, SLOPES, NOISE, JITTER = 40, 3, 0.7, 0.4
SIMULATIONS = 20_000


def simulated_means(n_times, n_members, generator):
    """Means of members that are least squares plus random training, for many data sets, at a row.

    Rows are added by repeating the design, so that finite data's part falls exactly as 1 / N.
    """
    design = np.tile(np.random.default_rng(5).normal(size=(N_ROWS, SLOPES)), (n_times, 1))
    row = np.ones(SLOPES)
    weights = row @ np.linalg.solve(design.T @ design, design.T)
    noise = generator.normal(0, NOISE, (SIMULATIONS, len(design)))
    training = generator.normal(0, JITTER, (SIMULATIONS, n_members)).mean(axis=1)
    return noise @ weights + training, NOISE**2 * weights @ weights


@pytest.mark.parametrize(("n_times", "n_members"), [(1, 5), (1, 10), (1, 20), (2, 5), (4, 5)])
def test_forecasts_are_the_variances_of_repeated_simulations(n_times, n_members):
    generator = np.random.default_rng(n_times * 100 + n_members)
    _, classical = simulated_means(1, 5, generator)
    training = 5 * (JITTER**2 / 5 / 5)
    explanation = explained(
        [NOISE**2], [classical], [training], decay=Decay(1.0, 0.0, 0.0, 0.0), n_members=5
    )
    levers = explanation.levers.set_index("change")["confidence_width"]
    forecast = {
        (1, 5): 1.0,
        (1, 10): levers["10 members instead of 5"] * t(5) / t(10),
        (1, 20): levers["20 members instead of 5"] * t(5) / t(20),
        (2, 5): levers["2 times as many rows"],
        (4, 5): levers["4 times as many rows"],
    }[n_times, n_members]
    means, _ = simulated_means(n_times, n_members, generator)
    true = np.std(means, ddof=1) / np.sqrt(classical + training)
    # A standard deviation of normal values errs by 1 / sqrt(2 n) of itself; four of those.
    assert forecast == pytest.approx(true, rel=4 / np.sqrt(2 * SIMULATIONS))


@pytest.mark.slow
def test_more_members_of_real_networks_do_what_is_forecast(small):
    """Eq. (2) with the true parts of the variance, over simulated data sets of a sine."""
    truth, n_sets, few, many = Sine(), 40, 4, 16
    x = np.linspace(-1, 1, 64)[:, None]
    generator = np.random.default_rng(0)
    targets = truth.mean(x) + truth.std(x) * generator.normal(size=(n_sets, 64))
    estimator = BootstrappedDeepEnsembleRegressor(**{**small, "n_members": many})
    fits = estimator.fit_many(x, targets, list(range(n_sets)))
    means = np.array([member_means(each.fitted_, x[::8].astype(np.float32))[0] for each in fits])

    def both(means):
        """Forecast and true variance of the mean of many, over that of few."""
        training = np.var(means, axis=1, ddof=1).mean()
        now = np.var(means.reshape(len(means), -1, few, 8).mean(axis=2), axis=0, ddof=1).mean()
        then = np.var(means.mean(axis=1), axis=0, ddof=1).mean()
        explanation = explained([1.0], [now - training / few], [training / few], few)
        levers = explanation.levers.set_index("change")["confidence_width"]
        forecast = levers[f"{many} members instead of {few}"] * t(few) / t(many)
        return np.array([forecast, np.sqrt(then / now)])

    left_out = [both(np.delete(means, i, axis=0)) for i in range(n_sets)]
    difference = np.subtract(*both(means))
    error = np.sqrt((n_sets - 1) * np.var(np.subtract(*np.transpose(left_out))))
    # Four jackknife errors; and the levers do something: a factor well below one.
    assert abs(difference) < 4 * error
    assert both(means)[1] < 1 - 4 * error


# --- the decay ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decay",
    [np.inf, np.nan, "fast", True, Decay(0.5, -0.1), Decay(0.5, 0.1, 0.3, -0.1), (0.5, 0.1)],
)
def test_a_decay_that_is_none_is_refused(bootstrapped, data, decay):
    prediction = bootstrapped.get_prediction(data[0])
    with pytest.raises(ValueError, match=r"`decay` must be the exponent a .* Pass for example 0.5"):
        prediction.explain(decay=decay)


def test_a_variance_may_grow_with_rows(bootstrapped, data):
    explanation = bootstrapped.get_prediction(data[0]).explain(decay=Decay(-0.5, 0.1, -0.5, 0.1))
    assert (factors(explanation, "rows") > 1).all()


def test_a_number_is_the_exponent_of_the_classical_variance(bootstrapped, data):
    explanation = bootstrapped.get_prediction(data[0]).explain(decay=1)
    assert explanation.decay == Decay(1.0, 0.0)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((8, 1, 1), "Most of it is noise, or what the model has not learnt."),
        ((4, 3, 3), "The largest part is noise, or what"),
        ((1, 8, 1), "Most of it is finite data, which more training rows would shrink."),
        ((3, 4, 3), "The largest part is finite data"),
        ((1, 1, 8), "Most of it is random training, which more members would shrink"),
    ],
)
def test_the_largest_part_is_named_with_its_lever(parts, words):
    assert words in str(explained(*([float(part)] for part in parts)))


def test_more_members_of_eq_1_shrink_nothing():
    """The spread of a deep ensemble's networks is not divided by their number."""
    sources = {"aleatoric": np.ones(1), "optimisation": np.full(1, 9.0)}
    explanation = Explanation(sources, 5, t_in_prediction=False)
    assert factors(explanation, "members")[0, 1] > 1
    assert "Most of it is random training. More members do not shrink it" in str(explanation)


def test_noise_that_features_would_shrink_may_be_what_was_not_learnt():
    shares = {"aleatoric": 0.9, "classical": 0.1}
    assert "noise, or what the model has not learnt" in largest_words(shares)
    assert "only features" not in largest_words(shares).lower()


def test_the_better_lever_for_the_true_function_is_named():
    # With many members t hardly changes: what counts is the larger part.
    assert "Twice the members narrow them more" in str(explained([1.0], [0.1], [9.0], 100))
    assert "Twice the rows narrow them more" in str(explained([1.0], [9.0], [0.1], 100))


@pytest.mark.parametrize(("error", "told"), [(0.0, True), (0.001, True), (0.2, False), (9, False)])
def test_forecasts_that_differ_by_less_than_their_error_are_not_ranked(error, told):
    # Without random training, 100 and 200 members have confidence intervals of nearly one width,
    # 99.4 %; rows with an exponent of 0.1 bring 2^-0.05, that is 96.6 %, and half of what an error
    # of 0.2 in the exponent does to that is 7 %, of 0.001 0.03 %.
    decay = Decay(0.1, error, 0.0, 0.0)
    text = str(explained([1.0], [1.0], [0.0], n_members=100, decay=decay))
    assert ("Twice the rows narrow them more." in text) == told
    assert ("too close to tell which narrows them more" in text) == (not told)


def test_every_number_in_words_is_that_of_the_frames():
    explanation = explained([8.0, 2.0], [1.0, 1.0], [1.0, 1.0])
    text, levers = str(explanation), explanation.levers.set_index("change")
    assert "noise (65 %), finite data (18 %) and random training (18 %)" in text
    for change, column in [
        ("10 members instead of 5", "confidence_width"),
        ("2 times as many rows", "confidence_width"),
        ("the true function known exactly: noise alone", "prediction_width"),
    ]:
        assert f"{100 * levers.loc[change, column]:.0f} %" in text
    assert explanation._repr_markdown_() == text


def test_every_interval_in_words_is_of_a_kind(said):
    text = str(said[0].explain())
    for before in text.split(" interval")[:-1]:
        assert before.endswith(("confidence", "prediction"))


def test_one_row_is_not_compared_with_others():
    assert "Rows differ" not in str(explained([8.0], [1.0], [1.0]))
    assert "Rows differ" not in str(explained([8.0, 16.0], [1.0, 2.0], [1.0, 2.0]))
    assert "noise makes up 50 % to 80 %" in str(
        explained([8.0, 2.0] * 50, [1.0] * 100, [1.0] * 100)
    )


def test_small_shares_do_not_read_as_nothing():
    assert "random training (under 1 %)" in str(explained([8.0], [1.0], [0.001]))


def test_a_method_without_variances_is_refused():
    nothing = np.zeros(2)
    bounds = LevelLaw(nothing, np.ones(2), 0.9)
    prediction = Prediction(nothing, None, None, bounds, None, None, None, 5)
    with pytest.raises(NoSuchIntervalError, match="but no variance"):
        prediction.explain()


def test_a_single_network_is_refused(data, small):
    model = DeepEnsembleRegressor(**{**small, "n_members": 1}).fit(*data)
    with pytest.raises(NoSuchIntervalError, match="at least two members"):
        model.get_prediction(data[0]).explain()


def test_a_level_that_is_none_is_refused(bootstrapped, data):
    with pytest.raises(ValueError, match=r"`confidence_level` must lie in \(0, 1\), got 95"):
        bootstrapped.get_prediction(data[0]).explain(95)
