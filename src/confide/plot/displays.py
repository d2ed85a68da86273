"""The pictures as scikit-learn's Displays: computed once, drawn as often as one likes.

Each has `from_estimator` and `from_prediction`, which compute and draw, and `plot`, which draws
what was computed; `ax_` and `figure_` say where. The drawing itself is in the `plot_` functions.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.metrics import ObservedCoverage
from confide.plot.calibration import (
    before_calibration,
    plot_confidence_calibration,
    plot_widening,
    widening_of,
)
from confide.plot.feature import feature_of
from confide.plot.novelty import plot_novelty
from confide.plot.observed import plot_observed_coverage
from confide.plot.prediction import plot_intervals, plot_split
from confide.prediction import NOVEL, Kind, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """Where a picture was drawn.

    Attributes:
        ax_: its axis.
        figure_: the figure of that axis.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _drawn(self, ax: "Axes") -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class IntervalsDisplay(Display):
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

    def __init__(
        self,
        prediction: Prediction,
        x: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        feature_name: str | None = None,
        joined: bool = False,
    ) -> None:
        self.prediction = prediction
        self.x = x
        self.y = y
        self.feature_name = feature_name
        self.joined = joined

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        confidence_level: float = 0.95,
        kind: Kind | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Predicts some rows and draws them.

        Args:
            estimator: a fitted estimator of confide, or a pipeline that ends in one.
            X: rows to predict.
            y: their observed targets.
            feature: name or position of the column of X to draw them against, or None for rows
                sorted by their prediction.
            confidence_level: level of both intervals.
            kind: "confidence" or "prediction" for one kind of intervals.
            ax: where to draw, or None for a new figure.
        """
        how: dict[str, Any] = {"confidence_level": confidence_level, "kind": kind, "ax": ax}
        return cls.from_prediction(prediction_of(estimator, X), X, y, feature=feature, **how)

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        confidence_level: float = 0.95,
        kind: Kind | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draws a prediction; X, the rows that were predicted, is needed for a `feature` only."""
        name, x, joined = _against(X, feature)
        display = cls(prediction, x, y, feature_name=name, joined=joined)
        return display.plot(ax, confidence_level=confidence_level, kind=kind)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        confidence_level: float = 0.95,
        kind: Kind | None = None,
    ) -> Self:
        """Draws both intervals, or one kind of them, at a level."""
        how: dict[str, Any] = {"confidence_level": confidence_level, "kind": kind, "ax": ax}
        ax = plot_intervals(self.prediction, self.x, self.y, joined=self.joined, **how)
        if self.feature_name is not None:
            ax.set_xlabel(self.feature_name)
        if (target_name := getattr(self.y, "name", None)) is not None:
            ax.set_ylabel(str(target_name))
        return self._drawn(ax)


