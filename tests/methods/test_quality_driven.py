"""Quality-driven ensembles: the loss by hand, the aggregation, one level and no other."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from confide import NoSuchIntervalError, QualityDrivenEnsembleRegressor
from confide.methods import quality_driven_ensemble as qde
from confide.methods.quality_driven_ensemble import (
    AS_PUBLISHED,
    BoundsNetwork,
    QualityDrivenLoss,
    Settings,
)

KEY = jax.random.key(3)

pytestmark = pytest.mark.usefixtures("without_type_checker")


def bounds(lower, upper):
    """What a network says that knows its bounds by heart."""
    return jnp.array([upper, lower])


def loss(captured_width="hard", level=0.9, penalty=4.0, softening=10.0):
    values = (np.asarray(v, np.float32) for v in (level, penalty, softening))
    return QualityDrivenLoss(captured_width, *values)


def fit(data, settings):
    learner = qde.learner(settings, 3, hidden_layer_sizes=(4,))
    return qde.fit([KEY], data[0], data[1][None], settings, learner)[0]


Y = np.array([0.0, 1.0, 2.0, 5.0])
LOWER, UPPER = np.array([-1.0, 0.5, 2.5, 0.0]), np.array([1.0, 2.5, 3.5, 4.0])
SOFT = special.expit(10 * (UPPER - Y)) * special.expit(10 * (Y - LOWER))


@pytest.mark.parametrize("captured_width", ["hard", "soft"])
def test_loss_by_hand(captured_width):
    """Rows 0 and 1 are captured (widths 2 and 2), rows 2 and 3 are not (widths 1 and 4)."""
    width = {
        "hard": (2.0 + 2.0) / (2 + 0.001),
        "soft": (SOFT * (UPPER - LOWER)).sum() / (SOFT.sum() + 0.001),
    }[captured_width]
    shortfall = 0.9 - SOFT.mean()
    expected = width + 4.0 * np.sqrt(4) * shortfall**2
    got = loss(captured_width).loss(bounds(LOWER, UPPER), jnp.array(Y), jnp.ones(4))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_no_penalty_where_enough_is_captured():
    wide = bounds(Y - 1.5, Y + 1.5)
    got = loss().loss(wide, jnp.array(Y), jnp.ones(4))
    np.testing.assert_allclose(got, 3.0 * 4 / 4.001, rtol=1e-6)


def test_padding_is_not_counted():
    network = bounds([*LOWER, -9.0], [*UPPER, 9.0])
    weight = jnp.array([1.0, 1.0, 1.0, 1.0, 0.0])
    padded = loss().loss(network, jnp.array([*Y, 0.0]), weight)
    plain = loss().loss(bounds(LOWER, UPPER), jnp.array(Y), jnp.ones(4))
    np.testing.assert_allclose(padded, plain, rtol=1e-6)


def test_weights_count_in_share_and_width():
    """Rows 0 and 1 are captured with weights 3 and 1, widths 2 and 2."""
    weight = np.array([3.0, 1.0, 0.5, 1.5])
    share = (weight * SOFT).sum() / weight.sum()
    expected = (3 * 2 + 1 * 2) / (4 + 0.001) + 4.0 * np.sqrt(4) * (0.9 - share) ** 2
    got = loss().loss(bounds(LOWER, UPPER), jnp.array(Y), jnp.array(weight))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_bounds_start_apart():
    network = BoundsNetwork((4,), np.asarray(3.0, np.float32))
    raw = network.raw(network.init(KEY, 3), jnp.zeros((3, 2)), None)
    lower, upper = loss().outputs(raw)
    np.testing.assert_allclose(lower, -3.0)
    np.testing.assert_allclose(upper, 3.0)


@pytest.mark.parametrize(("spread", "ddof"), [("sample", 1), ("population", 0)])
def test_bounds_are_moved_outwards_by_the_members_spread(data, spread, ddof):
    settings = Settings(max_epochs=5, n_members=3, confidence_level=0.8, spread=spread)
    fitted = fit(data, settings)
    s = fitted.standardiser
    outputs = fitted.learner.predict(fitted.members, s.inputs(data[0]))
    lower, upper = outputs[..., 0], outputs[..., 1]
    z = stats.norm.ppf(0.9)
    expected = [
        s.y_mean + s.y_scale * (bound.mean(axis=0) + side * z * bound.std(axis=0, ddof=ddof))
        for side, bound in ((-1, lower.astype(np.float64)), (1, upper.astype(np.float64)))
    ]
    interval = qde.predict(fitted, data[0]).prediction_interval(0.8)
    np.testing.assert_allclose(interval, np.transpose(expected), rtol=1e-6)


def test_crossed_bounds_give_width_zero(data):
    fitted = fit(data, Settings(max_epochs=1, n_members=2, initial_bound=0.0))
    swapped = fitted.members.parameters.copy()
    swapped[:] = swapped[0]  # no spread between members
    swapped[:, -2:] = [-50.0, 50.0]  # the biases of upper and lower bound
    crossed = dataclasses.replace(fitted, members=fitted.members._replace(parameters=swapped))
    interval = qde.predict(crossed, data[0]).prediction_interval(0.95)
    np.testing.assert_allclose(np.diff(interval), 0.0, atol=1e-9)


@pytest.mark.slow
def test_interval_covers_about_the_asked_share():
    """On a line with normal noise: at least the level, for the members' spread is added to it."""
    generator = np.random.default_rng(1)
    x = generator.uniform(-1, 1, (2400, 1))
    y = x[:, 0] + 0.3 * generator.normal(size=2400)
    model = QualityDrivenEnsembleRegressor(confidence_level=0.8, random_state=0)
    model.fit(x[:400], y[:400])
    lower, upper = model.predict_interval(x[400:], 0.8)[1].T
    share = np.mean((lower < y[400:]) & (y[400:] < upper))
    assert 0.75 < share < 0.95


