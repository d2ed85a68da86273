"""Checks of the data that users pass: refused before any training, with what to do about it."""

import inspect
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Float64
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_X_y, validate_data

from confide.checks import checked_targets
from confide.diagnostics import Unseen, steady_columns
from confide.encoding import (
    CategoryColumn,
    EncodedTable,
    Encoder,
    column_names,
    is_table,
    named_thing,
    refuse_unreadable_tables,
    rows_of,
    sources,
)
from confide.errors import LeftOutColumnWarning, UnseenValueWarning, listed
from confide.fingerprints import Groups
from confide.forks import refuse_forked

Table: TypeAlias = Float[np.ndarray, "row feature"]
Rows: TypeAlias = Float64[np.ndarray, " row"]

# scikit-learn's checks say what was needed and what came; this adds what to do.
_SAME_COLUMNS = "Pass the columns that `fit` saw, all of them and in their order."
_DAYS = "Pass dates as numbers, for example as days since a fixed date."
_ADVICE = {
    r"0 sample\(s\)|0 feature\(s\)": "Was the table filtered down to nothing?",
    "could not convert string": (
        "Encode text as numbers first, for example with scikit-learn's OneHotEncoder in a "
        "ColumnTransformer; columns with text: {columns}."
    ),
    r"float\(\) argument must be": _DAYS,
    "y contains NaN": "Drop those rows.",
    "infinity|too large": "Drop or correct those rows.",
    "inconsistent numbers of samples": (
        "X and y need one entry for each row: were rows of only one of them dropped?"
    ),
    "y should be a 1d array": "Pass one target here; `fit` alone takes several.",
    "minimum of 2 is required": "An ensemble needs at least two rows, and tens to be of use.",
    "features, but .* is expecting": _SAME_COLUMNS,
    "feature names should match": _SAME_COLUMNS,
}


class TrainingArrays(NamedTuple):
    """What can be learnt from.

    Attributes:
        X: the features as finite numbers.
        y: the targets.
        weight: of each row as a share of the largest, or None for equal weights.
        groups: number of each row's group, or None where each row is by itself.
    """

    X: Table
    y: Rows
    weight: Rows | None
    groups: Groups | None


