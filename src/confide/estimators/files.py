"""Model files: from a fitted estimator to the parts of a file, and back, checked."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from sklearn.base import clone

from confide.calibration import Calibration
from confide.compilation import make_room_for_programs
from confide.diagnostics import Novelty
from confide.encoding import Encoder
from confide.errors import ModelFileError
from confide.estimators.attachment import Attachment
from confide.estimators.base import IntervalRegressor
from confide.estimators.own_parts import OwnParts, is_own, plain, probe
from confide.estimators.recipes import LEFT, left_to_recipe
from confide.estimators.regressors import ESTIMATORS
from confide.estimators.several import MOST_TARGETS, refuse_too_many
from confide.estimators.target import Target
from confide.estimators.training_rows import SeenRows, TrainingRows
from confide.forks import refuse_forked
from confide.learners import Learner
from confide.methods import AUTO, EpochChoice
from confide.persistence import Arrays, Container, check_target, checked_json, part

FORMAT = "confide model"
FORMAT_VERSION = 3
# Of files with several targets, which older versions cannot read.
SEVERAL_VERSION = 4
READABLE: dict[str, Any] = {"format": FORMAT, "versions": (FORMAT_VERSION, SEVERAL_VERSION)}
# What a fit may leave beside the networks, each kept under its name.
ATTACHMENTS: dict[str, type[Attachment]] = {
    "calibration": Calibration,
    "encoder": Encoder,
    "epochs": EpochChoice,
    "novelty": Novelty,
    "seen_rows": SeenRows,
    "target": Target,
    "training_table": TrainingRows,
}
# What targets often have in common; it is then kept, and read, once.
SHARED = ("encoder", "novelty")
# The same for all targets: each of other networks would be compiled by itself, for seconds.
OF_PROGRAMS = ("recipe", "network", "hidden_layer_sizes", "n_members", "n_passes")
# What reading parts that do not fit together may raise.
DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)
# A header, and arrays by name.
Parts: TypeAlias = tuple[dict[str, Any], Arrays]
# It is made of fits like the model's own, so it is read after that and checked against it.
ON_TWINS = "confidence_calibration"


def save_estimator(
    estimator: IntervalRegressor,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    overwrite: bool = False,
) -> None:
    """Writes a fitted estimator to a path, or to a file that is open.

    Args:
        estimator: to write.
        target: where to.
        overwrite: whether a file that is there may be replaced.
    """
    if isinstance(target, str | os.PathLike):
        target = Path(target)
        how = "Pass overwrite=True to `save` to replace it"
        check_target(target, force=overwrite, how_to_replace=how)
    targets = estimator.targets_
    own, arrays = _parts(estimator) if targets is None else _parts_of_targets(targets)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION if targets is None else SEVERAL_VERSION,
        "confide_version": version("confide"),
    }
    Container({**header, **own}, arrays).write(target)


def _parts(estimator: IntervalRegressor) -> Parts:
    """The header and the arrays of a model of one target."""
    names = getattr(estimator, "feature_names_in_", None)
    header: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "parameters": {name: plain(value) for name, value in estimator.parameters_.items()},
        "left_to_recipe": sorted(left_to_recipe(estimator.get_params(deep=False))),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
    }
    if any(is_own(value) for value in header["parameters"].values()):
        header["probe"] = probe(estimator)
    method, arrays = estimator.method, estimator.method.to_arrays(estimator.fitted_)
    parts = {}
    for name in (*ATTACHMENTS, ON_TWINS):
        if (value := getattr(estimator, f"{name}_", None)) is not None:
            parts[name], own = value.to_file(method) if name == ON_TWINS else value.to_file()
            arrays |= {f"{name}.{key}": array for key, array in own.items()}
    return {**header, "attachments": parts}, arrays


def _parts_of_targets(targets: Mapping[str, IntervalRegressor]) -> Parts:
    """A header with those of all targets, and the arrays of each under its number."""
    headers, parts = [], [_parts(model) for model in targets.values()]
    arrays: Arrays = {}
    for i, (name, (header, own)) in enumerate(zip(targets, parts, strict=True)):
        shared = [each for each in SHARED if i and _is_same(each, header, own, parts[0])]
        attachments = {k: v for k, v in header["attachments"].items() if k not in shared}
        headers.append({"target": name, **header, "attachments": attachments, "shared": shared})
        arrays |= {f"{i}.{k}": a for k, a in own.items() if k.split(".")[0] not in shared}
    return {"targets": headers}, arrays


def _is_same(name: str, header: dict[str, Any], arrays: Arrays, first: Parts) -> bool:
    """Whether both models have that attachment, and it is equal."""
    parts, others = header["attachments"], first[0]["attachments"]
    own, other = part(arrays, name), part(first[1], name)
    return (
        name in parts
        and parts[name] == others.get(name)
        and own.keys() == other.keys()
        and all(np.array_equal(array, other[key]) for key, array in own.items())
    )


def load(
    path: str | os.PathLike[str],
    *,
    network: Callable[..., Any] | None = None,
    learner: Learner[Any] | None = None,
    optimiser: Any = None,
    learning_rate: Callable[..., Any] | None = None,
    estimators: Iterable[type[IntervalRegressor]] = (),
) -> IntervalRegressor:
    """Reads a fitted estimator that `save` wrote.

    The file is data alone (safetensors and JSON), so one from a stranger can be opened safely:
    everything in it is checked against what its settings call for, and nothing is executed. So it
    cannot hold a network, a learner or an estimator of your own: pass what the model was made with.

    Args:
        path: the file.
        network: the function that made the model's network, where it was your own.
        learner: the model's learner, where it was your own.
        optimiser: the model's optimiser, where it was your own. Predictions do not need it, but
            `calibrate_confidence` does; if it is left out, `fit` uses the default.
        learning_rate: the model's schedule, where it was your own; needed for the same.
        estimators: classes of your own that the model may be one of, beside confide's and those
            that `confide.estimators.register` knows.

    Returns:
        The fitted estimator.

    Raises:
        ModelFileError: the file is truncated, foreign, from a newer version, does not fit together,
            or does not fit what was passed.
        RuntimeError: confide was used in another process, of which this one is a fork.
    """
    refuse_forked()
    file = Container.read(Path(path), **READABLE)
    passed = {"network": network, "learner": learner}
    passed |= {"optimiser": optimiser, "learning_rate": learning_rate}
    return _loaded(file, path, passed, estimators)


def load_content(
    content: bytes, path: str | os.PathLike[str], *, network: Callable[..., Any] | None = None
) -> IntervalRegressor:
    """The same from what was read from a file, which need not be there any more.

    Args:
        content: of the file.
        path: where it was, for messages.
        network: as for `load`.
    """
    refuse_forked()
    file = Container.parsed(content, Path(path), **READABLE)
    return _loaded(file, path, {"network": network}, ())


def _loaded(
    file: Container,
    path: str | os.PathLike[str],
    passed: Mapping[str, Any],
    estimators: Iterable[type[IntervalRegressor]],
) -> IntervalRegressor:
    """The estimator of a file, checked, with parts of the user's own as they were passed."""
    make_room_for_programs()
    own = OwnParts.of(path, _first_header(file.header), passed)
    try:
        # Of the classes we know: a file never names anything to import.
        known = ESTIMATORS | {estimator.__name__: estimator for estimator in estimators}
        several = file.header["format_version"] == SEVERAL_VERSION
        estimator = (_restored_targets if several else _restored)(file, own, known)
        if not file.is_as_written():
            raise ValueError("it is not what was saved")  # noqa: TRY301
    except (ImportError, ModelFileError):  # an extra that is not installed is no damage
        raise
    # Whatever such parts make the readers raise, the user hears that they do not fit together.
    except Exception as error:
        if file.is_as_written():
            own.refuse(error)
        raise ModelFileError(
            f"{path} is damaged or was tampered with: its parts do not fit together ({error}). "
            "Save the model again."
        ) from error
    return estimator


