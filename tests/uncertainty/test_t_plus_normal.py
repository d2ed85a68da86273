"""The exact law of scaled t plus normal: against tables, other integrals, and itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from confide.uncertainty import TPlusNormalLaw, t_plus_normal

DEGREES = [1, 2, 4, 9, 49]
LEVELS = [1e-6, 0.01, 0.5, 0.8, 0.95, 0.9999]
# Where SciPy itself is right to 1e-13.
PRECISE_DEGREES = [1, 2, 3, 4, 5, 6, 9, 13, 49, 199]

law = settings(derandomize=True, deadline=None, max_examples=60)
scales = st.floats(1e-3, 1e3)


def one(value):
    """A single row."""
    return np.array([value], np.float64)


def centred(t_scale, normal_scale, degrees_of_freedom):
    return TPlusNormalLaw(np.zeros_like(t_scale), t_scale, normal_scale, degrees_of_freedom)


def half_width(level, *scales_and_degrees):
    return centred(*scales_and_degrees).half_width(level)


def central_probability(q, *scales_and_degrees):
    return centred(*scales_and_degrees).central_probability(q)


def log_density(q, *scales_and_degrees):
    return centred(*scales_and_degrees).log_density(q)


def probability_by_convolution(q, t_scale, normal_scale, degrees_of_freedom):
    """P(|sT + tau Z| <= q) as an integral over Z: shares nothing with the quadrature over V."""

    def integrand(z):
        upper, lower = (q - normal_scale * z) / t_scale, (-q - normal_scale * z) / t_scale
        within = special.stdtr(degrees_of_freedom, upper) - special.stdtr(degrees_of_freedom, lower)
        return np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * within

    # Beyond 12 the normal has 1e-32 of its mass; the integrand bends most at +- q / tau.
    bends = {0.0, -q / normal_scale, q / normal_scale}
    points = sorted(bend for bend in bends if abs(bend) < 12)
    return integrate.quad(integrand, -12, 12, points=points, epsabs=1e-13, epsrel=0, limit=500)[0]


@pytest.fixture
def halved_step(monkeypatch):
    """Halves the step when called, and leaves no node behind."""

    def halve():
        monkeypatch.setattr(t_plus_normal, "_STEP", t_plus_normal._STEP / 2)
        monkeypatch.setattr(t_plus_normal, "_STEP_IN_STDS", t_plus_normal._STEP_IN_STDS / 2)
        t_plus_normal._nodes.cache_clear()

    yield halve
    t_plus_normal._nodes.cache_clear()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", DEGREES)
def test_half_width_without_noise_is_scipys_t_quantile(degrees, level):
    expected = 3 * stats.t.ppf((1 + level) / 2, degrees)
    assert half_width(level, one(3), one(0), degrees)[0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", DEGREES)
def test_half_width_without_t_part_is_scipys_normal_quantile(degrees, level):
    expected = 3 * stats.norm.ppf((1 + level) / 2)
    assert half_width(level, one(0), one(3), degrees)[0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("degrees", DEGREES)
def test_probability_without_noise_is_scipys_t_distribution(degrees):
    # Not nearer zero, where SciPy's own cdf loses digits (it is off by 3e-11 at 1e-6).
    q = np.array([0.1, 1.0, 2.5, 10.0, 1e3])
    found = central_probability(q, np.ones(5), np.zeros(5), degrees)
    # The rule over V is off by up to 1.1e-12 (at 9 degrees of freedom).
    assert found == pytest.approx(2 * stats.t.cdf(q, degrees) - 1, rel=0, abs=1.2e-12)


def test_one_degree_of_freedom_without_noise_is_the_arc_tangent():
    q = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
    found = central_probability(q, np.ones(5), np.zeros(5), 1)
    # A sum of 330 positive terms, rounded at 1e-16 each.
    assert found == pytest.approx(2 / np.pi * np.arctan(q), rel=330 * 1e-16)


@pytest.mark.parametrize("degrees", DEGREES)
def test_probability_without_t_part_is_scipys_normal_distribution(degrees):
    q = np.array([1e-6, 0.1, 1.0, 2.5, 6.0])
    found = central_probability(q, np.zeros(5), np.ones(5), degrees)
    assert found == pytest.approx(2 * stats.norm.cdf(q) - 1, rel=0, abs=1e-12)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("degrees", PRECISE_DEGREES)
def test_a_trace_of_noise_changes_a_t_quantile_by_its_square_only(degrees, level):
    # Noise of 1e-7 enters as its variance, 1e-14; the probability itself is right to 1e-13, and
    # q times its density is at least 0.01 at these levels.
    found = half_width(level, one(1), one(1e-7), degrees)[0]
    assert found == pytest.approx(stats.t.ppf((1 + level) / 2, degrees), rel=1e-11)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mix", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("degrees", DEGREES)
def test_half_width_holds_its_level_by_brute_force_integration(degrees, mix, level):
    q = half_width(level, one(mix), one(1), degrees)[0]
    # 1e-13 from the integral here, 1.1e-12 at most from the rule in the library.
    assert probability_by_convolution(q, mix, 1.0, degrees) == pytest.approx(
        level, rel=0, abs=1.2e-12
    )


@pytest.mark.parametrize("gaussian_std", [0.1, 1.0, 10.0])
def test_one_degree_of_freedom_is_the_voigt_profile(gaussian_std):
    q = half_width(0.8, one(1), one(gaussian_std), 1)[0]
    profile = integrate.quad(
        special.voigt_profile, 0, q, args=(gaussian_std, 1.0), epsabs=1e-13, epsrel=0, limit=500
    )
    # SciPy's profile is good to about 13 digits, and so is the integral.
    assert 2 * profile[0] == pytest.approx(0.8, rel=0, abs=1e-12)


def test_two_degrees_of_freedom_have_a_closed_form():
    # t(2): level L is reached at L sqrt(2 / (1 - L^2)), here 0.8 sqrt(2) / 0.6.
    assert half_width(0.8, one(3), one(0), 2)[0] == pytest.approx(4 * np.sqrt(2), rel=1e-14)


@pytest.mark.parametrize("degrees", [1, 2, 4, 9, 13, 49, 199])
def test_halving_the_quadrature_step_changes_nothing(halved_step, degrees):
    t_scale, normal_scale = np.array([0.01, 0.1, 1, 10, 100]), np.ones(5)

    def half_widths():
        levels = (0.1, 0.5, 0.8, 0.95)
        return np.array([half_width(p, t_scale, normal_scale, degrees) for p in levels])

    before = half_widths()
    halved_step()
    assert half_widths() == pytest.approx(before, rel=1e-12)


def test_halving_the_step_doubles_the_nodes(halved_step):
    # Guards the test above: the constants that it patches are those in use.
    before = len(t_plus_normal._nodes(4)[0])
    halved_step()
    assert len(t_plus_normal._nodes(4)[0]) == pytest.approx(2 * before, abs=1)


@pytest.mark.parametrize(
    ("degrees", "level"), [(1, 0.95), (2, 0.5), (4, 1e-6), (4, 0.95), (4, 0.9999), (49, 0.8)]
)
def test_many_rows_give_what_few_rows_give(degrees, level):
    rng, n_rows = np.random.default_rng(degrees), 2 * t_plus_normal._ROWS_PER_BLOCK + 100
    t_scale, normal_scale = 10 ** rng.uniform(-2, 2, (2, n_rows))
    t_scale[::97], normal_scale[::101] = 0, 0
    many = half_width(level, t_scale, normal_scale, degrees)
    thirds = np.array_split(np.arange(n_rows), 3)
    few = np.concatenate(
        [half_width(level, t_scale[rows], normal_scale[rows], degrees) for rows in thirds]
    )
    # Newton stops both within 1e-14 of one root, as a probability. At 0.9999, q times its density
    # is 1e-4, which is what turns that into a relative error of q.
    assert np.allclose(many, few, rtol=1e-10, atol=0)


def test_many_rows_start_from_the_spline(monkeypatch):
    # Guards the test above: a spline that answers nonsense must be noticed to be used.
    asked = []

    def spline_of(level, degrees):
        asked.append((level, degrees))
        return np.ones_like

    monkeypatch.setattr(t_plus_normal, "_solutions_by_angle", spline_of)
    monkeypatch.setattr(t_plus_normal, "_ROWS_PER_BLOCK", 8)
    half_width(0.9, np.ones(8), np.ones(8), 4)
    assert asked == []
    half_width(0.9, np.ones(9), np.ones(9), 4)
    assert asked == [(0.9, 4)]


def test_the_spline_starts_with_six_right_digits(monkeypatch):
    # Newton would mend any start; this one is what makes many rows cheap.
    newton, errors = t_plus_normal._newton, []

    def spy(level, start, *law):
        errors.append(np.max(np.abs(start / newton(level, start, *law) - 1)))
        return newton(level, start, *law)

    monkeypatch.setattr(t_plus_normal, "_newton", spy)
    t_scale = 10 ** np.random.default_rng(0).uniform(-2, 2, 5000)
    half_width(0.95, t_scale, np.ones(5000), 4)
    # The first block is the spline's own; two hold the rows.
    assert len(errors) == 3
    assert max(errors[1:]) < 1e-6


def test_both_scales_zero_give_an_interval_of_no_width():
    assert half_width(0.95, np.zeros(2), np.zeros(2), 4).tolist() == [0.0, 0.0]


def test_rows_with_and_without_zero_scales_do_not_disturb_each_other():
    t_scale, normal_scale = np.array([1.0, 0.0, 2.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0])
    together = half_width(0.9, t_scale, normal_scale, 4)
    apart = [half_width(0.9, one(t_scale[i]), one(normal_scale[i]), 4)[0] for i in range(4)]
    assert together.tolist() == apart


def test_no_rows_give_no_half_widths():
    assert half_width(0.95, np.zeros(0), np.zeros(0), 4).shape == (0,)


@law
@given(scales, scales, st.sampled_from(PRECISE_DEGREES), st.floats(1e-3, 0.9999))
def test_probability_within_the_half_width_is_the_level(t_scale, normal_scale, degrees, level):
    q = half_width(level, one(t_scale), one(normal_scale), degrees)
    found = central_probability(q, one(t_scale), one(normal_scale), degrees)[0]
    # The lower bound that Newton is held to comes from SciPy's quantiles, right to 1e-13.
    assert found == pytest.approx(level, rel=0, abs=2e-13)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 49])
def test_a_level_near_zero_is_held_relative_to_itself(degrees):
    level, t_scale, normal_scale = 1e-6, np.ones(3), np.array([1e-3, 1e-2, 1.0])
    q = half_width(level, t_scale, normal_scale, degrees)
    # SciPy's quantiles of (1 + 1e-6) / 2 keep ten digits of the level.
    found = central_probability(q, t_scale, normal_scale, degrees)
    assert found == pytest.approx(level, rel=1e-9)


@law
@given(scales, scales, st.sampled_from(PRECISE_DEGREES), st.floats(0.01, 0.99))
def test_adding_noise_widens_either_law(t_scale, normal_scale, degrees, level):
    both = half_width(level, one(t_scale), one(normal_scale), degrees)[0]
    alone = t_scale * stats.t.ppf((1 + level) / 2, degrees)
    noise = normal_scale * stats.norm.ppf((1 + level) / 2)
    assert both >= max(alone, noise)


@pytest.mark.parametrize("level", [0.05, 0.999999, 0.9999999, 1 - 1e-9])
def test_a_trace_of_noise_never_narrows(level):
    t_scale = np.geomspace(1, 1e6, 50)
    noisy = TPlusNormalLaw(np.zeros(50), t_scale, np.ones(50), 1)
    alone = TPlusNormalLaw.t(np.zeros(50), t_scale, 1)
    assert (noisy.half_width(level) >= alone.half_width(level)).all()


@law
@given(scales, scales, st.sampled_from(PRECISE_DEGREES), st.floats(0.01, 0.99), scales)
def test_half_width_scales_with_both_scales(t_scale, normal_scale, degrees, level, factor):
    plain = half_width(level, one(t_scale), one(normal_scale), degrees)
    scaled = half_width(level, one(factor * t_scale), one(factor * normal_scale), degrees)
    # Newton leaves 1e-14 and the sums round at 1e-15; q times its density is at least 0.01.
    assert scaled == pytest.approx(factor * plain, rel=1e-12)


@law
@given(scales, scales, st.floats(0.01, 0.99))
def test_more_degrees_of_freedom_narrow_the_interval(t_scale, normal_scale, level):
    widths = [half_width(level, one(t_scale), one(normal_scale), nu)[0] for nu in (1, 2, 4, 49)]
    # Where the noise dwarfs the t part they are all the noise's, up to the same 1e-11.
    assert np.all(np.diff(widths) <= 1e-11 * widths[0])


def test_every_one_of_many_rows_is_solved():
    generator = np.random.default_rng(0)
    t_scale, normal_scale = generator.uniform(0.1, 2, (2, 9000))
    q = half_width(0.9, t_scale, normal_scale, 4)
    found = central_probability(q, t_scale, normal_scale, 4)
    np.testing.assert_allclose(found, 0.9, atol=1e-12)


def log_density_by_convolution(q, t_scale, normal_scale, degrees_of_freedom):
    """The log density as an integral over Z: shares nothing with the quadrature over V.

    A sum over an even grid errs by exp(-2 pi d / step), with d >= 0.1 the distance of the poles of
    the t density, sqrt(degrees) * t_scale / normal_scale.
    """
    z, step = np.linspace(-60, 60, 60_001, retstep=True)
    t = stats.t.logpdf((q - normal_scale * z) / t_scale, degrees_of_freedom) - np.log(t_scale)
    return special.logsumexp(stats.norm.logpdf(z) + t) + np.log(step)


@pytest.mark.parametrize("q", [0.0, 1.0, -3.0, 10.0, 40.0])
@pytest.mark.parametrize("t_scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("degrees", [1, 4, 49])
def test_log_density_is_that_of_a_numerical_convolution(degrees, t_scale, q):
    found = log_density(one(q), one(t_scale), one(1), degrees)[0]
    # Logarithms down to -800 are rounded, and the rule over V is off by up to 1.1e-12.
    expected = log_density_by_convolution(q, t_scale, 1.0, degrees)
    assert found == pytest.approx(expected, rel=0, abs=1.5e-12)


@pytest.mark.parametrize("degrees", DEGREES)
def test_log_density_without_noise_is_scipys_t_however_far_out(degrees):
    q = np.array([0.0, 0.1, -1.0, 5.0, 30.0, 1e3, -1e6])
    found = log_density(3 * q, np.full(7, 3.0), np.zeros(7), degrees)
    assert found == pytest.approx(stats.t.logpdf(q, degrees) - np.log(3), rel=0, abs=1e-12)


def test_log_density_without_t_part_is_scipys_normal_however_far_out():
    q = np.array([0.0, 0.1, -1.0, 5.0, 1e3])
    found = log_density(q, np.zeros(5), np.full(5, 2.0), 4)
    assert found == pytest.approx(stats.norm.logpdf(q, 0, 2), rel=1e-14)


def test_log_density_of_a_law_without_width_is_infinite_at_its_centre_only():
    found = log_density(np.array([0.0, 1.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]), 4)
    assert found.tolist()[:2] == [np.inf, -np.inf]
    assert found[2] == pytest.approx(stats.norm.logpdf(0), rel=1e-12)


def test_log_density_of_many_rows_is_that_of_each(monkeypatch):
    q, t_scale = np.linspace(-3, 8, 7), np.linspace(0, 2, 7)
    whole = log_density(q, t_scale, np.ones(7), 4)
    monkeypatch.setattr(t_plus_normal, "_ROWS_PER_BLOCK", 3)
    assert log_density(q, t_scale, np.ones(7), 4) == pytest.approx(whole, rel=1e-14)


@pytest.mark.parametrize("degrees", DEGREES)
def test_normal_mixture_has_the_laws_probabilities(degrees):
    t_scale, normal_scale, q = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0]), 1.5
    _, scales, weights = centred(t_scale, normal_scale, degrees).normal_mixture()
    found = (2 * stats.norm.cdf(q / scales) - 1) @ weights
    expected = central_probability(np.full(3, q), t_scale, normal_scale, degrees)
    assert found == pytest.approx(expected, rel=1e-13)


def test_normal_mixture_of_normal_laws_has_one_component():
    _, scales, weights = centred(np.zeros(2), np.array([1.0, 3.0]), 4).normal_mixture()
    assert scales.tolist() == [[1.0], [3.0]]
    assert weights.tolist() == [1.0]
