"""Benchmark tables by name, from a folder or a download, checked against their known checksums."""

import gzip
import hashlib
import io
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from confide.datasets.more import MORE_SETS
from confide.datasets.sets import BENCHMARK_SETS, BenchmarkSet
from confide.errors import nearest
from confide.persistence import write_atomically

NAMES = tuple(BENCHMARK_SETS)
MORE_NAMES = tuple(MORE_SETS)
MORE_FOLDER = "more"
"""Where the further sets may lie, inside the folder of the nine."""

Values = Float64[np.ndarray, "row column"]


class Dataset(NamedTuple):
    """A table with its target.

    Attributes:
        X: the features of each row.
        y: the target of each row.
        feature_names: a name for each column of X.
    """

    X: Float64[np.ndarray, "row feature"]
    y: Float64[np.ndarray, " row"]
    feature_names: tuple[str, ...]

    def without_constant_columns(self) -> "Dataset":
        """The set without features that never vary: the paper drops the two that naval has.

        Example:
            >>> data = Dataset(np.array([[1.0, 7.0], [2.0, 7.0]]), np.zeros(2), ("a", "b"))
            >>> data.without_constant_columns().feature_names
            ('a',)
        """
        # Not by the standard deviation, which rounding keeps from zero.
        varies = np.ptp(self.X, axis=0) > 0
        names = tuple(np.array(self.feature_names)[varies].tolist())
        return Dataset(self.X[:, varies], self.y, names)


def load(name: str, *, download: bool = False) -> Dataset:
    """The named benchmark set, its values checked.

    Looks for `<name>.csv.gz` in the folder that the environment variable `CONFIDE_DATA` names, then
    in `confide/data` in the user's cache folder. Sets of `MORE_NAMES` may lie in a folder `more`
    inside either. Nothing is downloaded unless you ask for it.

    Args:
        name: one of `NAMES` or `MORE_NAMES`.
        download: fetch a set that is in neither folder from OpenML, and keep it in the cache if
            its values are the known ones. OpenML does not have every set. This has been tested
            without a network only.

    Raises:
        ValueError: there is no set of that name, or the values are not the known ones.
        FileNotFoundError: the file is in neither folder, and was not or cannot be downloaded.
        ConnectionError: OpenML did not answer, or not with a table of numbers.
    """
    if name not in (names := (*NAMES, *MORE_NAMES)):
        raise ValueError(
            f"There is no data set {name!r}; there are {names}. {nearest(name, names)}"
        )
    for path in _paths(name):
        if path.is_file():
            return _dataset(name, _read(path), str(path))
    if not (download and _known(name).openml_id):
        raise FileNotFoundError(_absent(name))
    return _downloaded(name)


def checksum(values: Values) -> str:
    """The sha256 of a table's numbers, row by row, the target last.

    It does not depend on how they were written: 5, 5.0 and 5.00 are the same number.
    """
    # Adding zero turns -0.0, which only its spelling tells from 0.0, into 0.0.
    return hashlib.sha256((values + 0.0).astype("<f8", order="C").tobytes()).hexdigest()


def _known(name: str) -> BenchmarkSet:
    return BENCHMARK_SETS[name] if name in BENCHMARK_SETS else MORE_SETS[name]


def _paths(name: str) -> list[Path]:
    """Where the file may lie, in the order of the search."""
    folders = _folders()
    if name in MORE_SETS:
        folders = [place for folder in folders for place in (folder, folder / MORE_FOLDER)]
    return [folder / f"{name}.csv.gz" for folder in folders]


def _folders() -> list[Path]:
    chosen = os.environ.get("CONFIDE_DATA")
    return [Path(chosen), _cache()] if chosen else [_cache()]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "confide" / "data"


def _dataset(name: str, values: Values, source: str) -> Dataset:
    known = _known(name)
    if (actual := checksum(values)) != known.checksum:
        raise ValueError(
            f"{source} is not the benchmark set {name!r}: its values have sha256 {actual}, and "
            f"{known.checksum} was expected. Put the right file in its place: {_by_hand(name)}"
        )
    return Dataset(values[:, :-1], values[:, -1], known.feature_names)


def _read(path: Path) -> Values:
    content = path.read_bytes()
    try:
        text = gzip.decompress(content)
        return np.loadtxt(io.BytesIO(text), delimiter=",", skiprows=1, ndmin=2)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read as a gzipped CSV of numbers ({error}). Get the file anew."
        ) from error


def _downloaded(name: str) -> Dataset:
    known = _known(name)
    source = f"OpenML's table {known.openml_id}"
    try:
        values = _fetched(known)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"{source} ({name!r}) could not be fetched: {error}. Try again, or {_by_hand(name)}"
        ) from error
    dataset = _dataset(name, values, source)
    _write(_cache() / f"{name}.csv.gz", values, known.feature_names)
    return dataset


def _fetched(known: BenchmarkSet) -> Values:
    """The features and, last, the target, as OpenML has them.

    Nobody has seen these downloads work: they were written on a machine without a network. So the
    caller compares their checksum.
    """
    from sklearn.datasets import fetch_openml

    X, y = fetch_openml(
        data_id=known.openml_id,
        as_frame=True,  # as an array, categories would be numbered instead of read
        parser="liac-arff",  # reads decimals as Python does; pandas' may be off by the last bit
        cache=False,  # confide keeps the values itself
        return_X_y=True,
    )
    # A second target, where there is one, comes after the features.
    features = X.iloc[:, : len(known.feature_names)].astype(object).to_numpy(np.float64)
    # Boston's categories are numbers written as text.
    target = y.astype(object).to_numpy(np.float64)
    if known.target_decimals is not None:
        target = np.round(target, known.target_decimals)
    return np.column_stack([features, target])


def _write(path: Path, values: Values, feature_names: tuple[str, ...]) -> None:
    text = io.StringIO()
    header = ",".join((*feature_names, "target"))
    np.savetxt(text, values, fmt="%.17g", delimiter=",", header=header, comments="")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, gzip.compress(text.getvalue().encode(), mtime=0))


def _absent(name: str) -> str:
    known = _known(name)
    folders = " or ".join(str(folder) for folder in _folders())
    how = (
        f"Call load({name!r}, download=True) to fetch OpenML's table {known.openml_id}, or "
        if known.openml_id
        else "It cannot be downloaded: no table on OpenML is known to have the same values. So "
    )
    return (
        f"The data set {name!r} is not on this machine: no {name}.csv.gz in {folders}. "
        f"{how}{_by_hand(name)}"
    )


def _by_hand(name: str) -> str:
    known = _known(name)
    return (
        f"get it from {known.where}, and save it as {_folders()[0] / name}.csv.gz: a gzipped CSV "
        f"with one header row, the features {', '.join(known.feature_names)}, and a last column "
        "`target`, rows in their original order. CONFIDE_DATA may name another folder."
    )
