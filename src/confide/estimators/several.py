"""Several targets: a model for each, under its name, behind the methods of one.

Each is what a fit to its target alone would be, to the last bit.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw
import numpy as np

from confide.checks import checked_targets
from confide.encoding import EncodedTable, column_names, is_table
from confide.errors import listed, nearest
from confide.estimators.side_by_side import for_each_target, named
from confide.estimators.target import check_transform_and_bounds
from confide.estimators.validation import checked_target, checked_weight
from confide.prediction import Prediction
from confide.uncertainty import Row

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Method = TypeVar("Method", bound=Callable[..., Any])
Model = TypeVar("Model")
Columns = dict[str, Row]
# More would train for days; a file that claims more is refused before it costs any time.
MOST_TARGETS = 1000
# Random passes of dropout for a row, of all targets: the default of as many as there may be. Two
# million took more than 80 seconds.
MOST_PASSES = 200 * MOST_TARGETS


class Predictions(Mapping[str, Prediction]):
    """What a model of several targets says about some rows: a `Prediction` under each name.

    Args:
        of_targets: the predictions by the names of their targets, in the order of `fit`.

    Example:
        >>> import numpy as np
        >>> from confide import DeepEnsembleRegressor
        >>> x = np.linspace(-1, 1, 60)[:, None]
        >>> how = {"recipe": "paper", "max_epochs": 2, "random_state": 0}
        >>> model = DeepEnsembleRegressor(**how).fit(x, np.hstack([x, x**2]))
        >>> predictions = model.get_prediction(x)
        >>> list(predictions), predictions["1"].mean.shape, model.predict(x).shape
        (['0', '1'], (60,), (60, 2))
    """

    def __init__(self, of_targets: Mapping[str, Prediction]) -> None:
        self._of_targets = dict(of_targets)

    def __getitem__(self, target: str) -> Prediction:
        if target not in self._of_targets:
            names = list(self._of_targets)
            advice = nearest(str(target), names)
            raise KeyError(f"There is no target {target!r}; there are {listed(names)}. {advice}")
        return self._of_targets[target]

    def __getattr__(self, name: str) -> Any:
        of_one = hasattr(Prediction, name) or name in Prediction.__dataclass_fields__
        advice = f" Ask the prediction of one target: predictions[target].{name}." if of_one else ""
        raise AttributeError(f"`Predictions` of several targets have no {name!r}.{advice}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_targets)

    def __len__(self) -> int:
        return len(self._of_targets)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self)} targets: {listed(list(self))}>"

    def summary_frame(self, confidence_level: float = 0.95) -> "pd.DataFrame":
        """The tables of all targets side by side: `frame["price"]` is that of the target price."""
        import pandas as pd

        frames = {name: each.summary_frame(confidence_level) for name, each in self.items()}
        return pd.concat(frames, axis=1, names=["target"])

    def to_polars(self, confidence_level: float = 0.95) -> "pl.DataFrame":
        """The same as a table of polars, whose columns have names such as price_mean."""
        import polars as pl

        frame = self.summary_frame(confidence_level)
        columns = {prefixed(*names): column.to_numpy() for names, column in frame.items()}
        return pl.DataFrame(columns)


def prefixed(target: str, column: str) -> str:
    """The name of a target's column where a table has one line of names."""
    return f"{target}_{column}"


def stacked(answers: Mapping[str, Any]) -> Any:
    """Arrays of each target as one, whose second axis is the target; tuples part by part."""
    first, *_ = parts = list(answers.values())
    if isinstance(first, tuple):
        return tuple(np.stack(each, axis=1) for each in zip(*parts, strict=True))
    return np.stack(parts, axis=1)


