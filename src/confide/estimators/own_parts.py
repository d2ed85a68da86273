"""Networks, learners and optimisers of the user's own: a file names them and does not hold them."""

import functools
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.errors import ModelFileError

if TYPE_CHECKING:
    from confide.estimators.base import IntervalRegressor

OWN = "own"
# Predicting needs these. An optimiser or a schedule matters only to further fits.
NEEDED = ("network", "learner")
# How far predictions may be off, of the target's standard deviation, and variances, of themselves:
# another machine rounds otherwise, another network errs more.
SAME = 1e-3


def plain(value: Any) -> Any:
    """A constructor argument as JSON.

    A generator of random numbers is not kept. What JSON cannot hold is named by module and name.
    """
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, np.generic):
        return value.item()
    # optax's transformations are tuples too, of functions.
    if isinstance(value, (tuple, list, np.ndarray)) and not hasattr(value, "_fields"):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (str, int, float, type(None))):
        return value
    while isinstance(value, functools.partial):
        value = value.func
    kind = value if hasattr(value, "__qualname__") else type(value)
    return {OWN: f"{kind.__module__}:{kind.__qualname__}"}


def in_words(value: Any) -> Any:
    """The same for people: what a file cannot hold is its name."""
    argument = plain(value)
    return argument[OWN] if is_own(argument) else argument


def is_own(value: Any) -> bool:
    """Whether a parameter of a file stands for something that it does not hold."""
    return isinstance(value, dict) and set(value) == {OWN}


def probe(estimator: "IntervalRegressor") -> dict[str, list[float]]:
    """What the model says about a few rows: another network would say something else.

    They are the mean row of the training data, rows on both sides of it, and two more that lie in
    another direction.
    """
    own = estimator.fitted_.standardiser
    other_way = own.x_scale * (-1.0) ** np.arange(len(own.x_scale))
    steps = [-own.x_scale, 0 * own.x_scale, own.x_scale, -other_way, other_way]
    prediction = estimator.method.predict(estimator.fitted_, own.x_mean + np.stack(steps))
    numbers = {"mean": prediction.mean, "variance": prediction.aleatoric_variance}
    return {name: array.tolist() for name, array in numbers.items() if array is not None}


@dataclass(frozen=True)
class OwnParts:
    """What a file asks for, and what the user passed for it.

    Attributes:
        path: of the file.
        asked: for each part of the user's own, how the file names it.
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
            ModelFileError: one is needed and missing, or was passed and not asked for.
        """
        parameters = header.get("parameters")
        kept = parameters if isinstance(parameters, dict) else {}
        asked = {name: str(kept[name][OWN])[:200] for name in passed if is_own(kept.get(name))}
        for name, value in passed.items():
            if name in asked and value is None and name in NEEDED:
                shell = ", or on the command line --network package.module:make"
                raise ModelFileError(
                    f"{path} was made with a {name} of your own, {asked[name]}, which no file "
                    f"holds. Pass it: confide.load(path, {name}=...)"
                    f"{shell if name == 'network' else ''}."
                )
            if name not in asked and value is not None:
                article = "an" if name[0] in "aeiou" else "a"
                raise ModelFileError(
                    f"{path} was not made with {article} {name} of your own, but `{name}` was "
                    "passed. Leave it out."
                )
        return cls(path, asked, {name: v for name, v in passed.items() if v is not None})

    def replaced(
        self, parameters: dict[str, Any], estimator: type["IntervalRegressor"]
    ) -> dict[str, Any]:
        """A file's parameters with what was passed; what was not has its default."""
        defaults = inspect.signature(estimator).parameters
        return {
            name: self.passed.get(name, defaults[name].default) if is_own(value) else value
            for name, value in parameters.items()
        }

    def check(self, header: Mapping[str, Any], estimator: "IntervalRegressor") -> None:
        """Refuses a part that fits in shape and predicts something else."""
        if not any(name in self.asked for name in NEEDED):
            return
        saved = header["probe"]
        if isinstance(saved, list):  # before variances were kept
            saved = {"mean": saved}
        now, scale = probe(estimator), estimator.fitted_.standardiser.y_scale
        for name, values in saved.items():
            relative, absolute = (0, SAME * scale) if name == "mean" else (SAME, 0)
            if not np.allclose(now[name][: len(values)], values, rtol=relative, atol=absolute):
                raise ValueError("its predictions are not those that were saved")

    def refuse(self, error: Exception) -> None:
        """Says that what was passed does not fit, where something was."""
        for name, known_as in self.asked.items():
            if name in self.passed:
                raise ModelFileError(
                    f"{self.path} does not fit the {name} that was passed ({error}). It was made "
                    f"with {known_as}: pass that one, as it was then."
                ) from error