def checked_training_data(
    estimator: BaseEstimator,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> TrainingArrays:
    """Arrays of finite numbers that can be learnt from; rows of weight zero are left out.

    The estimator keeps the names of the columns, and for a table how it was encoded.

    Args:
        estimator: to keep them.
        X: a table or an array.
        y: the targets.
        sample_weight: of each row, or None.
        groups: what each row belongs to, or None.

    Returns:
        The features, the targets, the weights and the groups.
    """
    prepared = X if isinstance(X, EncodedTable) else None
    X = X if prepared is None else prepared.table
    refuse_unreadable_tables(X)
    _refuse_odd_targets(y)
    as_table = is_table(X)
    if as_table:  # whose columns the encoder checks
        _check_columns(estimator, X, reset=True)
        with _advice(X):
            enough = {"y_numeric": True, "ensure_min_samples": 2, "estimator": estimator}
            X_checked, (_, y_array) = X, check_X_y(_stand_in(X), y, **enough)
    else:
        X_checked, y_array = _checked_array(
            estimator, X, y, reset=True, y_numeric=True, ensure_min_samples=2
        )
    y_array = y_array.astype(np.float64)
    weight = None if sample_weight is None else checked_weight(sample_weight, len(y_array))
    kept = np.ones(len(y_array), bool) if weight is None else weight > 0
    numbers = None if groups is None else _checked_groups(groups, kept)
    if weight is not None and not kept.all():
        X_checked = rows_of(X_checked, kept) if as_table else X_checked[kept]
        y_array, weight, prepared = y_array[kept], weight[kept], None
    check_targets(y_array)
    if not as_table and np.isnan(X_checked).any():
        X_checked, as_table = _named(X_checked), True
    if prepared is None and as_table:
        prepared = EncodedTable.for_training(X_checked, y_array, numbers)
        _warn_of_names(X_checked, may_group=groups is None)
    encoder = None if prepared is None else prepared.encoder
    estimator.encoder_ = encoder
    X_array = X_checked if prepared is None else prepared.matrix
    _check_ranges(encoder, X_array)
    return TrainingArrays(X_array, y_array, weight, numbers)


def without_overflow(mean: Rows, typical: float) -> Rows:
    """Means of which some overflow; a typical one, with a warning, takes their place."""
    finite = np.isfinite(mean)
    if finite.all():
        return mean
    _warn(
        UserWarning(
            f"{np.sum(~finite)} of {len(mean)} rows are too far from the training data for "
            "float32. Their prediction is the mean of the training targets, and their bounds are "
            "infinite. Check their units and columns."
        )
    )
    return np.where(finite, mean, typical)


def checked_X(estimator: BaseEstimator, X: Any) -> Table:
    """Rows that have the columns of the training data, as numbers."""
    return checked_rows(estimator, X)[0]


def checked_rows(estimator: BaseEstimator, X: Any) -> tuple[Table, Unseen]:
    """The same, and which values training did not have."""
    refuse_forked()  # all that predicts begins here
    encoder: Encoder | None = getattr(estimator, "encoder_", None)
    prepared = X if isinstance(X, EncodedTable) else None
    X = X if prepared is None else prepared.table
    refuse_unreadable_tables(X)
    if encoder is None:
        # scikit-learn reads the tables of the others by itself.
        rows = X.to_pandas() if is_table(X) and not hasattr(X, "dtypes") else X
        return _filled(estimator, _checked_array(estimator, rows, reset=False)), Unseen()
    if is_table(X):
        with _advice(X):
            check_array(_stand_in(X), estimator=estimator)
        _check_columns(estimator, X, reset=False)
    else:
        X = as_fitted_table(estimator, X)
    if prepared is None or prepared.encoder is not encoder:
        prepared = EncodedTable(X, encoder, *encoder.encode_and_report(X))
    is_new = {}
    if prepared.unseen:
        _warn(UnseenValueWarning(prepared.unseen, _categories(estimator, encoder)))
        is_new = encoder.unseen_rows(X, prepared.unseen)
    return prepared.matrix, Unseen(is_new, {c.name: c.n_rare for c in encoder.columns})


def _categories(estimator: Any, encoder: Encoder) -> dict[str, bool]:
    """The columns of categories, and whether rare ones are usual in them: new ones tell nothing."""
    names = [c.name for c in encoder.columns if isinstance(c, CategoryColumn)]
    novelty = getattr(estimator, "novelty_", None)
    if novelty is None or novelty.ranges is None:
        return dict.fromkeys(names, False)
    steady = steady_columns({c.name: c.n_rare for c in encoder.columns}, novelty.ranges.n_rows)
    return {name: name not in steady for name in names}


def checked_training_X(estimator: BaseEstimator, X: Any, y: ArrayLike) -> Table:
    """The rows of `fit` once more, as the numbers that it learnt from.

    Args:
        estimator: fitted.
        X: a table or an array.
        y: the targets.

    Returns:
        The numbers.
    """
    encoder: Encoder | None = getattr(estimator, "encoder_", None)
    as_new = checked_X(estimator, X)
    if encoder is None or not encoder.has_target_means or not is_table(X):
        return as_new
    return encoder.encode_training(X, checked_targets(y, len(as_new))).matrix


def _check_columns(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    """scikit-learn's rules for the names and the number of columns, also for a table of pyarrow."""
    import pandas as pd

    with _advice(X):
        names = pd.DataFrame(columns=pd.Index(column_names(X), dtype=object))
        validate_data(estimator, names, skip_check_array=True, reset=reset)


def _stand_in(X: Any) -> Table:
    """As many rows as the table, and no column only if it has none."""
    n_rows, n_columns = X.shape
    return np.zeros((n_rows, min(n_columns, 1)))


def as_fitted_table(estimator: Any, X: Any) -> Any:
    """An array as the table of numbers that training had; a table as it is."""
    if is_table(X):
        return X
    encoder: Encoder = estimator.encoder_
    taken = {"number", "written number", "boolean", "left out"}
    if others := [c.name for c in encoder.columns if c.kind not in taken]:
        raise ValueError(
            "X must be a table as in `fit`, because some of its columns are not numbers "
            f"({', '.join(others)}), got {type(X).__name__}. Pass a table of pandas, polars or "
            "pyarrow."
        )
    array = _checked_array(estimator, X, reset=False)
    return _named(array).set_axis([column.name for column in encoder.columns], axis=1)


def _named(array: Table) -> Any:
    """An array as a table, whose columns may have holes."""
    import pandas as pd

    return pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])


def _filled(estimator: Any, array: Table) -> Table:
    """An array with what is typical in training where it has holes, with a warning."""
    missing = np.isnan(array)
    if not missing.any():
        return array
    counts = missing.sum(axis=0)
    names = getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(len(counts))])
    holes: dict[str, dict[str | None, int]]
    holes = {str(names[i]): {None: int(counts[i])} for i in np.flatnonzero(counts)}
    _warn(UnseenValueWarning(holes))
    units = estimator.units_ if hasattr(estimator, "units_") else estimator.fitted_.standardiser
    return np.where(missing, units.x_mean, array)


