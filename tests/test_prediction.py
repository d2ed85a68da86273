"""`Prediction`: the laws of its intervals, and its messages.

The predictions are made by the methods' own `predict`, from members that recite given outputs
instead of networks.
"""

import dataclasses
import re
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confide import NoSuchIntervalError
from confide.calibration import Calibration
from confide.learners import Learner, Normal
from confide.methods import bootstrapped_deep_ensemble, deep_ensemble
from confide.standardise import Standardiser

EPS = np.finfo(np.float64).eps
LARGEST = 100.0
# Levels and members below: the quadrature is right to 1e-13 for up to 7 members, and a half-width
# times its density is at least 0.01 at levels from 0.01 to 0.99.
RELATIVE = 1e-11
# What rounding outputs of that size does to a bound: a standard deviation moves by no more than
# its outputs do (eps times a few operations), and t(1) at 0.99 multiplies it by 64.
ROUNDING = 64 * 16 * EPS

law = settings(derandomize=True, deadline=None, max_examples=40)
levels = st.floats(0.01, 0.99)
kinds = st.sampled_from(["confidence", "prediction"])


class Reciting(Learner):
    """A learner whose members know their outputs by heart; an input is the number of its row."""

    likelihood = Normal()

    def init(self, keys, data):
        raise NotImplementedError

    def train(self, keys, state, data, targets, plan, *, progress=None):
        raise NotImplementedError

    def predict(self, state, X):
        return state[:, X[:, 0].astype(int)]


def reciting(means, variances):
    """The state of members with these outputs."""
    return np.stack([means, variances], axis=-1)


def standardiser(y_mean=0.0, y_scale=1.0):
    return Standardiser(np.zeros(1), np.ones(1), y_mean, y_scale)


@dataclasses.dataclass(frozen=True)
class Outputs:
    """What the members of an ensemble say: [member, row], retrained [retrain, member, row]."""

    means: np.ndarray
    variances: np.ndarray
    retrained: np.ndarray

    def bootstrapped(self, *, retrained_location=0.0, retrained_scale=1.0, **units):
        n_retrains, n_members, n_rows = self.retrained.shape
        n_retrained = n_retrains * n_members
        retrained = self.retrained.reshape(n_retrained, n_rows)
        fitted = bootstrapped_deep_ensemble.Fitted(
            bootstrapped_deep_ensemble.Settings(n_members=n_members, n_retrains=n_retrains),
            Reciting(),
            standardiser(**units),
            members=reciting(self.means, self.variances),
            noise=None,
            retrained=reciting(
                (retrained - retrained_location) / retrained_scale, np.ones_like(retrained)
            ),
            location=np.full(n_retrained, retrained_location),
            scale=np.full(n_retrained, retrained_scale),
        )
        return bootstrapped_deep_ensemble.predict(fitted, np.arange(float(n_rows))[:, None])

    def deep(self, **units):
        n_members, n_rows = self.means.shape
        fitted = deep_ensemble.Fitted(
            deep_ensemble.Settings(n_members=n_members),
            Reciting(),
            standardiser(**units),
            reciting(self.means, self.variances),
            noise=None,
        )
        return deep_ensemble.predict(fitted, np.arange(float(n_rows))[:, None])

    def of(self, method, **units):
        return self.bootstrapped(**units) if method == "bootstrapped" else self.deep(**units)

    def scaled_and_shifted(self, scale, shift):
        return Outputs(
            scale * self.means + shift, scale**2 * self.variances, scale * self.retrained + shift
        )

    def in_order(self, members):
        return Outputs(self.means[members], self.variances[members], self.retrained[:, members])


