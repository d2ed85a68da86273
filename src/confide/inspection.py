r"""How the prediction, and each part of its uncertainty, moves with a feature.

The curve of a feature is its partial dependence: at each of its values v, all rows get this value,
and their predictions are averaged: $\bar f_*(v) = \frac1n \sum_j f_*(v, x_j)$. It is an estimate as
a single prediction is, so that its confidence band comes from the same variances, of the members'
own averaged curves $\bar f_i$ and those of the retrained members: Algorithm 1, lines 8 and 9, with
$\bar f_i$ in place of $f_i$. Averaging the rows' intervals instead would be wrong: their errors are
related but not equal, so that an average is better known than a row.

The parts are those of a row: the mean over rows of its variance from each source, as a standard
deviation. All of it is about the model: where features go together, some of the rows asked about
are unlike any of the training data.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Float64, Int
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from confide.checks import checked_level, checked_targets
from confide.drawing import Values, as_values, feature_of
from confide.encoding import WordsColumn, is_table
from confide.errors import NoSuchIntervalError, listed, nearest
from confide.estimators import IntervalRegressor, refuse_several
from confide.metrics import jackknife_standard_error
from confide.uncertainty import (
    bootstrapped_confidence_law,
    classical_variance,
    ensemble_mean,
    epistemic_variance,
    optimisation_variance,
)

if TYPE_CHECKING:
    import pandas as pd

Matrix = Float[np.ndarray, "row feature"]
# A text without any of the words in use.
NO_WORD = "(none)"
Squares = Float64[np.ndarray, "repeat row"]
Curve = dict[str, Float64[np.ndarray, " value"]]


@dataclass(frozen=True, eq=False)
class Effects:
    """What `effects` found, the most important feature first.

    Attributes:
        importance: for each feature how much worse predictions get when its values are exchanged
            between rows: the rise of the RMSE, or, without targets, how far predictions move (root
            mean square); with its standard error over rows and exchanges.
        curves: for each feature, or the most important ones, a table of its values: `value`,
            `mean`, `mean_ci_lower`, `mean_ci_upper` (where the method tells what its members
            predict) and the standard deviation of each source of uncertainty.
        n_rows: how many rows were averaged over.
        confidence_level: of the bands.
        has_targets: whether the importance is of the RMSE.
    """

    importance: "pd.DataFrame"
    curves: "dict[str, pd.DataFrame]"
    n_rows: int
    confidence_level: float
    has_targets: bool

    def plot(self, *, most: int = 6) -> Any:
        """Draws the curves of the most important features, with their bands, and the parts below.

        Args:
            most: features to draw.

        Returns:
            The figure.
        """
        from confide.plot import plot_effects

        shown = dict(list(self.curves.items())[:most])
        return plot_effects(shown, self.confidence_level)


def effects(
    model: IntervalRegressor,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    features: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    max_rows: int = 200,
    n_repeats: int = 5,
    n_curves: int | None = None,
    n_points: int = 20,
    random_state: int | None = 0,
) -> Effects:
    """How the prediction and each part of its uncertainty move with each feature.

    Args:
        model: fitted.
        X: rows to average over, such as those of a test set.
        y: their targets, for the importance; None for how far predictions move.
        features: names of columns, or None for all.
        confidence_level: of the bands.
        max_rows: of more rows, so many are drawn by chance: the cost grows with them.
        n_repeats: how often each feature's values are exchanged for its importance.
        n_curves: so many of the most important features have a curve; None for all. That of free
            text is drawn at each word in use, alone in the text.
        n_points: values of a number or a date that its curve is drawn at, at most.
        random_state: seed of the rows drawn and of the exchanges.

    Returns:
        Importance and curves.
    """
    level, generator = checked_level(confidence_level), np.random.default_rng(random_state)
    matrix, of_feature = _encoded(model, X)
    targets = None if y is None else checked_targets(y, len(matrix))
    rows = np.sort(generator.permutation(len(matrix))[:max_rows])
    names = list(dict.fromkeys(of_feature)) if features is None else list(features)
    groups = {name: [i for i, f in enumerate(of_feature) if f == name] for name in names}
    if unknown := [name for name in names if not groups[name]]:
        raise ValueError(
            f"`features` must be columns that the model uses, got {listed(unknown)}; it uses "
            f"{listed(list(dict.fromkeys(of_feature)))}. {nearest(unknown[0], of_feature)}".rstrip()
        )
    some, y_some = matrix[rows], None if targets is None else targets[rows]
    before = _means(model, some)
    reference = before if y_some is None else y_some
    start, lines = (before - reference) ** 2, []
    for name in names:
        orders = np.array([generator.permutation(len(rows)) for _ in range(n_repeats)])
        moved = _exchanged(model, some, reference, groups[name], orders)
        lines.append(_rise(start, moved, orders))
    order = [names[i] for i in np.argsort([-mean for mean, _ in lines], kind="stable")]
    import pandas as pd

    curves, words = {}, _words(model)
    for name in order[:n_curves]:
        if name in words:
            shown = [NO_WORD, *words[name]]
            values = np.eye(len(shown), len(shown) - 1, k=-1)
        else:
            column = feature_of(X, name)[1] if is_table(X) else matrix[:, groups[name][0]]
            shown, donors = _drawn_at(as_values(column), rows, n_points)
            values = some[donors][:, groups[name]]
        curve = _curve(model, some, values, groups[name], level)
        curves[name] = pd.DataFrame({"value": shown, **curve})
    index = pd.Index(names, name="feature")
    importance = pd.DataFrame(lines, index=index, columns=["importance", "importance_se"])
    return Effects(importance.loc[order], curves, len(rows), level, y is not None)


def _encoded(model: IntervalRegressor, X: Any) -> tuple[Matrix, list[str]]:
    """The numbers of some rows, and for each of their columns the feature that it is of."""
    refuse_several(model, "An effect")
    check_is_fitted(model, "fitted_")
    if getattr(model, "target_", None) is not None:
        raise ValueError(
            "Effects need a model in the target's own units, but this one was fitted with a "
            "`target_transform` or `bounds`. Fit it without them."
        )
    encoder = model.encoder_
    if encoder is None or not is_table(X):
        names = getattr(model, "feature_names_in_", range(model.n_features_in_))
        matrix = np.asarray(X, np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != len(names):
            raise ValueError(
                f"X must have the {len(names)} columns that the model was fitted to, got shape "
                f"{matrix.shape}. Pass rows like those of `fit`."
            )
        return matrix, [str(name) for name in names]
    return np.asarray(encoder.encode(X), np.float64), encoder.feature_columns


def _words(model: IntervalRegressor) -> dict[str, tuple[str, ...]]:
    """What a curve over a column of free text is drawn at: its words, or that it is missing."""
    columns = () if model.encoder_ is None else model.encoder_.columns
    texts = [column for column in columns if isinstance(column, WordsColumn)]
    return {c.name: (*c.words, *["(missing)"] * c.has_indicator) for c in texts}


def _exchanged(
    model: IntervalRegressor,
    X: Matrix,
    reference: Float64[np.ndarray, " row"],
    group: Sequence[int],
    orders: Int[np.ndarray, "repeat row"],
) -> Squares:
    """How far predictions are from a reference when a feature's values are exchanged, squared."""
    moved = np.tile(X, (len(orders), 1))
    moved[:, group] = X[orders.ravel()][:, group]
    return (_means(model, moved).reshape(orders.shape) - reference) ** 2


