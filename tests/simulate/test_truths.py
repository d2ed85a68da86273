"""Truths: their functions, their draws, and the exact probability of an interval."""

import jax
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from confide.estimators import DeepEnsembleRegressor
from confide.randomness import generator_from
from confide.simulate import (
    ANALYTIC_TRUTHS,
    NOISE_LAWS,
    SYNTHETIC_TRUTHS,
    Borehole,
    Branin,
    Friedman1,
    Friedman2,
    Friedman3,
    Ishigami,
    NetworkTruth,
    RandomForestTruth,
    Sine,
)

KEY, OTHER_KEY = jax.random.key(1), jax.random.key(2)
each_law = pytest.mark.parametrize("noise", NOISE_LAWS.values(), ids=list(NOISE_LAWS))
each_formula = pytest.mark.parametrize("formula", ANALYTIC_TRUTHS.values(), ids=ANALYTIC_TRUTHS)


def rows(*values):
    return np.array(values, np.float64)


def column(*values):
    return rows(*values)[:, None]


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestTruth.from_data(*data)


@pytest.fixture(scope="module")
def network(data):
    return NetworkTruth.from_data(*data, random_state=0)


# What every truth does.


@each_law
def test_targets_are_mean_plus_std_times_noise(noise):
    X = column(-1, -0.5, 0, 0.5)
    # By hand: sin(pi x) and 0.05 + 0.1 (1 + x).
    expected = rows(0, -1, 0, 1) + rows(0.05, 0.1, 0.15, 0.2) * noise.sample(generator_from(KEY), 4)
    assert Sine(noise=noise).draw(KEY, X) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_noise_is_gaussian_unless_told_otherwise(forest, network):
    assert {truth.noise.name for truth in (Sine(), forest, network)} == {"gaussian"}


def test_same_key_gives_the_same_targets_and_another_key_others():
    X = column(*np.linspace(-1, 1, 20))
    first, again, other = (Sine().draw(key, X) for key in (KEY, KEY, OTHER_KEY))
    assert first.tolist() == again.tolist()
    assert np.all(first != other)


@each_law
def test_probability_is_the_share_of_targets_inside(noise):
    truth, n = Sine(noise=noise), 20_000
    X = np.repeat(column(-0.8, 0.1, 0.9), n, axis=0)
    lower, upper = truth.mean(X) - 0.5 * truth.std(X), truth.mean(X) + truth.std(X)
    y = truth.draw(KEY, X)
    share = np.mean(((lower <= y) & (y <= upper)).reshape(3, n), axis=1)
    p = truth.interval_probability(X, lower, upper)[::n]
    assert np.all((p > 0.3) & (p < 0.95))
    assert share == pytest.approx(p, rel=0, abs=4 * np.sqrt(0.25 / n))


def test_probability_of_one_standard_deviation_each_way():
    X = column(-0.7, 0.2)
    mean, std = Sine().mean(X), Sine().std(X)
    found = Sine().interval_probability(X, mean - std, mean + std)
    # 68.27 % of a normal law; the bounds are rounded at 1e-16 of 1, or 1e-15 of the std.
    assert found == pytest.approx(np.full(2, 2 * stats.norm.cdf(1) - 1), rel=1e-14)


def test_each_simulation_is_judged_as_if_alone():
    X, generator = column(-0.7, 0.2, 0.6), np.random.default_rng(0)
    lower, upper = np.sort(generator.normal(size=(2, 4, 3)), axis=0)
    together = Sine().interval_probability(X, lower, upper)
    apart = [Sine().interval_probability(X, lower[j], upper[j]) for j in range(4)]
    assert together.tolist() == np.array(apart).tolist()


def test_a_wider_interval_holds_more_and_an_endless_one_everything():
    X = column(-0.7, 0.2)
    widths = rows(0.01, 0.05, 0.2, np.inf)[:, None]
    held = Sine().interval_probability(X, Sine().mean(X) - widths, Sine().mean(X) + widths)
    assert np.all(np.diff(held, axis=0) > 0)
    assert held[-1].tolist() == [1, 1]