def of_each_target(join: Callable[[Mapping[str, Any]], Any]) -> Callable[[Method], Method]:
    """Makes a method ask the model of each target, where there are several.

    Args:
        join: from the answers, by the names of the targets, to that of the method.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def ask(self: Any, *args: Any, **how: Any) -> Any:
            if self.targets_ is None:
                return method(self, *args, **how)
            return join({name: method(own, *args, **how) for name, own in self.targets_.items()})

        return ask  # type: ignore[return-value]

    return decorate


def fitted_to_each(estimator: Model, X: Any, columns: Columns, **how: Any) -> dict[str, Model]:
    """A clone of an estimator fitted to each target; side by side, if its engine has workers."""
    n_rows, *others = getattr(X, "shape", (len(next(iter(columns.values()))),))
    shape = n_rows, others[0] if others else 0
    return for_each_target(_fitted, estimator, columns, X, how, shape=shape)


def _fitted(estimator: Any, y: Row, X: Any, how: Mapping[str, Any]) -> Any:
    return estimator.fit(X, y, **how)


def with_each_target(
    targets: Mapping[str, Model], Y: Any, change: Callable[[Model, Row], object]
) -> dict[str, Model]:
    """Copies of the models, each changed with its own column: one that fails changes none.

    Args:
        targets: the models by the names of their targets.
        Y: their targets.
        change: what is done to a copy.
    """
    columns, changed = columns_like(Y, list(targets)), {}
    for name, model in targets.items():  # all of them, before one is changed: that may take hours
        columns[name] = _checked_again(model, name, columns[name])
    for name, model in targets.items():
        changed[name] = copy(model)
        named(name, change, changed[name], columns[name])
    return changed


def _checked_again(model: Any, name: str, column: Any) -> Row:
    """The targets of some rows for a model that is fitted; an error says which target it is of."""
    try:
        y = checked_targets(column, len(column))
        if model.target_ is not None:
            model.target_.check(y)
    except ValueError as error:
        raise ValueError(f"Target {name!r}: {error}") from error
    return y


def several_columns(estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> Columns | None:
    """The targets by name, checked before anything is trained; None where there is only one.

    Args:
        estimator: what is to be fitted to them.
        X: its rows.
        Y: the targets.
        sample_weight: of each row, or None; rows of weight zero are left out.

    Returns:
        A column for each.

    Raises:
        ValueError: a target has no name, or cannot be learnt.
    """
    if not has_several(Y):
        return None
    columns = _by_name(Y)
    refuse_too_many(estimator, len(columns))
    _refuse_features(X, list(columns))
    return {
        name: _checked(estimator, name, column, sample_weight) for name, column in columns.items()
    }


def refuse_too_many(estimator: Any, n_targets: int) -> None:
    """Refuses more targets than an estimator can answer for in a while.

    Raises:
        ValueError: with what to do.
    """
    if n_targets > MOST_TARGETS:
        raise ValueError(
            f"A model has at most {MOST_TARGETS:,} targets, got {n_targets:,}. Fit several models."
        )
    n_passes = getattr(estimator, "n_passes", 0)
    if n_targets * n_passes > MOST_PASSES:
        raise ValueError(
            f"`n_passes` times the number of targets must be at most {MOST_PASSES:,}, got "
            f"{n_passes:,} passes for {n_targets:,} targets. Pass fewer passes, or fit several "
            "models."
        )


def has_several(Y: Any) -> bool:
    """Whether there is more than one target.

    Raises:
        ValueError: there is none, or the shape is not that of targets.
    """
    # `np.shape` would ask the object itself, which may be no array yet.
    shape = Y.shape if is_table(Y) else np.asarray(Y).shape
    if len(shape) > 2 or (len(shape) == 2 and shape[1] == 0):
        raise ValueError(
            f"y must have one number for each row, or a column for each target, got shape {shape}."
            " Pass a list of numbers, or a table of the targets."
        )
    return len(shape) == 2 and shape[1] > 1


def columns_like(Y: Any, names: list[str]) -> Columns:
    """The columns of Y with the names of a model's targets.

    Raises:
        ValueError: Y has others.
    """
    if not has_several(Y):
        raise ValueError(
            f"This model has {len(names)} targets, {listed(names)}, got one column. Pass a column "
            "for each target, in the order of `fit`."
        )
    columns = _by_name(Y)
    if not is_table(Y) and len(columns) == len(names):
        return dict(zip(names, columns.values(), strict=True))
    if set(columns) != set(names):
        raise ValueError(
            f"This model's targets are {listed(names)}, got {listed(list(columns))}. Pass these "
            "columns, all of them."
        )
    return columns


def models_of(model: Model) -> list[Model]:
    """The model of each target: the model itself, where there is only one."""
    targets: Mapping[str, Model] | None = getattr(model, "targets_", None)
    return [model] if targets is None else list(targets.values())


def refuse_several(model: Any, what: str) -> None:
    """Refuses a model of several targets where only one can be asked about."""
    if (targets := getattr(model, "targets_", None)) is not None:
        raise ValueError(
            f"{what} is for one target, but this model has {len(targets)}: {listed(list(targets))}."
            f" Pass the model of one, such as model.targets_[{next(iter(targets))!r}]."
        )


def _by_name(Y: Any) -> dict[str, Any]:
    if not is_table(Y):
        return {str(i): column for i, column in enumerate(np.asarray(Y).T)}
    names = [_checked_name(name, i) for i, name in enumerate(column_names(Y))]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise ValueError(
            f"Each target needs a name of its own, but these occur twice: {listed(twice)}. Rename "
            "one of them."
        )
    is_pandas = nw.dependencies.is_pandas_dataframe(Y)
    columns = [Y.iloc[:, i] if is_pandas else Y[name] for i, name in enumerate(names)]
    numbers = (nw.from_native(column, series_only=True).to_numpy() for column in columns)
    return dict(zip(names, numbers, strict=True))


def _checked_name(name: Any, position: int) -> str:
    if name is None or name != name or not str(name).strip():  # noqa: PLR0124 - NaN is not itself
        raise ValueError(
            f"Each target needs a name, but column {position} of y (from 0) has none: {name!r}. "
            "Name it, or pass an array: its targets are '0', '1' and so on."
        )
    return str(name)


def _checked(estimator: Any, name: str, column: Any, sample_weight: Any) -> Row:
    try:
        y = checked_target(column)
        weight = np.ones(len(y)) if sample_weight is None else checked_weight(sample_weight, len(y))
        check_transform_and_bounds(estimator, y[weight > 0])
    except (TypeError, ValueError) as error:
        raise ValueError(f"Target {name!r}: {error}") from error
    return y


def _refuse_features(X: Any, names: list[str]) -> None:
    table = X.table if isinstance(X, EncodedTable) else X
    there = {str(name) for name in column_names(table)} if is_table(table) else set()
    if both := [name for name in names if name in there]:
        raise ValueError(
            f"A target must not be a feature, but X has these columns too: {listed(both)}. Drop "
            "them from X, or rename them if they hold something else."
        )