def _rise(
    before: Float64[np.ndarray, " row"], after: Squares, orders: Int[np.ndarray, "repeat row"]
) -> tuple[float, float]:
    """How much a root mean square rises, on average over repeats, and its standard error.

    That is the jackknife's. A row counts twice: it has been given a value, and gave its own to
    another row. Without both, the error would be a third too small.

    Args:
        before: squared errors of the rows.
        after: those with values of other rows.
        orders: the row that each value came from.
    """
    n = after.shape[-1]
    gave, kept = np.empty_like(after), orders == np.arange(n)
    np.put_along_axis(gave, orders, after, axis=-1)
    # Without each row in turn; rounding must not make a sum of squares negative.
    rest = after.sum(axis=-1, keepdims=True) - after - np.where(kept, 0.0, gave)
    rest = np.maximum(rest, 0.0) / np.maximum(n - 2 + kept, 1)
    rest_before = np.maximum(before.sum() - before, 0.0) / max(n - 1, 1)
    rise = np.sqrt(after.mean(axis=-1)).mean() - np.sqrt(before.mean())
    without = np.sqrt(rest).mean(axis=0) - np.sqrt(rest_before)
    return float(rise), jackknife_standard_error(without)


def _means(model: IntervalRegressor, X: Matrix) -> Float64[np.ndarray, " row"]:
    predict = model.method.predict
    return (
        predict.mean(model.fitted_, X)
        if hasattr(predict, "mean")
        else predict(model.fitted_, X).mean
    )