@st.composite
def outputs(draw):
    n_members, n_rows, n_retrains = (
        draw(st.integers(2, 7)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
    )
    values = st.floats(-LARGEST, LARGEST, allow_subnormal=False)
    shape = (n_members, n_rows)
    return Outputs(
        means=draw(hnp.arrays(np.float64, shape, elements=values)),
        variances=draw(hnp.arrays(np.float64, shape, elements=st.floats(1e-6, LARGEST**2))),
        retrained=draw(hnp.arrays(np.float64, (n_retrains, *shape), elements=values)),
    )


methods = st.sampled_from(["bootstrapped", "deep"])

# Three members, one row. Mean 2; squared shifts 1, 0, 0; deviations -1, 0, 1; variances 1, 2, 3.
BY_HAND = Outputs(
    means=np.array([[1.0], [2.0], [3.0]]),
    variances=np.array([[1.0], [2.0], [3.0]]),
    retrained=np.array([[[2.0], [2.0], [3.0]]]),
)
SINGLE = Outputs(np.array([[1.0]]), np.array([[4.0]]), np.array([[[1.0]]]))
# t(2) has a closed form: level L is reached at L sqrt(2 / (1 - L^2)).
T2_AT_80 = 0.8 * np.sqrt(2 / 0.36)


def half_widths(intervals):
    return (intervals[:, 1] - intervals[:, 0]) / 2


# By hand.


def test_bootstrapped_prediction_has_the_sources_of_algorithm_1():
    prediction = BY_HAND.bootstrapped()
    assert prediction.mean.tolist() == [2.0]
    assert prediction.aleatoric_variance.tolist() == [2.0]
    assert prediction.classical_variance == pytest.approx([1 / 3], rel=4 * EPS)
    assert prediction.optimisation_variance.tolist() == [1.0]
    assert prediction.epistemic_variance == pytest.approx([1 / 3 + 1 / 3], rel=4 * EPS)


def test_bootstrapped_confidence_interval_is_that_of_theorem_3_3():
    half_width = T2_AT_80 * np.sqrt(2 / 3)
    expected = [[2 - half_width, 2 + half_width]]
    assert BY_HAND.bootstrapped().confidence_interval(0.8) == pytest.approx(
        np.array(expected), rel=1e-13
    )


def test_bootstrapped_prediction_interval_holds_simulated_observations():
    rng, n = np.random.default_rng(1), 200_000
    # Algorithm 2, lines 3 to 5.
    observations = 2 + np.sqrt(2 / 3) * rng.standard_t(2, n) + np.sqrt(2) * rng.standard_normal(n)
    lower, upper = BY_HAND.bootstrapped().prediction_interval(0.8)[0]
    held = np.mean((lower <= observations) & (observations <= upper))
    assert held == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / n))


def test_deep_ensemble_confidence_interval_has_divisor_m():
    half_width = T2_AT_80 * np.sqrt(2 / 3)
    assert half_widths(BY_HAND.deep().confidence_interval(0.8)) == pytest.approx(
        [half_width], rel=1e-13
    )


def test_deep_ensemble_prediction_interval_is_normal_with_the_variance_of_eq_1():
    # 2/3 between members plus 2 within; 1.959964 is the normal table's.
    assert half_widths(BY_HAND.deep().prediction_interval(0.95)) == pytest.approx(
        [1.959964 * np.sqrt(8 / 3)], rel=1e-6
    )


def test_single_network_has_the_prediction_interval_of_its_own_noise():
    assert half_widths(SINGLE.deep().prediction_interval(0.95)) == pytest.approx(
        [2 * 1.959964], rel=1e-6
    )


def test_bootstrapped_shares_by_hand():
    # Of 2 + 1/3 + 1/3.
    shares = BY_HAND.bootstrapped().shares
    expected = {"aleatoric": 6 / 8, "classical": 1 / 8, "optimisation": 1 / 8}
    assert shares == {name: pytest.approx([share], rel=1e-14) for name, share in expected.items()}


def test_both_methods_predict_the_same_mean():
    assert BY_HAND.bootstrapped().mean.tolist() == BY_HAND.deep().mean.tolist()


def test_default_level_is_95_percent():
    prediction = BY_HAND.bootstrapped()
    for interval in (prediction.confidence_interval, prediction.prediction_interval):
        assert interval().tolist() == interval(0.95).tolist()


def test_repr_says_what_there_is():
    prediction = BY_HAND.bootstrapped()
    assert repr(prediction) == (
        "<Prediction: n_rows=1, n_members=3, confidence intervals not calibrated, prediction "
        "intervals not calibrated>"
    )
    calibrated = Calibration(np.array([1.0, 2.0])).calibrated(SINGLE.deep())
    assert repr(calibrated) == (
        "<Prediction: n_rows=1, n_members=1, confidence intervals not available, prediction "
        "intervals calibrated on held-out rows>"
    )


def test_length_is_the_number_of_rows():
    assert len(BY_HAND.bootstrapped()) == 1


def test_prediction_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BY_HAND.bootstrapped().mean = np.zeros(1)


# The laws.


