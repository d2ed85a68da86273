"""What pictures show is computed once, as plain data, for every painter."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from confide import Prediction
from confide.calibration import Calibration
from confide.drawing import (
    BIASED,
    SOURCES,
    axis_limits,
    before_calibration,
    calibration_bands,
    interval_bands,
    interval_name,
    intervals_picture,
    named_coverages,
    novelty_histogram,
    p_values_of,
    places_of,
    stacked,
    widening_of,
)
from confide.uncertainty import PivotLaw, TPlusNormalLaw, TwinErrors

# A normal law's central half reaches this many standard deviations to each side.
HALF = 0.6744897501960817
SCORES = np.arange(1, 40) / 20


def predicted(mean, **changes):
    mean = np.asarray(mean, float)
    one = np.ones(len(mean))
    law = TPlusNormalLaw.normal(mean, 2 * one)
    own = TPlusNormalLaw.normal(mean, one)
    prediction = Prediction(mean, 3 * one, one, law, own, one / 2, one, 2)
    return dataclasses.replace(prediction, **changes)


def on_twins(prediction, times, biased):
    """Confidence intervals of that many standard deviations at a score of one."""
    times, one = np.asarray(times, float), np.ones(len(prediction))
    errors = TwinErrors(bias=9.0 * np.asarray(biased), error=times, claimed=one)
    law = PivotLaw(prediction.mean, times, SCORES)
    return dataclasses.replace(
        prediction, confidence_law=law, uncalibrated=prediction, twin_errors=errors
    )


@pytest.mark.slow
def test_nothing_that_paints_is_imported():
    heavy = ["jax", "matplotlib", "altair"]
    script = f"import sys, confide.drawing; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


# --- intervals


def test_the_wider_interval_comes_first_under_its_name_and_level():
    wide, narrow = interval_bands(predicted([5, 1]), 0.5)
    assert (wide.role, wide.name) == ("prediction", "50 % prediction interval")
    assert (narrow.role, narrow.name) == ("confidence", "50 % confidence interval")
    assert wide.bounds == pytest.approx(
        np.array([[5 - 2 * HALF, 5 + 2 * HALF], [1 - 2 * HALF, 1 + 2 * HALF]])
    )
    assert narrow.bounds[1] == pytest.approx([1 - HALF, 1 + HALF])


def test_one_kind_of_interval_is_one_band():
    (band,) = interval_bands(predicted([5, 1]), 0.5, "confidence")
    assert band.role == "confidence"
    (band,) = interval_bands(predicted([5, 1], confidence_law=None), 0.5)
    assert band.role == "prediction"


def test_names_say_what_is_calibrated_and_how_many_are_infinite():
    calibrated = Calibration(SCORES).calibrated(predicted([5, 1]))
    names = [band.name for band in interval_bands(calibrated, 0.5)]
    assert names == ["50 % prediction interval, calibrated", "50 % confidence interval"]
    law = TPlusNormalLaw.normal(np.zeros(3), np.array([1, np.inf, 1]))
    (band,) = interval_bands(predicted([0, 0, 0], prediction_law=law), 0.5, "prediction")
    assert band.name == "50 % prediction interval (infinite in 1 of 3 rows)"
    assert interval_name("prediction", 0.999) == "99.9 % prediction interval"


def test_a_picture_has_all_in_the_order_of_its_places():
    prediction, observed = predicted([5, 1, 3]), np.array([50.0, 10.0, 30.0])
    bands = interval_bands(prediction, 0.5)
    picture = intervals_picture(prediction.mean, bands, places_of(prediction.mean), observed)
    assert picture.places.rows.tolist() == [1, 2, 0]
    assert picture.mean.tolist() == [1, 3, 5]
    assert picture.observed.tolist() == [10, 30, 50]
    assert picture.bands[0].bounds.tolist() == bands[0].bounds[[1, 2, 0]].tolist()
    assert picture.limits is None


def test_infinite_ends_are_at_the_edge_of_a_picture_of_all_that_is_finite():
    law = TPlusNormalLaw.normal(np.array([0.0, 10.0]), np.array([np.inf, 0.0]))
    prediction = predicted([0, 10], prediction_law=law, confidence_law=None)
    bands = interval_bands(prediction, 0.5)
    picture = intervals_picture(prediction.mean, bands, places_of(prediction.mean))
    # From 0 to 10: a twentieth of it to each side, and a quarter for the legend.
    assert picture.limits == (-0.5, 13.0)
    assert picture.bands[0].bounds.tolist() == [[-0.5, 13.0], [10.0, 10.0]]


def test_an_axis_has_room_for_all_but_what_is_far_from_all_others():
    bounds = np.column_stack([np.zeros(101), np.arange(101.0)])
    # 3 % of the range to each side.
    assert axis_limits(bounds, np.array([1.0, np.nan])) == pytest.approx((-3, 103))
    far = np.column_stack([np.zeros(101), np.r_[np.arange(100.0), 1e9]])
    assert axis_limits(far, np.array([1.0])) == pytest.approx((-2.97, 101.97))
    assert axis_limits(bounds, np.array([200.0])) == pytest.approx((-6, 206))
    assert axis_limits(np.array([[-np.inf, np.inf]]), np.array([np.nan])) == (0, 1)
    assert axis_limits(np.array([[5.0, 5.0]]), np.array([5.0])) == (4.5, 5.5)


# --- places


def test_rows_in_a_slot_are_spread_by_prediction():
    places = places_of(np.array([3.0, 1.0, 2.0]), ["b", "a", "b"])
    assert places.rows.tolist() == [1, 2, 0]
    assert places.position == pytest.approx([0, 0.8, 1.2])
    assert places.categories == ("a", "b")
    ticks, names = places.ticks_side_by_side()
    assert (ticks.tolist(), names) == ([0, 1.5], ["a", "b"])


def test_categories_are_never_joined():
    mean = np.array([1.0, 2.0])
    assert not places_of(mean, ["a", "b"], joined=True).joined
    assert places_of(mean, [0.5, 0.25], joined=True).joined
    assert places_of(mean).by_prediction


# --- calibration


def test_the_methods_own_is_drawn_upon_the_calibrated():
    shown = on_twins(predicted([0, 0]), [3, 4], [False, True])
    now, own = calibration_bands(shown, 0.9)
    assert (now.role, own.role) == ("confidence", "own")
    assert now.name == "90 % confidence interval, calibrated on twins"
    assert own.name == "90 % confidence interval, the method's own"
    # Nine tenths of 40 is the 36th score, 1.8.
    assert now.bounds[:, 1] == pytest.approx([3 * 1.8, 4 * 1.8])
    assert own.bounds[:, 1] == pytest.approx([1.6448536269514722] * 2)


def test_widening_is_a_factor_with_its_bias():
    shown = on_twins(predicted([0, 0, 0]), [3, 4, 1], [False, True, False])
    widening = widening_of(shown, 0.9)
    expected = np.array([3, 4, 1]) * 1.8 / 1.6448536269514722
    assert widening.times == pytest.approx(expected)
    some = widening[np.array([1, 0])]
    assert some.biased.tolist() == [True, False]
    assert some.times == pytest.approx(expected[[1, 0]])
    assert BIASED == "bias beyond chance"


def test_no_width_before_has_no_finite_factor():
    prediction = predicted([0, 0])
    none = TPlusNormalLaw.normal(prediction.mean, np.array([0.0, 1.0]))
    shown = on_twins(dataclasses.replace(prediction, confidence_law=none), [3, 3], [False, False])
    assert np.isfinite(widening_of(shown).times).tolist() == [False, True]


def test_what_was_not_calibrated_on_twins_has_no_before():
    with pytest.raises(ValueError, match=r"not calibrated\. Call `calibrate_confidence"):
        before_calibration(predicted([0.0]))


# --- split, novelty, coverage


def test_shares_are_stacked_in_their_order():
    noise, rest = stacked({"aleatoric": np.array([0.75, 0.5]), "epistemic": np.array([0.25, 0.5])})
    assert (noise.source, rest.source) == ("aleatoric", "epistemic")
    assert (noise.start.tolist(), noise.end.tolist()) == ([0, 0], [0.75, 0.5])
    assert (rest.start.tolist(), rest.end.tolist()) == ([0.75, 0.5], [1, 1])
    assert SOURCES["aleatoric"] == "noise (aleatoric)"
    assert SOURCES["epistemic"] == "finite data and random training (epistemic)"


def test_p_values_are_counted_in_twentieths_the_novel_ones_apart():
    counted = novelty_histogram(np.array([0.001, 0.02, 0.03, 0.06, 1.0]), 0.025)
    assert counted.edges[:3] == pytest.approx([0, 0.05, 0.1])
    assert counted.novel.tolist() == [2] + 19 * [0]
    assert counted.others.tolist() == [1, 1] + 17 * [0] + [1]
    assert counted.expected == 0.25
    assert counted.name == "novel, p < 0.025: 2 of 5 rows (0.12 expected)"


def test_novelty_needs_p_values_and_a_threshold_between_0_and_1():
    with pytest.raises(ValueError, match="needs a p-value for each row"):
        p_values_of(predicted([0.0]))
    with pytest.raises(ValueError, match=r"`threshold` must lie in \(0, 1\), got 5"):
        novelty_histogram(np.zeros(1), 5)


def test_observed_coverage_is_named_by_what_was_calibrated():
    prediction, y = predicted([0, 0, 0, 0]), np.array([0.0, 1.0, 2.0, 3.0])
    plain = named_coverages(prediction, y, [0.5])
    assert list(plain) == ["prediction intervals"]
    assert plain["prediction intervals"].shares.tolist() == [0.5]  # 1.35 to each side
    held_out = named_coverages(Calibration(SCORES).calibrated(prediction), y, [0.5])
    assert list(held_out) == ["calibrated prediction intervals", "before calibration"]
    assert held_out["before calibration"].shares.tolist() == [0.5]
