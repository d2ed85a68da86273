"""Pictures of predictions and of coverage."""

from confide.plot.coverage import plot_coverage
from confide.plot.overfitting import plot_overfitting
from confide.plot.prediction import plot_intervals, plot_split

__all__ = ["plot_coverage", "plot_intervals", "plot_overfitting", "plot_split"]
