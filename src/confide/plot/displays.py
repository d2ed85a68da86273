"""The pictures as scikit-learn's Displays: computed once, drawn as often as you like.

Each has `from_estimator` and `from_prediction`, which compute and draw, and `plot`, which draws
what was computed; `ax_` and `figure_` say where. The `plot_` functions do the drawing.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.diagnostics import NOVEL
from confide.drawing import before_calibration, named_coverages, widening_of
from confide.metrics import ObservedCoverage
from confide.plot.coverage import plot_observed_coverage
from confide.plot.display import Display, RowsDisplay
from confide.plot.intervals import plot_confidence_calibration, plot_intervals, plot_widening
from confide.plot.novelty import plot_novelty
from confide.plot.split import plot_split
from confide.prediction import Kind, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class IntervalsDisplay(RowsDisplay):
    """Predictions with their confidence and prediction intervals.

    Args:
        prediction: what to show.
        x: a feature to show it against, or None for rows sorted by their prediction.
        y: observed targets, or None; the name of a series names the vertical axis.
        feature_name: name of `x`.
        joined: whether `x` is all that rows differ in, so that neighbours are drawn as a band.

    Example:
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(2), np.ones(2))
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1)
        >>> display = IntervalsDisplay.from_prediction(
        ...     prediction, np.array([[1.0, 30], [1.0, 40]]), feature=1, ax=Figure().subplots()
        ... )
        >>> display.ax_.get_xlabel()
        'feature 1'
    """

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        confidence_level: float = 0.95,
        kind: Kind | None = None,
    ) -> Self:
        """Draws the rows.

        Args:
            ax: where to draw, or None for a new figure.
            confidence_level: level of both intervals.
            kind: "confidence" or "prediction" for one kind of intervals.

        Returns:
            The Display, drawn.
        """
        how: dict[str, Any] = {"confidence_level": confidence_level, "kind": kind, "ax": ax}
        ax = plot_intervals(self.prediction, self.x, self.y, joined=self.joined, **how)
        if self.feature_name is not None:
            ax.set_xlabel(self.feature_name)
        if (target_name := getattr(self.y, "name", None)) is not None:
            ax.set_ylabel(str(target_name))
        return self._drawn(ax)


class SplitDisplay(RowsDisplay):
    """The share of noise, finite data and random training in each row's total variance.

    Its arguments are those of an `IntervalsDisplay`; observed targets are not shown.

    Attributes:
        shares: those of each source, for each row; they sum to one.
    """

    def __post_init__(self) -> None:
        self.shares = self.prediction.shares

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draws the shares of each row, one on top of the other."""
        ax = plot_split(self.prediction, self.x, joined=self.joined, ax=ax)
        if self.feature_name is not None:
            name = self.feature_name
            ax.set_xlabel(name if self.joined else f"rows, sorted by {name}")
        return self._drawn(ax)


class PredictionCoverageDisplay(Display):
    """Observed against nominal coverage of prediction intervals, with Wilson's 95 % bars.

    It needs targets that took no part in the fit (nor in the calibration). Confidence intervals
    cannot be judged so: nobody observes the true function.

    Args:
        coverages: what `Prediction.observed_coverage` returns, under the names of the legend.

    Example:
        >>> from matplotlib.figure import Figure
        >>> from confide.uncertainty import TPlusNormalLaw
        >>> law = TPlusNormalLaw.normal(np.zeros(4), np.ones(4))
        >>> prediction = Prediction(law.location, None, None, law, None, None, None, 1)
        >>> display = PredictionCoverageDisplay.from_prediction(
        ...     prediction, [0.1, -0.5, 0.9, 3.0], confidence_levels=[0.5, 0.9],
        ...     ax=Figure().subplots(),
        ... )
        >>> display.coverages["prediction intervals"].shares.tolist()
        [0.5, 0.75]
    """

    def __init__(self, coverages: Mapping[str, ObservedCoverage]) -> None:
        self.coverages = dict(coverages)

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        y: ArrayLike,
        *,
        confidence_levels: Sequence[float] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draws the coverage of a prediction; of a calibrated one also that before calibration.

        Args:
            prediction: of rows that took no part in the fit.
            y: their observed targets.
            confidence_levels: levels to look at, or None for eleven from 0.1 to 0.99.
            ax: where to draw, or None for a new figure.

        Returns:
            The Display, drawn.
        """
        return cls(named_coverages(prediction, y, confidence_levels)).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draws the curves and the diagonal they should lie on."""
        return self._drawn(plot_observed_coverage(self.coverages, ax=ax))


class ConfidenceCalibrationDisplay(RowsDisplay):
    """Confidence intervals before and after calibration on twins, and how much wider they became.

    Its arguments are those of an `IntervalsDisplay`, with the prediction of a model after
    `calibrate_confidence`; observed targets are not shown.

    Attributes:
        twin_errors: what the simulations say about each row.
        ax_: where the confidence intervals are drawn.
        widening_ax_: where it is drawn how many times as wide they became.
    """

    widening_ax_: "Axes"

    def __post_init__(self) -> None:
        _, self.twin_errors = before_calibration(self.prediction)

    def widening(self, confidence_level: float = 0.95) -> Float64[np.ndarray, " row"]:
        """How many times as wide as the method's own each row's confidence interval is."""
        return widening_of(self.prediction, confidence_level).times

    def plot(self, axes: "Sequence[Axes] | None" = None, *, confidence_level: float = 0.95) -> Self:
        """Draws both, one above the other in a new figure.

        Args:
            axes: two of them, one for the confidence intervals and one for how much wider they
                became, or None for a new figure.
            confidence_level: level of the confidence intervals.
        """
        if axes is None:
            from matplotlib import pyplot as plt  # here, because importing it is slow

            how: dict[str, Any] = {"sharex": True, "height_ratios": (3, 2), "layout": "constrained"}
            axes = plt.subplots(2, 1, **how)[1]
        above, self.widening_ax_ = axes
        for ax, draw in ((above, plot_confidence_calibration), (self.widening_ax_, plot_widening)):
            style: dict[str, Any] = {"confidence_level": confidence_level, "joined": self.joined}
            draw(self.prediction, self.x, ax=ax, **style)
            if self.feature_name is not None:
                ax.set_xlabel(self.feature_name)
        if above.get_shared_x_axes().joined(above, self.widening_ax_):
            above.set_xlabel("")
        return self._drawn(above)


class NoveltyDisplay(Display):
    """A histogram of the rows' novelty p-values.

    Args:
        prediction: one that has novelty p-values.

    Attributes:
        p_values: for each row, that of its being like the training data.
    """

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self.p_values = prediction.novelty

    @classmethod
    def from_prediction(cls, prediction: Prediction, **options: Any) -> Self:
        """Draws the p-values of a prediction.

        Args:
            prediction: one that has novelty p-values.
            **options: those of `plot`.

        Returns:
            The Display, drawn.
        """
        return cls(prediction).plot(**options)

    def plot(self, ax: "Axes | None" = None, *, threshold: float = NOVEL) -> Self:
        """Draws the p-values, those below the threshold in a colour of their own."""
        return self._drawn(plot_novelty(self.prediction, threshold=threshold, ax=ax))
