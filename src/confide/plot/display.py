"""What all Displays share: made of an estimator or a prediction, drawn, and where."""

import inspect
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from confide.drawing import feature_of
from confide.prediction import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def _with_options_of(shown: Any, method: Any) -> Any:
    """The same class method; its signature lists the options of another instead of `**options`."""
    function = method.__func__
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    others = inspect.signature(shown).parameters.values()
    options = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in others
        if p.name not in {"self", "prediction", "X", *(one.name for one in own)}
    ]

    @wraps(function)
    def with_options(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    vars(with_options)["__signature__"] = signature.replace(parameters=[*own, *options])
    return classmethod(with_options)


class Display:
    """A picture, and where it was drawn.

    Attributes:
        ax_: its axis.
        figure_: the figure of that axis.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    from_prediction: Any
    plot: Any

    def __init_subclass__(cls, **settings: Any) -> None:
        """Shows the options of `plot` among those of the ways to make such a Display."""
        super().__init_subclass__(**settings)
        if "plot" in vars(cls):
            cls.from_prediction = _with_options_of(cls.plot, cls.from_prediction)
            shown = _with_options_of(cls.from_prediction, cls.from_estimator)
            cls.from_estimator = shown  # type: ignore[method-assign]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Predicts some rows and draws them.

        Args:
            estimator: a fitted estimator of confide, or a pipeline that ends in one.
            X: rows to predict.
            y: their observed targets; Displays that show none do not use them.
            **options: those of `from_prediction`.

        Returns:
            The Display, drawn.
        """
        taken = inspect.signature(cls.from_prediction).parameters
        rows = {name: value for name, value in {"X": X, "y": y}.items() if name in taken}
        return cls.from_prediction(prediction_of(estimator, X), **rows, **options)

    def _drawn(self, ax: "Axes") -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(eq=False, repr=False)
class RowsDisplay(Display):
    """A picture of predicted rows, sorted or against a feature; see `IntervalsDisplay`."""

    prediction: Prediction
    x: ArrayLike | None = None
    y: ArrayLike | None = None
    _: KW_ONLY
    feature_name: str | None = None
    joined: bool = False

    def __post_init__(self) -> None:
        """Where a Display computes what it keeps."""

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        feature: str | int | None = None,
        **options: Any,
    ) -> Self:
        """Draws a prediction.

        Args:
            prediction: what to show.
            X: the rows that were predicted, needed for a `feature` only.
            y: their observed targets, shown where a Display has room for them.
            feature: name or position of the column of X to draw them against, or None for rows
                sorted by their prediction.
            **options: those of `plot`: where and how to draw.

        Returns:
            The Display, drawn.
        """
        if feature is None:
            return cls(prediction, y=y).plot(**options)
        if X is None:
            raise ValueError(
                f"Drawing against feature {feature!r} needs the rows that were predicted, got "
                "X=None. Pass them as X."
            )
        name, x = feature_of(X, feature)
        display = cls(prediction, x, y, feature_name=name, joined=np.shape(X)[1] == 1)
        return display.plot(**options)


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
