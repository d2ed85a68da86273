"""Pictures of predictions and of coverage.

Functions take an axis, or make one, and return it; Displays compute and draw in scikit-learn's way:
`IntervalsDisplay.from_estimator(model, X_test, y_test, feature="age")`.
"""

from confide.moved import renamed
from confide.plot.coverage import plot_coverage as plot_coverage
from confide.plot.coverage import plot_observed_coverage as plot_observed_coverage
from confide.plot.displays import ConfidenceCalibrationDisplay as ConfidenceCalibrationDisplay
from confide.plot.displays import IntervalsDisplay as IntervalsDisplay
from confide.plot.displays import NoveltyDisplay as NoveltyDisplay
from confide.plot.displays import PredictionCoverageDisplay as PredictionCoverageDisplay
from confide.plot.displays import SplitDisplay as SplitDisplay
from confide.plot.effects import plot_effects as plot_effects
from confide.plot.intervals import plot_confidence_calibration as plot_confidence_calibration
from confide.plot.intervals import plot_intervals as plot_intervals
from confide.plot.intervals import plot_widening as plot_widening
from confide.plot.novelty import plot_novelty as plot_novelty
from confide.plot.split import plot_overfitting as plot_overfitting
from confide.plot.split import plot_split as plot_split

__getattr__ = renamed(
    __name__,
    {
        "HonestyDisplay": "ConfidenceCalibrationDisplay",
        "plot_honesty": "plot_confidence_calibration",
    },
)