class SplitDisplay(Display):
    """The share of noise, finite data and random training in each row's total variance.

    Args:
        prediction: what to show.
        x: a feature that sorts the rows, or None for rows sorted by their prediction.
        feature_name: name of `x`.
        joined: whether `x` is all that rows differ in.

    Attributes:
        shares: those of each source, for each row; they sum to one.
    """

    def __init__(
        self,
        prediction: Prediction,
        x: ArrayLike | None = None,
        *,
        feature_name: str | None = None,
        joined: bool = False,
    ) -> None:
        self.prediction = prediction
        self.shares = prediction.shares
        self.x = x
        self.feature_name = feature_name
        self.joined = joined

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Predicts some rows and draws their split; `y` is not used.

        Args:
            estimator: a fitted estimator of confide, or a pipeline that ends in one.
            X: rows to predict.
            y: taken for the sake of scikit-learn's habit.
            feature: name or position of the column of X that sorts the rows, or None for rows
                sorted by their prediction.
            ax: where to draw, or None for a new figure.
        """
        del y
        return cls.from_prediction(prediction_of(estimator, X), X, feature=feature, ax=ax)

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        X: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draws a split; X, the rows that were predicted, is needed for a `feature` only."""
        name, x, joined = _against(X, feature)
        return cls(prediction, x, feature_name=name, joined=joined).plot(ax)

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
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        confidence_levels: Sequence[float] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Predicts held-out rows and draws how often their targets are in their intervals.

        Args:
            estimator: a fitted estimator of confide, or a pipeline that ends in one.
            X: rows to predict, which took no part in the fit.
            y: their observed targets.
            confidence_levels: levels to look at, or None for eleven from 0.1 to 0.99.
            ax: where to draw, or None for a new figure.
        """
        prediction = prediction_of(estimator, X)
        return cls.from_prediction(prediction, y, confidence_levels=confidence_levels, ax=ax)

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        y: ArrayLike,
        *,
        confidence_levels: Sequence[float] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draws the coverage of a prediction; of a calibrated one also that before calibration."""
        named = {"prediction intervals": prediction}
        raw = prediction.uncalibrated
        if raw is not None and prediction.is_calibrated("prediction"):
            on_twins = prediction.prediction_law.origin == "twins"
            now = "prediction intervals calibrated on twins"
            now = now if on_twins else "calibrated prediction intervals"
            named = {now: prediction, "before calibration": raw}
        coverages = {
            name: one.observed_coverage(y, confidence_levels) for name, one in named.items()
        }
        return cls(coverages).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draws the curves and the diagonal they should lie on."""
        return self._drawn(plot_observed_coverage(self.coverages, ax=ax))


class ConfidenceCalibrationDisplay(Display):
    """Confidence intervals before and after calibration on twins, and how much wider they became.

    Args:
        prediction: of a model after `calibrate_confidence`.
        x: a feature to show it against, or None for rows sorted by their prediction.
        feature_name: name of `x`.
        joined: whether `x` is all that rows differ in, so that neighbours are drawn as a band.

    Attributes:
        simulated: what the simulations say of each row.
        ax_: where the confidence intervals are drawn.
        widening_ax_: where it is drawn how many times as wide they became.
    """

    widening_ax_: "Axes"

    def __init__(
        self,
        prediction: Prediction,
        x: ArrayLike | None = None,
        *,
        feature_name: str | None = None,
        joined: bool = False,
    ) -> None:
        self.prediction = prediction
        _, self.twin_errors = before_calibration(prediction)
        self.x = x
        self.feature_name = feature_name
        self.joined = joined

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        confidence_level: float = 0.95,
        axes: "Sequence[Axes] | None" = None,
    ) -> Self:
        """Predicts some rows and draws what calibration did to their confidence intervals.

        Args:
            estimator: an estimator of confide after `calibrate_confidence`, or a pipeline that
                ends in one.
            X: rows to predict.
            y: taken for the sake of scikit-learn's habit.
            feature: name or position of the column of X to draw them against, or None for rows
                sorted by their prediction.
            confidence_level: level of the confidence intervals.
            axes: two of them, one for the confidence intervals and one for how much wider they
                became, or None for a new figure.
        """
        del y
        how: dict[str, Any] = {"confidence_level": confidence_level, "axes": axes}
        return cls.from_prediction(prediction_of(estimator, X), X, feature=feature, **how)

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        X: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        confidence_level: float = 0.95,
        axes: "Sequence[Axes] | None" = None,
    ) -> Self:
        """Draws a prediction; X, the rows that were predicted, is needed for a `feature` only."""
        name, x, joined = _against(X, feature)
        display = cls(prediction, x, feature_name=name, joined=joined)
        return display.plot(axes, confidence_level=confidence_level)

    def widening(self, confidence_level: float = 0.95) -> Float64[np.ndarray, " row"]:
        """How many times as wide as the method's own each row's confidence interval is."""
        return widening_of(self.prediction, confidence_level)

    def plot(self, axes: "Sequence[Axes] | None" = None, *, confidence_level: float = 0.95) -> Self:
        """Draws both, one above the other in a new figure."""
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
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        threshold: float = NOVEL,
        ax: "Axes | None" = None,
    ) -> Self:
        """Predicts some rows and draws how novel they are; `y` is not used.

        Args:
            estimator: a fitted estimator of confide, or a pipeline that ends in one.
            X: rows to predict.
            y: taken for the sake of scikit-learn's habit.
            threshold: rows with a p-value below this are marked as novel.
            ax: where to draw, or None for a new figure.
        """
        del y
        return cls.from_prediction(prediction_of(estimator, X), threshold=threshold, ax=ax)

    @classmethod
    def from_prediction(
        cls, prediction: Prediction, *, threshold: float = NOVEL, ax: "Axes | None" = None
    ) -> Self:
        """Draws the p-values of a prediction."""
        return cls(prediction).plot(ax, threshold=threshold)

    def plot(self, ax: "Axes | None" = None, *, threshold: float = NOVEL) -> Self:
        """Draws the p-values, those below the threshold in a colour of their own."""
        return self._drawn(plot_novelty(self.prediction, threshold=threshold, ax=ax))


def prediction_of(estimator: Any, X: ArrayLike) -> Prediction:
    """The prediction of an estimator, or of the one at the end of a pipeline."""
    if hasattr(estimator, "get_prediction"):
        return estimator.get_prediction(X)
    if hasattr(estimator, "steps") and hasattr(estimator[-1], "get_prediction"):
        return estimator[-1].get_prediction(estimator[:-1].transform(X))
    raise TypeError(
        f"A Display needs an estimator of confide or a pipeline that ends in one, got "
        f"{type(estimator).__name__}, which has no `get_prediction`. Pass such an estimator."
    )


def _against(
    X: ArrayLike | None, feature: str | int | None
) -> tuple[str | None, ArrayLike | None, bool]:
    """Name and column of the feature, and whether rows differ in it alone."""
    if feature is None:
        return None, None, False
    if X is None:
        raise ValueError(
            f"Drawing against feature {feature!r} needs the rows that were predicted, got X=None. "
            "Pass them as X."
        )
    name, column = feature_of(X, feature)
    return name, column, np.shape(X)[1] == 1
