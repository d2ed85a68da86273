"""Benchmark tables from a folder, checked against their known checksums."""

import gzip
import hashlib
import io
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from confide.errors import nearest

# sha256 of the unpacked CSV: one header row, features, last column `target`.
_CHECKSUMS = {
    "boston": "9cf18937700bc020cba0624d386bd4f07f8faa784d9b0992012903deef071f92",
    "concrete": "a9fd321ce582b8a125f616a6d99db0bf6f34d86e2195cde961372a73887f05b0",
    "energy": "58426f173d06dd8884169432e30a80dc09b862268ea9f34a7e324e30b18fa173",
    "kin8nm": "07fa082ce0e9d7d23c09c54a83daaa937fbbef9be576e217efb8bae87af0c2df",
    "naval": "2e2a3e97a5cbe886b6b567ae1d288c0f974b4365d2f2e8f8262f1a35e7a02c2d",
    "power": "bf5d3e2620595d90c7199e194d08659101b2785fe5b932487bb6ec87d732f786",
    "yacht": "7fc894da9767d90ee33b2e7bd963e317c0a0993ec0ea6c0d01d7bf5a3de8704a",
    "wine_red": "dfc5c59d4af2c07d587174428db749e6d298d240b781ffe31a74b14b49257bd7",
    "protein": "8a8b31823a2067599fa7dddaba08cc08db6fd560c4e3cafa202c29804b98fe25",
}
NAMES = tuple(_CHECKSUMS)


class Dataset(NamedTuple):
    """A table with its target."""

    X: Float64[np.ndarray, "row feature"]
    y: Float64[np.ndarray, " row"]
    feature_names: tuple[str, ...]


def load(name: str) -> Dataset:
    """The named benchmark set, from `<name>.csv.gz` in a folder of yours.

    Looks in the folder that the environment variable `CONFIDE_DATA` names, then in
    `confide/data` in the user's cache folder. Nothing is downloaded.

    Raises:
        ValueError: there is no set of that name, or the file's values are not the known ones.
        FileNotFoundError: the file is in none of the folders.
    """
    if name not in _CHECKSUMS:
        raise ValueError(
            f"There is no data set {name!r}; there are {NAMES}. {nearest(name, NAMES)}"
        )
    path = _find(name)
    content = gzip.decompress(path.read_bytes())
    found = hashlib.sha256(content).hexdigest()
    if found != _CHECKSUMS[name]:
        raise ValueError(
            f"{path} is not the benchmark set {name!r}: its values have sha256 {found}, and "
            f"{_CHECKSUMS[name]} was expected. Get the file anew."
        )
    header, _, _ = content.decode().partition("\n")
    values = np.loadtxt(io.BytesIO(content), delimiter=",", skiprows=1)
    return Dataset(values[:, :-1], values[:, -1], tuple(header.strip().split(",")[:-1]))


def _find(name: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "confide" / "data"
    folders = [Path(folder) for folder in (os.environ.get("CONFIDE_DATA"),) if folder] + [cache]
    for folder in folders:
        if (path := folder / f"{name}.csv.gz").is_file():
            return path
    raise FileNotFoundError(
        f"The data set {name!r} is not on this machine: no {name}.csv.gz in "
        f"{' or '.join(str(folder) for folder in folders)}. Put it there (a CSV with one header "
        "row, the features, and a last column `target`), or set CONFIDE_DATA to the folder that "
        "has it."
    )