def _refuse_odd_targets(y: Any) -> None:
    targets = np.asarray(y)
    if targets.dtype.kind in "mM":
        raise ValueError(f"y must be numbers, but it holds dates or durations. {_DAYS}")
    if y is not None and (word := _first_word(targets)) is not None:
        raise ValueError(
            f"y must be numbers, got {word!r}. This is regression: pick a column of numbers. "
            "Encode ordered grades as numbers; for classes use a classifier."
        )


def checked_target(y: ArrayLike) -> Rows:
    """One target of several, as numbers that can be learnt."""
    _refuse_odd_targets(y)
    with _advice(None):
        numbers = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_targets(numbers)
    return np.asarray(numbers)


def check_targets(y: Rows) -> None:
    """Refuses targets that are all alike, or that floats cannot hold."""
    if len(y) < 2:
        raise ValueError(
            f"An ensemble needs at least two rows, got {len(y)} with a positive `sample_weight` "
            "(of at least 1e-38 times the largest). Give weight to more rows."
        )
    if np.ptp(y) == 0:
        raise ValueError(
            f"y must vary, but all {len(y)} targets equal {y[0]:g}: there is nothing to predict. "
            "Check that the right column was passed."
        )
    with np.errstate(over="ignore", under="ignore"):
        variance = np.var(y)
    if not np.finfo(np.float64).tiny < variance < np.inf:
        raise ValueError(
            f"The standard deviation of y must have a square that floats can hold, got targets "
            f"from {y.min():g} to {y.max():g}. Express y in other units."
        )


def checked_weight(sample_weight: Any, n_rows: int) -> Rows:
    """Shares of the largest weight; one number stands for equal ones.

    Raises:
        ValueError: the weights are not finite, negative or all zero.
    """
    given = np.asarray(sample_weight)
    if (word := _first_word(given)) is not None:
        raise ValueError(f"`sample_weight` must be numbers, got {word!r}. Pass one for each row.")
    weight = _as_floats(given)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got shape {weight.shape}. Pass one number "
            "for each row."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"`sample_weight` must have one entry for each of the {n_rows} rows, got "
            f"{len(weight)}. sample_weight.shape == {weight.shape}, expected {(n_rows,)}!"
        )
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    if len(wrong):
        raise ValueError(
            f"`sample_weight` must be finite and not negative, got {wrong[0]:g}. Pass zero to "
            "leave a row out."
        )
    if weight.max() == 0:
        raise ValueError(
            "`sample_weight` must not be zero for every row: nothing would be left to learn from. "
            "Pass None to weigh all rows alike."
        )
    return _relative(weight)


def _as_floats(given: np.ndarray) -> np.ndarray:
    """As float64, where a whole number that is too large for it is infinite."""
    try:
        return given.astype(np.float64)
    except OverflowError:
        return np.vectorize(_as_float, otypes=[np.float64])(given)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _checked_groups(groups: Any, kept: Bool[np.ndarray, " row"]) -> Groups:
    """For each row that is kept the number of its group; one without is a group of its own.

    Raises:
        ValueError: there is not one entry for each row, or all are the same.
    """
    import pandas as pd

    given = np.asarray(groups)
    if given.shape != kept.shape:
        raise ValueError(
            f"`groups` must have one entry for each of the {len(kept)} rows, got shape "
            f"{given.shape}. Pass a column such as that of the patients."
        )
    numbers = pd.factorize(given[kept])[0].astype(np.int64)
    alone = numbers < 0
    numbers[alone] = numbers.max() + 1 + np.arange(np.sum(alone))
    if numbers.max() == 0:
        raise ValueError(
            f"`groups` must have at least two different values, got {given[kept][0]!r} for all "
            "rows: a part of the rows is left out in turn. Pass a column that varies, or None."
        )
    return numbers


def _relative(weight: Rows) -> Rows:
    """Weights as shares of the largest, to the digits of float32 that the networks see.

    Only their ratios are left: weights of any size train the same model to the last bit, because
    the rounding of a common factor disappears with the digits beyond float32. A share that float32
    cannot hold is zero.
    """
    share = (weight / weight.max()).astype(np.float32)
    return np.where(share < np.finfo(np.float32).tiny, 0, share).astype(np.float64)


def _checked_array(estimator: BaseEstimator, X: Any, *y: Any, reset: bool, **more: Any) -> Any:
    """Arrays as scikit-learn checks them, and no dates, which NumPy would make nanoseconds."""
    if hasattr(X, "columns"):
        kinds = zip(X.columns, X.dtypes, strict=True)
        dates = [str(c) for c, kind in kinds if re.match("date|time|duration", str(kind).lower())]
        where = f"these columns hold dates or durations: {', '.join(dates)}"
    else:
        dates = [""] * (getattr(X, "dtype", np.dtype(float)).kind in "mM")
        where = "it holds dates or durations"
    if dates:
        raise ValueError(f"X must be numbers, but {where}. {_DAYS}")
    with _advice(X):
        how = {"dtype": (np.float64, np.float32), "ensure_all_finite": "allow-nan", **more}
        return validate_data(estimator, X, *y, reset=reset, **how)