def _drawn_at(
    values: Values, rows: Int[np.ndarray, " row"], n_points: int
) -> tuple[Any, Int[np.ndarray, " value"]]:
    """The values that a curve is drawn at, and where among some rows each of them is."""
    of_rows = Values(values.entries[rows], values.categories)
    donors = _donors(of_rows, n_points)
    entries = of_rows.entries[donors]
    if not of_rows.categories:
        return entries, donors
    return np.array(of_rows.categories, object)[entries.astype(int)], donors


def _donors(values: Values, n_points: int) -> Int[np.ndarray, " value"]:
    """Rows whose values a curve is drawn at: one of each category, or those at the quantiles."""
    known = np.flatnonzero(values.known)
    order = known[np.argsort(values.entries[known], kind="stable")]
    _, first = np.unique(values.entries[order], return_index=True)
    if values.categories or len(first) <= n_points:
        return order[first]
    at = np.unique(np.linspace(0, len(order) - 1, n_points).round().astype(int))
    _, first = np.unique(values.entries[order[at]], return_index=True)
    return order[at][first]


def _curve(
    model: IntervalRegressor,
    X: Matrix,
    values: Matrix,
    group: Sequence[int],
    level: float,
) -> Curve:
    """The mean of all rows' predictions at each value, its band, and mean variances.

    Args:
        model: fitted.
        X: rows to average over, as numbers.
        values: of the feature, as numbers.
        group: which of the numbers are the feature's.
        level: of the bands.
    """
    asked = np.tile(X, (len(values), 1))
    asked[:, group] = np.repeat(values, len(X), axis=0)
    by_value = (len(values), len(X))
    prediction = model.method.predict(model.fitted_, asked)
    curve = {"mean": prediction.mean.reshape(by_value).mean(axis=1)}
    curve |= dict(
        zip(("mean_ci_lower", "mean_ci_upper"), _band(model, asked, by_value, level), strict=False)
    )
    with suppress(NoSuchIntervalError):
        for name, variance in prediction.sources.items():
            curve[f"{name}_sd"] = np.sqrt(variance.reshape(by_value).mean(axis=1))
    return curve


def _band(
    model: IntervalRegressor, X: Matrix, by_value: tuple[int, int], level: float
) -> Sequence[Float64[np.ndarray, " value"]]:
    """Confidence intervals of the mean prediction of each value's rows, where members can be asked.

    Args:
        model: fitted.
        X: for each value all rows.
        by_value: how many values, and rows of each.
        level: of the intervals.

    Returns:
        Lower and upper bounds, or nothing.
    """
    if not hasattr(model.method, "member_means"):
        return ()
    before, after = model.method.member_means(model.fitted_, X)
    means = before.reshape(-1, *by_value).mean(axis=-1)
    retrained = after.reshape(*after.shape[:2], *by_value).mean(axis=-1)
    noise = model.fitted_.noise
    classical = classical_variance(means, retrained) * (1.0 if noise is None else noise.net)
    epistemic = epistemic_variance(classical, optimisation_variance(means), len(means))
    law = bootstrapped_confidence_law(ensemble_mean(means), epistemic, len(means))
    return tuple(law.interval(level).T)
