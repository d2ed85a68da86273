"""A law that is not symmetric and that confide has never heard of goes through every door."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from confide import NoSuchIntervalError, Prediction
from confide.calibration import Calibration
from confide.metrics import COVERAGE_LEVELS
from confide.plot import IntervalsDisplay, PredictionCoverageDisplay
from confide.uncertainty import Law
from confide.workflow.page import judgement as page_judgement
from confide.workflow.page.content import page_document
from confide.workflow.page.inputs import PageInputs

START, SCALE = np.array([0.0, -3.0, 10.0, 5.0]), np.array([1.0, 2.0, 0.5, 4.0])
MEAN = START + SCALE
TARGETS = MEAN + np.array([-0.5, 3.0, 0.1, -2.0])


@dataclass(frozen=True)
class ShiftedExponential(Law):
    """It starts at `start` and goes on for `scale` on average."""

    start: np.ndarray
    scale: np.ndarray

    def quantile(self, probability):
        return self.start - self.scale * np.log1p(-probability)

    def cdf(self, value):
        return -np.expm1(-np.maximum(value - self.start, 0) / self.scale)

    def log_density(self, value):
        inside = -(value - self.start) / self.scale - np.log(self.scale)
        return np.where(value >= self.start, inside, -np.inf)

    def sample(self, generator, n_samples):
        return self.start + self.scale * generator.standard_exponential(
            (n_samples, len(self.start))
        )

    def take(self, rows):
        return ShiftedExponential(self.start[rows], self.scale[rows])


class OfTwoLevels(ShiftedExponential):
    """The same, asked at these levels alone."""

    levels = (0.5, 0.9)


class Alien:
    """The same answers from a class that inherits from nothing."""

    def __init__(self, law):
        self._law = law

    def __getattr__(self, name):
        return getattr(self._law, name)


def predicted(law, aleatoric=None, epistemic=None):
    own = None if epistemic is None else law
    return Prediction(MEAN, aleatoric, epistemic, law, own, None, None, 5)


@pytest.fixture(params=["inherits", "alien"])
def law(request):
    law = ShiftedExponential(START, SCALE)
    return Alien(law) if request.param == "alien" else law


@pytest.fixture
def ax():
    return Figure().subplots()


def exponential(probability):
    """A quantile of the law by hand."""
    return START + SCALE * np.log(1 / (1 - probability))


def test_its_interval_lies_between_its_own_two_quantiles(law):
    found = predicted(law).prediction_interval(0.8)
    assert found == pytest.approx(np.stack([exponential(0.1), exponential(0.9)], axis=-1))
    lower, upper = np.abs(found - MEAN[:, None]).T
    assert np.all(upper > 1.4 * lower)  # ln 10 - 1 scales to one side, 1 - ln(10 / 9) to the other


def test_its_quantiles_probabilities_and_draws_are_its_own(law):
    prediction = predicted(law)
    quantiles = prediction.quantiles([0.05, 0.5, 0.95])
    assert quantiles[:, 1] == pytest.approx(START + SCALE * np.log(2))
    assert prediction.cdf(quantiles[:, 2]) == pytest.approx(0.95)
    n = 20_000
    below = np.mean(prediction.sample(n, random_state=0) <= quantiles[:, 0], axis=0)
    assert below == pytest.approx(0.05, abs=4.5 * np.sqrt(0.05 * 0.95 / n))


def test_its_frame_has_both_bounds(law):
    frame = predicted(law, SCALE**2, SCALE**2).summary_frame(0.9)
    for name in ("mean", "obs"):
        assert frame[f"{name}_ci_lower"].to_numpy() == pytest.approx(exponential(0.05))
        assert frame[f"{name}_ci_upper"].to_numpy() == pytest.approx(exponential(0.95))


def test_its_coverage_is_counted_at_every_level(law):
    coverage = predicted(law).observed_coverage(TARGETS, [0.5, 0.9])
    # (y - start) / scale is 0.5, 2.5, 1.2, 0.5; half of the law lies from ln(4 / 3) to ln 4, and
    # nine tenths from ln(20 / 19) to ln 20.
    assert coverage.shares.tolist() == [0.75, 1.0]
    assert len(predicted(law).observed_coverage(TARGETS).shares) == len(COVERAGE_LEVELS)


@pytest.mark.parametrize("variance", [None, SCALE**2 / 2])
def test_it_can_be_calibrated(law, variance):
    raw = predicted(law, variance, variance)
    # One standard deviation, or half of what lies between the quantiles at 15.9 and 84.1 %.
    times = 1.0 if variance is not None else np.log(0.8413447 / 0.1586553) / 2
    assert raw.scale == pytest.approx(times * SCALE)
    calibrated = Calibration.of(TARGETS, raw.mean, raw.scale).calibrated(raw)
    assert not raw.is_calibrated("prediction")
    assert calibrated.is_calibrated("prediction")
    # Of |y - mean| / SCALE, which is 0.5, 1.5, 0.2, 0.5, the fourth smallest holds 80 %.
    expected = np.stack([MEAN - 1.5 * SCALE, MEAN + 1.5 * SCALE], axis=-1)
    assert calibrated.prediction_interval(0.8) == pytest.approx(expected)
    own = calibrated.summary_frame(0.8)["obs_ci_upper_uncalibrated"]
    assert own.to_numpy() == pytest.approx(exponential(0.9))


def test_its_uncertainty_is_explained_without_a_t_law(law):
    explanation = predicted(law, SCALE**2, SCALE**2).explain()
    assert not explanation.t_in_prediction
    assert explanation.shares == pytest.approx({"aleatoric": 0.5, "epistemic": 0.5})


def test_its_intervals_and_coverage_are_drawn(law, ax):
    IntervalsDisplay.from_prediction(predicted(law), ax=ax)
    ends = [path.vertices for path in ax.collections[0].get_paths()]
    drawn = {round(float(y), 9) for path in ends for y in path[:, 1]}
    assert drawn >= {round(float(y), 9) for y in predicted(law).prediction_interval(0.95).ravel()}
    display = PredictionCoverageDisplay.from_prediction(predicted(law), TARGETS, ax=ax)
    assert len(display.coverages["prediction intervals"].shares) == len(COVERAGE_LEVELS)


def test_a_page_judges_it_without_the_score_that_it_lacks(law):
    frame = pd.DataFrame({"x": np.arange(4.0)})
    page = PageInputs(
        "y: some.csv", "y", frame, predicted(law), ["trained on", *["new"] * 3], TARGETS
    )
    scores = [score.name for score in page_judgement.accuracy(page)]
    assert scores == ["RMSE", "MAE", "mean error", "R²"]
    coverage = page_judgement.coverage_frame(page, (0.5, 0.9))
    assert coverage["held"].tolist() == [2, 3]
    assert coverage["mean_width"][1] == pytest.approx(np.log(19) * SCALE[1:].mean())
    assert page_document(page).title == "Predictions of y: some.csv"


def test_a_law_of_few_levels_is_asked_at_those():
    prediction = predicted(OfTwoLevels(START, SCALE))
    assert prediction.observed_coverage(TARGETS).shares.tolist() == [0.75, 1.0]
    assert prediction.scale == pytest.approx(np.log(19) / 2 * SCALE)  # at 90 %
    frame = pd.DataFrame({"x": np.arange(4.0)})
    levels = [
        PageInputs("", "y", frame, prediction, ["new"] * 4, confidence_level=asked).level
        for asked in (0.6, 0.95)
    ]
    assert levels == [0.5, 0.9]


def test_it_is_no_mixture_of_normal_laws_unless_it_says_so(law):
    message = r"ShiftedExponential is not a mixture of normal laws\. Score its quantiles"
    with pytest.raises(NoSuchIntervalError, match=message):
        law.normal_mixture()


def test_a_law_that_does_not_answer_cannot_be_made():
    with pytest.raises(TypeError, match=r"cdf.*log_density.*quantile.*sample.*take"):
        type("Mute", (Law,), {})()