def _first_header(header: dict[str, Any]) -> dict[str, Any]:
    """The header of the model, or of the first of several: all were made with the same parts."""
    targets = header.get("targets")
    first = targets[0] if isinstance(targets, list) and targets else header
    return first if isinstance(first, dict) else {}


def _restored_targets(
    file: Container, own: OwnParts, known: dict[str, type[IntervalRegressor]]
) -> IntervalRegressor:
    """An estimator with a model for each target."""
    headers = checked_json(tuple[Any, ...], file.header["targets"], "targets")
    if not 1 < len(headers) <= MOST_TARGETS:
        raise ValueError(f"it has {len(headers)} targets")
    arrays: defaultdict[str, Arrays] = defaultdict(dict)  # sorted once, however many targets
    for name, array in file.arrays.items():
        number, _, own_name = name.partition(".")
        arrays[number][own_name] = array
    targets: dict[str, IntervalRegressor] = {}
    first = None
    for i, header in enumerate(headers):
        shared = {name: getattr(first, f"{name}_") for name in _shared(header)}
        model = _restored(Container(header, arrays[str(i)]), own, known, shared)
        if first is None:
            first = model
            refuse_too_many(first, len(headers))
        if _interface(model) != _interface(first):
            raise ValueError("its targets are of different columns, estimators or networks")
        targets[checked_json(str, header["target"], "the name of a target")] = model
    if len(targets) < len(headers):
        raise ValueError("two of its targets have the same name")
    return clone(first).adopt_targets(targets)


def _shared(header: dict[str, Any]) -> tuple[str, ...]:
    """Names of what a target has in common with the first."""
    names: tuple[str, ...] = checked_json(tuple[str, ...], header["shared"], "shared")
    if not set(names) <= set(SHARED):
        raise ValueError(f"its targets share unknown parts: {names!r:.80}")
    return names


def _interface(model: IntervalRegressor) -> tuple[type, int, list[str], list[Any]]:
    names = getattr(model, "feature_names_in_", ())
    sizes = [model.parameters_.get(name) for name in OF_PROGRAMS]
    return type(model), model.n_features_in_, list(names), sizes


