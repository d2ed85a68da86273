"""A fitted model as a file of ONNX."""

import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from confide.checks import checked_level
from confide.encoding import CategoryColumn
from confide.errors import NoPlainFormError, listed
from confide.estimators import IntervalRegressor
from confide.export.onnx.answers import Interval, Numbers, intervals_of, numbers_of, on_twins
from confide.export.onnx.check import bound_ending, refuse_other_numbers
from confide.export.onnx.columns import described, encoded
from confide.export.onnx.graph import Graph, Value
from confide.export.onnx.target import BackTransform
from confide.export.parts import plain_columns
from confide.methods import REGISTRY
from confide.persistence import atomic_file, check_target
from confide.prediction import COLUMNS, Kind
from confide.uncertainty import VAST

NOT_EXPORTED = (
    "novelty (whether a row is unlike the training data)",
    "the intervals before their calibration",
    "quantiles, draws and levels other than those of the file",
    "warnings of values that the training data did not have",
)


def to_onnx(
    model: IntervalRegressor,
    path: str | os.PathLike[str],
    confidence_levels: Sequence[float] = (0.95,),
    *,
    overwrite: bool = False,
) -> float | None:
    """Writes a fitted model as a file of ONNX, which runs without Python.

    Each column in use is an input of shape (row, 1): numbers as doubles, with NaN where they are
    missing, and categories as text, empty where they are missing. The outputs have the names of
    `Prediction.summary_frame` and the shape (row, 1); with several levels, the names of bounds end
    in the level in percent, such as `obs_ci_lower_90`. The file says in its metadata what it takes,
    and what it leaves out.

    If onnxruntime is installed, the file's answers are compared with the model's, on random rows
    with every category, missing and extreme values, before anything is written.

    Args:
        model: fitted; a table's categories, dates and missing values are part of it.
        path: the name of the file.
        confidence_levels: of both kinds of intervals.
        overwrite: whether to replace a file of that name.

    Returns:
        The largest relative difference between the file and the model, see
        `confide.export.relative_difference`; None where onnxruntime is not installed.

    Raises:
        NoPlainFormError: the model, or a part of it, has no form in ONNX; the message says which.
        WouldOverwriteError: there is such a file, and `overwrite` is False.
    """
    target = Path(path)
    check_target(target, force=overwrite, how_to_replace="Pass overwrite=True to replace it")
    with atomic_file(target) as file:  # opened first, as the comparison takes a while
        content = onnx_model(model, confidence_levels).SerializeToString()
        difference = refuse_other_numbers(model, content, confidence_levels)
        file.write(content)
    return difference


def onnx_model(model: IntervalRegressor, confidence_levels: Sequence[float]) -> Any:
    """The same in memory, unchecked."""
    levels = [checked_level(level) for level in confidence_levels]
    if not levels:
        raise ValueError("`confidence_levels` must contain at least one level, got none.")
    if len({bound_ending(level, levels) for level in levels}) < len(levels):
        raise ValueError(
            f"The levels of a file must differ in percent, in six digits, got {levels}. Leave out "
            "those that are the same."
        )
    _refuse(model)
    _refuse_empty_texts(model)
    columns = plain_columns(model)
    names = [column["name"] for column in columns]
    graph = Graph(type(model).__name__, frozenset(names))
    answers = _answers(graph, model, encoded(graph, columns), levels)
    _refuse_names(names, list(answers))
    for name, value in answers.items():
        graph.output(name, value)
    metadata = {
        "confide_version": version("confide"),
        "method": type(model).__name__,
        "confidence_levels": json.dumps(levels),
        "columns": json.dumps({column["name"]: described(column) for column in columns}),
        "not_exported": json.dumps(NOT_EXPORTED),
    }
    return graph.to_model(f"A fitted {type(model).__name__} of confide.", metadata)


def _answers(
    graph: Graph, model: IntervalRegressor, features: Value, levels: Sequence[float]
) -> dict[str, Value]:
    """The outputs by their names."""
    own = numbers_of(graph, model, features)
    centred, target = on_twins(graph, model, own, features), model.target_
    back = None
    if target is not None and target.transform is not None:
        back = BackTransform(graph, target.transform, target.n_rows, own)
    numbers = own if back is None else back.restored()
    # As in the model: a mean that overflows lies on a bound, where there is one.
    numbers = numbers._replace(mean=_within_bounds(graph, model, numbers.mean))
    is_wild = _is_wild(graph, numbers)
    bounds: dict[str, Value] = {}
    for level in levels:
        confidence, prediction = intervals_of(graph, model, level, own, centred)
        if back is not None:
            confidence, prediction = back.intervals(confidence, prediction)
        ending = bound_ending(level, levels)
        bounds |= _named(graph, model, "confidence", confidence, is_wild, ending)
        bounds |= _named(graph, model, "prediction", prediction, is_wild, ending)
    has_confidence = any(name.startswith("mean_ci") for name in bounds)
    return _tamed(graph, model, numbers, is_wild, has_confidence=has_confidence, bounds=bounds)


