"""The libraries of the `report` extra, loaded where they are needed."""

import importlib
from typing import Any


def require(module: str) -> Any:
    """A module of the `report` extra, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"A report needs {module}, and there is no {error.name}: pip install 'confide[report]'",
            name=error.name,
        ) from error