@contextmanager
def _advice(X: Any) -> Iterator[None]:
    """Adds what to do to what scikit-learn's checks say."""
    try:
        yield
    except (TypeError, ValueError) as error:
        for pattern, advice in _ADVICE.items():
            if re.search(pattern, str(error), flags=re.DOTALL):
                columns = "{columns}" in advice and [
                    name for name, column in _columns(X) if _first_word(column) is not None
                ]
                kind = TypeError if isinstance(error, TypeError) else ValueError
                listed = ", ".join(columns or []) or "all"
                raise kind(f"{error} {advice.format(columns=listed)}") from error
        raise


def _columns(X: Any) -> list[tuple[str, np.ndarray]]:
    """The columns of a table with their names or positions; a list has none."""
    if hasattr(X, "columns"):
        return [(str(name), np.array(X[name].to_list(), object)) for name in X.columns]
    array = np.asarray(X)
    return [(str(i), column) for i, column in enumerate(array.T)] if array.ndim == 2 else []


def _first_word(values: np.ndarray) -> str | None:
    """The first entry that is text and not a number, if there is one."""
    if values.dtype.kind not in "OUST":
        return None
    for value in values.ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return str(value)
    return None


def _check_ranges(encoder: Encoder | None, X: Table) -> None:
    """Refuses columns too wide for floats; warns of those that are of no use, or hardly any."""
    positions = tuple(str(i) for i in range(X.shape[1]))
    names = positions if encoder is None else encoder.feature_names
    with np.errstate(over="ignore"):
        spans = np.ptp(X, axis=0)
    if not np.isfinite(spans).all():
        raise ValueError(
            f"X must have a range that floats can hold, but this column does not: "
            f"{names[np.argmin(np.isfinite(spans))]}. Express it in other units."
        )
    if encoder is not None:
        _warn_of_columns(encoder)
    if not spans.all():
        used = frozenset() if encoder is None else encoder.told_if_missing
        but = dict.fromkeys(used, " (but whether it is missing is used)")
        constant = ", ".join(names[i] + but.get(names[i], "") for i in np.flatnonzero(spans == 0))
        _warn(
            UserWarning(
                f"Constant in the training data, and so of no use to the model: {constant}. "
                "Predictions for rows where such a column differs are extrapolations."
            )
        )


NEGLECTED = "Left out of the fit, though they may say something about the target: {}."


def neglected_words(encoder: Encoder) -> list[str]:
    """A warning of columns that the fit left out, though they may say something; or none."""
    reasons = "; ".join(f"{name} ({why})" for name, why in encoder.neglected.items())
    return [NEGLECTED.format(reasons)] if reasons else []


def _warn_of_columns(encoder: Encoder) -> None:
    """Warns of columns that were left out, and of categories that may be meant otherwise."""
    left_out = "Left out of the fit: {}. You need not do anything."
    commas = (
        "The commas in these numbers are read as separators of thousands: {}. If they stand before "
        "decimals, write points instead."
    )
    orders = (
        "The order of day and month in these dates is not certain, and they are read so: {}. If "
        "this is wrong, write them as 2020-03-25."
    )
    hints = (
        "Read as categories, which may not be what you mean: {}. A model learns more from numbers "
        "and dates."
    )
    useless = {n: why for n, why in encoder.left_out.items() if n not in encoder.neglected}
    if encoder.guessed_commas:
        _warn(UserWarning(commas.format(listed(encoder.guessed_commas))))
    for columns, category, message in (
        (encoder.neglected, LeftOutColumnWarning, NEGLECTED),
        (useless, LeftOutColumnWarning, left_out),
        (encoder.guessed_orders, UserWarning, orders),
        (encoder.hints, UserWarning, hints),
    ):
        if columns:
            reasons = "; ".join(f"{name} ({why})" for name, why in columns.items())
            _warn(category(message.format(reasons)))


def _warn_of_names(table: Any, *, may_group: bool) -> None:
    """Warns of numbers that seem to be the names of things."""
    if names := [source.name for source in sources(table) if named_thing(source) is not None]:
        advice = 'turn them into categories, for example with astype("category")'
        if may_group:
            advice += (
                "; or drop them and pass them as `groups`, if the model is to predict others than "
                "those in the table"
            )
        _warn(
            UserWarning(
                f"The numbers of these columns repeat, and look like the names of things, not like "
                f"quantities: {listed(names)}. If so, {advice}."
            )
        )


def _warn(warning: Warning) -> None:
    """Warns at the line that called confide."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("confide."):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
