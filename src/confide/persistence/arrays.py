"""Named arrays that a model file brought: each is checked before it is used."""

from typing import TypeAlias

import numpy as np

Arrays: TypeAlias = dict[str, np.ndarray]


def checked_array(
    arrays: Arrays, name: str, shape: tuple[int, ...], dtype: type[np.generic]
) -> np.ndarray:
    """The named array, if it has the shape and type that the settings call for and is finite."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    array = arrays[name]
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"array {name!r} must be {np.dtype(dtype)} of shape {shape}, but is {array.dtype} of "
            f"shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"array {name!r} holds values that are not finite")
    return array


def part(arrays: Arrays, name: str) -> Arrays:
    """The arrays whose names begin so, without that beginning."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
