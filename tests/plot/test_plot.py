"""Pictures show the numbers of the prediction, under the right words."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from support.artists import band, bars, words

from confide import DeepEnsembleRegressor
from confide.drawing import SOURCES
from confide.plot import plot_intervals, plot_split


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def prediction(bootstrapped, data):
    return bootstrapped.get_prediction(data[0])


@pytest.fixture
def single(data, small):
    return DeepEnsembleRegressor(**{**small, "n_members": 1}).fit(*data).get_prediction(data[0])


@pytest.mark.parametrize("draw", [plot_intervals, plot_split])
def test_the_axis_that_was_passed_is_returned(prediction, ax, draw):
    assert draw(prediction, ax=ax) is ax


@pytest.mark.parametrize("draw", [plot_intervals, plot_split])
def test_without_an_axis_a_new_one_is_made(prediction, draw):
    first, second = draw(prediction), draw(prediction)
    assert first.figure is not second.figure
    plt.close(first.figure)
    plt.close(second.figure)


def test_words_tell_confidence_from_prediction_and_give_the_level(prediction, ax):
    plot_intervals(prediction, confidence_level=0.9, y=prediction.mean, ax=ax)
    assert words(ax) == {
        "90 % prediction interval", "90 % confidence interval", "prediction", "observed",
    }  # fmt: skip


def test_a_single_network_is_drawn_without_a_confidence_interval(single, ax):
    plot_intervals(single, ax=ax)
    assert words(ax) == {"95 % prediction interval", "prediction"}


@pytest.mark.parametrize("kind", ["confidence", "prediction"])
def test_bars_are_the_intervals_of_rows_sorted_by_their_prediction(prediction, ax, kind):
    plot_intervals(prediction, confidence_level=0.9, ax=ax)
    expected = prediction.interval(kind, 0.9)[np.argsort(prediction.mean)]
    drawn = bars(ax, f"90 % {kind} interval")
    np.testing.assert_array_equal(drawn, expected)


@pytest.mark.parametrize("kind", ["confidence", "prediction"])
def test_bands_are_the_intervals_at_their_positions(prediction, data, ax, kind):
    x = data[0][:, 0]
    plot_intervals(prediction, x, confidence_level=0.9, ax=ax)
    position, drawn = band(ax, f"90 % {kind} interval")
    first = np.unique(x, return_index=True)[1]
    assert len(first) == len(x)  # every row has a place of its own
    np.testing.assert_array_equal(position, x[first])
    np.testing.assert_array_equal(drawn, prediction.interval(kind, 0.9)[first])


def test_the_line_is_the_prediction(prediction, data, ax):
    x = data[0][:, 0]
    plot_intervals(prediction, x, ax=ax)
    (line,) = ax.get_lines()
    order = np.argsort(x)
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([x, prediction.mean])[order])


@pytest.mark.parametrize("kind_of_y", ["array", "shuffled series", "list"])
def test_points_are_the_observed_targets_of_their_rows(prediction, data, ax, kind_of_y):
    y = data[1]
    series = pd.Series(y, index=np.roll(np.arange(64), 5))
    given = {"array": y, "shuffled series": series, "list": y.tolist()}[kind_of_y]
    plot_intervals(prediction, y=given, ax=ax)
    (points,) = (c for c in ax.collections if c.get_label() == "observed")
    expected = np.column_stack([np.arange(64), y[np.argsort(prediction.mean)]])
    np.testing.assert_array_equal(points.get_offsets(), expected)


def test_positions_may_be_a_series_in_any_order_of_its_index(prediction, data, ax):
    x = pd.Series(data[0][:, 0], index=np.roll(np.arange(64), 5))
    plot_intervals(prediction, x, ax=ax)
    expected = np.column_stack([x, prediction.mean])[np.argsort(data[0][:, 0])]
    np.testing.assert_array_equal(ax.get_lines()[0].get_xydata(), expected)


@pytest.mark.parametrize("x", [None, "first column"])
def test_the_split_stacks_the_shares_up_to_one_hundred(prediction, data, ax, x):
    x = None if x is None else data[0][:, 0]
    plot_split(prediction, x, ax=ax)
    order = np.argsort(prediction.mean if x is None else x)
    bottom = np.zeros(64)
    for source, share in prediction.shares.items():
        label = SOURCES[source]
        drawn = bars(ax, label) if x is None else band(ax, label)[1]
        expected = np.column_stack([bottom, bottom + 100 * share[order]])
        np.testing.assert_allclose(drawn, expected, rtol=0, atol=1e-12)
        bottom = expected[:, 1]
    np.testing.assert_allclose(bottom, 100, rtol=1e-12)


def test_words_of_the_split_name_source_and_term(prediction, ax):
    plot_split(prediction, ax=ax)
    assert words(ax) == {
        "noise (aleatoric)",
        "finite data (classical)",
        "random training (optimisation)",
    }


def test_the_split_of_a_deep_ensemble_has_no_classical_part(plain, data, ax):
    plot_split(plain.get_prediction(data[0]), ax=ax)
    assert words(ax) == {"noise (aleatoric)", "random training (optimisation)"}


def test_a_level_that_is_none_is_refused(prediction, ax):
    with pytest.raises(ValueError, match=r"`confidence_level` must lie in \(0, 1\), got 95"):
        plot_intervals(prediction, confidence_level=95, ax=ax)