@law
@given(outputs(), methods, kinds, levels, st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_intervals_scale_and_shift_with_the_members_outputs(
    members, method, kind, level, scale, shift
):
    plain = members.of(method).interval(kind, level)
    moved = members.scaled_and_shifted(scale, shift).of(method).interval(kind, level)
    rounding = ROUNDING * (scale * LARGEST + abs(shift))
    width = scale * half_widths(plain).max()
    assert moved == pytest.approx(scale * plain + shift, rel=0, abs=RELATIVE * width + rounding)


@law
@given(outputs(), methods, kinds, levels, st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_answers_come_back_in_units_of_the_target(members, method, kind, level, scale, shift):
    standard = members.of(method).interval(kind, level)
    in_units = members.of(method, y_mean=shift, y_scale=scale).interval(kind, level)
    # Here nothing is subtracted: widths scale to the last digits, and bounds round by their size.
    tolerance = RELATIVE * scale * half_widths(standard).max() + 8 * EPS * abs(shift)
    tolerance += 8 * EPS * scale * LARGEST
    assert in_units == pytest.approx(scale * standard + shift, rel=0, abs=tolerance)


def test_retrained_members_answer_on_the_scale_they_were_trained_on():
    plain = BY_HAND.bootstrapped().classical_variance
    rescaled = BY_HAND.bootstrapped(retrained_location=4.0, retrained_scale=0.5)
    assert rescaled.classical_variance.tolist() == plain.tolist()


@law
@given(outputs(), methods, kinds, levels, st.randoms(use_true_random=False))
def test_order_of_members_is_irrelevant(members, method, kind, level, random):
    n_members = len(members.means)
    order = random.sample(range(n_members), n_members)
    plain = members.of(method).interval(kind, level)
    reordered = members.in_order(order).of(method).interval(kind, level)
    tolerance = RELATIVE * half_widths(plain).max() + ROUNDING * LARGEST
    assert reordered == pytest.approx(plain, rel=0, abs=tolerance)


def test_order_of_members_and_of_their_retrained_selves_must_agree():
    # Guards the test above: reordering the members alone does change the answer.
    crossed = dataclasses.replace(BY_HAND, means=BY_HAND.means[::-1])
    plain = BY_HAND.bootstrapped().classical_variance
    assert crossed.bootstrapped().classical_variance[0] > 2 * plain[0]


@law
@given(outputs(), methods, kinds, levels, levels)
def test_a_higher_level_contains_a_lower(members, method, kind, one_level, another_level):
    low, high = sorted([one_level, another_level])
    assume(high - low > 1e-6)
    prediction = members.of(method)
    inner, outer = prediction.interval(kind, low), prediction.interval(kind, high)
    assert np.all(outer[:, 0] <= inner[:, 0])
    assert np.all(outer[:, 1] >= inner[:, 1])


@law
@given(outputs(), methods, levels, levels)
def test_prediction_interval_widens_strictly_with_confidence_level(
    members, method, one_level, another_level
):
    low, high = sorted([one_level, another_level])
    # The noise has an sd of 1e-3 at least: widths then differ by 1e-3 times 1e-6, seen beside 1e2.
    assume(high - low > 1e-6)
    prediction = members.of(method)
    inner, outer = prediction.prediction_interval(low), prediction.prediction_interval(high)
    assert np.all(half_widths(outer) > half_widths(inner))


@law
@given(outputs())
def test_retrained_equal_to_original_leaves_optimisation_alone(members):
    n_retrains = len(members.retrained)
    unmoved = dataclasses.replace(members, retrained=np.stack([members.means] * n_retrains))
    prediction = unmoved.bootstrapped()
    assert np.all(prediction.classical_variance == 0)
    only = prediction.optimisation_variance / prediction.n_members
    assert prediction.epistemic_variance.tolist() == only.tolist()


@law
@given(outputs(), levels)
def test_bootstrapped_prediction_interval_contains_its_confidence_interval(members, level):
    prediction = members.bootstrapped()
    inner = half_widths(prediction.confidence_interval(level))
    outer = half_widths(prediction.prediction_interval(level))
    assert np.all(outer >= inner * (1 - RELATIVE) - 8 * EPS * LARGEST)


def test_deep_ensemble_prediction_interval_need_not_contain_its_confidence_interval():
    # Two members far apart, hardly any noise: t(1) at 95 % is 12.7 where the normal has 1.96.
    quiet = Outputs(np.array([[-1.0], [1.0]]), np.full((2, 1), 0.01), np.zeros((1, 2, 1)))
    prediction = quiet.deep()
    confidence = half_widths(prediction.confidence_interval(0.95))
    assert confidence == pytest.approx([12.706], abs=5e-4)
    assert half_widths(prediction.prediction_interval(0.95)) == pytest.approx(
        [1.959964 * np.sqrt(1.01)], rel=1e-6
    )


@law
@given(outputs())
def test_deep_ensemble_variance_is_that_of_its_mixture(members):
    # Eq. (1) as printed: the mean of f_i^2 - f_*^2 + sigma_i^2 over members.
    mean = members.means.mean(axis=0)
    mixture = np.mean(members.means**2 - mean**2 + members.variances, axis=0)
    # Squares of at most 1e4 are rounded, summed and subtracted.
    assert members.deep().total_variance == pytest.approx(mixture, rel=1e-14, abs=20 * EPS * 1e4)


@law
@given(outputs())
def test_total_variance_is_at_least_each_part(members):
    prediction = members.bootstrapped()
    optimisation = prediction.optimisation_variance / prediction.n_members
    parts = (prediction.aleatoric_variance, prediction.classical_variance, optimisation)
    assert np.all(prediction.total_variance >= np.max(parts, axis=0))
    # Three parts and nothing else; two additions.
    assert prediction.total_variance == pytest.approx(np.sum(parts, axis=0), rel=4 * EPS)


@law
@given(outputs(), methods)
def test_shares_sum_to_one(members, method):
    shares = members.of(method).shares
    assert np.sum(list(shares.values()), axis=0) == pytest.approx(1, rel=1e-14)
    assert np.all(np.array(list(shares.values())) >= 0)


def test_shares_of_a_single_network_are_all_aleatoric():
    assert {name: share.tolist() for name, share in SINGLE.deep().shares.items()} == {
        "aleatoric": [1.0]
    }


def test_shares_of_a_deep_ensemble_have_no_classical_entry():
    # 2 within and 2/3 between members.
    shares = BY_HAND.deep().shares
    assert shares == {
        "aleatoric": pytest.approx([0.75], rel=1e-14),
        "optimisation": pytest.approx([0.25], rel=1e-14),
    }


percentages = st.lists(st.integers(1, 99), min_size=2, max_size=5, unique=True)


@law
@given(outputs(), methods, percentages)
def test_quantiles_of_an_observation_rise_with_their_probability(members, method, percent):
    quantiles = members.of(method).quantiles(np.sort(percent) / 100)
    assert np.all(np.diff(quantiles, axis=1) > 0)


@law
@given(outputs(), methods, percentages)
def test_quantiles_of_the_true_function_never_fall_with_their_probability(members, method, percent):
    # They stand still where all members agree.
    quantiles = members.of(method).quantiles(np.sort(percent) / 100, kind="confidence")
    assert np.all(np.diff(quantiles, axis=1) >= 0)


@law
@given(outputs(), methods, kinds, levels)
def test_interval_runs_between_its_quantiles(members, method, kind, level):
    prediction = members.of(method)
    interval = prediction.interval(kind, level)
    quantiles = prediction.quantiles([(1 - level) / 2, (1 + level) / 2], kind=kind)
    # The two probabilities are rounded, at a level of at least 0.01.
    tolerance = RELATIVE * half_widths(interval).max() + 4 * EPS * LARGEST
    assert quantiles == pytest.approx(interval, rel=0, abs=tolerance)


@law
@given(outputs(), methods, levels)
def test_cdf_of_a_quantile_is_its_probability(members, method, probability):
    prediction = members.of(method)
    value = prediction.quantiles([probability])[:, 0]
    # A value near 1e2 rounds at 1e-14, which a density of at most 400 makes 6e-12.
    assert prediction.cdf(value) == pytest.approx(probability, rel=0, abs=1e-11)


def test_cdf_of_the_named_kind_is_that_of_its_law():
    prediction, value = BY_HAND.bootstrapped(), 2 + T2_AT_80 * np.sqrt(2 / 3)
    # The upper bound of the 80 % confidence interval; noise moves probability beyond it.
    assert prediction.cdf(value, kind="confidence") == pytest.approx([0.9], abs=1e-12)
    assert prediction.cdf(value, kind="prediction")[0] < 0.89


@pytest.mark.parametrize("kind", ["confidence", "prediction"])
def test_samples_lie_inside_the_interval_of_their_kind_as_often_as_its_level(kind):
    prediction, n = BY_HAND.bootstrapped(), 50_000
    lower, upper = prediction.interval(kind, 0.8)[0]
    draws = prediction.sample(n, random_state=2, kind=kind)[:, 0]
    inside = np.mean((lower <= draws) & (draws <= upper))
    assert inside == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / n))