def _is_wild(graph: Graph, numbers: Numbers) -> Value:
    """Whether a row is too far from the training data for single precision."""
    known = [each for each in (*numbers, numbers.scale) if each is not None]
    return graph.is_nan(graph.sum(graph.concatenate(known) * 0.0))


def _named(
    graph: Graph,
    model: IntervalRegressor,
    kind: Kind,
    interval: Interval | None,
    is_wild: Value,
    ending: str,
) -> dict[str, Value]:
    """The bounds of an interval by their names; infinite at wild rows, and within those of y."""
    if interval is None:
        return {}
    ends = {"lower": (-np.inf, interval.lower), "upper": (np.inf, interval.upper)}
    return {
        f"{COLUMNS[kind]}_ci_{side}{ending}": _within_bounds(
            graph, model, graph.where(is_wild, farthest, bound), to_lowest=True
        )
        for side, (farthest, bound) in ends.items()
    }


def _within_bounds(
    graph: Graph, model: IntervalRegressor, value: Value, *, to_lowest: bool = False
) -> Value:
    """A value that does not go beyond what targets can be."""
    if (target := model.target_) is None:
        return value
    lower, upper = target.lower, target.upper
    if to_lowest and target.transform is not None:
        lower = max(lower, target.transform.lowest)
    value = value if np.isinf(lower) else graph.maximum(value, lower)
    return value if np.isinf(upper) else graph.minimum(value, upper)


def _tamed(
    graph: Graph,
    model: IntervalRegressor,
    numbers: Numbers,
    is_wild: Value,
    *,
    has_confidence: bool,
    bounds: dict[str, Value],
) -> dict[str, Value]:
    """All outputs in their order; a wild row has a typical mean and vast variances."""
    typical, target = model.fitted_.standardiser.y_mean, model.target_
    typical = typical if target is None else target.restored_value(typical)
    mean = graph.where(graph.is_finite(numbers.mean), numbers.mean, typical)
    variances = {
        f"{name}_variance": graph.where(
            graph.is_finite(value), graph.where(is_wild, graph.minimum(value, VAST), value), VAST
        )
        for name in ("epistemic", "aleatoric", "classical", "optimisation")
        if (value := getattr(numbers, name)) is not None
    }
    epistemic = variances.pop("epistemic_variance", None)
    answers = {"mean": mean}
    if has_confidence and epistemic is not None:
        answers["mean_se"] = graph.sqrt(epistemic)
    return answers | bounds | variances


def _refuse(model: IntervalRegressor) -> None:
    """Refuses models that have no form in ONNX."""
    if not isinstance(model, IntervalRegressor):
        raise NoPlainFormError(
            f"Only confide's own ensembles can be exported, got {type(model).__name__}. Export "
            "the regressor inside with skl2onnx, or fit BootstrappedDeepEnsembleRegressor."
        )
    if model.targets_ is not None:
        names = list(model.targets_)
        raise NoPlainFormError(
            f"A file of ONNX is of one target, and this model has {len(names)}: {listed(names)}. "
            f"Export model.targets_[{names[0]!r}] in Python, or fit the targets one by one."
        )
    check_is_fitted(model, "fitted_")
    if model.method not in REGISTRY.values():
        raise NoPlainFormError(
            f"The method of {type(model).__name__} is not one of confide's, and its answers are "
            "not known in ONNX. Serve it from Python instead."
        )
    if getattr(model.calibration_, "of_groups", None):
        raise NoPlainFormError(
            "Prediction intervals that are calibrated by groups cannot be exported. Call "
            "`calibrate` without `groups`, or serve the model from Python."
        )


def _refuse_empty_texts(model: IntervalRegressor) -> None:
    """Refuses a category that is the empty text, which stands for a missing one."""
    for column in () if model.encoder_ is None else model.encoder_.columns:
        if isinstance(column, CategoryColumn) and "" in (*column.categories, *column.rare):
            raise NoPlainFormError(
                f"The column {column.name!r} has the empty text as a value, which stands for a "
                "missing one in ONNX. Replace it, or make it missing, and fit again."
            )


def _refuse_names(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuses names of columns that a graph cannot have."""
    if odd := [name for name in inputs if not name or name in outputs]:
        raise NoPlainFormError(
            f"In ONNX, columns need names that no output has, but these are not: {listed(odd)}. "
            f"The outputs are {listed(outputs, 30)}. Rename the columns and fit again."
        )