def _restored(
    file: Container,
    own: OwnParts,
    known: dict[str, type[IntervalRegressor]],
    shared: Mapping[str, Any] | None = None,
) -> IntervalRegressor:
    """The estimator, from parts that fit together; some it may share with another target's."""
    header, arrays = file.header, file.arrays
    name = header["estimator"]
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"there is no estimator {name!s:.80}; if it is your own, pass "
            "`estimators=[...]` to `load`, or register it with `confide.estimators.register`"
        )
    saved = _parameters(header, arrays)
    if hasattr(known[name], "recipe"):
        saved = {"recipe": "paper", **saved}  # older files have none: there was but one
    estimator = known[name](**own.replaced(saved, known[name]))
    # What was not passed stays a name, so that no one takes the default for what the fit had.
    missing = {key: v for key, v in saved.items() if is_own(v) and key not in own.passed}
    known_as = estimator.get_params(deep=False) | missing
    estimator.parameters_ = {key: v for key, v in known_as.items() if key != "engine"}
    _set_names(estimator, header)
    parts = header["attachments"]
    for part_name, value in {**_attachments(parts, arrays), **(shared or {})}.items():
        setattr(estimator, f"{part_name}_", value)
    n_encoded = _n_encoded(estimator)
    estimator.fitted_ = estimator.method.from_arrays(
        arrays, estimator.settings(), estimator.make_learner(n_encoded), n_encoded
    )
    if ON_TWINS in parts:
        from confide.calibration import ConfidenceCalibration

        of_twins = parts[ON_TWINS], part(arrays, ON_TWINS)
        estimator.confidence_calibration_ = ConfidenceCalibration.from_file(
            *of_twins, estimator.method, estimator.fitted_, n_encoded
        )
    _restore_auto_epochs(estimator)
    # A fit with this estimator follows the recipe as it is then.
    for name in header.get("left_to_recipe", ()):
        setattr(estimator, _known_argument(estimator, name), LEFT.get(name))
    _refuse_foreign_novelty(estimator)
    own.check(header, estimator)
    return estimator


def _known_argument(estimator: IntervalRegressor, name: Any) -> str:
    if name not in estimator.get_params(deep=False):
        raise ValueError(f"it leaves an unknown argument {str(name)[:40]!r} to the recipe")
    return str(name)


def _parameters(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    parameters = dict(header["parameters"])
    sizes = parameters.get("hidden_layer_sizes")
    if isinstance(sizes, list):
        # Every unit has a weight: what claims more units is refused before it costs any time.
        if sum(sizes) > max((array.size for array in arrays.values()), default=0):
            raise ValueError(f"hidden_layer_sizes has more units than there are weights: {sizes}")
        parameters["hidden_layer_sizes"] = tuple(sizes)
    if isinstance(bounds := parameters.get("bounds"), list):
        parameters["bounds"] = tuple(bounds)
    return parameters


def _set_names(estimator: IntervalRegressor, header: dict[str, Any]) -> None:
    """The number of columns, and their names where the training data had some."""
    n_features = checked_json(int, header["n_features"], "n_features")
    if n_features < 1:
        raise ValueError(f"n_features is {n_features!r}")
    estimator.n_features_in_ = n_features
    if (names := header.get("feature_names")) is not None:
        words = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not words or len(names) != n_features:
            raise ValueError("feature names do not match the number of features")
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _attachments(parts: dict[str, Any], arrays: Arrays) -> dict[str, Attachment | None]:
    """What a fit left beside the networks, or None, by name."""
    for name in parts:
        if name not in (*ATTACHMENTS, ON_TWINS):
            raise ValueError(f"it has an unknown part {str(name)[:40]!r}")
    values: dict[str, Attachment | None] = dict.fromkeys(ATTACHMENTS)
    for name in ATTACHMENTS.keys() & parts.keys():
        try:
            values[name] = ATTACHMENTS[name].from_file(parts[name], part(arrays, name))
        except DAMAGE as error:
            raise ValueError(f"of its {name}, {error}") from error
    return values


def _n_encoded(estimator: IntervalRegressor) -> int:
    """The number of features that the networks see."""
    if estimator.encoder_ is None:
        return int(estimator.n_features_in_)
    columns = [column.name for column in estimator.encoder_.columns]
    names = getattr(estimator, "feature_names_in_", columns)
    if len(columns) != estimator.n_features_in_ or list(names) != columns:
        raise ValueError("the encoder's columns are not those of the model")
    return len(estimator.encoder_.feature_names)


def _restore_auto_epochs(estimator: IntervalRegressor) -> None:
    """A file has the epochs of the fit: where they were chosen, "auto" was asked for."""
    if (choice := estimator.epochs_) is not None:
        if choice.epochs != estimator.max_epochs:
            raise ValueError("the epochs chosen are not those of the fit")
        estimator.max_epochs = AUTO


def _refuse_foreign_novelty(estimator: IntervalRegressor) -> None:
    novelty, standardiser = estimator.novelty_, estimator.fitted_.standardiser
    if novelty is not None and len(novelty.weights) != len(standardiser.x_mean):
        raise ValueError("novelty's reference rows have other columns than the networks")