def test_samples_repeat_with_their_random_state():
    first, again, other = (
        BY_HAND.bootstrapped().sample(5, random_state=seed).tolist() for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


# The table.

STATSMODELS = ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"]
COLUMNS = MappingProxyType(
    {
        "bootstrapped": [
            *STATSMODELS,
            "aleatoric_variance",
            "classical_variance",
            "optimisation_variance",
        ],
        "deep": [*STATSMODELS, "aleatoric_variance", "optimisation_variance"],
    }
)


@pytest.mark.parametrize("method", COLUMNS)
def test_summary_frame_has_statsmodels_columns_and_then_the_sources(method):
    assert BY_HAND.of(method).summary_frame().columns.tolist() == COLUMNS[method]


def test_summary_frame_of_a_single_network_has_no_confidence_columns():
    columns = SINGLE.deep().summary_frame().columns
    unknown = {"mean_se", "mean_ci_lower", "mean_ci_upper", "optimisation_variance"}
    assert not unknown & set(columns)
    assert {"mean", "obs_ci_lower", "obs_ci_upper"} <= set(columns)


def test_summary_frame_holds_the_intervals_of_its_level():
    prediction = BY_HAND.bootstrapped()
    frame = prediction.summary_frame(0.8)
    of_truth, of_observation = (
        frame[[f"{name}_ci_lower", f"{name}_ci_upper"]].to_numpy() for name in ("mean", "obs")
    )
    assert of_truth.tolist() == prediction.confidence_interval(0.8).tolist()
    assert of_observation.tolist() == prediction.prediction_interval(0.8).tolist()


def test_the_summary_is_the_same_for_polars():
    prediction = BY_HAND.bootstrapped()
    rows = pl.DataFrame({"name": [f"row {i}" for i in range(len(prediction))]})
    summary = pl.concat([rows, prediction.to_polars(0.9)], how="horizontal")
    frame = prediction.summary_frame(0.9).reset_index(drop=True)
    pd.testing.assert_frame_equal(summary.drop("name").to_pandas(), frame)


def test_summary_frame_gives_the_standard_error_of_the_mean():
    # The root of 1/3 + 1/3.
    assert BY_HAND.bootstrapped().summary_frame()["mean_se"].tolist() == pytest.approx(
        [np.sqrt(2 / 3)], rel=1e-14
    )


# The messages: what was needed, what came, what to do.

ASKED_WITH_A_LEVEL = ("confidence_interval", "prediction_interval", "summary_frame")


@pytest.mark.parametrize("level", [95, 0, 1, 1.0, -0.1, float("nan")])
@pytest.mark.parametrize("question", ASKED_WITH_A_LEVEL)
def test_level_outside_zero_and_one_is_refused(question, level):
    message = (
        f"`confidence_level` must lie in (0, 1), got {level!r}. It is a fraction: pass 0.95 for "
        "95 %."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        getattr(BY_HAND.bootstrapped(), question)(level)


@pytest.mark.parametrize("probability", [0, 1, 1.5, -0.2, 95, float("nan")])
def test_quantile_probability_outside_zero_and_one_is_refused(probability):
    message = (
        f"Quantile probabilities must lie in (0, 1), got {probability!r}. Pass for example "
        "[0.05, 0.5, 0.95]."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        BY_HAND.bootstrapped().quantiles([0.5, probability])


@pytest.mark.parametrize(
    ("typed", "meant"), [("confidense", "confidence"), ("predictions", "prediction")]
)
def test_mistyped_kind_is_answered_with_the_nearest(typed, meant):
    message = (
        "`kind` must be 'confidence' (for the true function) or 'prediction' (for a new "
        f"observation), got '{typed}'. Did you mean '{meant}'?"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        BY_HAND.bootstrapped().interval(typed, 0.95)


def test_kind_that_resembles_nothing_gets_no_suggestion():
    with pytest.raises(ValueError, match=r"got 'xyz'\.\s*$"):
        BY_HAND.bootstrapped().quantiles([0.5], kind="xyz")


QUESTIONS_ABOUT_THE_TRUTH = {
    "interval": lambda p: p.confidence_interval(0.9),
    "quantiles": lambda p: p.quantiles([0.5], kind="confidence"),
    "cdf": lambda p: p.cdf(0.0, kind="confidence"),
    "sample": lambda p: p.sample(1, kind="confidence"),
}


@pytest.mark.parametrize("question", QUESTIONS_ABOUT_THE_TRUTH)
def test_single_network_refuses_questions_about_the_true_function(question):
    message = (
        r"^A confidence interval needs at least two members, but this is a single network: .*"
        r"kind='prediction', or fit with `n_members` of 2 or more\.$"
    )
    with pytest.raises(NoSuchIntervalError, match=message):
        QUESTIONS_ABOUT_THE_TRUTH[question](SINGLE.deep())


def test_refused_confidence_interval_can_be_caught_as_value_error():
    with pytest.raises(ValueError, match="single network"):
        SINGLE.deep().confidence_interval()