def test_crossed_bounds_hold_no_target():
    X = column(-0.7, 0.2)
    mean = Sine().mean(X)
    assert Sine().interval_probability(X, mean + 0.1, mean - 0.1).tolist() == [0, 0]


# Algorithm 3.


def test_forests_are_those_of_the_published_runs(forest):
    for part in (forest.mean_forest, forest.variance_forest):
        assert (part.n_estimators, part.max_depth, part.random_state) == (100, 3, 2)


def test_second_forest_is_fitted_to_the_squared_residuals(data, forest):
    X, y = data
    again = type(forest.variance_forest)(100, max_depth=3, random_state=2)
    expected = again.fit(X, (y - forest.mean(X)) ** 2).predict(X)
    assert (forest.std(X) ** 2) == pytest.approx(expected, rel=1e-14)
    assert forest.mean(X).tolist() == forest.mean_forest.predict(X).tolist()


def test_targets_of_a_forest_are_those_they_were_before_other_noise_came(data, forest):
    X, _ = data
    before = forest.mean(X) + forest.std(X) * generator_from(KEY).standard_normal(len(X))
    assert forest.draw(KEY, X).tolist() == before.tolist()


@each_law
def test_forest_takes_the_noise_it_is_given(data, forest, noise):
    X, y = data
    truth = RandomForestTruth.from_data(X, y, noise=noise)
    standardised = (truth.draw(KEY, X) - forest.mean(X)) / forest.std(X)
    # Cancellation against means of up to 10 with stds down to 0.1.
    expected = noise.sample(generator_from(KEY), len(X))
    assert standardised == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.fixture(scope="module")
def noiseless():
    """Constant left of zero, where a forest leaves no residuals, and noisy right of it."""
    X = column(*np.linspace(-1, 1, 40))
    y = np.where(X[:, 0] < 0, 3.0, 8.0 + np.random.default_rng(0).normal(size=40))
    return RandomForestTruth.from_data(X, y)


def test_forest_has_rows_without_noise(noiseless):
    X = column(-0.9, 0.9)
    assert noiseless.std(X)[0] == 0 < noiseless.std(X)[1]
    assert noiseless.draw(KEY, X)[0] == noiseless.mean(X)[0] == 3


@pytest.mark.parametrize(
    ("lower", "upper", "held"),
    [(2, 4, 1), (3, 4, 1), (2, 3, 1), (3, 3, 1), (3.5, 4, 0), (2, 2.5, 0), (4, 2, 0)],
)
def test_a_row_without_noise_is_held_or_not(noiseless, lower, upper, held):
    found = noiseless.interval_probability(column(-0.9), rows(lower), rows(upper))
    assert found.tolist() == [held]


def test_a_row_without_noise_leaves_the_others_alone(noiseless):
    X = column(-0.9, 0.9)
    lower, upper = np.array([[2.0, 7.0], [4.0, 8.0]]), np.array([[4.0, 9.0], [5.0, 9.0]])
    found = noiseless.interval_probability(X, lower, upper)
    alone = noiseless.interval_probability(X[1:], lower[:, 1:], upper[:, 1:])
    assert found.tolist() == [[1, alone[0, 0]], [0, alone[1, 0]]]
    assert np.all((alone > 0) & (alone < 1))


# Algorithm 4.


def test_network_is_that_of_the_published_runs(network):
    settings = network.network.settings
    assert (settings.n_members, settings.max_epochs) == (1, 40)
    assert network.network.learner.network.hidden_layer_sizes == (40, 30, 20)


def test_network_truth_has_the_mean_and_noise_of_its_network(data, network):
    same = DeepEnsembleRegressor(recipe="paper", n_members=1, max_epochs=40, random_state=0).fit(
        *data
    )
    mean, std = same.predict(data[0], return_std=True)
    assert network.mean(data[0]).tolist() == mean.tolist()
    # A single network has no other uncertainty than the noise.
    assert network.std(data[0]).tolist() == std.tolist()
    assert np.all(std > 0)


def test_network_truth_resembles_its_data(data, network):
    X, y = data
    assert np.var(y - network.mean(X)) < 0.5 * np.var(y)


