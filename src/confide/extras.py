"""Packages of the optional extras, loaded where they are needed."""

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """A module that comes with an extra, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"This needs {module}, but {error.name} is not installed. Install it: pip install "
            f"'confide[{extra}]'.",
            name=error.name,
        ) from error
