"""Pictures of predictions and of coverage.

Functions take an axis, or make one, and return it; Displays compute and draw in scikit-learn's way:
`IntervalsDisplay.from_estimator(model, X_test, y_test, feature="age")`.
"""

from confide.moved import renamed
from confide.plot.coverage import plot_coverage, plot_observed_coverage
from confide.plot.displays import (
    ConfidenceCalibrationDisplay,
    IntervalsDisplay,
    NoveltyDisplay,
    PredictionCoverageDisplay,
    SplitDisplay,
)
from confide.plot.intervals import plot_confidence_calibration, plot_intervals
from confide.plot.novelty import plot_novelty
from confide.plot.overfitting import plot_overfitting
from confide.plot.split import plot_split
from confide.plot.widening import plot_widening

__all__ = [
    "ConfidenceCalibrationDisplay",
    "IntervalsDisplay",
    "NoveltyDisplay",
    "PredictionCoverageDisplay",
    "SplitDisplay",
    "plot_confidence_calibration",
    "plot_coverage",
    "plot_intervals",
    "plot_novelty",
    "plot_observed_coverage",
    "plot_overfitting",
    "plot_split",
    "plot_widening",
]

__getattr__ = renamed(
    __name__,
    {
        "HonestyDisplay": "ConfidenceCalibrationDisplay",
        "plot_honesty": "plot_confidence_calibration",
    },
)
