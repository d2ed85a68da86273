"""What comes in through the public edge: refused before any training, with what to do about it."""

import re
import warnings
from typing import Any

import numpy as np
from jaxtyping import Float, Float64
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

# scikit-learn's checks say what was needed and what came; this adds what to do.
_ADVICE = {
    "could not convert string": (
        "Encode text as numbers first, for example with scikit-learn's OneHotEncoder in a "
        "ColumnTransformer; columns with text: {text_columns}."
    ),
    "contains NaN": (
        "Drop those rows, or impute them first, for example with scikit-learn's SimpleImputer in "
        "a Pipeline."
    ),
    "infinity|too large": "Drop or correct those rows.",
    "inconsistent numbers of samples": (
        "X and y need one entry for each row: were rows of only one of them dropped?"
    ),
    "minimum of 2 is required": "An ensemble needs at least two rows, and tens to be of use.",
    r"0 sample\(s\)|0 feature\(s\)": "Was the table filtered down to nothing?",
}


def checked_training_data(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "row feature"], Float64[np.ndarray, " row"]]:
    """X and y as arrays of finite numbers that can be learnt from."""
    y_shape = np.asarray(y).shape
    if len(y_shape) == 2 and y_shape[1] != 1:
        raise ValueError(
            f"y must be one-dimensional, got shape {y_shape}. For several targets, wrap the "
            "estimator in sklearn.multioutput.MultiOutputRegressor."
        )
    X_array, y_array = _with_advice(
        estimator, X, y, dtype=(np.float64, np.float32), y_numeric=True, ensure_min_samples=2
    )
    y_array = y_array.astype(np.float64)
    if np.ptp(y_array) == 0:
        raise ValueError(
            f"y must vary, but all {len(y_array)} targets equal {y_array[0]:g}: there is nothing "
            "to predict. Check that the right column was passed."
        )
    _warn_of_constant_columns(estimator, X_array)
    return X_array, y_array


def checked_X(estimator: BaseEstimator, X: ArrayLike) -> Float[np.ndarray, "row feature"]:
    """Rows that have the columns of the training data."""
    return _with_advice(estimator, X, dtype=(np.float64, np.float32), reset=False)


def checked_sample_weight(
    sample_weight: ArrayLike | None, n_rows: int
) -> Float64[np.ndarray, " row"] | None:
    """Weights that are finite, not negative and not all zero; one number stands for equal ones."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}.")
    if len(weight) != n_rows:
        raise ValueError(
            f"`sample_weight` must have one entry for each of the {n_rows} rows, got "
            f"{len(weight)}. sample_weight.shape == {weight.shape}, expected {(n_rows,)}!"
        )
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise ValueError(
            f"`sample_weight` must be finite and not negative, got {weight.min():g} as its "
            "smallest. Pass zero to leave a row out."
        )
    if weight.max() == 0:
        raise ValueError(
            "`sample_weight` must not be zero for every row: nothing would be left to learn from. "
            "Pass None to weigh all rows alike."
        )
    return weight


def _with_advice(estimator: BaseEstimator, X: ArrayLike, *arguments: Any, **keywords: Any) -> Any:
    try:
        return validate_data(estimator, X, *arguments, **keywords)
    except ValueError as error:
        for pattern, advice in _ADVICE.items():
            if re.search(pattern, str(error)):
                columns = ", ".join(_text_columns(X)) or "unknown"
                raise ValueError(f"{error} {advice.format(text_columns=columns)}") from error
        raise


def _text_columns(X: Any) -> list[str]:
    """The names (or positions) of the columns that do not turn into numbers."""
    names = list(X.columns) if hasattr(X, "columns") else list(range(np.shape(X)[1]))
    columns = {
        name: np.asarray(X[name] if hasattr(X, "columns") else np.asarray(X, object)[:, name])
        for name in names
    }
    return [str(name) for name, column in columns.items() if not _is_numeric(column)]


def _is_numeric(column: np.ndarray) -> bool:
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _warn_of_constant_columns(estimator: Any, X: Float[np.ndarray, "row feature"]) -> None:
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    if len(constant):
        names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1]))
        listed = ", ".join(str(name) for name in names[constant])
        warnings.warn(
            f"Constant in the training data, and so of no use to the networks: {listed}. "
            "Predictions for rows where such a column differs are extrapolations.",
            UserWarning,
            stacklevel=3,
        )
