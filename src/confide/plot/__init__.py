"""Pictures of predictions. Each function takes an axis and returns it."""

from confide.plot.prediction import plot_intervals, plot_split

__all__ = ["plot_intervals", "plot_split"]
