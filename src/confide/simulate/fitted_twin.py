"""A twin that can be kept in a file: a function and a variance fitted to data, and its noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64

from confide.named import Named
from confide.persistence import Arrays, checked_array, checked_json, part
from confide.simulate.noise import GAUSSIAN, NoiseLaw, Residuals
from confide.simulate.smooth import Kernels
from confide.simulate.truth import Truth
from confide.standardise import Standardiser
from confide.trees import Row, Table, Trees

Function: TypeAlias = Trees | Kernels
FUNCTIONS: Named[type[Trees] | type[Kernels]] = Named(
    "function", {kind.name: kind for kind in (Trees, Kernels)}
)
# Twins' old names, which model files may hold; truths of the same names are another thing.
OLD_KINDS = {"random_forest": "forest", "gradient_boosting": "boosting"}


@dataclass(frozen=True)
class FittedTwin(Truth):
    """A twin of a data set.

    Trees cut at numbers in single precision, and stop at a fixed impurity: so twins are fitted in
    units in which every feature, and the target, have mean 0 and standard deviation 1.

    Attributes:
        kind: the kind of its function: "forest", "boosting" or "smooth".
        standardiser: converts to and from those units.
        function: the true function, in those units.
        variance: the true variance of the noise, in those units.
    """

    kind: str
    standardiser: Standardiser
    function: Function
    variance: Trees

    def mean(self, X: Table) -> Row:
        """The true function."""
        own = self.standardiser
        return own.y_mean + own.y_scale * self.function(standardised_inputs(own, X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        own = self.standardiser
        variance = self.variance(standardised_inputs(own, X))
        return own.y_scale * np.sqrt(np.maximum(variance, 0.0))

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        parts = {"units": self.standardiser, "mean": self.function, "variance": self.variance}
        arrays = {
            f"{part}.{name}": array
            for part, value in parts.items()
            for name, array in value.to_arrays().items()
        }
        if isinstance(self.noise, Residuals):
            arrays["noise"] = self.noise.sorted_values
        return {"kind": self.kind, "function": self.function.name}, arrays

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays, n_features: int) -> "FittedTwin":
        """From a model file's parts, checked."""
        noise: NoiseLaw = GAUSSIAN
        if "noise" in arrays:
            values = checked_array(arrays, "noise", (max(arrays["noise"].size, 1),), np.float64)
            if np.any(values[1:] < values[:-1]):
                raise ValueError("residuals of a twin must be in order")
            noise = Residuals(values)
        names = checked_json(Mapping[str, str], payload, "a twin")
        return cls(
            OLD_KINDS.get(names["kind"], names["kind"]),
            Standardiser.from_arrays(part(arrays, "units"), n_features),
            FUNCTIONS[names["function"]].from_arrays(part(arrays, "mean"), n_features),
            Trees.from_arrays(part(arrays, "variance"), n_features),
            noise=noise,
        )


def standardised_inputs(standardiser: Standardiser, X: Table) -> Float64[np.ndarray, "row feature"]:
    """In double precision: the networks' own are rounded, and columns may lie far from zero."""
    return np.asarray((X - standardiser.x_mean) / standardiser.x_scale)
