"""One file of named arrays and a JSON header, in safetensors' format. Nothing in it can run."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from confide.errors import ModelFileError
from confide.persistence.arrays import Arrays
from confide.persistence.atomic import write_atomically

CHECKSUM = "sha256"


@dataclass(frozen=True)
class Container:
    """What a file holds.

    Attributes:
        header: what JSON can say; its "format" and "format_version" are checked when it is read.
        arrays: by name.
    """

    header: dict[str, Any]
    arrays: Arrays

    def write(self, path: Path) -> None:
        """Writes the file with a checksum; an older one of that name is replaced in one step."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        header = json.dumps({**self.header, CHECKSUM: self.checksum()})
        write_atomically(path, save(arrays, {"header": header}))

    @classmethod
    def read(cls, path: Path, *, format: str, version: int) -> Self:  # noqa: A002
        """Reads a file, and checks that it is whole and of that format.

        `is_as_written` says whether its checksum is right.

        Raises:
            FileNotFoundError: there is no such file.
            ModelFileError: it is something else.
        """
        import safetensors

        if path.is_dir():
            raise ModelFileError(f"{path} is a folder: pass a file that `save` wrote.")
        try:
            with safetensors.safe_open(path, framework="np") as file:
                header = json.loads((file.metadata() or {}).get("header", "{}"))
                _check_format(path, header, format, version)
                return cls(header, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
        except (FileNotFoundError, ModelFileError):
            raise
        # Whatever a hostile file makes the readers raise, the user hears that it is no model.
        except Exception as error:
            raise ModelFileError(
                f"{path} is not a whole {format} ({error}). It may be truncated, or of another "
                "kind; pass a file that `save` wrote."
            ) from error

    def is_as_written(self) -> bool:
        """Whether the checksum is that of the header and the arrays."""
        try:
            return bool(self.header[CHECKSUM] == self.checksum())
        except (LookupError, RecursionError, TypeError, ValueError):
            return False

    def checksum(self) -> str:
        """Of the header and all arrays: shows a byte that changed on a disk or on the way.

        It is no proof against malice: who can change the file can change the checksum.
        """
        header = {name: value for name, value in self.header.items() if name != CHECKSUM}
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _check_format(path: Path, header: Any, format: str, version: int) -> None:  # noqa: A002
    if not isinstance(header, dict) or header.get("format") != format:
        raise ModelFileError(
            f"{path} is not a {format}: its header does not say so. Pass a file that `save` wrote."
        )
    if header.get("format_version") != version:
        raise ModelFileError(
            f"{path} has format version {header.get('format_version')!r}, and this confide reads "
            f"version {version}. It was written by confide "
            f"{header.get('confide_version', 'of an unknown version')}: install that version or a "
            "newer one."
        )