def test_network_truth_repeats_itself_for_the_same_seed(data, network):
    again = NetworkTruth.from_data(*data, random_state=0)
    other = NetworkTruth.from_data(*data, random_state=1)
    assert again.mean(data[0]).tolist() == network.mean(data[0]).tolist()
    assert np.all(other.mean(data[0]) != network.mean(data[0]))


def test_network_truth_takes_the_noise_it_is_given(data, network):
    truth = NetworkTruth.from_data(*data, random_state=0, noise=NOISE_LAWS["gamma"])
    X = data[0]
    standardised = (truth.draw(KEY, X) - network.mean(X)) / network.std(X)
    # Cancellation against means of up to 10 with stds down to 0.1.
    expected = NOISE_LAWS["gamma"].sample(generator_from(KEY), len(X))
    assert standardised == pytest.approx(expected, rel=0, abs=1e-12)


# Formulas.


@pytest.mark.parametrize(
    ("formula", "make"),
    [(Friedman1, make_friedman1), (Friedman2, make_friedman2), (Friedman3, make_friedman3)],
)
def test_friedmans_functions_are_scikit_learns(formula, make):
    X, y = make(200, noise=0, random_state=0)
    # One formula in two orders of rounding: a few ulps.
    assert formula().mean(X) == pytest.approx(y, rel=1e-14)


@pytest.mark.parametrize(
    ("formula", "make"),
    [(Friedman1, make_friedman1), (Friedman2, make_friedman2), (Friedman3, make_friedman3)],
)
def test_friedmans_inputs_are_scikit_learns(formula, make):
    n = 4000
    X, _ = make(n, random_state=0)
    ours = formula().inputs(KEY, n)
    assert ours.shape == X.shape
    for j in range(X.shape[1]):
        # Both samples uniform on one interval; twenty tests in all.
        assert stats.ks_2samp(ours[:, j], X[:, j]).pvalue > 1e-4


def test_phase_angle_of_a_circuit_without_resistance_is_a_right_angle():
    assert Friedman3().mean(rows([0, 1000, 0.5, 5]))[0] == pytest.approx(np.pi / 2, rel=1e-15)


def test_ishigami_by_hand():
    X = np.pi / 2 * rows([1, 1, 0], [-1, 0, 0], [0, 1, 1]) + rows([0, 0, 2], [0, 0, 1], [0, 0, 0])
    # 1 + 7 + 0.1 * 16; -1 - 0.1; 7.
    assert Ishigami().mean(X) == pytest.approx(rows(9.6, -1.1, 7), rel=1e-15)


def test_ishigami_has_its_published_mean_and_variance():
    n, b = 40_000, 0.1
    f = Ishigami().mean(Ishigami().inputs(KEY, n))
    variance = 7**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 1 / 2
    assert f.mean() == pytest.approx(7 / 2, abs=4 * np.sqrt(variance / n))
    # A squared deviation varies with the fourth moment, taken from the sample.
    assert f.var() == pytest.approx(variance, abs=4 * np.std((f - 3.5) ** 2) / np.sqrt(n))


def test_branin_has_its_three_published_minima():
    minima = rows([-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475])
    # There the square vanishes and the cosine is -1, which leaves 10 / (8 pi), the square to
    # within rounding of numbers of up to 15.
    assert Branin().mean(minima) == pytest.approx(np.full(3, 10 / (8 * np.pi)), rel=1e-13)
    around = np.concatenate([minima + step for step in ([0.01, 0], [-0.01, 0], [0, 0.01])])
    assert np.all(Branin().mean(around) > 10 / (8 * np.pi))


def test_branin_at_the_origin_by_hand():
    # 36 + 10 (1 - 1 / (8 pi)) + 10.
    assert Branin().mean(rows([0, 0]))[0] == pytest.approx(56 - 10 / (8 * np.pi), rel=1e-15)