@pytest.fixture(scope="module")
def model(data):
    return QualityDrivenEnsembleRegressor(
        hidden_layer_sizes=(4,), max_epochs=5, confidence_level=0.8, random_state=0
    ).fit(*data)


def test_another_level_is_refused(model, data):
    with pytest.raises(NoSuchIntervalError, match=r"80 % intervals.*got confidence_level=0.95"):
        model.predict_interval(data[0], 0.95)


def test_levels_are_compared_as_they_are_written(model, data):
    almost = 0.7 + 0.1
    assert almost != 0.8
    np.testing.assert_array_equal(
        model.predict_interval(data[0], almost)[1], model.predict_interval(data[0], 0.8)[1]
    )


def test_confidence_interval_is_refused(model, data):
    with pytest.raises(NoSuchIntervalError, match="say nothing of the true function"):
        model.predict_interval(data[0], 0.8, kind="confidence")


def test_quantiles_are_the_two_bounds(model, data):
    np.testing.assert_allclose(
        model.predict_quantiles(data[0], [0.1, 0.9]), model.predict_interval(data[0], 0.8)[1]
    )
    with pytest.raises(NoSuchIntervalError, match="has no others"):
        model.predict_quantiles(data[0], [0.5])


def test_a_variance_is_refused(model, data):
    with pytest.raises(NoSuchIntervalError, match="but no variance"):
        model.predict(data[0], return_std=True)
    with pytest.raises(NoSuchIntervalError, match="but no variance"):
        _ = model.get_prediction(data[0]).shares


def test_a_distribution_is_refused(model, data):
    prediction = model.get_prediction(data[0])
    for ask in (lambda: prediction.cdf(0.0), lambda: prediction.sample(3)):
        with pytest.raises(NoSuchIntervalError, match="has no distribution"):
            ask()


def test_summary_has_the_columns_that_there_are(model, data):
    frame = model.get_prediction(data[0]).summary_frame(0.8)
    assert list(frame.columns) == ["mean", "obs_ci_lower", "obs_ci_upper", "novelty"]


def test_as_published_differs_where_it_did():
    published, described = Settings(**AS_PUBLISHED), Settings()
    assert (published.coverage_penalty, described.coverage_penalty) == (15, 4)
    assert (published.initial_bound, described.initial_bound) == (0, 3)
    assert (published.captured_width, described.captured_width) == ("soft", "hard")
    assert (published.spread, described.spread) == ("population", "sample")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confidence_level": 95}, r"`confidence_level` must lie in \(0, 1\), got 95"),
        ({"n_members": 1}, "at least 2 for a quality-driven ensemble, got 1"),
        ({"coverage_penalty": 0}, "`coverage_penalty` must be a positive number, got 0"),
        ({"softening": -1.0}, "`softening` must be a positive number, got -1.0"),
        ({"initial_bound": -1.0}, "`initial_bound` must be a number that is not negative"),
        ({"captured_width": "hrad"}, "Did you mean 'hard'"),
        ({"spread": "popluation"}, "Did you mean 'population'"),
    ],
)
def test_bad_settings_are_refused(data, changes, message):
    with pytest.raises(ValueError, match=message):
        QualityDrivenEnsembleRegressor(**changes).fit(*data)
