"""Whether a file of ONNX gives the numbers of the model that it was made from."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.estimators import IntervalRegressor, as_fitted_table
from confide.export.onnx.rows import random_rows
from confide.export.parts import plain_columns

if TYPE_CHECKING:
    import pandas as pd

N_ROWS, SEED = 1000, 0
# Networks compute in single precision, and differences were below 1e-5 (results/onnx.md). A graph
# that is wrong differs by far more; rows far from the data may differ by a little more.
LARGEST = 1e-4
# How much larger they may be where a target was transformed: an exponential function turns a
# difference into a multiple of itself, and far from the data its argument is large.
TIMES_IF_TRANSFORMED = 100
# Of a standard deviation that counts, in those of the target.
SMALLEST_SPREAD = 0.1


def refuse_other_numbers(
    model: IntervalRegressor, content: bytes, confidence_levels: Sequence[float]
) -> float | None:
    """The largest relative difference on random rows; None where onnxruntime is not installed.

    Args:
        model: fitted.
        content: the file.
        confidence_levels: of its intervals.

    Raises:
        RuntimeError: the numbers are others.
    """
    try:
        import onnxruntime
    except ModuleNotFoundError:
        return None
    rows = random_rows(model, N_ROWS, SEED)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    answers = dict(zip(names, session.run(None, onnx_inputs(model, rows)), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that training did not have
        expected = expected_answers(model, rows, confidence_levels)
    difference = relative_difference(model, answers, expected)
    is_transformed = model.target_ is not None and model.target_.transform is not None
    most = LARGEST * (TIMES_IF_TRANSFORMED if is_transformed else 1)
    if not difference <= most:
        raise RuntimeError(
            f"The file of ONNX differs from the model by {difference:.1e} of a number, and was not "
            f"written: at most {most:g} is expected. Please report this, with the versions of "
            "confide, onnx and onnxruntime."
        )
    return difference


def onnx_inputs(model: IntervalRegressor, X: Any) -> dict[str, np.ndarray]:
    """The rows of a table or an array as a file of ONNX takes them.

    This is for Python; elsewhere, make one array of shape (row, 1) for each column: numbers as
    doubles, NaN where they are missing, and text, empty where it is missing. A text
    that is empty and not missing is missing too, there. Dates are days since 1970, times of the day
    and durations are seconds.

    Args:
        model: what the file was made from.
        X: rows like those of `fit`.

    Returns:
        The inputs by their names.
    """
    if model.encoder_ is None:
        names = [column["name"] for column in plain_columns(model)]
        return dict(zip(names, np.asarray(X, np.float64).T[:, :, None], strict=True))
    rows = as_fitted_table(model, X)
    return {name: _column(values) for name, values in model.encoder_.plain_values(rows).items()}


def _column(values: Any) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values[:, None]
    return np.array(values, object)[:, None]


def expected_answers(
    model: IntervalRegressor, X: Any, confidence_levels: Sequence[float]
) -> "dict[str, pd.Series[Any]]":
    """What the model says of some rows, under the names that the file's outputs have.

    Args:
        model: fitted.
        X: rows like those of `fit`.
        confidence_levels: of the intervals.

    Returns:
        The numbers by their names.
    """
    prediction, answers = model.get_prediction(X), {}
    for level in confidence_levels:
        ending = bound_ending(level, confidence_levels)
        for name, numbers in prediction.summary_frame(level).items():
            answers[f"{name}{ending if '_ci_' in str(name) else ''}"] = numbers
    return answers


def bound_ending(level: float, levels: Sequence[float]) -> str:
    """What follows the name of a bound: nothing where there is one level."""
    return f"_{100 * level:g}" if len(levels) > 1 else ""


def relative_difference(
    model: IntervalRegressor, answers: Mapping[str, Any], expected: Mapping[str, Any]
) -> float:
    """The largest difference between two answers for some rows, relative to the number itself.

    A number that is small beside the target's standard deviation counts as that, and a bound that
    is small beside the usual distance of such bounds from the mean as that distance. Variances are
    compared by their roots, and standard deviations count as at least a tenth of the target's:
    networks compute in single precision, and do not know them better.

    Args:
        model: fitted.
        answers: of a file of ONNX, by their names.
        expected: what the model says.

    Returns:
        The difference; infinite where one answer is a number and the other is not.
    """
    own, other = (
        {name: _numbers(name, of[name]) for name in answers} for of in (answers, expected)
    )
    unit = _unit(model)
    return max(_difference(own[name], other[name], _least(name, other, unit)) for name in own)


def _unit(model: IntervalRegressor) -> float:
    """The standard deviation of the target, roughly that of one that was transformed."""
    own, target = model.fitted_.standardiser, model.target_
    if target is None or target.transform is None:
        return own.y_scale
    typical = target.transform.back(np.array([own.y_mean]))
    return own.y_scale * float(target.transform.slope(typical)[0])


def _numbers(name: str, values: Any) -> np.ndarray:
    numbers = np.ravel(values)
    return np.sqrt(numbers) if name.endswith("_variance") else numbers


def _least(name: str, answers: dict[str, np.ndarray], unit: float) -> float:
    """What a number counts as, if it is smaller."""
    if name.endswith(("_variance", "_se")):
        return SMALLEST_SPREAD * unit
    distance = np.abs(answers[name] - answers["mean"])
    usual = np.median(distance[np.isfinite(distance)]) if np.isfinite(distance).any() else 0.0
    return max(unit, float(usual))


def _difference(own: np.ndarray, other: np.ndarray, least: float) -> float:
    finite = np.isfinite(own) & np.isfinite(other)
    if not np.array_equal(own[~finite], other[~finite]):
        return np.inf
    own, other = own[finite], other[finite]
    differences = np.abs(own - other) / np.maximum(np.abs(other), least)
    return float(differences.max(initial=0.0))
