"""Networks and learners of the user's own: a model file names them and does not hold them."""

import functools
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.errors import ModelFileError
from confide.estimators.base import IntervalRegressor

OWN = "own"
# Of the target's standard deviation: another machine rounds otherwise, another network errs more.
SAME = 1e-2


def named(value: Any) -> dict[str, str]:
    """How a file names what it cannot hold: by module and name."""
    while isinstance(value, functools.partial):
        value = value.func
    kind = value if hasattr(value, "__qualname__") else type(value)
    return {OWN: f"{kind.__module__}:{kind.__qualname__}"}


def plain(value: Any) -> Any:
    """A constructor argument as JSON: a generator of random numbers is not kept."""
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, np.generic):
        return value.item()
    # optax's transformations are tuples too, of functions.
    if isinstance(value, (tuple, list, np.ndarray)) and not hasattr(value, "_fields"):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    return value if isinstance(value, (str, int, float, type(None))) else named(value)


def in_words(value: Any) -> Any:
    """The same for people: what a file cannot hold is its name."""
    found = plain(value)
    return found[OWN] if is_own(found) else found


def is_own(value: Any) -> bool:
    """Whether a parameter of a file stands for something that it does not hold."""
    return isinstance(value, dict) and set(value) == {OWN}


def probe(estimator: IntervalRegressor) -> list[float]:
    """What the model predicts for three rows: another network would say something else."""
    return [
        float(mean) for mean in estimator.method.predict(estimator.fitted_, _rows(estimator)).mean
    ]


def _rows(estimator: IntervalRegressor) -> np.ndarray:
    """The mean row of the training data, and rows on both sides of it."""
    own = estimator.fitted_.standardiser
    return np.stack([own.x_mean + side * own.x_scale for side in (-1.0, 0.0, 1.0)])


@dataclass(frozen=True)
class OwnParts:
    """What a file asks for, and what the user passed for it.

    Attributes:
        path: of the file.
        asked: for each part that predicting needs, how the file names it.
        passed: what the user passed.
    """

    path: str | os.PathLike[str]
    asked: Mapping[str, str]
    passed: Mapping[str, Any]

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], header: Mapping[str, Any], passed: Mapping[str, Any]
    ) -> "OwnParts":
        """The parts that a file's header asks for.

        Args:
            path: of the file.
            header: of the file.
            passed: what the user passed, by name; None where nothing was.

        Raises:
            ModelFileError: one is missing, or was passed and not asked for.
        """
        parameters = header.get("parameters")
        kept = parameters if isinstance(parameters, dict) else {}
        asked = {name: str(kept[name][OWN])[:200] for name in passed if is_own(kept.get(name))}
        for name, value in passed.items():
            if name in asked and value is None:
                raise ModelFileError(
                    f"{path} was made with a {name} of your own, {asked[name]}, which no file "
                    f"holds. Pass it: confide.load(path, {name}=...), or on the command line "
                    f"--{name} package.module:make."
                )
            if name not in asked and value is not None:
                raise ModelFileError(
                    f"{path} was not made with a {name} of your own, and `{name}` was passed. "
                    "Leave it out."
                )
        return cls(path, asked, passed)

    def replaced(
        self, parameters: dict[str, Any], estimator: type[IntervalRegressor]
    ) -> dict[str, Any]:
        """A file's parameters with what was passed; what is of no use now has its default."""
        defaults = inspect.signature(estimator).parameters
        for name, value in parameters.items():
            if name in self.asked:
                parameters[name] = self.passed[name]
            elif is_own(value):
                parameters[name] = defaults[name].default
        return parameters

    def check(self, header: Mapping[str, Any], estimator: IntervalRegressor) -> None:
        """Refuses a part that fits in shape and predicts something else."""
        if not self.asked:
            return
        scale = estimator.fitted_.standardiser.y_scale
        if not np.allclose(probe(estimator), header["probe"], rtol=0, atol=SAME * scale):
            raise ValueError("its predictions are not those that were saved")

    def refuse(self, error: Exception) -> None:
        """Says that what was passed does not fit, where something was."""
        for name, known_as in self.asked.items():
            raise ModelFileError(
                f"{self.path} does not fit the {name} that was passed ({error}). It was made with "
                f"{known_as}: pass that one, as it was then."
            ) from error