def test_borehole_by_hand():
    # r_w, r, T_u, H_u, T_l, H_l, L, K_w with ln(r / r_w) = 2:
    # 2 pi * 3 * 6 / [2 (1 + 2 * 5 * 3 / (2 * 0.25 * 8) + 3 / 6)] = 36 pi / 18.
    X = rows([0.5, 0.5 * np.exp(2), 3, 10, 6, 4, 5, 8])
    assert Borehole().mean(X)[0] == pytest.approx(2 * np.pi, rel=1e-14)


@pytest.mark.parametrize(
    ("truth", "x", "expected"),
    [
        (Sine(), [0.5], 0.2),
        (Friedman1(), [0, 0, 0, 0.25, 0, 0, 0, 0, 0, 0], 0.75),
        (Friedman2(), [1, 200, 0.5, 2], 125),
        (Friedman3(), [1, 200, 0.3, 2], 0.08),
        (Ishigami(), [1, 2, -3], 2),
        (Branin(), [3, 10], 21),
        (Borehole(), [0.5, 0.5 * np.exp(2), 3, 10, 6, 4, 5, 8], 0.4 * np.pi),
    ],
    ids=ANALYTIC_TRUTHS,
)
def test_noise_is_as_large_as_its_formula_says(truth, x, expected):
    assert truth.std(rows(x))[0] == pytest.approx(expected, rel=1e-14)


@each_formula
def test_noise_is_positive_and_differs_between_inputs(formula):
    std = formula().std(formula().inputs(KEY, 1000))
    assert std.min() > 0
    assert std.max() > 2 * std.min()


@each_formula
def test_inputs_fill_their_box(formula):
    n = 1000
    X = formula().inputs(KEY, n)
    lowest, highest = np.array(formula.lowest), np.array(formula.highest)
    share = (X - lowest) / (highest - lowest)
    # A feature misses the last 2 % at one end with probability 0.98^1000 = 2e-9.
    assert np.all((share.min(axis=0) >= 0) & (share.min(axis=0) < 0.02))
    assert np.all((share.max(axis=0) <= 1) & (share.max(axis=0) > 0.98))
    # Independent features: a correlation has standard error 1 / sqrt(n).
    correlation = np.corrcoef(share.T).reshape(X.shape[1], X.shape[1]) - np.eye(X.shape[1])
    assert np.max(np.abs(correlation)) < 4.5 / np.sqrt(n)


def test_borehole_inputs_have_their_published_ranges():
    assert list(zip(Borehole.lowest, Borehole.highest, strict=True)) == [
        (0.05, 0.15),
        (100, 50_000),
        (63_070, 115_600),
        (990, 1110),
        (63.1, 116),
        (700, 820),
        (1120, 1680),
        (9855, 12_045),
    ]


def test_branin_and_ishigami_inputs_have_their_published_ranges():
    assert (Branin.lowest, Branin.highest) == ((-5, 0), (10, 15))
    assert (Ishigami.lowest, Ishigami.highest) == ((-np.pi,) * 3, (np.pi,) * 3)


@each_formula
def test_same_key_gives_the_same_inputs_and_another_key_others(formula):
    first, again, other = (formula().inputs(key, 10) for key in (KEY, KEY, OTHER_KEY))
    assert first.tolist() == again.tolist()
    assert np.all(first != other)


def test_inputs_and_targets_of_one_key_come_from_different_streams():
    first_stream = generator_from(KEY).uniform(-1, 1, 100)
    assert np.all(Sine().inputs(KEY, 100)[:, 0] != first_stream)


@pytest.mark.parametrize("half_gap", [0.25, 0.6])
def test_sine_has_no_inputs_in_its_gap_and_uniform_ones_elsewhere(half_gap):
    n = 4000
    x = Sine(half_gap=half_gap).inputs(KEY, n)[:, 0]
    assert np.abs(x).min() >= half_gap
    assert stats.kstest((np.abs(x) - half_gap) / (1 - half_gap), "uniform").pvalue > 1e-3
    # Both sides alike: a share of one half has standard error 0.5 / sqrt(n).
    assert np.mean(x > 0) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(n))


@pytest.mark.parametrize("half_gap", [-0.1, 1.0, np.nan])
def test_a_gap_that_leaves_no_inputs_is_refused(half_gap):
    with pytest.raises(ValueError, match=r"`half_gap` must lie in \[0, 1\), got .*pass for exam"):
        Sine(half_gap=half_gap)


