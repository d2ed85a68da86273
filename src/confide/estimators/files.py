"""Model files: arrays and a JSON header in one safetensors file. Nothing in it can run."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
from safetensors.numpy import save as to_bytes

from confide.calibration import Calibration
from confide.diagnostics import Novelty
from confide.encoding import Encoder
from confide.errors import ModelFileError
from confide.estimators.attachment import Attachment
from confide.estimators.base import IntervalRegressor
from confide.estimators.own_parts import OwnParts, is_own, plain, probe
from confide.estimators.regressors import ESTIMATORS
from confide.estimators.training_rows import TrainingRows
from confide.learners import Learner
from confide.methods import AUTO, EpochChoice
from confide.persistence import Arrays, part, write_atomically

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration

FORMAT = "confide model"
FORMAT_VERSION = 3
# What a fit may leave beside the networks, each kept under its name.
ATTACHMENTS: dict[str, type[Attachment]] = {
    "calibration": Calibration,
    "encoder": Encoder,
    "epochs": EpochChoice,
    "novelty": Novelty,
    "training_table": TrainingRows,
}
# What reading parts that do not fit together may raise.
DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)
# It is made of fits like the model's own, so it is read after that and checked against it.
ON_TWINS = "confidence_calibration"


def save_estimator(estimator: IntervalRegressor, path: str | os.PathLike[str]) -> None:
    """Writes a fitted estimator."""
    names = getattr(estimator, "feature_names_in_", None)
    header: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "confide_version": version("confide"),
        "estimator": type(estimator).__name__,
        "parameters": {name: plain(value) for name, value in estimator.parameters_.items()},
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
    }
    if any(is_own(value) for value in header["parameters"].values()):
        header["probe"] = probe(estimator)
    arrays = estimator.method.to_arrays(estimator.fitted_)
    header["attachments"] = {}
    for name in ATTACHMENTS:
        if (attachment := getattr(estimator, f"{name}_", None)) is not None:
            header["attachments"][name], its_arrays = attachment.to_file()
            arrays |= {f"{name}.{key}": array for key, array in its_arrays.items()}
    if (on_twins := estimator.confidence_calibration_) is not None:
        header["attachments"][ON_TWINS], its_arrays = on_twins.to_file(estimator.method)
        arrays |= {f"{ON_TWINS}.{key}": array for key, array in its_arrays.items()}
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header["sha256"] = _checksum(header, contiguous)
    write_atomically(Path(path), to_bytes(contiguous, {"header": json.dumps(header)}))


def load(
    path: str | os.PathLike[str],
    *,
    network: Callable[..., Any] | None = None,
    learner: Learner[Any] | None = None,
    estimators: Iterable[type[IntervalRegressor]] = (),
) -> IntervalRegressor:
    """Reads a fitted estimator that `save` wrote.

    The file is data alone (safetensors and JSON), so one from a stranger can be opened safely:
    everything in it is checked against what its settings call for, and nothing is executed. So it
    cannot hold a network, a learner or an estimator of your own: pass what the model was made with.
    An optimiser or a schedule of your own is not kept, and the defaults stand in its place.

    Args:
        path: the file.
        network: the function that made the model's network, where it was your own.
        learner: the model's learner, where it was your own.
        estimators: classes of your own that the model may be one of, beside confide's and those
            that `confide.estimators.register` knows.

    Raises:
        ModelFileError: the file is truncated, foreign, from a newer version, does not fit together,
            or does not fit what was passed.
    """
    header, arrays = _read(Path(path))
    own = OwnParts.of(path, header, {"network": network, "learner": learner})
    try:
        estimator_class = _estimator_class(header, estimators)
        estimator = estimator_class(**_parameters(header, arrays, estimator_class, own))
        n_features = _n_features(header)
        for name in ATTACHMENTS:
            setattr(estimator, f"{name}_", None)
        for name, attachment in _attachments(header, arrays):
            setattr(estimator, f"{name}_", attachment)
        n_encoded = _n_encoded(estimator, header)
        estimator.parameters_ = estimator.get_params(deep=False)
        estimator.fitted_ = estimator.method.from_arrays(
            arrays, estimator.settings(), estimator.make_learner(n_encoded), n_encoded
        )
        estimator.confidence_calibration_ = _on_twins(header, arrays, estimator)
        _restore_auto_epochs(estimator)
        _refuse_foreign_novelty(estimator)
        _refuse_altered(header, arrays)
        own.check(header, estimator)
    except DAMAGE as error:
        if _is_as_saved(header, arrays):
            own.refuse(error)
        raise ModelFileError(
            f"{path} is damaged or was tampered with: its parts do not fit together ({error}). "
            "Save the model again."
        ) from error
    estimator.n_features_in_ = n_features
    if header.get("feature_names") is not None:
        estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return estimator


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder: pass a file that `save` wrote.")
    try:
        with safetensors.safe_open(path, framework="np") as file:
            header = _checked_header(path, (file.metadata() or {}).get("header", "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (FileNotFoundError, ModelFileError):
        raise
    # Whatever a hostile file makes the readers raise, the user hears that it is no model.
    except Exception as error:
        raise ModelFileError(
            f"{path} is not a whole confide model ({error}). It may be truncated, or of another "
            "kind; pass a file that `save` wrote."
        ) from error
    return header, arrays


def _checked_header(path: Path, text: str) -> dict[str, Any]:
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is not a confide model: its header does not say so. Pass a file that `save` "
            "wrote."
        )
    if header.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {header.get('format_version')!r}, and this confide reads "
            f"version {FORMAT_VERSION}. It was written by confide "
            f"{header.get('confide_version', 'of an unknown version')}: install that version or a "
            "newer one."
        )
    return header


def _attachments(header: dict[str, Any], arrays: Arrays) -> Iterator[tuple[str, Attachment]]:
    said = header["attachments"]
    for name in said:
        if name not in (*ATTACHMENTS, ON_TWINS):
            raise ValueError(f"it has an unknown part {str(name)[:40]!r}")
    for name, kind in ATTACHMENTS.items():
        if name in said:
            yield name, kind.from_file(said[name], part(arrays, name))


def _on_twins(
    header: dict[str, Any], arrays: Arrays, estimator: IntervalRegressor
) -> "ConfidenceCalibration | None":
    if ON_TWINS not in header["attachments"]:
        return None
    from confide.calibration import ConfidenceCalibration

    return ConfidenceCalibration.from_file(
        header["attachments"][ON_TWINS],
        part(arrays, ON_TWINS),
        estimator.method,
        estimator.fitted_,
        _n_encoded(estimator, header),
    )


def _restore_auto_epochs(estimator: IntervalRegressor) -> None:
    """A file has the epochs of the fit: where they were chosen, "auto" was asked for."""
    if (choice := getattr(estimator, "epochs_", None)) is not None:
        if choice.epochs != estimator.max_epochs:
            raise ValueError("the epochs chosen are not those of the fit")
        estimator.max_epochs = AUTO


def _refuse_foreign_novelty(estimator: IntervalRegressor) -> None:
    novelty, standardiser = estimator.novelty_, estimator.fitted_.standardiser
    if novelty is not None and len(novelty.weights) != len(standardiser.x_mean):
        raise ValueError("novelty's reference rows have other columns than the networks")


def _refuse_altered(header: dict[str, Any], arrays: Arrays) -> None:
    if header["sha256"] != _checksum(header, arrays):
        raise ValueError("it is not what was saved")


def _is_as_saved(header: dict[str, Any], arrays: Arrays) -> bool:
    try:
        _refuse_altered(header, arrays)
    except DAMAGE:
        return False
    return True


def _checksum(header: dict[str, Any], arrays: Arrays) -> str:
    """Of the header and all arrays: shows a byte that changed on a disk or on the way.

    It is no proof against malice: who can change the file can change the checksum.
    """
    said = {name: value for name, value in header.items() if name != "sha256"}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _estimator_class(
    header: dict[str, Any], estimators: Iterable[type[IntervalRegressor]]
) -> type[IntervalRegressor]:
    # Of the names we know: a file never names anything to import.
    known = ESTIMATORS | {each.__name__: each for each in estimators}
    name = header["estimator"]
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"there is no estimator {name!s:.80}; if it is your own, pass "
            "`estimators=[...]` to `load`, or register it with `confide.estimators.register`"
        )
    return known[name]


def _parameters(
    header: dict[str, Any],
    arrays: Arrays,
    estimator: type[IntervalRegressor],
    own: OwnParts,
) -> dict[str, Any]:
    parameters = own.replaced(dict(header["parameters"]), estimator)
    sizes = parameters.get("hidden_layer_sizes")
    if isinstance(sizes, list):
        # Every unit has a weight: what claims more units is refused before it costs any time.
        if sum(sizes) > max((array.size for array in arrays.values()), default=0):
            raise ValueError(f"hidden_layer_sizes has more units than there are weights: {sizes}")
        parameters["hidden_layer_sizes"] = tuple(sizes)
    return parameters


def _n_features(header: dict[str, Any]) -> int:
    n_features, names = header["n_features"], header.get("feature_names")
    if not isinstance(n_features, int) or n_features < 1:
        raise ValueError(f"n_features is {n_features!r}")
    if names is not None and not (
        isinstance(names, list)
        and len(names) == n_features
        and all(isinstance(n, str) for n in names)
    ):
        raise ValueError("feature names do not match the number of features")
    return n_features


def _n_encoded(estimator: IntervalRegressor, header: dict[str, Any]) -> int:
    """The number of features that the networks see."""
    encoder: Encoder | None = getattr(estimator, "encoder_", None)
    if encoder is None:
        return _n_features(header)
    names = [column.name for column in encoder.columns]
    if len(names) != _n_features(header) or header.get("feature_names") not in (None, names):
        raise ValueError("the encoder's columns are not those of the model")
    return len(encoder.feature_names)