def test_single_precision_inputs_give_double_precision_values():
    X = np.array([[0.5]], np.float32)
    assert (Sine().mean(X).dtype, Sine().std(X).dtype) == (np.float64, np.float64)


def test_formulas_are_known_by_their_names():
    assert list(ANALYTIC_TRUTHS) == [
        "sine",
        "friedman1",
        "friedman2",
        "friedman3",
        "ishigami",
        "branin",
        "borehole",
    ]
    assert all(formula.name == name for name, formula in ANALYTIC_TRUTHS.items())


def test_a_mistyped_formula_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="no analytic truth 'bore_hole'; there are") as error:
        ANALYTIC_TRUTHS["bore_hole"]
    assert str(error.value).endswith("Did you mean 'borehole'?")


def test_a_standard_deviation_below_zero_is_refused():
    outside = column(0.0, -3.0)  # 0.05 + 0.1 (1 - 3) < 0
    message = r"Sine must be finite and not negative, got -0.15 at row 1"
    with pytest.raises(ValueError, match=message):
        Sine().draw(KEY, outside)
    with pytest.raises(ValueError, match=message):
        Sine().interval_probability(outside, rows(0, 0), rows(1, 1))


each_synthetic = pytest.mark.parametrize("truth", SYNTHETIC_TRUTHS.values(), ids=SYNTHETIC_TRUTHS)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        # Sines of a quarter turn, a half, three quarters, ...: 1, 0, -1, 0, 1, 0, -1, 0.
        ("additive", np.ones(8), 1 - 1 / np.sqrt(3) + 1 / np.sqrt(5) - 1 / np.sqrt(7)),
        ("interactions", np.ones(6), 12.0),
        ("interactions", np.array([0.0, 1, 1, 1, 1, 1]), 4 * (-1 + 1 - 1)),
        ("steps", np.array([0.8, 0.7, 0.6, 0, 0]), 2 - 3 + 2),
        ("steps", np.array([0.8, 0.5, 0.5, 0, 0]), 2.0),
        ("steps", np.zeros(5), 0.0),
        ("fewuseful", np.r_[1, 0.5, 0, 1, np.full(28, 9.0)], 10 + 5 + 10),
    ],
)
def test_synthetic_truths_by_hand(name, x, expected):
    assert SYNTHETIC_TRUTHS[name]().mean(x[None]) == pytest.approx([expected])


def test_a_draw_of_a_gaussian_process_has_its_variance_and_its_correlation():
    truth = SYNTHETIC_TRUTHS["gaussianprocess"]()
    X = 1000 * np.random.default_rng(0).normal(size=(4000, 4))  # far apart: nearly independent
    here, near = truth.mean(X), truth.mean(X + np.array([0.35, 0, 0, 0]))
    # One in expectation over draws; with the weights fixed, sums of 500 squares are off by 6 %.
    assert np.mean(here**2) == pytest.approx(1, abs=4 * np.sqrt(2 / 500))
    assert np.mean(here * near) == pytest.approx(np.exp(-0.5), abs=4 * np.sqrt(2 / 500))
    assert truth.mean(X).tolist() == here.tolist()  # the same draw each time


@each_synthetic
def test_synthetic_truths_have_noise_of_a_third_of_their_spread_that_grows(truth):
    X = truth().inputs(jax.random.key(0), 5000)
    assert X.min() >= 0
    assert X.max() <= 1
    std = truth().std(X)
    assert std == pytest.approx(truth.size * (0.5 + X[:, 0]))
    assert 0.2 < np.mean(std) / truth().mean(X).std() < 0.5


def test_synthetic_truths_are_known_by_their_names():
    names = ["additive", "interactions", "steps", "gaussianprocess", "fewuseful"]
    assert list(SYNTHETIC_TRUTHS) == names
    assert all(truth.name == name for name, truth in SYNTHETIC_TRUTHS.items())
    with pytest.raises(ValueError, match="no synthetic truth 'step'; there are"):
        SYNTHETIC_TRUTHS["step"]
